//! A Neovim without a screen: `nvim --headless "+Koda run …"`.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value as Json;

use crate::{DEADLINE, Exit, Nvim, Place, Process};

/// A run that goes on. Killed when dropped.
pub struct Headless {
    process: Process,
    output: Receiver<Vec<u8>>,
    problem: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

/// A run that ended.
pub struct Finished {
    /// How.
    pub exit: Exit,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub problem: String,
}

impl Headless {
    /// Starts a run with these arguments after `--headless`.
    pub fn start(place: &Place, folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Nvim::find().command(place, folder);
        command.arg("--headless").args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (process, pipes) = Process::start(command, |child| (child.stdout.take(), child.stderr.take()));
        let (Some(output), Some(problem)) = pipes else { panic!("both pipes were asked for") };
        Self { process, output: pump(output), problem: pump(problem), seen: Vec::new() }
    }

    /// Starts a run like [`Headless::start`], after `setup` with these settings.
    pub fn with_settings(place: &Place, folder: &Path, settings: &Json, arguments: &[&str]) -> Self {
        let setup = format!("require('koda').setup(vim.json.decode([==[{settings}]==]))\n");
        let sourced = format!("+luafile {}", place.write("setup.lua", setup).display());
        Self::start(place, folder, &[&[sourced.as_str()], arguments].concat())
    }

    /// Waits until this text stands in the output.
    ///
    /// # Panics
    /// If the output ends without it, or it does not come.
    pub fn expect_text(&mut self, text: &str) {
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            match self.output.recv_timeout(DEADLINE) {
                Ok(piece) => self.seen.extend(piece),
                Err(problem) => {
                    panic!("no {text:?} ({problem}) in:\n{}", String::from_utf8_lossy(&self.seen))
                }
            }
        }
    }

    /// Returns the process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Waits until the run ends.
    ///
    /// # Panics
    /// If it does not within `limit`, with its output so far.
    pub fn finish_within(mut self, limit: Duration) -> Finished {
        let exit = self.process.wait(limit);
        self.seen.extend(self.output.iter().take_while(|_| exit.is_some()).flatten());
        let output = String::from_utf8_lossy(&self.seen).into_owned();
        let problem: Vec<u8> = self.problem.iter().take_while(|_| exit.is_some()).flatten().collect();
        let problem = String::from_utf8_lossy(&problem).into_owned();
        let exit = exit.unwrap_or_else(|| panic!("the run does not end; its output:\n{output}\n{problem}"));
        Finished { exit, output, problem }
    }

    /// Waits until the run ends.
    ///
    /// # Panics
    /// If it does not, with its output so far.
    pub fn finish(self) -> Finished {
        self.finish_within(DEADLINE)
    }
}

impl Finished {
    /// Returns the events of a `--json` run.
    ///
    /// # Panics
    /// If a line is no JSON object, with the line.
    pub fn events(&self) -> Vec<Json> {
        let parse = |line: &str| {
            let event: Json =
                serde_json::from_str(line).unwrap_or_else(|problem| panic!("{problem} in line: {line}"));
            assert!(event.is_object(), "no object: {line}");
            event
        };
        self.output.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
    }

    /// Returns the events of one type.
    pub fn events_of(&self, kind: &str) -> Vec<Json> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }
}

/// Reads a pipe in a thread of its own, so that a full pipe never stops the run.
fn pump(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut piece = [0; 8192];
        while let Ok(bytes @ 1..) = pipe.read(&mut piece) {
            if sender.send(piece[..bytes].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}
