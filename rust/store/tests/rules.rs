//! Rules on disk: kept, removed, counted, and never lost between two writers.

use std::thread;

use koda_protocol::UnixMillis;
use koda_protocol::rule::{Grant, Rule, Rules};
use koda_store::RuleFile;

fn rule(head: &str) -> Rule {
    let what = Grant::Command { heads: vec![head.to_owned()] };
    Rule {
        id: 0,
        project: Some("/p".to_owned()),
        deny: false,
        what,
        created: UnixMillis(1),
        uses: 0,
        last_use: None,
    }
}

#[test]
fn a_rule_is_kept_counted_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let rules = RuleFile::new(dir.path());
    assert_eq!(rules.list().unwrap(), []);
    let made = rules.add(rule("cargo fmt")).unwrap();
    assert_eq!(rules.add(rule("cargo fmt")).unwrap().id, made.id, "the same rule is one");
    rules.used(made.id, UnixMillis(7)).unwrap();
    let [kept] = RuleFile::new(dir.path()).list().unwrap().try_into().unwrap();
    assert_eq!((kept.uses, kept.last_use), (1, Some(UnixMillis(7))));
    assert!(rules.remove(made.id).unwrap());
    assert!(!rules.remove(made.id).unwrap());
    assert!(rules.add(rule("cargo fmt")).unwrap().id > made.id, "an id is never used again");
}

#[test]
fn writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for writer in 0..4 {
            let rules = RuleFile::new(dir.path());
            scope.spawn(move || {
                (0..10).for_each(|n| drop(rules.add(rule(&format!("{writer} {n}"))).unwrap()))
            });
        }
    });
    let mut ids: Vec<u64> = RuleFile::new(dir.path()).list().unwrap().iter().map(|rule| rule.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), 40);
}

#[test]
fn a_file_that_is_not_understood_stays_and_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rules.json"), "{ oh").unwrap();
    let rules = RuleFile::new(dir.path());
    assert!(rules.list().unwrap_err().to_string().contains("rules.json"));
    rules.add(rule("ls")).unwrap_err();
    assert_eq!(std::fs::read_to_string(dir.path().join("rules.json")).unwrap(), "{ oh");
}
