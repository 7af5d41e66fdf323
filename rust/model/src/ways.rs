//! Which providers could be asked, and which model to begin with.

use serde::Serialize;

use crate::models::Inner;
use crate::provider::{self, TABLE};

/// A provider, and what it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Way {
    /// What stands before `::`.
    pub provider: String,
    /// The environment variable that holds its key; none if it needs no key, or a command prints it.
    pub key_env: Option<String>,
    /// Whether a key is there, a command to print it included.
    pub has_key: bool,
    /// A model to begin with, `provider::model`, where one is known.
    pub model: Option<String>,
}

/// Lists every provider, those with a key first.
pub(crate) fn ways(inner: &Inner) -> Vec<Way> {
    let providers = provider::names(&inner.settings).into_iter();
    let known = providers.filter_map(|name| provider::find(&inner.settings, &name).ok());
    let mut ways: Vec<Way> = known
        .map(|provider| Way {
            key_env: provider.key_vars.first().filter(|_| provider.key_command.is_none()).cloned(),
            has_key: inner.keys.present(&provider),
            model: default_of(&provider.name),
            provider: provider.name,
        })
        .collect();
    ways.sort_by_key(|way| !way.has_key);
    ways
}

/// Returns the default model of the first provider with a key, in the table's order.
pub(crate) fn default_model(inner: &Inner) -> Option<String> {
    let has_key = |name: &str| {
        provider::find(&inner.settings, name).is_ok_and(|provider| inner.keys.present(&provider))
    };
    TABLE.iter().find(|row| has_key(&row.name)).and_then(|row| default_of(&row.name))
}

fn default_of(provider: &str) -> Option<String> {
    TABLE.iter().find(|row| row.name == provider).map(|row| format!("{}::{}", row.name, row.model))
}
