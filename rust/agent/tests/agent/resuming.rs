//! Sessions that are gone on with, and stores that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use koda_agent::OpenSession;
use koda_protocol::double::MemoryStore;
use koda_protocol::port::store::SessionInfo;
use koda_protocol::port::{ModelEvent, SpillRef, Store, StoreError};
use koda_protocol::{Envelope, Event, Outcome, Part, SessionId, Trust, Usage};

use crate::rig::{Rig, Setup, bash, check_conversation, rig};
use crate::stage::{call, text};

fn resume(rig: &Rig, id: &SessionId) -> OpenSession {
    OpenSession { resume: Some(id.clone()), trust: Some(Trust::Auto), ..rig.opening() }
}

#[tokio::test]
async fn a_killed_session_goes_on_with_its_open_calls_closed() {
    let mut before = rig();
    let usage = Usage { output: Some(5), ..Usage::default() };
    before.model.says([
        text("I wait."),
        call("1", "Bash", bash("gate one")),
        call("2", "Bash", bash("fine")),
        Ok(ModelEvent::Usage(usage)),
    ]);
    let session = before.open(Trust::Auto);
    session.prompt("first".to_owned(), "a.rs:1".to_owned());
    before.hall.has_begun("gate one").await;
    before.result("2").await;
    // From here on, the first engine is as good as killed: its call never ends.
    let mut after = Setup { store: before.store.clone(), ..Setup::default() }.rig();
    let resumed = after.engine.open(resume(&after, session.id())).unwrap();
    let messages = after.probe(&resumed).await;
    check_conversation(&messages);
    assert_eq!(messages.len(), 3);
    let results: Vec<_> = messages[2]
        .parts
        .iter()
        .filter_map(|part| {
            if let Part::Result(result) = part { Some((result.id.as_str(), result.ok)) } else { None }
        })
        .collect();
    assert_eq!(results, [("1", false), ("2", true)]);
    assert_eq!(resumed.snapshot().total, usage);
    assert_eq!(resumed.id(), session.id());
    after.check();
}

#[tokio::test]
async fn what_is_open_already_is_the_same_session() {
    let mut rig = rig();
    let session = rig.open(Trust::Safe);
    rig.probe(&session).await;
    let again = rig.engine.open(resume(&rig, session.id())).unwrap();
    assert!(Arc::ptr_eq(&session, &again));
    assert_eq!(again.snapshot().current.trust, Trust::Auto);
    assert_eq!(rig.probe(&again).await.len(), 3);
    rig.check();
}

#[tokio::test]
async fn what_is_not_there_is_an_error() {
    let rig = rig();
    let error = rig.engine.open(resume(&rig, &"nosuch".into())).err().unwrap();
    assert_eq!(error.code, "unknown_session");
    assert!(error.message.contains("nosuch"));
    assert!(rig.engine.session(&"nosuch".into()).is_err());
}

/// A store whose disk can be full and whose sessions can be unreadable.
#[derive(Default)]
struct Failing {
    inner: MemoryStore,
    full: AtomicBool,
    unreadable: AtomicBool,
}

fn failed<T>() -> Result<T, StoreError> {
    Err(StoreError { path: "/data/koda.db".into(), reason: "as it was told".to_owned() })
}

impl Store for Failing {
    fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        if self.full.load(Ordering::SeqCst) { failed() } else { self.inner.append(envelope) }
    }

    fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError> {
        if self.unreadable.load(Ordering::SeqCst) { failed() } else { self.inner.events(session) }
    }

    fn has(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.inner.has(session)
    }

    fn sessions(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        self.inner.sessions(cwd)
    }

    fn spill(&self, name: &str, text: &str) -> Result<SpillRef, StoreError> {
        self.inner.spill(name, text)
    }
}

#[tokio::test]
async fn a_full_disk_is_told_once_and_the_turn_goes_on() {
    let store = Arc::new(Failing::default());
    let mut rig = Setup { store: store.clone(), ..Setup::default() }.rig();
    let session = rig.open(Trust::Auto);
    rig.probe(&session).await;
    store.full.store(true, Ordering::SeqCst);
    rig.model.says([call("1", "Bash", bash("fine"))]);
    rig.probe(&session).await;
    rig.probe(&session).await;
    assert_eq!(rig.notices().len(), 1, "{:?}", rig.notices());
    assert!(rig.notices()[0].contains("/data/koda.db"));
    rig.check();
}

#[tokio::test]
async fn a_session_that_can_not_be_read_is_not_gone_on_with() {
    let store = Arc::new(Failing::default());
    let mut before = Setup { store: store.clone(), ..Setup::default() }.rig();
    let session = before.open(Trust::Safe);
    before.probe(&session).await;
    let mut after = Setup { store: store.clone(), ..Setup::default() }.rig();
    store.unreadable.store(true, Ordering::SeqCst);
    let resumed = after.engine.open(resume(&after, session.id())).unwrap();
    for _ in 0..2 {
        resumed.prompt("go on".to_owned(), String::new());
        assert_eq!(after.end().await, Outcome::Failed);
    }
    assert_eq!(after.errors(), ["store", "store"]);
    assert!(after.model.requests().is_empty(), "it would have forgotten everything");
    store.unreadable.store(false, Ordering::SeqCst);
    let again = after.engine.open(resume(&after, session.id())).unwrap();
    let messages = after.probe(&again).await;
    assert_eq!(messages.len(), 3, "what it said before, and what was not answered meanwhile");
}

#[tokio::test]
async fn what_is_stored_is_what_was_told_without_the_glimpses_of_nobody() {
    let mut rig = rig();
    rig.model.says([text("I look."), call("1", "Bash", bash("fine"))]);
    let session = rig.open(Trust::Auto);
    rig.probe(&session).await;
    rig.engine.shutdown().await;
    let stored: Vec<Event> =
        rig.store.events(session.id()).unwrap().into_iter().map(|envelope| envelope.event).collect();
    assert_eq!(stored, rig.seen);
}
