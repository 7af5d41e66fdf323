//! Rules that last: what the user allowed or denied for longer than a session.

use serde::{Deserialize, Serialize};

use crate::port::StoreError;
use crate::time::UnixMillis;

/// What is accepted or denied for longer than once, in a session or by a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Grant {
    /// Commands of which each part begins with one of these heads (`cargo fmt`); to deny, any part.
    Command {
        /// Program, with its subcommand where it has one.
        heads: Vec<String>,
    },
    /// A tool, on paths inside the project.
    Tool {
        /// Canonical name.
        tool: String,
    },
}

impl Grant {
    /// Tells what it is about, for people.
    pub fn shown(&self) -> String {
        match self {
            Self::Command { heads } => heads.join(", "),
            Self::Tool { tool } => format!("{tool} in the project"),
        }
    }
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Names it; never used again for another.
    pub id: u64,
    /// The root of the project that it holds for; everywhere without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Whether it denies.
    #[serde(default)]
    pub deny: bool,
    /// What it is about.
    #[serde(flatten)]
    pub what: Grant,
    /// When it was made.
    pub created: UnixMillis,
    /// How often it decided.
    #[serde(default)]
    pub uses: u64,
    /// When it last decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_use: Option<UnixMillis>,
}

impl Rule {
    /// Whether it holds in a project.
    pub fn holds_in(&self, root: &str) -> bool {
        self.project.as_ref().is_none_or(|project| project == root)
    }

    /// Says what it is about, for people.
    pub fn shown(&self) -> String {
        let verb = if self.deny { "deny" } else { "allow" };
        format!("rule {}: {verb} {}", self.id, self.what.shown())
    }
}

/// Keeps rules. Other Neovims may change them at any time.
pub trait Rules: Send + Sync {
    /// Returns all, in the order of their ids.
    fn list(&self) -> Result<Vec<Rule>, StoreError>;
    /// Adds a rule and returns it with its id; one that says the same is returned as it stands.
    fn add(&self, rule: Rule) -> Result<Rule, StoreError>;
    /// Removes a rule; false if there is none.
    fn remove(&self, id: u64) -> Result<bool, StoreError>;
    /// Counts a use.
    fn used(&self, id: u64, now: UnixMillis) -> Result<(), StoreError>;
}
