//! The engine: what all sessions share, and the doors for whoever drives them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use koda_protocol::port::{Clock, EventSink, Model, Store};
use koda_protocol::{
    CallId, Decision, EVENT_VERSION, Event, Mode, SessionId, ToolCall, ToolPolicy, Trust, UserError, Verdict,
};
use koda_tools::{Ports, Registry, Workplace};
use koda_trust::judge;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::dispatch::Dispatcher;
use crate::emitter::Emitter;
use crate::history::History;
use crate::session::{Current, Session};

/// Settings of the agent.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// Which tools are offered unless a session says otherwise.
    pub mode: Mode,
    /// Who approves unless a session says otherwise.
    pub trust: Trust,
    /// Steps that a turn may take.
    pub max_steps: u32,
    /// The user's setting for single tools, by canonical name.
    pub tools: BTreeMap<String, ToolPolicy>,
    /// The operating system, for the prompt.
    pub os: String,
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
}

/// What an engine is made of.
pub struct EngineParts {
    /// The models.
    pub model: Arc<dyn Model>,
    /// The tools.
    pub registry: Arc<Registry>,
    /// The ports of the tools; the approver is whoever answers for the user.
    pub ports: Ports,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Who hears every event.
    pub sinks: Vec<Arc<dyn EventSink>>,
    /// The settings.
    pub settings: AgentSettings,
    /// Where turns run.
    pub runtime: Handle,
    /// Cancelled when everything is to end.
    pub cancel: CancellationToken,
}

/// How to open a session.
#[derive(Clone, Debug, Default)]
pub struct OpenSession {
    /// Absolute path of the project.
    pub root: PathBuf,
    /// `provider::model`.
    pub model: String,
    /// Which tools are offered; the settings' mode if absent.
    pub mode: Option<Mode>,
    /// Who approves; the settings' trust if absent.
    pub trust: Option<Trust>,
    /// A stored session to go on with.
    pub resume: Option<SessionId>,
    /// Whether nobody is there to answer.
    pub unattended: bool,
}

/// A call outside of a conversation.
#[derive(Clone, Debug)]
pub struct ToolRequest {
    /// Any name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: serde_json::Value,
    /// Absolute path of the project.
    pub root: PathBuf,
    /// Who approves; the settings' trust if absent.
    pub trust: Option<Trust>,
    /// Which tools are offered; the settings' mode if absent.
    pub mode: Option<Mode>,
}

/// Makes ids of calls unique within the process.
static NEXT_CALL: AtomicU64 = AtomicU64::new(1);

/// Makes ids of sessions unique within the process and millisecond.
static NEXT_SESSION: AtomicU64 = AtomicU64::new(1);

/// The agent of one Neovim.
pub struct Engine {
    parts: Arc<EngineParts>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    /// By project: the sessions of calls outside of a conversation.
    loose: Mutex<HashMap<PathBuf, Arc<Session>>>,
}

impl Engine {
    /// Builds an engine.
    pub fn new(parts: EngineParts) -> Self {
        Self { parts: Arc::new(parts), sessions: Mutex::default(), loose: Mutex::default() }
    }

    /// Opens a session; its stream begins with `session_start`.
    ///
    /// # Errors
    ///
    /// `unknown_session` if there is nothing to resume, `store` if it can't be read.
    pub fn open(&self, open: OpenSession) -> Result<Arc<Session>, UserError> {
        let history = match &open.resume {
            Some(id) => self.stored(id)?,
            None => History::default(),
        };
        let id = open.resume.unwrap_or_else(|| self.new_id());
        let store: Arc<dyn Store> = self.parts.ports.store.clone();
        let emitter = self.emitter(&id, Some(store));
        let settings = &self.parts.settings;
        let current = Current {
            mode: open.mode.unwrap_or(settings.mode),
            trust: open.trust.unwrap_or(settings.trust),
            model: open.model,
        };
        let workplace = Workplace::new(&open.root, settings.home.clone());
        let start = start_event(&current, workplace.resolver.root());
        let parts = self.parts.clone();
        let session = Session::new(id.clone(), parts, emitter, workplace, current, history, open.unattended);
        session.emitter().emit(start);
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(id, session.clone());
        Ok(session)
    }

    fn stored(&self, id: &SessionId) -> Result<History, UserError> {
        let events = self.parts.ports.store.events(id);
        let events = events.map_err(|error| UserError::new("store", error.to_string()))?;
        if events.is_empty() {
            return Err(UserError::new("unknown_session", format!("there is no session {id}"))
                .hint(":Koda sessions lists those there are"));
        }
        Ok(History::from_events(&events))
    }

    /// Returns an open session.
    ///
    /// # Errors
    ///
    /// `unknown_session` if it is not open.
    pub fn session(&self, id: &SessionId) -> Result<Arc<Session>, UserError> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(id).cloned().ok_or_else(|| {
            UserError::new("unknown_session", format!("session {id} is not open"))
                .hint("open or resume it first")
        })
    }

    /// Runs a call outside of a conversation; its result is the event `tool_result` with the returned id.
    pub fn tool(&self, request: ToolRequest) -> CallId {
        let id = CallId(format!("tool-{}", NEXT_CALL.fetch_add(1, Ordering::Relaxed)));
        let session = self.loose(&request.root);
        let mode = request.mode.unwrap_or(self.parts.settings.mode);
        let call = ToolCall { id: id.clone(), tool: request.tool, args: request.args, signature: None };
        let cancel = self.parts.cancel.child_token();
        let dispatcher = Dispatcher::new(&session, mode, &cancel);
        self.parts.runtime.spawn(async move {
            dispatcher.run(&[call], &|_| "", &|| session.policy(request.trust)).await;
        });
        id
    }

    /// Judges a call without running it. What can't be understood is denied.
    pub fn judge(&self, request: &ToolRequest) -> Verdict {
        let session = self.loose(&request.root);
        let mode = request.mode.unwrap_or(self.parts.settings.mode);
        let call = ToolCall {
            id: CallId("judge".to_owned()),
            tool: request.tool.clone(),
            args: request.args.clone(),
            signature: None,
        };
        match self.parts.registry.prepare(&call, mode, session.workplace()) {
            Ok(prepared) => judge(&session.policy(request.trust), &prepared.question()),
            Err(result) => Verdict {
                decision: Decision::Deny,
                class: None,
                reasons: vec![result.text],
                parts: Vec::new(),
                rule: None,
            },
        }
    }

    /// Stops every turn and call.
    pub fn stop_all(&self) {
        self.parts.cancel.cancel();
    }

    fn loose(&self, root: &Path) -> Arc<Session> {
        let mut loose = self.loose.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let id = self.new_id();
            let settings = &self.parts.settings;
            let current = Current { mode: settings.mode, trust: settings.trust, model: String::new() };
            let workplace = Workplace::new(root, settings.home.clone());
            let emitter = self.emitter(&id, None);
            Session::new(id, self.parts.clone(), emitter, workplace, current, History::default(), false)
        };
        loose.entry(root.to_owned()).or_insert_with(make).clone()
    }

    fn emitter(&self, id: &SessionId, store: Option<Arc<dyn Store>>) -> Arc<Emitter> {
        let parts = &self.parts;
        Arc::new(Emitter::new(id.clone(), parts.clock.clone(), store, parts.sinks.clone()))
    }

    /// Ids sort by time; the process id tells two Neovims apart.
    fn new_id(&self) -> SessionId {
        let number = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        SessionId(format!("{:012x}-{:x}-{number:x}", self.parts.clock.now().0, std::process::id()))
    }
}

fn start_event(current: &Current, root: &Path) -> Event {
    Event::SessionStart {
        version: EVENT_VERSION,
        cwd: root.to_string_lossy().into_owned(),
        model: current.model.clone(),
        mode: current.mode,
        trust: current.trust,
    }
}
