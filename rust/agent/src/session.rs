//! A session: one conversation, with its settings, its history and at most one running turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use koda_protocol::{Event, Message, Mode, Part, SessionId, ToolPolicy, ToolSpec, Trust, UnixMillis, Usage};
use koda_tools::{SessionState, Workplace};
use koda_trust::{Grant, Policy};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::emitter::Emitter;
use crate::engine::EngineParts;
use crate::history::{History, user_parts};
use crate::{prompt, turn};

/// What may change within a session.
#[derive(Clone, Debug)]
pub struct Current {
    /// Which tools are offered.
    pub mode: Mode,
    /// Who approves.
    pub trust: Trust,
    /// `provider::model`.
    pub model: String,
}

/// A change of a session's settings; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Which tools are offered.
    pub mode: Option<Mode>,
    /// Who approves.
    pub trust: Option<Trust>,
    /// `provider::model`.
    pub model: Option<String>,
}

struct State {
    current: Current,
    granted: Vec<Grant>,
    history: History,
    queued: VecDeque<(String, String)>,
    running: Option<CancellationToken>,
    total: Usage,
}

/// One conversation.
pub struct Session {
    id: SessionId,
    parts: Arc<EngineParts>,
    emitter: Arc<Emitter>,
    workplace: Workplace,
    memory: Arc<SessionState>,
    unattended: bool,
    system: OnceCell<String>,
    state: Mutex<State>,
}

impl Session {
    /// Builds a session. Its first event is the engine's to emit.
    pub(crate) fn new(
        id: SessionId,
        parts: Arc<EngineParts>,
        emitter: Arc<Emitter>,
        workplace: Workplace,
        current: Current,
        history: History,
        unattended: bool,
    ) -> Arc<Self> {
        let state = State {
            current,
            granted: Vec::new(),
            history,
            queued: VecDeque::new(),
            running: None,
            total: Usage::default(),
        };
        Arc::new(Self {
            id,
            parts,
            emitter,
            workplace,
            memory: Arc::default(),
            unattended,
            system: OnceCell::new(),
            state: Mutex::new(state),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Sends a message of the user. While a turn runs it is queued and goes in at the next step.
    pub fn prompt(self: &Arc<Self>, text: String, context: String) {
        let cancel = {
            let mut state = self.lock();
            if state.running.is_some() {
                state.queued.push_back((text.clone(), context));
                self.emitter.emit(Event::Queued { text });
                return;
            }
            let cancel = self.parts.cancel.child_token();
            state.running = Some(cancel.clone());
            self.take_in(&mut state, text, context);
            cancel
        };
        self.parts.runtime.spawn(turn::run(self.clone(), cancel));
    }

    fn take_in(&self, state: &mut State, text: String, context: String) {
        state.history.push_user(user_parts(&text, &context));
        self.emitter.emit(Event::UserMessage { text, context });
    }

    /// Stops the running turn, if one runs. The turn's end is told by its event.
    pub fn cancel(&self) {
        if let Some(cancel) = &self.lock().running {
            cancel.cancel();
        }
    }

    /// Tells whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.lock().running.is_some()
    }

    /// Changes settings; requests and judgements from now on follow them.
    pub fn set(&self, change: Change) {
        let mut state = self.lock();
        let current = &mut state.current;
        current.mode = change.mode.unwrap_or(current.mode);
        current.trust = change.trust.unwrap_or(current.trust);
        if let Some(model) = change.model {
            current.model = model;
        }
        let Current { mode, trust, model } = current.clone();
        self.emitter.emit(Event::Settings { mode, trust, model });
    }

    pub(crate) fn parts(&self) -> &EngineParts {
        &self.parts
    }

    pub(crate) fn emitter(&self) -> &Arc<Emitter> {
        &self.emitter
    }

    pub(crate) fn workplace(&self) -> &Workplace {
        &self.workplace
    }

    pub(crate) fn memory(&self) -> &Arc<SessionState> {
        &self.memory
    }

    pub(crate) fn unattended(&self) -> bool {
        self.unattended
    }

    pub(crate) fn now(&self) -> UnixMillis {
        self.parts.clock.now()
    }

    pub(crate) fn current(&self) -> Current {
        self.lock().current.clone()
    }

    pub(crate) fn history(&self) -> History {
        self.lock().history.clone()
    }

    pub(crate) fn push_assistant(&self, message: Message) {
        self.lock().history.push_assistant(message);
    }

    pub(crate) fn grant(&self, grant: Grant) {
        self.lock().granted.push(grant);
    }

    /// Returns who may do what right now; `trust` is taken instead of the session's own if given.
    pub(crate) fn policy(&self, trust: Option<Trust>) -> Policy {
        let state = self.lock();
        Policy {
            trust: trust.unwrap_or(state.current.trust),
            tools: self.parts.settings.tools.clone(),
            granted: state.granted.clone(),
            sub_agent: false,
        }
    }

    /// Returns what the model is offered in a mode: what the user switched off is not.
    pub(crate) fn offered(&self, mode: Mode) -> Vec<ToolSpec> {
        let off = |spec: &ToolSpec| self.parts.settings.tools.get(&spec.name) == Some(&ToolPolicy::Off);
        self.parts.registry.specs(mode).into_iter().filter(|spec| !off(spec)).collect()
    }

    /// Returns the system prompt: the same for the whole session.
    pub(crate) async fn system_prompt(&self) -> String {
        let build = || {
            let mode = self.current().mode;
            let root = self.workplace.resolver.root();
            prompt::build(mode, root, &self.parts.settings.os, self.parts.ports.editor.as_ref())
        };
        self.system.get_or_init(build).await.clone()
    }

    pub(crate) fn count(&self, usage: Usage) {
        let mut state = self.lock();
        state.total.add(&usage);
        let total = state.total;
        self.emitter.emit(Event::Usage { usage, total });
    }

    /// Puts results and then the messages that wait into the history; false if nothing was put.
    pub(crate) fn take_queued(&self, results: Vec<Part>) -> bool {
        let mut state = self.lock();
        let mut put = !results.is_empty();
        state.history.push_user(results);
        while let Some((text, context)) = state.queued.pop_front() {
            self.take_in(&mut state, text, context);
            put = true;
        }
        put
    }

    /// Gives each call without a result one, after a failure inside the turn.
    pub(crate) fn close_open_calls(&self) {
        let mut state = self.lock();
        let Some(last) = state.history.messages().last().filter(|last| last.calls().next().is_some()) else {
            return;
        };
        let closed = last.calls().map(|call| {
            Part::Result(koda_protocol::ToolResult {
                id: call.id.clone(),
                tool: call.tool.clone(),
                ok: false,
                text: "Koda failed before this ended. What it did is not known.".to_owned(),
                data: serde_json::Value::Null,
            })
        });
        let closed = closed.collect();
        state.history.push_user(closed);
    }

    /// Ends the turn; a message that came in at the last moment begins the next one.
    pub(crate) fn end_turn(self: &Arc<Self>, event: Event) {
        let mut state = self.lock();
        state.running = None;
        self.emitter.emit(event);
        let Some((text, context)) = state.queued.pop_front() else { return };
        drop(state);
        self.prompt(text, context);
    }
}
