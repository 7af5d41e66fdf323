//! A session: one conversation, with its settings, its history and at most one running turn.

mod conversation;
mod money;
mod prompting;
mod rewind;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use koda_protocol::port::{Confinement, StoreError};
use koda_protocol::rule::Rule;
use koda_protocol::{EVENT_VERSION, Event, Mode, Outcome, SessionId, Trust, UnixMillis, Usage, UserError};
use koda_tools::{SessionState, Workplace};
use koda_trust::{Grant, Policy};
use serde_json::Value;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio_util::sync::CancellationToken;

use crate::checkpoint::Keeper;
use crate::engine::{EngineParts, Shared};
use crate::history::History;
use crate::instructions::Nested;
use crate::journal::{Emitter, Stored};
use crate::notes::Notes;
use crate::prompt::PromptPart;
use crate::refusals::Refusals;
use crate::spending::Purse;

pub use rewind::{Rewind, Rewound};

/// What may change within a session.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Current {
    fn change(&mut self, change: Change) {
        self.mode = change.mode.unwrap_or(self.mode);
        self.trust = change.trust.unwrap_or(self.trust);
        if let Some(model) = change.model {
            self.model = model;
        }
    }
}

/// How a session is at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// Its settings.
    pub current: Current,
    /// Whether a turn runs.
    pub running: bool,
    /// Messages of the user that wait for the next step, or for the next prompt.
    pub queued: usize,
    /// Tokens so far.
    pub total: Usage,
}

/// A stored conversation that is to be gone on with.
enum Recall {
    Due(Stored),
    Done,
    Failed(UserError),
}

/// What a session is made of.
pub(crate) struct SessionParts {
    pub id: SessionId,
    pub shared: Arc<Shared>,
    pub emitter: Arc<Emitter>,
    pub workplace: Workplace,
    pub current: Current,
    /// What is stored of it, if it is resumed.
    pub stored: Option<Stored>,
    /// Whether it is a conversation, whose changes can be taken back.
    pub keeps: bool,
}

struct State {
    current: Current,
    unattended: bool,
    granted: Vec<Grant>,
    /// The rules as they were last read; none before they could be.
    rules: Option<Vec<Rule>>,
    refused: Refusals,
    history: History,
    /// Messages of the user so far, those that were taken back too.
    messages: u64,
    queued: VecDeque<(String, String)>,
    notes: Notes,
    running: Option<CancellationToken>,
    total: Usage,
    /// Of the running turn, or the last one.
    turn_usage: Option<Usage>,
    /// Of the last request.
    last_usage: Option<Usage>,
    purse: Purse,
}

/// One conversation.
pub struct Session {
    id: SessionId,
    shared: Arc<Shared>,
    emitter: Arc<Emitter>,
    workplace: Workplace,
    memory: Arc<SessionState>,
    /// None for calls outside of a conversation.
    keeper: Option<Keeper>,
    recall: AsyncMutex<Recall>,
    system: AsyncMutex<Option<(Mode, Trust, Vec<PromptPart>)>>,
    nested: Nested,
    /// Told when a verdict may be another than before.
    changes: watch::Sender<()>,
    /// Held for moments only: Neovim's main thread takes it too.
    state: Mutex<State>,
}

impl Session {
    /// Builds a session. Its first event is the engine's to emit.
    pub(crate) fn new(parts: SessionParts) -> Arc<Self> {
        let SessionParts { id, shared, emitter, workplace, current, stored, keeps } = parts;
        let state = State {
            current,
            unattended: false,
            granted: Vec::new(),
            rules: None,
            refused: Refusals::default(),
            history: History::default(),
            messages: 0,
            queued: VecDeque::new(),
            notes: Notes::default(),
            running: None,
            total: Usage::default(),
            turn_usage: None,
            last_usage: None,
            purse: Purse::default(),
        };
        let keeper = keeps.then(|| {
            let EngineParts { checkpoints, ports, .. } = &shared.parts;
            Keeper::new(id.clone(), checkpoints.clone(), ports.editor.clone())
        });
        Arc::new(Self {
            id,
            keeper,
            shared,
            emitter,
            workplace,
            memory: Arc::default(),
            recall: AsyncMutex::new(stored.map_or(Recall::Done, Recall::Due)),
            system: AsyncMutex::default(),
            nested: Nested::default(),
            changes: watch::Sender::new(()),
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

    /// Returns how the session is right now.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.lock();
        Snapshot {
            current: state.current.clone(),
            running: state.running.is_some(),
            queued: state.queued.len(),
            total: state.total,
        }
    }

    /// Sends a message of the user. While a turn runs it is queued and goes in at the next step.
    ///
    /// What is still queued from a turn that did not end well goes along. An empty message is answered by
    /// an error and the end of a turn.
    pub fn prompt(self: &Arc<Self>, text: String, context: String) {
        let mut state = self.lock();
        if text.trim().is_empty() && context.trim().is_empty() {
            let error = UserError::new("usage", "the prompt is empty").hint("say what is to be done");
            self.emitter.emit(Event::Error { error });
            if state.running.is_none() {
                self.emitter.emit(Event::TurnEnd {
                    outcome: Outcome::Failed,
                    steps: 0,
                    duration_ms: 0,
                    usage: None,
                    cost: None,
                });
            }
            return;
        }
        state.refused.clear();
        if state.running.is_some() {
            self.emitter.emit(Event::Queued { text: text.clone() });
            state.queued.push_back((text, context));
            return;
        }
        state.queued.push_back((text, context));
        self.begin(&mut state);
    }

    /// Stops the running turn, if one runs. The turn's end is told by its event.
    pub fn cancel(&self) {
        if let Some(cancel) = &self.lock().running {
            cancel.cancel();
        }
    }

    /// Takes settings without telling anybody.
    pub(crate) fn prepare(&self, change: Change) {
        self.lock().current.change(change);
    }

    /// Begins the stream of whoever opened the session, with the settings that they ask for.
    pub(crate) fn begin_stream(&self, change: Change, unattended: bool) {
        let mut state = self.lock();
        state.unattended = unattended;
        state.current.change(change);
        let Current { mode, trust, model } = state.current.clone();
        let cwd = self.workplace.resolver.root().to_string_lossy().into_owned();
        self.emitter.emit(Event::SessionStart { version: EVENT_VERSION, cwd, model, mode, trust });
        drop(state);
        self.changes.send_replace(());
    }

    /// Changes settings; requests and judgements from now on follow them. What waits for an approval that
    /// is not needed any more goes on.
    pub fn set(&self, change: Change) {
        let mut state = self.lock();
        state.current.change(change);
        let Current { mode, trust, model } = state.current.clone();
        self.emitter.emit(Event::Settings { mode, trust, model });
        drop(state);
        self.changes.send_replace(());
    }

    pub(crate) fn parts(&self) -> &EngineParts {
        &self.shared.parts
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
        self.lock().unattended
    }

    pub(crate) fn now(&self) -> UnixMillis {
        self.parts().clock.now()
    }

    pub(crate) fn current(&self) -> Current {
        self.lock().current.clone()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(crate) fn grant(&self, grant: Grant) {
        self.lock().granted.push(grant);
        self.changes.send_replace(());
    }

    /// Notes a call that the user rejected; its turn does not ask for it again before they say something new.
    pub(crate) fn refuse(&self, tool: &str, args: &Value) {
        let mut state = self.lock();
        // Calls outside of a turn are somebody's own wish each time.
        if state.running.is_some() {
            state.refused.note(tool, args);
        }
    }

    /// Whether the user rejected this very call since their last message.
    pub(crate) fn has_refused(&self, tool: &str, args: &Value) -> bool {
        self.lock().refused.has(tool, args)
    }

    /// Returns who may do what right now; `trust` is taken instead of the session's own if given.
    pub(crate) fn policy(&self, trust: Option<Trust>) -> Policy {
        let (rules, rules_unknown) = match self.rules() {
            Ok(rules) => (rules, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let state = self.lock();
        Policy {
            trust: trust.unwrap_or(state.current.trust),
            tools: self.parts().settings.tools.clone(),
            granted: state.granted.clone(),
            rules,
            rules_unknown,
            sub_agent: false,
            no_sandbox: self.parts().ports.terminals.confinement() == Confinement::Missing,
        }
    }

    /// Returns the rules that hold in the project. While they can't be read, those known before hold; an error if
    /// none are known.
    fn rules(&self) -> Result<Vec<Rule>, StoreError> {
        let root = self.root();
        match self.parts().rules.list() {
            Ok(mut rules) => {
                rules.retain(|rule| rule.holds_in(&root));
                self.lock().rules = Some(rules.clone());
                Ok(rules)
            }
            Err(error) => {
                tracing::warn!(%error, "the rules can't be read");
                self.lock().rules.clone().ok_or(error)
            }
        }
    }

    fn root(&self) -> String {
        self.workplace.resolver.root().to_string_lossy().into_owned()
    }

    /// Counts a use of a rule, in the background: it waits for the disk. That it can't be counted changes nothing
    /// for the call.
    pub(crate) fn count_use(&self, rule: u64) {
        let (rules, now) = (self.parts().rules.clone(), self.now());
        let count = move || {
            if let Err(error) = rules.used(rule, now) {
                tracing::warn!(%error, "a rule's use is not counted");
            }
        };
        self.shared.tasks.spawn_blocking_on(count, &self.parts().runtime);
    }

    /// Keeps a rule for this project that allows what `grant` covers.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub(crate) fn keep(&self, grant: Grant) -> Result<Rule, StoreError> {
        let (project, created) = (Some(self.root()), self.now());
        let rule = Rule { id: 0, project, deny: false, what: grant, created, uses: 0, last_use: None };
        let rule = self.parts().rules.add(rule)?;
        self.changes.send_replace(());
        Ok(rule)
    }

    pub(crate) fn nested(&self) -> &Nested {
        &self.nested
    }
}
