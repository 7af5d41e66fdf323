//! The store through its port: sessions and their events.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use koda_protocol::event::Answer;
use koda_protocol::port::Store;
use koda_protocol::{
    Costs, EVENT_VERSION, Envelope, Event, Message, Mode, Outcome, Trust, UnixMillis, Usage,
};
use koda_store::SqliteStore;

fn envelope(session: &str, time: u64, event: Event) -> Envelope {
    Envelope { time: UnixMillis(time), session: session.into(), event }
}

fn start(cwd: &str) -> Event {
    let (mode, trust) = (Mode::Agent, Trust::Safe);
    Event::SessionStart { version: EVENT_VERSION, cwd: cwd.to_owned(), model: "m::m".to_owned(), mode, trust }
}

fn said(text: &str) -> Event {
    Event::UserMessage { text: text.to_owned(), context: String::new() }
}

#[test]
fn events_come_back_in_order_and_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let usage = Usage { input: Some(7), ..Usage::default() };
    let events = [
        start("/p"),
        said("\n  fix it\nplease"),
        Event::StepStart { step: 1 },
        Event::Message { message: Message::user("naïve \u{1f980} \0"), cut: true },
        Event::Answer { id: "ask-1".into(), answer: Answer::Reject { reason: Some("no".to_owned()) } },
        Event::Usage { usage, total: usage, cost: Some(Costs { step: Some(0.1), ..Costs::default() }) },
        Event::TurnEnd { outcome: Outcome::Done, steps: 1, duration_ms: 12, usage: Some(usage), cost: None },
    ];
    // Times are no order: a clock may be set back.
    let events: Vec<Envelope> = (events.into_iter().zip([5, 5, 4, 9, 1, 2, 3]))
        .map(|(event, time)| envelope("s", time, event))
        .collect();
    {
        let store = SqliteStore::open(dir.path()).unwrap();
        events.iter().for_each(|event| store.append(event).unwrap());
        store.append(&envelope("other", 5, start("/q"))).unwrap();
    }
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.events(&"s".into()).unwrap(), events);
    assert!(store.events(&"nosuch".into()).unwrap().is_empty());
    assert!(store.has(&"s".into()).unwrap() && !store.has(&"nosuch".into()).unwrap());
    assert!(store.kept_aside().is_none() && store.notice().is_none());
}

#[test]
fn usage_is_found_by_its_time_in_all_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let usage = || Event::Usage { usage: Usage::default(), total: Usage::default(), cost: None };
    for (session, time, event) in
        [("a", 1, usage()), ("a", 5, start("/p")), ("a", 6, usage()), ("b", 7, usage()), ("b", 8, said("x"))]
    {
        store.append(&envelope(session, time, event)).unwrap();
    }
    let times: Vec<u64> =
        store.usage_since(UnixMillis(5)).unwrap().iter().map(|envelope| envelope.time.0).collect();
    assert_eq!(times, [6, 7]);
}

#[test]
fn glimpses_are_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let text = "x".to_owned();
    let glimpses = [
        Event::TextDelta { text: text.clone() },
        Event::ReasoningDelta { text: text.clone() },
        Event::CallForming { id: "c".into(), tool: "Read".to_owned(), bytes: 1 },
        Event::ToolOutput { id: "c".into(), text },
    ];
    store.append(&envelope("s", 1, start("/p"))).unwrap();
    glimpses.into_iter().for_each(|event| store.append(&envelope("s", 2, event)).unwrap());
    assert_eq!(store.events(&"s".into()).unwrap(), [envelope("s", 1, start("/p"))]);
    assert_eq!(store.sessions(None).unwrap()[0].updated, UnixMillis(1));
}

#[test]
fn a_list_has_titles_and_the_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let long = "é".repeat(200);
    for (session, time, event) in [
        ("a", 1, start("/p")),
        ("b", 2, start("/q")),
        ("c", 3, start("/p")),
        ("a", 4, said("\n\n  first line \nsecond")),
        ("b", 5, said(&long)),
        ("a", 6, said("later words")),
        ("a", 7, start("/elsewhere")),
    ] {
        store.append(&envelope(session, time, event)).unwrap();
    }
    let listed = store.sessions(None).unwrap();
    let titles: Vec<_> = listed.iter().map(|info| (info.id.as_str(), info.title.as_str())).collect();
    assert_eq!(titles, [("a", "first line"), ("b", "é".repeat(80).as_str()), ("c", "")]);
    assert_eq!((listed[0].created, listed[0].updated), (UnixMillis(1), UnixMillis(7)));
    let of_project: Vec<_> = store.sessions(Some("/p")).unwrap().into_iter().map(|info| info.id.0).collect();
    assert_eq!(of_project, ["a", "c"]);
}

#[test]
fn an_event_of_a_later_koda_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    store.append(&envelope("s", 1, start("/p"))).unwrap();
    let db = rusqlite::Connection::open(dir.path().join("koda.db")).unwrap();
    let row = r#"{"type":"telepathy","time":2,"session":"s"}"#;
    db.execute("INSERT INTO events (session, time, json) VALUES ('s', 2, ?1)", [row]).unwrap();
    store.append(&envelope("s", 3, said("x"))).unwrap();
    assert_eq!(store.events(&"s".into()).unwrap().len(), 2);
    let types = "SELECT group_concat(type, ' ') FROM (SELECT type FROM events ORDER BY seq)";
    let types: String = db.query_row(types, [], |row| row.get(0)).unwrap();
    assert_eq!(types, "session_start telepathy user_message");
}
