//! What a terminal shows to people: the door to whoever draws it.

use koda_protocol::port::CommandState;
use koda_protocol::{SessionId, TaskId};
use serde::Serialize;

/// Draws terminals. Called from any thread; each call must return at once.
///
/// `terminal` is a number from 1. The calls for one terminal come in order: for each command `opened`,
/// then `output`, then `status` when it ends.
pub trait View: Send + Sync {
    /// A command begins in a terminal; the terminal may be new.
    fn opened(&self, terminal: u32, title: &str);

    /// A terminal prints: bytes as a terminal emulator reads them, at most a frame's worth.
    fn output(&self, terminal: u32, bytes: &[u8]);

    /// A command ended, or goes on in the background.
    fn status(&self, terminal: u32, status: &Status);
}

/// How far a terminal's newest command is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// How far it is.
    pub state: CommandState,
    /// The exit code. Absent while it runs and where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it (`TERM`), if one did.
    pub signal: Option<String>,
    /// Whether it seems to wait for somebody to type.
    pub waiting: bool,
}

/// What a list of terminals says of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TerminalInfo {
    /// Its number, from 1.
    pub terminal: u32,
    /// The session that it belongs to.
    pub session: SessionId,
    /// Its newest command.
    pub title: String,
    /// Names that command among the tasks.
    pub task_id: TaskId,
    /// How far the command is.
    pub status: Status,
}
