//! The store through its port.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "a test fails by panicking")]

use koda_protocol::port::Store;
use koda_protocol::{EVENT_VERSION, Envelope, Event, Message, Mode, Trust, UnixMillis};
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
fn events_come_back_in_order_and_glimpses_are_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let events = [
        envelope("s", 1, start("/p")),
        envelope("s", 2, said("\n  fix it\nplease")),
        envelope("s", 3, Event::Message { message: Message::user("done"), cut: false }),
    ];
    {
        let store = SqliteStore::open(dir.path()).unwrap();
        events.iter().for_each(|event| store.append(event).unwrap());
        store.append(&envelope("s", 4, Event::TextDelta { text: "do".to_owned() })).unwrap();
        store.append(&envelope("other", 5, start("/q"))).unwrap();
    }
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.events(&"s".into()).unwrap(), events);
    let sessions = store.sessions(Some("/p")).unwrap();
    assert_eq!((sessions.len(), sessions[0].title.as_str()), (1, "fix it"));
    assert_eq!(store.sessions(None).unwrap()[0].id, "other".into());
}

#[test]
fn two_stores_write_to_one_folder_at_once() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for name in ["a", "b"] {
            let dir = dir.path();
            scope.spawn(move || {
                let store = SqliteStore::open(dir).unwrap();
                store.append(&envelope(name, 1, start("/p"))).unwrap();
                for n in 0..100 {
                    store.append(&envelope(name, n, said("x"))).unwrap();
                }
            });
        }
    });
    let store = SqliteStore::open(dir.path()).unwrap();
    assert_eq!(store.events(&"a".into()).unwrap().len(), 101);
    assert_eq!(store.events(&"b".into()).unwrap().len(), 101);
}

#[test]
fn what_can_not_be_read_is_kept_aside() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("koda.db"), "this is no database, but somebody's bytes").unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let aside = store.kept_aside().unwrap();
    assert!(std::fs::read_to_string(aside).unwrap().contains("somebody's bytes"));
    store.append(&envelope("s", 1, start("/p"))).unwrap();
    assert_eq!(store.sessions(None).unwrap().len(), 1);
}

#[test]
fn spilled_texts_are_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path()).unwrap();
    let spill = store.spill("Bash-../../x", "a\nb").unwrap();
    assert!(spill.path.starts_with(dir.path().join("spill")));
    assert_eq!(std::fs::read_to_string(&spill.path).unwrap(), "a\nb");
    assert_eq!((spill.lines, spill.bytes), (2, 3));
}
