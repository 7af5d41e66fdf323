//! Terminals that run nothing.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;

use super::lock;
use crate::id::TaskId;
use crate::port::{Command, CommandOutcome, CommandState, Terminals, TerminalsError};

/// Answers each command text with a set output and exit code, else with exit code 127.
///
/// The command `hang` runs until it is cancelled.
#[derive(Default)]
pub struct ScriptedTerminals {
    answers: HashMap<String, (String, i32)>,
    ran: Mutex<Vec<String>>,
}

impl ScriptedTerminals {
    /// Sets what `command` prints and exits with.
    #[must_use]
    pub fn on(mut self, command: &str, output: &str, exit_code: i32) -> Self {
        self.answers.insert(command.to_owned(), (output.to_owned(), exit_code));
        self
    }

    /// Returns the commands that ran, in order of their start.
    pub fn ran(&self) -> Vec<String> {
        lock(&self.ran).clone()
    }
}

#[async_trait]
impl Terminals for ScriptedTerminals {
    async fn run(&self, command: Command) -> Result<CommandOutcome, TerminalsError> {
        let number = {
            let mut ran = lock(&self.ran);
            ran.push(command.text.clone());
            ran.len()
        };
        let hangs = command.text == "hang";
        if hangs {
            command.cancel.cancelled().await;
        }
        let missing = (format!("{}: command not found\n", command.text), 127);
        let (output, code) = self.answers.get(&command.text).cloned().unwrap_or(missing);
        Ok(CommandOutcome {
            exit_code: (!hangs).then_some(code),
            signal: hangs.then(|| "TERM".to_owned()),
            pid: Some(1),
            task_id: TaskId(format!("sh:{number}")),
            state: if hangs { CommandState::Cancelled } else { CommandState::Done },
            verified: true,
            cwd: command.cwd,
            duration_ms: 0,
            terminal: 1,
            waiting: false,
            output_bytes: output.len() as u64,
            output,
        })
    }

    async fn shutdown(&self, _grace: Duration) {}
}
