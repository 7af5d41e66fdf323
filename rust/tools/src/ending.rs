//! How a command ended, in words for the model.

use koda_protocol::port::{CommandOutcome, CommandState};
use koda_text::cut::{self, Limits};

/// Of a command's output this much is told when it ends in the background, and by WaitTask.
const BRIEF: Limits = Limits { lines: 60, bytes: 6 * 1024 };

/// Says how a command ended, or that it goes on.
pub fn ending(outcome: &CommandOutcome) -> String {
    let how = match outcome.state {
        CommandState::Running => format!("it goes on in the background as {}", outcome.task_id),
        CommandState::Cancelled => "cancelled; the output above is what had come".to_owned(),
        state => ended(state, outcome.exit_code, outcome.signal.as_deref()),
    };
    if outcome.verified { how } else { format!("{how}; completion unverified") }
}

/// Says in a few words how far a task is.
pub fn ended(state: CommandState, exit_code: Option<i32>, signal: Option<&str>) -> String {
    match (state, exit_code, signal) {
        (CommandState::Running, ..) => "running".to_owned(),
        (CommandState::TimedOut, ..) => "ended at its time limit".to_owned(),
        (CommandState::Cancelled, ..) => "cancelled".to_owned(),
        (CommandState::Done, Some(code), _) => format!("exit code {code}"),
        (CommandState::Done, None, Some(signal)) => format!("ended by signal {signal}"),
        (CommandState::Done, None, None) => "ended; its exit code is not known".to_owned(),
    }
}

/// Returns the beginning and the end of the output.
pub fn brief(outcome: &CommandOutcome) -> String {
    cut::head_tail(outcome.output.trim_end(), BRIEF).text
}

/// Says what the model is told later of a command that ended in the background.
pub fn told_later(command: &str, outcome: &CommandOutcome) -> String {
    let title = cut::head(command, Limits { lines: 1, bytes: 200 }).text;
    let first = format!("[The background command {} ended: {}]", outcome.task_id, ending(outcome));
    let output = brief(outcome);
    let output = if output.is_empty() { "(no new output)".to_owned() } else { output };
    format!("{first}\n$ {}\n{output}", title.trim_end())
}
