//! The engine: what all sessions share, and the doors for whoever drives them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use koda_protocol::checkpoint::Checkpoints;
use koda_protocol::port::{Clock, EventSink, Model};
use koda_protocol::rule::Rules;
use koda_protocol::{CallId, Decision, Mode, SessionId, ToolCall, ToolPolicy, Trust, UserError, Verdict};
use koda_tools::{Ports, Registry, Workplace};
use koda_trust::judge;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::dispatch::Dispatcher;
use crate::instructions::InstructionSettings;
use crate::journal::{Emitter, Journal, Stored};
use crate::repeats::Repeat;
use crate::session::{Change, Current, Session, SessionParts};
use crate::spending::{Budget, Ledger};

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
    /// Limits of what may be spent.
    pub budget: Budget,
    /// Files with instructions.
    pub instructions: InstructionSettings,
}

/// What an engine is made of.
pub struct EngineParts {
    /// The models.
    pub model: Arc<dyn Model>,
    /// The tools.
    pub registry: Arc<Registry>,
    /// The ports of the tools; the approver is whoever answers for the user.
    pub ports: Ports,
    /// What files were.
    pub checkpoints: Arc<dyn Checkpoints>,
    /// The rules that last.
    pub rules: Arc<dyn Rules>,
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
    /// What the session may cost from now on, in US dollars.
    pub max_cost: Option<f64>,
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

/// What the engine and its sessions have in common.
pub(crate) struct Shared {
    pub parts: EngineParts,
    pub journal: Journal,
    /// What this day's sessions have spent.
    pub ledger: Ledger,
    /// Every turn, and every call outside of one.
    pub tasks: TaskTracker,
}

/// The agent of one Neovim. None of its functions waits, but for those that are `async`.
pub struct Engine {
    shared: Arc<Shared>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
    /// By project: the sessions of calls outside of a conversation. They are neither stored nor begun by an
    /// event.
    loose: Mutex<HashMap<PathBuf, Arc<Session>>>,
    /// Stops the calls outside of a conversation that run now.
    calls: Mutex<CancellationToken>,
}

impl Engine {
    /// Builds an engine.
    pub fn new(parts: EngineParts) -> Self {
        let journal = Journal::start(parts.ports.store.clone(), parts.clock.clone(), parts.sinks.clone());
        let calls = Mutex::new(parts.cancel.child_token());
        let shared =
            Arc::new(Shared { parts, journal, ledger: Ledger::default(), tasks: TaskTracker::new() });
        Self { shared, sessions: Mutex::default(), loose: Mutex::default(), calls }
    }

    /// Opens a session; its stream begins with `session_start`.
    ///
    /// A session that is resumed while it is open is the same one, with the settings that are asked for.
    /// What is stored of one is read in the background; the first turn waits for it.
    ///
    /// # Errors
    ///
    /// `unknown_session` if there is nothing to resume, `store` if that can't be told, `usage` if `max_cost`
    /// can't be kept, since no price is known.
    pub fn open(&self, open: OpenSession) -> Result<Arc<Session>, UserError> {
        if open.max_cost.is_some() && self.shared.parts.model.facts(&open.model).price.is_none() {
            let message = format!("max_cost can't be kept: no price is known of {}", open.model);
            return Err(
                UserError::new("usage", message).hint("set it by the option `prices`, or leave max_cost out")
            );
        }
        let session = match &open.resume {
            Some(id) => match self.session(id) {
                Ok(session) if !session.is_lost() => session,
                _ => self.resume(id, &open)?,
            },
            None => self.build(self.new_id(), &open, None),
        };
        let OpenSession { model, mode, trust, unattended, max_cost, .. } = open;
        session.limit(max_cost);
        session.begin_stream(Change { mode, trust, model: Some(model) }, unattended);
        Ok(session)
    }

    fn resume(&self, id: &SessionId, open: &OpenSession) -> Result<Arc<Session>, UserError> {
        let known = self.shared.parts.ports.store.has(id);
        if !known.map_err(|error| UserError::new("store", error.to_string()))? {
            return Err(UserError::new("unknown_session", format!("there is no session {id}"))
                .hint(":Koda sessions lists those there are"));
        }
        let stored = self.shared.journal.read(id);
        Ok(self.build(id.clone(), open, Some(stored)))
    }

    fn build(&self, id: SessionId, open: &OpenSession, stored: Option<Stored>) -> Arc<Session> {
        let session = self.make(id.clone(), &open.root, stored, true);
        lock(&self.sessions).insert(id, session.clone());
        session
    }

    fn make(&self, id: SessionId, root: &Path, stored: Option<Stored>, keep: bool) -> Arc<Session> {
        let Shared { parts, journal, .. } = &*self.shared;
        let AgentSettings { mode, trust, home, instructions, .. } = &parts.settings;
        Session::new(SessionParts {
            emitter: Arc::new(Emitter::new(id.clone(), parts.clock.clone(), journal.clone(), keep)),
            id,
            shared: self.shared.clone(),
            workplace: Workplace::new(root, home.clone()).with_config(instructions.config.clone()),
            current: Current { mode: *mode, trust: *trust, model: String::new() },
            stored,
            keeps: keep,
        })
    }

    /// Returns an open session.
    ///
    /// # Errors
    ///
    /// `unknown_session` if it is not open.
    pub fn session(&self, id: &SessionId) -> Result<Arc<Session>, UserError> {
        lock(&self.sessions).get(id).cloned().ok_or_else(|| {
            UserError::new("unknown_session", format!("session {id} is not open"))
                .hint("open or resume it first")
        })
    }

    /// Makes a session that nobody hears of, to see what one would send.
    pub fn look(&self, root: &Path, model: String, mode: Option<Mode>, trust: Option<Trust>) -> Arc<Session> {
        let session = self.make(self.new_id(), root, None, false);
        session.prepare(Change { mode, trust, model: Some(model) });
        session
    }

    /// Runs a call outside of a conversation; its result is the event `tool_result` with the returned id.
    pub fn tool(&self, request: ToolRequest) -> CallId {
        let id = CallId(format!("tool-{}", NEXT_CALL.fetch_add(1, Ordering::Relaxed)));
        let session = self.loose(&request.root);
        let parts = &self.shared.parts;
        let mode = request.mode.unwrap_or(parts.settings.mode);
        let call = ToolCall { id: id.clone(), tool: request.tool, args: request.args, signature: None };
        let dispatcher = Dispatcher::new(&session, mode, request.trust, &lock(&self.calls).child_token());
        let run = async move {
            dispatcher.run([(call, Repeat::Fine)]).await;
        };
        self.shared.tasks.spawn_on(run, &parts.runtime);
        id
    }

    /// Judges a call without running it. What can't be understood is denied.
    pub fn judge(&self, request: &ToolRequest) -> Verdict {
        let session = self.loose(&request.root);
        let parts = &self.shared.parts;
        let mode = request.mode.unwrap_or(parts.settings.mode);
        let call = ToolCall {
            id: CallId("judge".to_owned()),
            tool: request.tool.clone(),
            args: request.args.clone(),
            signature: None,
        };
        match parts.registry.prepare(&call, mode, session.workplace()) {
            Ok(prepared) => judge(&session.policy(request.trust), &prepared.question()),
            Err(result) => Verdict {
                decision: Decision::Deny,
                class: None,
                reasons: vec![result.text],
                parts: Vec::new(),
                rule: None,
                always: None,
            },
        }
    }

    /// Stops every call outside of a conversation.
    pub fn stop_calls(&self) {
        let fresh = self.shared.parts.cancel.child_token();
        std::mem::replace(&mut *lock(&self.calls), fresh).cancel();
    }

    /// Stops every turn and call.
    pub fn stop_all(&self) {
        self.shared.parts.cancel.cancel();
    }

    /// Stops every turn and call, and returns when all have ended and their last events are stored and told.
    /// That takes less than a second. What is begun afterwards ends at once.
    pub async fn shutdown(&self) {
        self.stop_all();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.journal.flush().await;
    }

    fn loose(&self, root: &Path) -> Arc<Session> {
        let make = || self.make(self.new_id(), root, None, false);
        lock(&self.loose).entry(root.to_owned()).or_insert_with(make).clone()
    }

    /// Ids sort by time; the process id tells two Neovims apart.
    fn new_id(&self) -> SessionId {
        let number = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        SessionId(format!("{:012x}-{:x}-{number:x}", self.shared.parts.clock.now().0, std::process::id()))
    }
}

/// Locks, also after a panic elsewhere: the maps are whole at every moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
