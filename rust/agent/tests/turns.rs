//! Turns through the engine's doors, with the ports' doubles and the real tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use koda_agent::{AgentSettings, Change, Desk, Engine, EngineParts, OpenSession, Session, ToolRequest};
use koda_protocol::double::{MemoryEditor, MemoryStore, ScriptedModel, ScriptedTerminals, TestClock};
use koda_protocol::event::Answer;
use koda_protocol::port::{
    EventSink, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream, StopReason,
};
use koda_protocol::{
    AskId, Decision, Envelope, Event, Mode, Outcome, Part, Role, Scope, ToolCall, Trust, UnixMillis,
};
use koda_tools::{Ports, Registry};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

type Script = Vec<Vec<Result<ModelEvent, ModelError>>>;

struct Sink(mpsc::UnboundedSender<Envelope>);

impl EventSink for Sink {
    fn emit(&self, envelope: &Envelope) {
        // The test may be over.
        let _ = self.0.send(envelope.clone());
    }
}

struct Rig {
    engine: Engine,
    desk: Arc<Desk>,
    editor: Arc<MemoryEditor>,
    model: Arc<ScriptedModel>,
    store: Arc<MemoryStore>,
    terminals: Arc<ScriptedTerminals>,
    events: mpsc::UnboundedReceiver<Envelope>,
    seen: Vec<Event>,
    root: tempfile::TempDir,
}

fn rig(script: Script) -> Rig {
    rig_with(script, ScriptedTerminals::default().on("echo hi", "hi\n", 0))
}

fn rig_with(script: Script, terminals: ScriptedTerminals) -> Rig {
    let (sender, events) = mpsc::unbounded_channel();
    let (desk, editor) = (Arc::new(Desk::default()), Arc::new(MemoryEditor::default()));
    let (model, store) = (Arc::new(ScriptedModel::new(script)), Arc::new(MemoryStore::default()));
    let terminals = Arc::new(terminals);
    let engine = Engine::new(EngineParts {
        model: model.clone(),
        registry: Arc::new(Registry::standard()),
        ports: Ports {
            editor: editor.clone(),
            terminals: terminals.clone(),
            store: store.clone(),
            approver: desk.clone(),
        },
        clock: Arc::new(TestClock::new(UnixMillis(1_700_000_000_000))),
        sinks: vec![Arc::new(Sink(sender))],
        settings: AgentSettings {
            mode: Mode::Agent,
            trust: Trust::Safe,
            max_steps: 10,
            tools: BTreeMap::new(),
            os: "test".to_owned(),
            home: None,
        },
        runtime: tokio::runtime::Handle::current(),
        cancel: CancellationToken::new(),
    });
    let root = tempfile::tempdir().unwrap();
    Rig { engine, desk, editor, model, store, terminals, events, seen: Vec::new(), root }
}

impl Rig {
    fn root(&self) -> std::path::PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    fn open(&self, trust: Trust) -> Arc<Session> {
        let open = OpenSession {
            root: self.root(),
            model: "m::m".to_owned(),
            trust: Some(trust),
            ..Default::default()
        };
        self.engine.open(open).unwrap()
    }

    async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.events.recv().await.unwrap().event;
            self.seen.push(event.clone());
            if wanted(&event) {
                return event;
            }
        }
    }

    async fn end(&mut self) -> Outcome {
        match self.until(|event| matches!(event, Event::TurnEnd { .. })).await {
            Event::TurnEnd { outcome, .. } => outcome,
            _ => unreachable!(),
        }
    }

    async fn asked(&mut self) -> AskId {
        match self.until(|event| matches!(event, Event::Approval { .. })).await {
            Event::Approval { id, .. } => id,
            _ => unreachable!(),
        }
    }

    fn results(&self) -> Vec<(String, bool, String)> {
        let result = |event: &Event| match event {
            Event::ToolResult { id, ok, text, .. } => Some((id.to_string(), *ok, text.clone())),
            _ => None,
        };
        self.seen.iter().filter_map(result).collect()
    }

    fn last_request(&self) -> ModelRequest {
        self.model.requests().pop().unwrap()
    }
}

fn text(text: &str) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Text(text.to_owned()))
}

fn call(id: &str, tool: &str, args: Value) -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Call(ToolCall { id: id.into(), tool: tool.to_owned(), args, signature: None }))
}

fn stop() -> Result<ModelEvent, ModelError> {
    Ok(ModelEvent::Stop(StopReason::End))
}

/// Roles alternate, the user speaks last, and each call has its one result in the next message.
fn assert_valid(request: &ModelRequest) {
    let messages = &request.messages;
    assert_eq!(messages.last().unwrap().role, Role::User);
    for pair in messages.windows(2) {
        assert_ne!(pair[0].role, pair[1].role);
        let calls: Vec<_> = pair[0].calls().map(|call| call.id.clone()).collect();
        let results: Vec<_> = pair[1]
            .parts
            .iter()
            .filter_map(|part| if let Part::Result(result) = part { Some(result.id.clone()) } else { None })
            .collect();
        if pair[0].role == Role::Assistant {
            assert_eq!(calls, results);
        }
    }
}

#[tokio::test]
async fn calls_run_and_their_results_go_back_in_order() {
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "one", "new": "two" }] });
    let mut rig = rig(vec![
        vec![
            text("I look."),
            call("1", "Read", json!({ "path": "a.txt" })),
            call("2", "Bash", json!({ "command": "echo hi" })),
            stop(),
        ],
        vec![call("3", "Edit", edit), stop()],
        vec![text("Done."), stop()],
    ]);
    rig.editor.put(rig.root().join("a.txt"), "one\n");
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.editor.text(rig.root().join("a.txt")).as_deref(), Some("two\n"));
    assert!(rig.results().iter().all(|(_, ok, _)| *ok), "{:?}", rig.results());
    rig.model.requests().iter().for_each(assert_valid);
    assert_eq!(rig.model.requests().len(), 3);
}

#[tokio::test]
async fn edits_of_one_file_keep_the_models_order() {
    let edit = |old: &str, new: &str| json!({ "path": "a.txt", "edits": [{ "old": old, "new": new }] });
    let mut rig = rig(vec![
        vec![
            call("1", "Edit", edit("1", "2")),
            call("2", "Edit", edit("2", "3")),
            call("3", "Edit", json!({ "path": "./a.txt", "edits": [{ "old": "3", "new": "4" }] })),
            call("4", "Read", json!({ "path": "a.txt" })),
            stop(),
        ],
        vec![text("Done."), stop()],
    ]);
    rig.editor.put(rig.root().join("a.txt"), "1\n");
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let results = rig.results();
    assert!(results.iter().any(|(id, _, text)| id == "4" && text.contains("1\t4")), "{results:?}");
}

#[tokio::test]
async fn an_approval_holds_up_only_its_own_file() {
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let mut rig = rig(vec![
        vec![call("1", "Write", write("a")), call("2", "Bash", json!({ "command": "echo hi" })), stop()],
        vec![text("Done."), stop()],
    ]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    // The other call ends while the first one waits.
    rig.until(|event| matches!(event, Event::ToolResult { id, .. } if id.as_str() == "2")).await;
    assert_eq!(rig.desk.pending().len(), 1);
    rig.desk.answer(&id, Answer::Accept { scope: Scope::Once, text: None }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.editor.text(rig.root().join("a")).as_deref(), Some("x"));
}

#[tokio::test]
async fn a_rejection_reaches_the_model_with_its_reason() {
    let mut rig = rig(vec![
        vec![call("1", "Write", json!({ "path": "a", "content": "x" })), stop()],
        vec![text("Understood."), stop()],
    ]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    rig.desk.answer(&id, Answer::Reject { reason: Some("not here".to_owned()) }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.results()[0].2.contains("not here"));
    assert_eq!(rig.editor.text(rig.root().join("a")), None);
    assert!(rig.desk.answer(&id, Answer::Reject { reason: None }).is_err());
}

#[tokio::test]
async fn accepted_for_the_session_is_not_asked_again() {
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let mut rig = rig(vec![
        vec![call("1", "Write", write("a")), stop()],
        vec![call("2", "Write", write("b")), call("3", "Write", write("../c")), stop()],
        vec![text("Done."), stop()],
    ]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let first = rig.asked().await;
    rig.desk.answer(&first, Answer::Accept { scope: Scope::Session, text: None }).unwrap();
    // Only what lies outside still asks.
    let second = rig.asked().await;
    assert!(serde_json::to_string(&rig.desk.pending()[0].call.args).unwrap().contains("../c"));
    rig.desk.answer(&second, Answer::Reject { reason: None }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.editor.text(rig.root().join("b")).is_some());
}

#[tokio::test]
async fn nobody_there_ends_the_turn_with_every_call_answered() {
    let mut rig = rig(vec![vec![
        call("1", "Write", json!({ "path": "a", "content": "x" })),
        call("2", "Read", json!({ "path": "b" })),
        call("3", "AskUser", json!({ "question": "which?" })),
        stop(),
    ]]);
    let open =
        OpenSession { root: rig.root(), model: "m::m".to_owned(), unattended: true, ..Default::default() };
    rig.engine.open(open).unwrap().prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::NeedsApproval);
    assert_eq!(rig.results().len(), 3);
    assert_eq!(rig.editor.text(rig.root().join("a")), None);
}

#[tokio::test]
async fn stop_ends_a_running_command_and_the_history_stays_valid() {
    let mut rig = rig(vec![
        vec![
            text("I wait."),
            call("1", "Bash", json!({ "command": "hang" })),
            call("2", "Write", json!({ "path": "a", "content": "" })),
            stop(),
        ],
        vec![text("Hello."), stop()],
    ]);
    let session = rig.open(Trust::Safe);
    session.set(Change { trust: Some(Trust::Safe), ..Change::default() });
    session.prompt("go".to_owned(), String::new());
    // `hang` is not known as harmless, so both ask; the command is let go.
    let asks = [rig.asked().await, rig.asked().await];
    let hang = rig.desk.pending().iter().find(|ask| ask.call.tool == "Bash").unwrap().id.clone();
    assert!(asks.contains(&hang));
    rig.desk.answer(&hang, Answer::Accept { scope: Scope::Once, text: None }).unwrap();
    while rig.terminals.ran().is_empty() {
        tokio::task::yield_now().await;
    }
    session.cancel();
    assert_eq!(rig.end().await, Outcome::Cancelled);
    assert_eq!(rig.results().len(), 2);
    assert!(rig.desk.pending().is_empty());
    session.prompt("again".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert_valid(&rig.last_request());
}

/// A model that says one word and then nothing, until it is stopped.
struct Silent;

#[async_trait::async_trait]
impl Model for Silent {
    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        use futures::StreamExt;
        Ok(futures::stream::iter([text("word")]).chain(futures::stream::pending()).boxed())
    }
}

#[tokio::test]
async fn stop_ends_a_stream_and_keeps_what_had_come() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let rig = rig(vec![]);
    let mut parts_rig = rig;
    let session = {
        // The same rig, but with a model that never ends.
        let (sender, events) = mpsc::unbounded_channel();
        parts_rig.events = events;
        let engine = Engine::new(EngineParts {
            model: Arc::new(Silent),
            registry: Arc::new(Registry::standard()),
            ports: Ports {
                editor: parts_rig.editor.clone(),
                terminals: parts_rig.terminals.clone(),
                store: parts_rig.store.clone(),
                approver: parts_rig.desk.clone(),
            },
            clock: Arc::new(TestClock::default()),
            sinks: vec![Arc::new(Sink(sender))],
            settings: AgentSettings {
                mode: Mode::Agent,
                trust: Trust::Safe,
                max_steps: 10,
                tools: BTreeMap::new(),
                os: String::new(),
                home: None,
            },
            runtime: tokio::runtime::Handle::current(),
            cancel: CancellationToken::new(),
        });
        let open = OpenSession { root: parts_rig.root(), model: "m::m".to_owned(), ..Default::default() };
        engine.open(open).unwrap()
    };
    session.prompt("go".to_owned(), String::new());
    parts_rig.until(|event| matches!(event, Event::TextDelta { .. })).await;
    session.cancel();
    assert_eq!(parts_rig.end().await, Outcome::Cancelled);
    for event in &parts_rig.seen {
        if let Event::Message { message, cut } = event {
            seen.lock().unwrap().push((message.text(), *cut));
        }
    }
    assert_eq!(*seen.lock().unwrap(), [("word".to_owned(), true)]);
}

#[tokio::test]
async fn a_message_typed_meanwhile_goes_in_at_the_next_step() {
    let mut rig = rig(vec![
        vec![call("1", "Write", json!({ "path": "a", "content": "x" })), stop()],
        vec![text("Both."), stop()],
    ]);
    let session = rig.open(Trust::Safe);
    session.prompt("first".to_owned(), String::new());
    let id = rig.asked().await;
    session.prompt("second".to_owned(), String::new());
    rig.until(|event| matches!(event, Event::Queued { text } if text == "second")).await;
    rig.desk.answer(&id, Answer::Accept { scope: Scope::Once, text: None }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    let request = rig.last_request();
    assert_valid(&request);
    assert!(request.messages.last().unwrap().text().contains("second"));
}

#[tokio::test]
async fn errors_end_the_turn_and_the_next_one_works() {
    let failed = ModelError { kind: ModelErrorKind::Cut, message: "cut off".to_owned(), hint: None };
    let mut rig = rig(vec![
        vec![text("Half"), call("1", "Read", json!({ "path": "a" })), Err(failed)],
        vec![stop()],
        vec![stop()],
        vec![text("Fine."), stop()],
    ]);
    let session = rig.open(Trust::Safe);
    session.prompt("one".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert!(
        rig.seen.iter().any(|event| matches!(event, Event::Error { error } if error.message == "cut off"))
    );
    assert!(rig.results().is_empty(), "a call of a broken message ran");
    session.prompt("two".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed, "two empty replies are no answer");
    session.prompt("three".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    rig.model.requests().iter().for_each(assert_valid);
}

#[tokio::test]
async fn ids_that_clash_are_made_unique() {
    let mut rig = rig(vec![
        vec![
            call("x", "Think", json!({ "thought": "a" })),
            call("x", "Think", json!({ "thought": "b" })),
            call("", "Think", json!({ "thought": "c" })),
            stop(),
        ],
        vec![call("x", "Think", json!({ "thought": "d" })), stop()],
        vec![text("Done."), stop()],
    ]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let mut ids: Vec<String> = rig.results().into_iter().map(|(id, ..)| id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    rig.model.requests().iter().for_each(assert_valid);
}

#[tokio::test]
async fn limits_of_steps_and_repeats_stop_a_turn() {
    let distinct =
        (0..20).map(|n| vec![call("", "Think", json!({ "thought": n.to_string() })), stop()]).collect();
    let mut steps = rig(distinct);
    steps.open(Trust::Safe).prompt("go".to_owned(), String::new());
    assert_eq!(steps.end().await, Outcome::StepLimit);
    let same = (0..20).map(|_| vec![call("", "Think", json!({ "thought": "same" })), stop()]).collect();
    let mut repeats = rig(same);
    repeats.open(Trust::Safe).prompt("go".to_owned(), String::new());
    assert_eq!(repeats.end().await, Outcome::Failed);
    assert!(repeats.results()[4].2.contains("several times"));
}

#[tokio::test]
async fn a_stored_session_goes_on_with_open_calls_closed() {
    let mut rig = rig(vec![vec![text("One."), stop()], vec![text("Two."), stop()]]);
    let session = rig.open(Trust::Safe);
    session.prompt("first".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let resume = OpenSession {
        root: rig.root(),
        model: "m::m".to_owned(),
        resume: Some(session.id().clone()),
        ..Default::default()
    };
    rig.engine.open(resume).unwrap().prompt("second".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let request = rig.last_request();
    assert_valid(&request);
    assert_eq!(request.messages.len(), 3);
    let unknown = OpenSession { resume: Some("nosuch".into()), root: rig.root(), ..Default::default() };
    assert_eq!(rig.engine.open(unknown).err().unwrap().code, "unknown_session");
}

#[tokio::test]
async fn calls_outside_of_a_conversation_are_judged_alike() {
    let mut rig = rig(vec![]);
    let request = |tool: &str, args: Value, trust| ToolRequest {
        tool: tool.to_owned(),
        args,
        root: rig.root(),
        trust: Some(trust),
        mode: None,
    };
    let judge = |request: &ToolRequest| rig.engine.judge(request).decision;
    let remove = request("shell", json!({ "cmd": "rm -rf x" }), Trust::Auto);
    assert_eq!(judge(&remove), Decision::Ask);
    assert_eq!(judge(&request("Read", json!({ "file_path": "a" }), Trust::Plan)), Decision::Allow);
    assert_eq!(judge(&request("Nosuch", json!({}), Trust::Auto)), Decision::Deny);
    rig.editor.put(rig.root().join("a"), "x\n");
    let read = request("read_file", json!({ "target_file": "a" }), Trust::Plan);
    let id = rig.engine.tool(read);
    rig.until(|event| matches!(event, Event::ToolResult { .. })).await;
    assert_eq!(rig.results(), [(id.to_string(), true, "1\tx\n".to_owned())]);
    assert!(rig.store.sessions_of(Path::new("/")).is_empty());
}

trait SessionsOf {
    fn sessions_of(&self, root: &Path) -> Vec<String>;
}

impl SessionsOf for MemoryStore {
    fn sessions_of(&self, _: &Path) -> Vec<String> {
        use koda_protocol::port::Store;
        self.sessions(None).unwrap().into_iter().map(|session| session.id.to_string()).collect()
    }
}
