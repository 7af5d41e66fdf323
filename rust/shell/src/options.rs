//! What a pool of terminals is made with. Nothing here is read from the environment: it is handed in.

use std::time::Duration;

use serde::Serialize;

use crate::sandbox::Sandbox;

/// Names of environment variables that hold keys of model providers; `*` stands for any text.
const PROVIDER_KEYS: [&str; 4] = ["*_API_KEY", "*_API_TOKEN", "ANTHROPIC_AUTH_TOKEN", "COPILOT_GITHUB_TOKEN"];

/// How long processes get between TERM and KILL. A stop must be over within a second, so well below.
const GRACE: Duration = Duration::from_millis(400);

/// How large a terminal is, in character cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Cells in a line, at least 1.
    pub columns: u16,
    /// Lines, at least 1.
    pub rows: u16,
}

/// What a pool of terminals is made with.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// The shell's program. None: `SHELL` of `env`, else `/bin/sh`.
    pub shell: Option<String>,
    /// The environment that commands start from.
    pub env: Vec<(String, String)>,
    /// Names taken out of `env`; `*` stands for any text, case counts.
    pub remove_env: Vec<String>,
    /// How large terminals are before anybody resizes them.
    pub size: Size,
    /// How long processes that are ended get between TERM and KILL.
    pub grace: Duration,
    /// What commands are confined to; none: nothing confines them.
    pub sandbox: Option<Sandbox>,
}

impl PoolOptions {
    /// Builds the default options: the user's shell, 120x24, keys of model providers removed.
    pub fn new(env: Vec<(String, String)>) -> Self {
        Self {
            shell: None,
            env,
            remove_env: PROVIDER_KEYS.map(str::to_owned).to_vec(),
            size: Size { columns: 120, rows: 24 },
            grace: GRACE,
            sandbox: None,
        }
    }
}

/// What commands find in their environment so that nothing waits for a person.
const QUIET: [(&str, &str); 6] = [
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

impl PoolOptions {
    /// Returns the shell's program.
    pub(crate) fn program(&self) -> String {
        let from_env = || self.env.iter().find(|(name, _)| name == "SHELL").map(|(_, value)| value.clone());
        self.shell.clone().or_else(from_env).unwrap_or_else(|| "/bin/sh".to_owned())
    }

    /// Returns the environment of commands: without keys, and set so that nothing waits for a person.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        let secret = |name: &str| self.remove_env.iter().any(|pattern| matches(pattern, name));
        let inherited = self.env.iter().filter(move |(name, _)| !secret(name));
        inherited.map(|(name, value)| (name.as_str(), value.as_str())).chain(QUIET)
    }
}

/// Whether a name fits a pattern in which `*` may stand at one end.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => name == pattern,
    }
}
