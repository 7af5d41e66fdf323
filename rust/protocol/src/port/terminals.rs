//! Terminals: where commands run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::id::{CallId, SessionId, TaskId};

/// Hears the newest output of a command.
pub type OnOutput = Arc<dyn Fn(&str) + Send + Sync>;

/// Hears of the end of a command that had gone to the background. `output` of what it gets is what nobody was told
/// yet. Not called where somebody waited for that end, or asked for it.
pub type OnEnd = Arc<dyn Fn(&CommandOutcome) + Send + Sync>;

/// A command to run.
#[derive(Clone)]
pub struct Command {
    /// The shell text, run as it is.
    pub text: String,
    /// Absolute path of the folder to run in.
    pub cwd: PathBuf,
    /// The session that asks, for who owns the task.
    pub session: SessionId,
    /// The call that asks.
    pub call: CallId,
    /// Keep it within the sandbox, where there is one: nobody was asked about it.
    pub confined: bool,
    /// Return at once and let it run.
    pub background: bool,
    /// End the whole process group after this long. None: no limit.
    pub timeout: Option<Duration>,
    /// Go on in the background after this long. None: after five silent minutes.
    pub foreground_timeout: Option<Duration>,
    /// Cancelling it ends the process group (TERM, a grace time, KILL).
    pub cancel: CancellationToken,
    /// Gets the newest output now and then, as text for people. May be called from any thread.
    pub on_output: Option<OnOutput>,
    /// Hears of its end, if it goes to the background. May be called from any thread.
    pub on_end: Option<OnEnd>,
}

/// Whether something confines commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Commands are kept to what they may write.
    Sandbox,
    /// The system has nothing that confines commands.
    Missing,
    /// The user wants none.
    Off,
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// Still running, in the background.
    Running,
    /// Ended by itself.
    Done,
    /// Ended by us at its time limit.
    TimedOut,
    /// Ended by us on a stop.
    Cancelled,
}

/// What became of a command. Serialises to `data` of Bash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutcome {
    /// The exit code. Absent while it runs, where a signal ended it, and where it can't be known.
    pub exit_code: Option<i32>,
    /// The signal that ended it (`TERM`), if one did.
    pub signal: Option<String>,
    /// Process id of the command's shell.
    pub pid: Option<u32>,
    /// Names it among the background tasks; also given for a foreground command.
    pub task_id: TaskId,
    /// How far it is.
    pub state: CommandState,
    /// Whether start, end and exit code are certain (shell integration, or the process's own end).
    pub verified: bool,
    /// The folder that the shell is in afterwards.
    pub cwd: PathBuf,
    /// Milliseconds that it took so far.
    pub duration_ms: u64,
    /// The terminal that shows it: a number from 1.
    pub terminal: u32,
    /// Whether it seems to wait for somebody to type.
    #[serde(default)]
    pub waiting: bool,
    /// The output as the screen would show it: carriage returns, erasures and colours resolved. Of a task that is
    /// asked for again only what is new.
    #[serde(skip)]
    pub output: String,
    /// Bytes that came, before any cut.
    pub output_bytes: u64,
}

/// Why a command could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TerminalsError {
    /// The folder is missing or no folder.
    #[error("can't run in {path}: {reason}")]
    Cwd {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The shell could not be started.
    #[error("can't start the shell {shell}: {reason}")]
    Spawn {
        /// The shell.
        shell: String,
        /// Why not.
        reason: String,
    },
    /// No task has this id, or it ended long ago.
    #[error("there is no task {0}")]
    NoTask(TaskId),
    /// The task belongs to another session.
    #[error("task {0} belongs to another conversation")]
    Foreign(TaskId),
}

/// What a list says of a command that went to the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskInfo {
    /// Names it.
    pub task_id: TaskId,
    /// The shell text.
    pub command: String,
    /// How far it is.
    pub state: CommandState,
    /// The exit code, if it ended by itself and it is known.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<String>,
    /// Process id of its shell.
    pub pid: Option<u32>,
    /// The terminal that shows it.
    pub terminal: u32,
    /// Milliseconds since it began, or that it took.
    pub age_ms: u64,
    /// Bytes that it printed so far.
    pub output_bytes: u64,
    /// Whether it seems to wait for somebody to type.
    pub waiting: bool,
}

/// Where commands run. Its implementor owns the processes and ends them all when it is shut down.
#[async_trait]
pub trait Terminals: Send + Sync {
    /// Runs a command and returns when it has ended, or gone to the background.
    async fn run(&self, command: Command) -> Result<CommandOutcome, TerminalsError>;

    /// Tells whether something confines commands.
    fn confinement(&self) -> Confinement {
        Confinement::Off
    }

    /// Lists the commands of a session that went to the background, oldest first; the newest of those that ended
    /// are among them.
    fn tasks(&self, session: &SessionId) -> Vec<TaskInfo> {
        let _ = session;
        Vec::new()
    }

    /// Tells how far a task is, with the output that is new since the last time.
    ///
    /// # Errors
    ///
    /// If there is no such task, or it is another session's.
    fn look(&self, session: &SessionId, task: &TaskId) -> Result<CommandOutcome, TerminalsError> {
        let _ = session;
        Err(TerminalsError::NoTask(task.clone()))
    }

    /// Returns when a task has ended, as [`Terminals::look`] tells it then.
    ///
    /// # Errors
    ///
    /// If there is no such task, or it is another session's.
    async fn wait(&self, session: &SessionId, task: &TaskId) -> Result<CommandOutcome, TerminalsError> {
        self.look(session, task)
    }

    /// Ends a task's whole process group and tells what became of it. One that has ended stays as it is.
    ///
    /// # Errors
    ///
    /// If there is no such task, or it is another session's.
    async fn end(&self, session: &SessionId, task: &TaskId) -> Result<CommandOutcome, TerminalsError> {
        self.look(session, task)
    }

    /// Ends every process group, within `grace`, and returns when all are gone.
    async fn shutdown(&self, grace: Duration);
}
