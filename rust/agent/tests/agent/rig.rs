//! An engine with everything that it needs, and the checks that hold whatever happened.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use koda_agent::{
    AgentSettings, Budget, Desk, Engine, EngineParts, InstructionSettings, OpenSession, Session,
};
use koda_protocol::double::{MemoryCheckpoints, MemoryEditor, MemoryRules, MemoryStore, TestClock};
use koda_protocol::event::Answer;
use koda_protocol::port::{Editor, EventSink, ModelRequest, Store};
use koda_protocol::{
    AskId, CallId, Envelope, Event, Message, Mode, Outcome, Part, Role, Scope, ToolPolicy, Trust, UnixMillis,
};
use koda_tools::{Ports, Registry};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::stage::{Actor, Hall};

/// How long a test waits for an event that never comes.
const LOST: Duration = Duration::from_secs(20);

struct Sink(mpsc::UnboundedSender<Envelope>);

impl EventSink for Sink {
    fn emit(&self, envelope: &Envelope) {
        // The test may be over.
        let _ = self.0.send(envelope.clone());
    }
}

/// What a rig is made of, where a test wants it different.
pub struct Setup {
    pub max_steps: u32,
    pub tools: BTreeMap<String, ToolPolicy>,
    pub store: Arc<dyn Store>,
    /// Instead of the rig's memory.
    pub editor: Option<Arc<dyn Editor>>,
    pub instructions: InstructionSettings,
    pub budget: Budget,
}

impl Default for Setup {
    fn default() -> Self {
        let (tools, store) = (BTreeMap::new(), Arc::new(MemoryStore::default()));
        Self {
            max_steps: 20,
            tools,
            store,
            editor: None,
            instructions: InstructionSettings::default(),
            budget: Budget::default(),
        }
    }
}

pub struct Rig {
    pub engine: Engine,
    pub desk: Arc<Desk>,
    pub editor: Arc<MemoryEditor>,
    pub model: Arc<Actor>,
    pub store: Arc<dyn Store>,
    pub hall: Arc<Hall>,
    /// What was taken from the stream so far.
    pub seen: Vec<Event>,
    events: mpsc::UnboundedReceiver<Envelope>,
    project: tempfile::TempDir,
}

pub fn rig() -> Rig {
    Setup::default().rig()
}

impl Setup {
    pub fn rig(self) -> Rig {
        let (sender, events) = mpsc::unbounded_channel();
        let (desk, editor) = (Arc::new(Desk::default()), Arc::new(MemoryEditor::default()));
        let (model, hall) = (Arc::new(Actor::default()), Arc::new(Hall::default()));
        let engine = Engine::new(EngineParts {
            model: model.clone(),
            registry: Arc::new(Registry::standard()),
            ports: Ports {
                editor: self.editor.unwrap_or_else(|| editor.clone()),
                terminals: hall.clone(),
                store: self.store.clone(),
                approver: desk.clone(),
            },
            checkpoints: Arc::new(MemoryCheckpoints::default()),
            rules: Arc::new(MemoryRules::default()),
            clock: Arc::new(TestClock::new(UnixMillis(1_709_164_800_000))),
            sinks: vec![Arc::new(Sink(sender))],
            settings: AgentSettings {
                mode: Mode::Agent,
                trust: Trust::Safe,
                max_steps: self.max_steps,
                tools: self.tools,
                os: "test".to_owned(),
                home: None,
                budget: self.budget,
                instructions: self.instructions,
            },
            runtime: tokio::runtime::Handle::current(),
            cancel: CancellationToken::new(),
        });
        let project = tempfile::tempdir().unwrap();
        Rig { engine, desk, editor, model, store: self.store, hall, seen: Vec::new(), events, project }
    }
}

/// Accepts a whole call, or answers a question.
pub fn accepting(scope: Scope, text: Option<&str>) -> Answer {
    let (text, hunks) = (text.map(str::to_owned), None);
    Answer::Accept { scope, text, hunks, edited: Vec::new(), said: Vec::new() }
}

impl Rig {
    pub fn root(&self) -> PathBuf {
        self.project.path().canonicalize().unwrap()
    }

    pub fn opening(&self) -> OpenSession {
        OpenSession { root: self.root(), model: "m::m".to_owned(), ..OpenSession::default() }
    }

    pub fn open(&self, trust: Trust) -> Arc<Session> {
        self.engine.open(OpenSession { trust: Some(trust), ..self.opening() }).unwrap()
    }

    pub fn text_of(&self, path: &str) -> Option<String> {
        self.editor.text(self.root().join(path)).map(|text| text.to_string())
    }

    pub async fn next(&mut self) -> Event {
        let next = tokio::time::timeout(LOST, self.events.recv()).await;
        let event =
            next.unwrap_or_else(|_| panic!("nothing more came after {:#?}", self.seen)).unwrap().event;
        self.seen.push(event.clone());
        event
    }

    pub async fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await;
            if wanted(&event) {
                return event;
            }
        }
    }

    /// Waits for the end of the turn.
    pub async fn end(&mut self) -> Outcome {
        loop {
            if let Event::TurnEnd { outcome, .. } = self.next().await {
                return outcome;
            }
        }
    }

    /// Waits for an approval or a question.
    pub async fn asked(&mut self) -> AskId {
        loop {
            if let Event::Approval { id, .. } = self.next().await {
                return id;
            }
        }
    }

    /// Waits for the result of a call.
    pub async fn result(&mut self, wanted: &str) -> String {
        loop {
            if let Event::ToolResult { id, text, .. } = self.next().await
                && id.as_str() == wanted
            {
                return text;
            }
        }
    }

    pub fn accept(&self, id: &AskId, scope: Scope) {
        self.desk.answer(id, accepting(scope, None)).unwrap();
    }

    /// The results so far: id, whether it was done, text.
    pub fn results(&self) -> Vec<(String, bool, String)> {
        let result = |event: &Event| match event {
            Event::ToolResult { id, ok, text, .. } => Some((id.to_string(), *ok, text.clone())),
            _ => None,
        };
        self.seen.iter().filter_map(result).collect()
    }

    /// The errors so far, by their codes.
    pub fn errors(&self) -> Vec<String> {
        let error = |event: &Event| match event {
            Event::Error { error } => Some(error.code.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(error).collect()
    }

    pub fn notices(&self) -> Vec<String> {
        let notice = |event: &Event| match event {
            Event::Notice { text } => Some(text.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(notice).collect()
    }

    /// The names of the event types so far.
    pub fn types(&self) -> Vec<String> {
        let name = |event: &Event| match serde_json::to_value(event).unwrap().get("type") {
            Some(Value::String(name)) => name.clone(),
            _ => unreachable!("an event has a type"),
        };
        self.seen.iter().map(name).collect()
    }

    pub fn last_request(&self) -> ModelRequest {
        self.model.requests().pop().unwrap()
    }

    /// Sends one more prompt, which the model answers at once, and returns what the model was sent.
    pub async fn probe(&mut self, session: &Arc<Session>) -> Vec<Message> {
        self.model.says([crate::stage::text("Fine.")]);
        session.prompt("probe".to_owned(), String::new());
        assert_eq!(self.end().await, Outcome::Done, "{:#?}", self.seen);
        self.last_request().messages
    }

    /// Checks what holds after each turn, whatever happened in it.
    pub fn check(&self) {
        self.model.requests().iter().for_each(|request| check_conversation(&request.messages));
        let mut results: HashMap<CallId, u32> = HashMap::new();
        let mut open_asks = Vec::new();
        for event in &self.seen {
            match event {
                Event::ToolCall { id, .. } => {
                    assert!(results.insert(id.clone(), 0).is_none(), "{id} is called twice");
                }
                Event::ToolResult { id, .. } => {
                    *results.get_mut(id).unwrap_or_else(|| panic!("{id} was not called")) += 1;
                }
                Event::Approval { id, .. } => open_asks.push(id.clone()),
                Event::Answer { id, .. } => open_asks.retain(|open| open != id),
                _ => {}
            }
        }
        assert!(results.values().all(|count| *count == 1), "{results:?} {:#?}", self.seen);
        assert!(open_asks.is_empty() && self.desk.pending().is_empty(), "{open_asks:?}");
    }
}

/// Checks that the user begins and ends, roles alternate, nothing is empty, and each call has its one result in
/// the next message, in the order of the calls.
pub fn check_conversation(messages: &[Message]) {
    let shown = || serde_json::to_string_pretty(messages).unwrap();
    assert_eq!(messages.first().map(|message| message.role), Some(Role::User), "{}", shown());
    assert_eq!(messages.last().map(|message| message.role), Some(Role::User), "{}", shown());
    let ids = |message: &Message| -> Vec<CallId> { message.calls().map(|call| call.id.clone()).collect() };
    let mut asked = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        assert!(!message.parts.is_empty(), "{}", shown());
        assert!(index == 0 || messages[index - 1].role != message.role, "{}", shown());
        let result =
            |part: &Part| if let Part::Result(result) = part { Some(result.id.clone()) } else { None };
        let answered: Vec<CallId> = message.parts.iter().filter_map(result).collect();
        assert_eq!(answered, asked, "{}", shown());
        asked = ids(message);
    }
}

/// Arguments of an Edit with one replacement.
pub fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "edits": [{ "old": old, "new": new }] })
}

/// Arguments of a Write.
pub fn write(path: &str, content: &str) -> Value {
    json!({ "path": path, "content": content })
}

/// Arguments of a Bash.
pub fn bash(command: &str) -> Value {
    json!({ "command": command })
}
