//! Searching what was said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use koda_protocol::port::Store;
use koda_protocol::{Envelope, Event, Mode, RecallQuery, SessionId, Trust, UnixMillis};
use koda_store::SqliteStore;
use serde_json::Value;

fn add(store: &SqliteStore, session: &str, event: Event) {
    store.append(&Envelope { time: UnixMillis(1), session: session.into(), event }).unwrap();
}

fn begin(store: &SqliteStore, session: &str, cwd: &str) {
    let (cwd, model) = (cwd.to_owned(), "m::m".to_owned());
    add(
        store,
        session,
        Event::SessionStart { version: 1, cwd, model, mode: Mode::Agent, trust: Trust::Safe },
    );
}

fn say(store: &SqliteStore, session: &str, text: &str) {
    add(store, session, Event::UserMessage { text: text.to_owned(), context: String::new() });
}

fn query(words: &str) -> RecallQuery {
    let words = words.split_whitespace().map(str::to_owned).collect();
    RecallQuery { words, cwd: "/p".to_owned(), limit: 10, ..RecallQuery::default() }
}

fn found(store: &SqliteStore, words: &str) -> Vec<String> {
    store.recall(&query(words)).unwrap().hits.into_iter().map(|hit| hit.text).collect()
}

#[test]
fn all_words_must_occur_whatever_their_case_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    begin(&store, "a", "/p");
    say(&store, "a", "The parser drops the Last_Line of a file");
    say(&store, "a", "Разбор файла теряет строку");
    assert_eq!(found(&store, "PARS last_l").len(), 1);
    assert_eq!(found(&store, "РАЗБОР")[0], "Разбор файла теряет строку");
    assert!(found(&store, "parser строку").is_empty());
    // Nothing in a query is an operator.
    for words in ["\"", "NOT parser", "a OR b", "*", "(", "body:x", "^the"] {
        store.recall(&query(words)).unwrap();
    }
    assert!(found(&store, "--").is_empty());
}

#[test]
fn what_is_said_after_a_search_is_found_by_the_next_and_by_others() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    begin(&store, "a", "/p");
    say(&store, "a", "apple");
    assert_eq!(found(&store, "apple").len(), 1);
    let other = SqliteStore::open(dir.path()).unwrap();
    let (tool, text) = ("Bash".to_owned(), "apple pie".to_owned());
    add(&other, "a", Event::ToolResult { id: "1".into(), tool, ok: true, text, data: Value::Null });
    assert_eq!(found(&store, "apple").len(), 2);
    assert_eq!(found(&other, "apple").len(), 2);
}

#[test]
fn other_projects_are_left_alone_and_hits_come_by_pages() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    begin(&store, "a", "/p");
    begin(&store, "b", "/other");
    say(&store, "b", "apple of another");
    (0..25).for_each(|n| say(&store, "a", &format!("apple {n}")));
    let page = |offset| store.recall(&RecallQuery { offset, ..query("apple") }).unwrap();
    let mut all: Vec<u64> = [0, 10, 20].iter().flat_map(|at| page(*at).hits).map(|hit| hit.number).collect();
    assert_eq!((page(0).total, all.len()), (25, 25));
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 25, "no hit comes twice");
    let hit = page(0).hits.remove(0);
    let whole = store.recollect("/p", &hit.session, hit.number).unwrap().unwrap();
    assert_eq!(whole, hit);
    assert_eq!(store.recollect("/other", &hit.session, hit.number).unwrap(), None);
    let session = Some(SessionId("b".to_owned()));
    assert_eq!(store.recall(&RecallQuery { session, ..query("apple") }).unwrap().total, 0);
}

#[test]
fn numbers_that_are_used_again_are_indexed_anew() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    begin(&store, "a", "/p");
    say(&store, "a", "apple");
    assert_eq!(found(&store, "apple").len(), 1);
    let database = rusqlite::Connection::open(dir.path().join("koda.db")).unwrap();
    database.execute("DELETE FROM events WHERE json LIKE '%apple%'", []).unwrap();
    say(&store, "a", "pear");
    assert!(found(&store, "apple").is_empty());
    assert_eq!(found(&store, "pear"), ["pear"]);
}
