//! Databases that are shared, damaged, newer, or left behind by a process that was killed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use koda_protocol::port::Store;
use koda_protocol::{EVENT_VERSION, Envelope, Event, Mode, Trust, UnixMillis};
use koda_store::SqliteStore;

fn start(session: &str) -> Envelope {
    let (mode, trust) = (Mode::Agent, Trust::Safe);
    let event = Event::SessionStart {
        version: EVENT_VERSION,
        cwd: "/p".to_owned(),
        model: "m::m".to_owned(),
        mode,
        trust,
    };
    Envelope { time: UnixMillis(1), session: session.into(), event }
}

fn notice(session: &str, text: String) -> Envelope {
    Envelope { time: UnixMillis(2), session: session.into(), event: Event::Notice { text } }
}

fn fill(dir: &Path, events: usize) {
    let store = SqliteStore::open(dir).unwrap();
    store.append(&start("s")).unwrap();
    (0..events).for_each(|n| store.append(&notice("s", format!("{n} {}", "x".repeat(500)))).unwrap());
}

#[test]
fn several_open_a_new_folder_at_once_and_write_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c", "d"];
    std::thread::scope(|scope| {
        for name in names {
            let dir = dir.path();
            scope.spawn(move || {
                let store = SqliteStore::open(dir).unwrap();
                store.append(&start(name)).unwrap();
                (0..100).for_each(|n| store.append(&notice(name, n.to_string())).unwrap());
            });
        }
    });
    let store = SqliteStore::open(dir.path()).unwrap();
    for name in names {
        let events = store.events(&name.into()).unwrap();
        let expected = (0..100).map(|n| notice(name, n.to_string()));
        assert_eq!(events, [start(name)].into_iter().chain(expected).collect::<Vec<_>>());
    }
}

#[test]
fn bytes_that_are_no_database_are_kept_aside() {
    let dir = tempfile::tempdir().unwrap();
    for n in 1..=2 {
        fs::write(dir.path().join("koda.db"), format!("this is no database, but somebody's bytes {n}"))
            .unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        let aside = store.kept_aside().unwrap();
        assert!(fs::read_to_string(aside).unwrap().ends_with(&format!("somebody's bytes {n}")));
        assert!(store.notice().unwrap().contains(&aside.display().to_string()));
        store.append(&start("s")).unwrap();
        assert_eq!(store.sessions(None).unwrap().len(), 1);
    }
    assert!(dir.path().join("koda.db.unreadable-1").exists());
}

#[test]
fn a_database_that_was_cut_short_is_kept_aside() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 500);
    let path = dir.path().join("koda.db");
    let whole = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(whole / 2).unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(fs::metadata(store.kept_aside().unwrap()).unwrap().len(), whole / 2);
    store.append(&start("new")).unwrap();
}

#[test]
fn another_programs_database_is_kept_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("koda.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE sessions (theirs TEXT); INSERT INTO sessions VALUES ('x')").unwrap();
    drop(db);
    let store = SqliteStore::open(dir.path()).unwrap();
    let db = rusqlite::Connection::open(store.kept_aside().unwrap()).unwrap();
    let theirs: String = db.query_row("SELECT theirs FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(theirs, "x");
    store.append(&start("new")).unwrap();
}

#[test]
fn a_newer_database_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("koda.db");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE later (x); PRAGMA user_version = 99").unwrap();
    drop(db);
    let before = fs::read(&path).unwrap();
    for _ in 0..2 {
        let store = SqliteStore::open(dir.path()).unwrap();
        assert_eq!(store.kept_aside(), Some(path.as_path()));
        assert!(store.notice().unwrap().contains("version 99"));
        store.append(&start("s")).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(SqliteStore::open(dir.path()).unwrap().events(&"s".into()).unwrap().len(), 2);
}

#[test]
fn a_folder_that_can_not_be_made_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = SqliteStore::open(&file).err().unwrap();
    assert!(error.to_string().contains(&file.display().to_string()), "{error}");
}

/// Tells the process that is to be killed that it is the one, by standing in the folder that it runs in.
const VICTIM: &str = "victim";

/// Not a test by itself: the process that the next one kills.
#[test]
fn writes_until_it_is_killed() {
    if !Path::new(VICTIM).exists() {
        return;
    }
    let store = SqliteStore::open(Path::new("data")).unwrap();
    store.append(&start("s")).unwrap();
    for n in 0.. {
        store.append(&notice("s", n.to_string())).unwrap();
        fs::write("acknowledged", n.to_string()).unwrap();
        if n == 200 {
            fs::write("go", "").unwrap();
        }
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(VICTIM), "").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writes_until_it_is_killed"])
        .current_dir(dir.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !dir.path().join("go").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the writer ended by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Truncating and writing that file are two steps: killed between them, it is empty.
    let acknowledged = fs::read_to_string(dir.path().join("acknowledged")).unwrap();
    let acknowledged: usize = acknowledged.parse().unwrap_or(200);
    let store = SqliteStore::open(&dir.path().join("data")).unwrap();
    assert!(store.kept_aside().is_none());
    let events = store.events(&"s".into()).unwrap();
    assert!(events.len() >= acknowledged + 2, "{} of {acknowledged}", events.len());
    assert!(events.iter().skip(1).enumerate().all(|(n, event)| *event == notice("s", n.to_string())));
}

#[cfg(unix)]
#[test]
fn only_the_user_may_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let store = SqliteStore::open(&data).unwrap();
    store.append(&start("s")).unwrap();
    let spill = store.spill("Bash", "secret").unwrap().path;
    for path in [data.join("koda.db"), data.join("koda.db-wal"), spill] {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} {mode:o}", path.display());
    }
}
