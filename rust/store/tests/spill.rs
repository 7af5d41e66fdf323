//! Long results as files: their names, and how long they stay.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use koda_protocol::port::Store;
use koda_store::SqliteStore;

fn put(path: &Path, bytes: u64, age: Duration) {
    let file = File::create(path).unwrap();
    file.set_len(bytes).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn a_name_can_not_lead_out_of_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let long = "x".repeat(5000);
    for name in ["Bash-../../x", "/etc/passwd", "a\0b", "", "..", "ünï/cødé\n", &long] {
        let spill = store.spill(name, "a\nb").unwrap();
        assert_eq!(spill.path.parent().unwrap(), dir.path().join("spill"));
        assert_eq!(fs::read_to_string(&spill.path).unwrap(), "a\nb");
        assert_eq!((spill.lines, spill.bytes), (2, 3));
    }
    assert_eq!(fs::read_dir(dir.path().join("spill")).unwrap().count(), 7, "each has a file of its own");
}

#[test]
fn what_is_older_than_two_days_goes() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let hours = |n: u64| Duration::from_secs(n * 3600);
    let [old, young] = ["old", "young"].map(|name| dir.path().join("spill").join(name));
    put(&old, 1, hours(49));
    put(&young, 1, hours(47));
    store.spill("Bash", "text").unwrap();
    assert!(!old.exists() && young.exists());
}

#[test]
fn the_oldest_go_when_there_is_too_much() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let paths: Vec<_> = (0..3).map(|n| dir.path().join("spill").join(n.to_string())).collect();
    for (path, minutes) in paths.iter().zip([10, 30, 20]) {
        put(path, 40 * 1024 * 1024, Duration::from_secs(minutes * 60));
    }
    let spill = store.spill("Bash", "text").unwrap();
    let left: Vec<_> = paths.iter().map(|path| path.exists()).collect();
    assert_eq!(left, [true, false, true]);
    assert!(spill.path.exists());
}
