//! The one error shape that reaches a person.

use serde::{Deserialize, Serialize};

/// An error as the user sees it: what kind, what was wrong and where, and what to do.
///
/// `code` is stable and short (`model_auth`, `no_model`), for scripts and tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}{}", hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct UserError {
    /// Stable short name of the kind.
    pub code: String,
    /// What was wrong, and where.
    pub message: String,
    /// What the user can do about it, if anything is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl UserError {
    /// Builds an error without a hint.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: None }
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
