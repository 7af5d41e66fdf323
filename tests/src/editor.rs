//! A Neovim over RPC, with its screen.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use regex::Regex;
use rmpv::Value;
use serde_json::Value as Json;

use crate::wire::Wire;
use crate::{DEADLINE, Exit, Grid, Nvim, Place, Process, SIZE};

/// How often a condition that no event announces is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Gives each of Koda's groups a look of its own, so that the screen names them and not what they link to.
const NAME_GROUPS: &str = r"
  for index, name in ipairs(vim.fn.getcompletion('Koda', 'highlight')) do
    vim.api.nvim_set_hl(0, name, { fg = index })
  end";

/// How an [`Editor`] is opened.
pub struct Opening<'a> {
    place: &'a Place,
    folder: &'a Path,
    nvim: Nvim,
    arguments: Vec<String>,
}

/// A Neovim with a screen of [`SIZE`]. Killed when dropped.
pub struct Editor<'a> {
    process: Process,
    wire: Wire,
    place: &'a Place,
}

impl<'a> Opening<'a> {
    /// Opens in a folder, with the Neovim under test and the built library.
    pub fn new(place: &'a Place, folder: &'a Path) -> Self {
        Self { place, folder, nvim: Nvim::find(), arguments: Vec::new() }
    }

    /// Opens in a folder, whether or not the library is built.
    pub fn without_library(place: &'a Place, folder: &'a Path) -> Self {
        Self { place, folder, nvim: Nvim::find_without_library(), arguments: Vec::new() }
    }

    /// Runs Koda from a copy of the checkout.
    #[must_use]
    pub fn checkout(self, checkout: &Path) -> Self {
        Self { nvim: self.nvim.with_checkout(checkout), ..self }
    }

    /// Adds arguments, such as a file to open.
    #[must_use]
    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }

    /// Starts it and attaches the screen.
    ///
    /// # Panics
    /// If Neovim does not start.
    pub fn open(self) -> Editor<'a> {
        let mut command = self.nvim.command(self.place, self.folder);
        command.arg("--embed").args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (process, pipes) =
            Process::start(command, |child: &mut Child| (child.stdout.take(), child.stdin.take()));
        let (Some(output), Some(input)) = pipes else { panic!("both pipes were asked for") };
        let editor = Editor { process, wire: Wire::new(output, input), place: self.place };
        let options = ["rgb", "ext_linegrid", "ext_hlstate"].map(|name| (name.into(), true.into())).to_vec();
        editor.request("nvim_ui_attach", vec![SIZE.0.into(), SIZE.1.into(), Value::Map(options)]);
        editor
    }
}

impl Editor<'_> {
    /// Runs Lua and returns what it returns. The arguments are `...`.
    ///
    /// # Panics
    /// If it fails, or Neovim waits for a key.
    pub fn lua(&self, code: &str, arguments: &[Json]) -> Json {
        let arguments = arguments.iter().map(to_wire).collect();
        to_json(&self.request("nvim_exec_lua", vec![code.into(), Value::Array(arguments)]))
    }

    /// Calls `require("koda").setup`.
    pub fn setup(&self, settings: &Json) {
        self.lua("require('koda').setup(...)", std::slice::from_ref(settings));
    }

    /// Runs an Ex command.
    pub fn command(&self, command: &str) {
        self.request("nvim_command", vec![command.into()]);
    }

    /// Types keys, in Neovim's notation.
    pub fn input(&self, keys: &str) {
        self.request("nvim_input", vec![keys.into()]);
    }

    /// Types a command line without waiting for what it does, as `:qa` needs.
    pub fn type_command(&self, command: &str) {
        self.input(&format!("<C-\\><C-n>:{}<CR>", command.replace('<', "<lt>")));
    }

    /// Waits until Lua returns something true and returns it. The arguments are `...`.
    ///
    /// # Panics
    /// If that does not happen.
    pub fn until(&self, code: &str, arguments: &[Json]) -> Json {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let seen = self.lua(code, arguments);
            if !matches!(seen, Json::Null | Json::Bool(false)) {
                return seen;
            }
            if Instant::now() > deadline {
                self.fail(&format!("Lua that becomes true: {code}"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Waits for a screen. `what` says in words what is expected.
    ///
    /// # Panics
    /// If no such screen comes, with the last one, Neovim's state and all logs.
    pub fn expect(&self, what: &str, matches: impl Fn(&Grid) -> bool) -> Grid {
        let found = self.wire.wait(DEADLINE, |arrived| matches(&arrived.grid).then(|| arrived.grid.clone()));
        found.unwrap_or_else(|| self.fail(what))
    }

    /// Waits for a text on the screen.
    ///
    /// # Panics
    /// If it does not come.
    pub fn expect_text(&self, text: &str) -> Grid {
        self.expect(&format!("the text {text:?}"), |grid| grid.has(text))
    }

    /// Waits for the next notification that Lua sends with `vim.rpcnotify(1, NAME, ...)`.
    ///
    /// # Panics
    /// If none comes.
    pub fn notified(&self, name: &str) -> Vec<Json> {
        let found = self.wire.wait(DEADLINE, |arrived| {
            let index = arrived.notified.iter().position(|(known, _)| known == name)?;
            arrived.notified.remove(index)
        });
        let (_, arguments) = found.unwrap_or_else(|| self.fail(&format!("a notification {name}")));
        arguments.iter().map(to_json).collect()
    }

    /// Makes the screen name Koda's own groups, and returns the screen drawn after that.
    ///
    /// Durations, clock times, spinners and scratch paths are blotted out, in their width. The message line is emptied:
    /// what Neovim says about the files of a test is not what the test is about.
    pub fn snapshot(&self) -> String {
        self.lua(NAME_GROUPS, &[]);
        self.command("echo '' | redraw!");
        let grid = self.wire.wait(DEADLINE, |arrived| Some(arrived.grid.clone()));
        let scratch = self.place.path().display().to_string();
        grid.unwrap_or_default().snapshot(|row| redact(row, &scratch))
    }

    /// Returns the screen as it is.
    pub fn grid(&self) -> Grid {
        self.wire.wait(DEADLINE, |arrived| Some(arrived.grid.clone())).unwrap_or_default()
    }

    /// Waits until Neovim ends. `None` if it has not within `limit`.
    #[must_use]
    pub fn exit(&self, limit: Duration) -> Option<Exit> {
        self.process.wait(limit)
    }

    /// Returns Neovim's process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    fn request(&self, method: &str, arguments: Vec<Value>) -> Value {
        match self.wire.request(method, arguments, DEADLINE) {
            Ok(Some(answer)) => answer,
            Ok(None) => self.fail(&format!("an answer to {method}")),
            Err(problem) => panic!("{problem}\n{}", self.place.logs()),
        }
    }

    fn fail(&self, expected: &str) -> ! {
        // Answered even while Neovim waits for a key.
        let mode = self.wire.request("nvim_get_mode", Vec::new(), Duration::from_secs(1));
        let mode =
            mode.map(|mode| mode.map_or("no answer, its main thread is busy".to_owned(), |m| m.to_string()));
        let ended = self.process.wait(Duration::ZERO);
        panic!(
            "expected {expected}\nmode: {mode:?}, ended: {ended:?}\nscreen:\n{}\n{}",
            self.grid().text(),
            self.place.logs(),
        );
    }
}

/// Blots out what differs from run to run, each with as many characters as it had.
fn redact(row: &str, scratch: &str) -> String {
    let row = row.replace(scratch, &"S".repeat(scratch.len()));
    let patterns = [r"\b\d+(\.\d+)? ?(ms|s|min)\b", r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏◐◓◑◒]", r"\b\d\d:\d\d(:\d\d)?\b"];
    patterns.iter().fold(row, |row, pattern| {
        let pattern = Regex::new(pattern).expect("the pattern is right");
        pattern
            .replace_all(&row, |found: &regex::Captures<'_>| "#".repeat(found[0].chars().count()))
            .into_owned()
    })
}

fn to_wire(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::from(*value),
        Json::Number(value) => match (value.as_i64(), value.as_f64()) {
            (Some(whole), _) => Value::from(whole),
            (None, real) => Value::from(real.unwrap_or_default()),
        },
        Json::String(value) => Value::from(value.as_str()),
        Json::Array(values) => Value::Array(values.iter().map(to_wire).collect()),
        Json::Object(fields) => {
            Value::Map(fields.iter().map(|(key, value)| (key.as_str().into(), to_wire(value))).collect())
        }
    }
}

fn to_json(wire: &Value) -> Json {
    match wire {
        Value::Boolean(value) => Json::from(*value),
        Value::Integer(value) => value.as_i64().map_or_else(|| Json::from(value.as_u64()), Json::from),
        Value::F32(value) => Json::from(*value),
        Value::F64(value) => Json::from(*value),
        Value::String(value) => Json::from(String::from_utf8_lossy(value.as_bytes())),
        Value::Binary(value) => Json::from(String::from_utf8_lossy(value)),
        Value::Array(values) => Json::Array(values.iter().map(to_json).collect()),
        Value::Map(fields) => Json::Object(
            fields
                .iter()
                .map(|(key, value)| (key.as_str().unwrap_or_default().to_owned(), to_json(value)))
                .collect(),
        ),
        Value::Nil | Value::Ext(..) => Json::Null,
    }
}
