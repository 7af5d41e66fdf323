//! Newtypes for identifiers, so that one kind can't be passed for another.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }
    };
}

string_id! {
    /// Names one session: a conversation and all its events.
    SessionId
}
string_id! {
    /// Names one tool call within a session; the model's own id, made unique where it was not.
    CallId
}
string_id! {
    /// Names one thing that waits for the user: an approval or a question.
    AskId
}
string_id! {
    /// Names a background task as the model sees it: `sh:7` for a command, `agent:1` for a sub-agent.
    TaskId
}
