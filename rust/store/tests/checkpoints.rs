//! Checkpoints: what is kept comes back byte by byte, whatever kind of file it was.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use koda_protocol::SessionId;
use koda_protocol::checkpoint::{ChangeSet, Checkpoints, FileState, OnDisk};
use koda_store::{CheckpointLimits, SqliteCheckpoints};
use tempfile::TempDir;

const FIRST: ChangeSet = ChangeSet::Message(1);

struct Rig {
    folder: TempDir,
    store: SqliteCheckpoints,
}

fn rig() -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    Rig { folder, store }
}

fn open(folder: &Path) -> SqliteCheckpoints {
    SqliteCheckpoints::new(&folder.join("data"), CheckpointLimits { file_bytes: 1000, days: 30 })
}

fn session() -> SessionId {
    "s".into()
}

impl Rig {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Captures a path, lets it change, and puts back what was there.
    fn back(&self, path: &Path, change: impl Fn(&Path)) -> OnDisk {
        let before = self.store.capture(path).unwrap();
        change(path);
        let after = self.store.capture(path).unwrap();
        assert_ne!(before, after);
        self.store.replace(path, &after, &before).unwrap();
        assert_eq!(self.store.capture(path).unwrap(), before);
        before
    }
}

#[test]
fn every_kind_of_file_comes_back() {
    let rig = rig();
    let file = rig.path("file");
    fs::write(&file, b"\xff\x00one\r\ntwo").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    rig.back(&file, |path| fs::write(path, "other").unwrap());
    rig.back(&file, |path| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap());
    rig.back(&file, |path| fs::remove_file(path).unwrap());
    rig.back(&file, |path| {
        fs::remove_file(path).unwrap();
        symlink("nowhere", path).unwrap();
    });
    assert_eq!(fs::read(&file).unwrap(), b"\xff\x00one\r\ntwo");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);

    let link = rig.path("link");
    symlink(std::ffi::OsStr::from_bytes(b"odd \xff"), &link).unwrap();
    rig.back(&link, |path| fs::remove_file(path).unwrap());
    assert_eq!(fs::read_link(&link).unwrap().as_os_str().as_bytes(), b"odd \xff");

    let folder = rig.path("empty/folder");
    fs::create_dir_all(&folder).unwrap();
    rig.back(&folder, |path| fs::remove_dir_all(path.parent().unwrap()).unwrap());
    rig.back(&rig.path("new/file"), |path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "new").unwrap();
    });
    // No piece of a write is left behind.
    let names: Vec<_> =
        fs::read_dir(rig.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
}

#[test]
fn what_has_changed_meanwhile_stays() {
    let rig = rig();
    let file = rig.path("file");
    fs::write(&file, "before").unwrap();
    let before = rig.store.capture(&file).unwrap();
    fs::write(&file, "after").unwrap();
    let after = rig.store.capture(&file).unwrap();
    fs::write(&file, "the user's").unwrap();
    let refused = rig.store.replace(&file, &after, &before).unwrap_err();
    assert!(refused.to_string().contains("changed"), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "the user's");
    // Nor is a folder removed that has something in it.
    let folder = rig.path("folder");
    let absent = rig.store.capture(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    let there = rig.store.capture(&folder).unwrap();
    fs::write(folder.join("mine"), "").unwrap();
    rig.store.replace(&folder, &there, &absent).unwrap_err();
    assert!(folder.join("mine").exists());
}

#[test]
fn a_file_over_the_limit_is_told_and_not_kept() {
    let rig = rig();
    let file = rig.path("big");
    fs::write(&file, vec![b'x'; 1001]).unwrap();
    assert_eq!(rig.store.unkept(&file).as_deref(), Some("is over 1000 bytes"));
    let OnDisk::Unkept { size: 1001, .. } = rig.store.capture(&file).unwrap() else { panic!("it is kept") };
    fs::write(&file, vec![b'x'; 1000]).unwrap();
    assert_eq!(rig.store.unkept(&file), None);
    assert_eq!(rig.store.unkept(&rig.path("missing")), None);
}

#[test]
fn changes_of_a_file_that_follow_each_other_are_one() {
    let rig = rig();
    let path = rig.path("file");
    let states: Vec<FileState> = ["a", "b", "c", "mine", "d"]
        .iter()
        .map(|text| {
            let content = rig.store.keep(text.as_bytes()).unwrap();
            OnDisk::File { content, mode: 0o644 }.into()
        })
        .collect();
    let change = |from: usize, to: usize| {
        let id = rig.store.begin(&session(), FIRST, &path, &states[from]).unwrap();
        rig.store.end(id, &states[to]).unwrap();
    };
    change(0, 1);
    change(1, 2);
    // The user changes it in between: another change.
    change(3, 4);
    change(4, 4);
    let seen = rig.store.changes(&session(), FIRST).unwrap();
    let ends: Vec<_> =
        seen.iter().map(|change| (change.before.clone(), change.after.clone().unwrap())).collect();
    assert_eq!(ends, [(states[0].clone(), states[2].clone()), (states[3].clone(), states[4].clone())]);
    // One that comes to nothing is forgotten, and other sets know nothing of it.
    change(4, 3);
    assert_eq!(rig.store.changes(&session(), FIRST).unwrap().len(), 1);
    assert_eq!(rig.store.changes(&session(), ChangeSet::Message(2)).unwrap(), []);
    assert_eq!(rig.store.changes(&"other".into(), FIRST).unwrap(), []);
}

#[test]
fn what_was_begun_is_there_after_a_kill() {
    let rig = rig();
    let path = rig.folder.path().join(std::ffi::OsStr::from_bytes(b"na\xffme"));
    fs::write(&path, "before").unwrap();
    let before: FileState = rig.store.capture(&path).unwrap().into();
    rig.store.begin(&session(), FIRST, &path, &before).unwrap();
    // Another process finds it, while this one still has the database open.
    let other = open(rig.folder.path());
    let open = other.open(&session()).unwrap();
    assert_eq!((open.len(), &open[0].path, &open[0].before, &open[0].after), (1, &path, &before, &None));
    let OnDisk::File { content, .. } = &open[0].before.disk else { panic!("no file") };
    assert_eq!(other.content(content).unwrap(), b"before");
    other.end(open[0].id, &OnDisk::Absent.into()).unwrap();
    assert_eq!(other.open(&session()).unwrap(), []);
}

#[test]
fn a_damaged_database_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("checkpoints.db"), "no database at all, but long enough to be looked at").unwrap();
    let store = open(folder.path());
    let id = store.keep(b"bytes").unwrap();
    assert_eq!(store.content(&id).unwrap(), b"bytes");
    assert!(data.join("checkpoints.db.unreadable-1").exists());
}

#[test]
fn what_is_too_old_is_forgotten_with_its_contents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old text").unwrap();
    let store = open(folder.path());
    let before: FileState = store.capture(&path).unwrap().into();
    let change = store.begin(&session(), FIRST, &path, &before).unwrap();
    store.end(change, &OnDisk::Absent.into()).unwrap();
    drop(store);
    let none = CheckpointLimits { days: 0, ..CheckpointLimits::default() };
    std::thread::sleep(std::time::Duration::from_millis(5));
    let store = SqliteCheckpoints::new(&folder.path().join("data"), none);
    assert_eq!(store.changes(&session(), FIRST).unwrap(), []);
    let OnDisk::File { content, .. } = &before.disk else { panic!("no file") };
    store.content(content).unwrap_err();
}
