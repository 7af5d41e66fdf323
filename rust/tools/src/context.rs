//! What a tool gets to work with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use koda_protocol::port::{Approver, Editor, Store, Terminals};
use koda_protocol::{CallId, Event, Mode, SessionId};
use koda_trust::{ResolvedPath, Resolver};
use tokio_util::sync::CancellationToken;

use crate::review::Review;
use crate::state::SessionState;

/// The ports that tools use.
#[derive(Clone)]
pub struct Ports {
    /// Files as the user sees them.
    pub editor: Arc<dyn Editor>,
    /// Where commands run.
    pub terminals: Arc<dyn Terminals>,
    /// Where long results go.
    pub store: Arc<dyn Store>,
    /// The user, for questions.
    pub approver: Arc<dyn Approver>,
}

/// Says what happens while a tool runs.
pub type Emit = Arc<dyn Fn(Event) + Send + Sync>;

/// Tells the model of something later, with the next request: a command in the background has ended.
pub type NoteLater = Arc<dyn Fn(String) + Send + Sync>;

/// Where a session works: its project and the folder that relative paths start from.
#[derive(Clone, Debug)]
pub struct Workplace {
    /// Absolute path of the folder that relative paths and commands start from.
    pub cwd: PathBuf,
    /// Resolves paths against the project.
    pub resolver: Resolver,
    /// Absolute path of the user's own folder of notes and instructions, if there is one.
    pub config: Option<PathBuf>,
}

impl Workplace {
    /// Builds the workplace of a project, working from its root.
    pub fn new(root: &Path, home: Option<PathBuf>) -> Self {
        let resolver = Resolver::new(root).with_home(home);
        Self { cwd: resolver.root().to_owned(), resolver, config: None }
    }

    /// Sets the user's own folder.
    #[must_use]
    pub fn with_config(self, config: Option<PathBuf>) -> Self {
        Self { config, ..self }
    }

    /// Resolves a path of a call.
    ///
    /// # Errors
    ///
    /// What was wrong with it, for the model.
    pub fn resolve(&self, text: &str) -> Result<ResolvedPath, String> {
        self.resolver.resolve(text, &self.cwd).map_err(|error| error.to_string())
    }
}

/// Everything that a running tool has.
#[derive(Clone)]
pub struct ToolContext {
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// In which mode.
    pub mode: Mode,
    /// Where it works.
    pub workplace: Workplace,
    /// What it works with.
    pub ports: Ports,
    /// What the session remembers.
    pub state: Arc<SessionState>,
    /// What the user said, if they were asked.
    pub review: Option<Review>,
    /// Cancelled when the user stops the turn.
    pub cancel: CancellationToken,
    /// Says what happens meanwhile.
    pub emit: Emit,
    /// Tells the model of what happens after the call.
    pub note: NoteLater,
}
