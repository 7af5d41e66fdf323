//! Who may do what: the words in which verdicts are given. The judging itself is in `koda-trust`.

use serde::{Deserialize, Serialize};

/// Which tools a model is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// All tools.
    #[default]
    Agent,
    /// Reading tools and the plan.
    Plan,
    /// Reading tools only.
    Ask,
    /// All tools, prompted to find a cause before a cure.
    Debug,
    /// Reading tools and lessons.
    Educator,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Agent, Self::Plan, Self::Ask, Self::Debug, Self::Educator];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Debug => "debug",
            Self::Educator => "educator",
        }
    }
}

/// Who approves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Read only: what changes anything is denied.
    Plan,
    /// Ask before each mutation.
    #[default]
    Safe,
    /// Mutations inside the project go; the destructive and the outside still ask.
    Auto,
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads the project.
    Read,
    /// Reads the network.
    Network,
    /// Touches only Koda's own state.
    Internal,
    /// Starts a sub-agent; judged call by call inside it.
    Agent,
    /// Changes files.
    Mutate,
    /// Destroys what may not come back.
    Destroy,
    /// Asks the user something.
    Interactive,
    /// Runs a command; judged by the command.
    Command,
}

/// How dangerous a shell command is. Ordered: the worst part of a command wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandClass {
    /// Reads, or builds and tests the project.
    Safe,
    /// Changes something, or can't be told.
    Mutating,
    /// May destroy what does not come back, or takes rights.
    Destructive,
}

/// What is decided on a call. Ordered: the strictest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Runs unasked.
    Allow,
    /// Waits for the user.
    Ask,
    /// Does not run.
    Deny,
}

/// A user's setting for one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolPolicy {
    /// As trust says.
    Auto,
    /// Ask each time.
    Ask,
    /// Never offered, never run.
    Off,
}

/// How long an acceptance lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call only.
    #[default]
    Once,
    /// Like calls in this session.
    Session,
    /// Like calls in this project.
    Project,
}

/// One judged part of a call: a simple command, or a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictPart {
    /// The part as it was written.
    pub text: String,
    /// Its class.
    pub class: CommandClass,
    /// Why.
    pub reason: String,
}

/// What was decided on a call, and why. Serialises to the shape that `koda.judge` returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Allow, ask or deny.
    #[serde(rename = "verdict")]
    pub decision: Decision,
    /// The class of a command; absent for other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<CommandClass>,
    /// Why, most weighty first; never empty.
    pub reasons: Vec<String>,
    /// The judged parts of a command, in the order of the text.
    #[serde(default)]
    pub parts: Vec<VerdictPart>,
    /// The rule that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What an acceptance for longer than once would allow; absent where nothing may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
}
