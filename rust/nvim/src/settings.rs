//! The settings as the face hands them over, already validated by the schema in `lua/koda/config.lua`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use koda_model::{OptionSettings, PriceSettings, ProviderSettings, Timeouts};
use koda_protocol::{Mode, ToolPolicy, Trust};
use koda_shell::sandbox::{Network, Profile};
use serde::Deserialize;

/// Everything that `setup` takes. Field for field the schema of the face; absent is the default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// `provider::model`; none: chosen by the keys that are there.
    pub model: Option<String>,
    /// Per provider: where and how to reach it.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Which tools are offered.
    pub mode: Mode,
    /// Who approves.
    pub trust: Trust,
    /// Per tool: auto, ask or off.
    pub tools: BTreeMap<String, ToolPolicy>,
    /// Steps that a turn may take; none: the engine's default.
    pub max_steps: Option<u32>,
    /// By `provider::model`: the user's own prices.
    pub prices: BTreeMap<String, PriceSettings>,
    /// By `provider::model`: what its requests ask for.
    pub model_options: BTreeMap<String, OptionSettings>,
    /// Limits of what may be spent.
    pub budget: Limits,
    /// Tokens that a model may write in one message.
    pub max_output_tokens: Option<u32>,
    /// Limits of waiting, in milliseconds.
    pub timeouts: Timeouts,
    /// Files with instructions.
    pub instructions: Instructions,
    /// What undo can give back.
    pub checkpoints: Kept,
    /// Terminals.
    pub terminal: Terminal,
    /// What confines commands.
    pub sandbox: Confined,
    /// Logging.
    pub log: Log,
    /// Where sessions are kept; the face fills in Neovim's data folder.
    pub data_dir: PathBuf,
    /// Where the log is kept; the face fills in Neovim's state folder.
    pub state_dir: PathBuf,
}

/// Settings of budgets, in US dollars; absent is no limit.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Of a turn.
    pub turn: Option<f64>,
    /// Of a session.
    pub session: Option<f64>,
    /// Of a day.
    pub day: Option<f64>,
}

/// Settings of instruction files; absent is the engine's default.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Instructions {
    /// Bytes that they may have in the system prompt.
    pub max_bytes: Option<usize>,
    /// Whether Cursor's rules are told as well.
    pub cursor: bool,
}

/// Settings of checkpoints; absent is the store's default.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Bytes of a file that undo can give back.
    pub max_file_bytes: Option<u64>,
    /// Days that a change can be taken back.
    pub days: Option<u64>,
}

/// Settings of terminals.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Terminal {
    /// The shell's program; none: `$SHELL`.
    pub shell: Option<String>,
}

/// Settings of the sandbox.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Confined {
    /// What commands may write.
    pub profile: Profile,
    /// What they may reach.
    pub network: Network,
}

/// Settings of the log.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: Option<String>,
}
