//! Stop, at each stage of a turn: all ends within a second, each call has its result, the next prompt works.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use koda_agent::Session;
use koda_protocol::port::{Diagnostic, Editor, EditorError, OpenFile, Written};
use koda_protocol::{Document, Event, Outcome, Revision, TextEdit, Trust};
use serde_json::json;

use crate::rig::{Rig, Setup, bash, edit, rig, write};
use crate::stage::{call, text};

/// Stops, and checks that everything ends in time and goes on afterwards.
async fn stop(rig: &mut Rig, session: &Arc<Session>) {
    let begun = Instant::now();
    session.cancel();
    assert_eq!(rig.end().await, Outcome::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(!session.snapshot().running);
    rig.probe(session).await;
    rig.check();
}

#[tokio::test]
async fn while_the_model_has_not_answered() {
    let mut rig = rig();
    rig.model.is_silent();
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    rig.model.asked(1).await;
    stop(&mut rig, &session).await;
    assert!(rig.errors().is_empty(), "a stop is no error");
}

#[tokio::test]
async fn while_the_model_speaks() {
    let mut rig = rig();
    let speech = rig.model.is_led();
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    speech.send(text("word")).unwrap();
    speech.send(call("1", "Bash", bash("touch x"))).unwrap();
    rig.until(|event| matches!(event, Event::TextDelta { .. })).await;
    stop(&mut rig, &session).await;
    let cut =
        |event: &Event| matches!(event, Event::Message { message, cut: true } if message.text() == "word");
    assert!(rig.seen.iter().any(cut));
    assert!(rig.results().is_empty(), "no call was told, none is answered");
    assert!(speech.is_closed(), "the stream is let go");
}

#[tokio::test]
async fn while_an_approval_and_a_question_wait() {
    let mut rig = rig();
    rig.model.says([
        call("1", "Write", write("a", "x")),
        call("2", "Edit", edit("a", "x", "y")),
        call("3", "AskUser", json!({ "question": "which?" })),
    ]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    let asks = [rig.asked().await, rig.asked().await];
    stop(&mut rig, &session).await;
    assert_eq!(rig.text_of("a"), None);
    assert_eq!(rig.results().len(), 3);
    for id in asks {
        assert!(rig.desk.answer(&id, koda_protocol::event::Answer::Nobody).is_err());
    }
}

#[tokio::test]
async fn while_a_command_runs() {
    let mut rig = rig();
    rig.model.says([text("I wait."), call("1", "Bash", bash("gate one"))]);
    let session = rig.open(Trust::Auto);
    session.prompt("go".to_owned(), String::new());
    rig.hall.has_begun("gate one").await;
    stop(&mut rig, &session).await;
    assert!(rig.results()[0].2.contains("gate one was here"), "what had come is kept: {:?}", rig.results());
}

#[tokio::test]
async fn while_a_tool_does_not_listen() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("stubborn")), call("2", "Bash", bash("fine"))]);
    let session = rig.open(Trust::Auto);
    session.prompt("go".to_owned(), String::new());
    rig.hall.has_begun("stubborn").await;
    stop(&mut rig, &session).await;
}

/// An editor that is slow to write, as one whose main thread is busy.
struct Slow {
    inner: Arc<dyn Editor>,
    writing: tokio::sync::Semaphore,
    going_on: tokio::sync::Semaphore,
    reading: bool,
}

#[async_trait]
impl Editor for Slow {
    async fn read(&self, path: &Path) -> Result<Document, EditorError> {
        if self.reading {
            self.writing.add_permits(1);
            self.going_on.acquire().await.unwrap().forget();
        }
        self.inner.read(path).await
    }

    async fn edit(&self, path: &Path, at: &Revision, edits: &[TextEdit]) -> Result<Written, EditorError> {
        self.writing.add_permits(1);
        self.going_on.acquire().await.unwrap().forget();
        self.inner.edit(path, at, edits).await
    }

    async fn create(&self, path: &Path, text: &str) -> Result<Written, EditorError> {
        self.inner.create(path, text).await
    }

    async fn delete(&self, path: &Path) -> Result<(), EditorError> {
        self.inner.delete(path).await
    }

    async fn unsaved(&self) -> Result<Vec<(PathBuf, Arc<str>)>, EditorError> {
        self.inner.unsaved().await
    }

    async fn open_files(&self) -> Result<Vec<OpenFile>, EditorError> {
        self.inner.open_files().await
    }

    async fn diagnostics(&self, paths: &[PathBuf]) -> Result<Vec<Diagnostic>, EditorError> {
        self.inner.diagnostics(paths).await
    }
}

fn slow(reading: bool) -> (Rig, Arc<Slow>) {
    let memory = Arc::new(koda_protocol::double::MemoryEditor::default());
    let slow = Arc::new(Slow {
        inner: memory.clone(),
        writing: tokio::sync::Semaphore::new(0),
        going_on: tokio::sync::Semaphore::new(0),
        reading,
    });
    let mut rig = Setup { editor: Some(slow.clone()), ..Setup::default() }.rig();
    rig.editor = memory;
    (rig, slow)
}

#[tokio::test]
async fn what_waits_behind_a_stopped_edit_is_not_begun() {
    let (mut rig, editor) = slow(false);
    rig.editor.put(rig.root().join("a"), "1");
    rig.model.says([call("1", "Edit", edit("a", "1", "2")), call("2", "Edit", edit("a", "2", "3"))]);
    let session = rig.open(Trust::Auto);
    session.prompt("go".to_owned(), String::new());
    editor.writing.acquire().await.unwrap().forget();
    session.cancel();
    // The first edit ends within its grace, after the stop; the second must not follow.
    editor.going_on.add_permits(10);
    assert_eq!(rig.end().await, Outcome::Cancelled);
    assert_eq!(rig.text_of("a").as_deref(), Some("2"));
    let mut results = rig.results();
    results.sort();
    assert_eq!(results.iter().map(|(_, ok, _)| *ok).collect::<Vec<_>>(), [true, false], "{results:?}");
    rig.probe(&session).await;
    rig.check();
}

#[tokio::test]
async fn while_the_editor_does_not_answer() {
    let (mut rig, editor) = slow(true);
    let session = rig.open(Trust::Auto);
    session.prompt("go".to_owned(), String::new());
    editor.writing.acquire().await.unwrap().forget();
    session.cancel();
    assert_eq!(rig.end().await, Outcome::Cancelled);
    assert!(rig.model.requests().is_empty());
    editor.going_on.add_permits(10);
    rig.probe(&session).await;
    rig.check();
}

#[tokio::test]
async fn without_a_turn_it_does_nothing() {
    let mut rig = rig();
    let session = rig.open(Trust::Safe);
    session.cancel();
    rig.probe(&session).await;
    session.cancel();
    rig.probe(&session).await;
    rig.check();
}

#[tokio::test]
async fn one_session_leaves_the_others_alone() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("gate one"))]);
    let (one, other) = (rig.open(Trust::Auto), rig.open(Trust::Auto));
    one.prompt("go".to_owned(), String::new());
    rig.hall.has_begun("gate one").await;
    other.cancel();
    rig.model.says([text("Done.")]);
    rig.hall.open("one");
    assert_eq!(rig.end().await, Outcome::Done);
    rig.check();
}
