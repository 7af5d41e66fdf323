//! What the user may set about models. The shapes deserialise from the face's settings as they stand.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::prices::PriceSettings;

/// Looks up an environment variable. The crate never reads the environment itself.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Everything that [`Models`](crate::Models) is built from.
#[derive(Clone)]
pub struct ModelSettings {
    /// By the name that stands before `::`.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Where keys and proxies are looked up.
    pub env: Env,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// How often to try again.
    pub retries: Retries,
    /// By `provider::model`, which may end in `*`: the user's own prices.
    pub prices: BTreeMap<String, PriceSettings>,
    /// By `provider::model`, which may end in `*`: what its requests ask for.
    pub options: BTreeMap<String, OptionSettings>,
    /// Tokens that a reply may have; the provider's default if absent.
    pub max_output_tokens: Option<u32>,
    /// The folder of what may be lost, for lists of models; they are not kept if absent.
    pub cache_dir: Option<PathBuf>,
    /// Where local servers are looked for.
    pub local: LocalEndpoints,
}

impl ModelSettings {
    /// Builds settings with nothing set but the environment.
    pub fn new(env: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            providers: BTreeMap::new(),
            env: Arc::new(env),
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            prices: BTreeMap::new(),
            options: BTreeMap::new(),
            cache_dir: None,
            max_output_tokens: None,
            local: LocalEndpoints::default(),
        }
    }
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings").field("providers", &self.providers.keys()).finish_non_exhaustive()
    }
}

/// One provider's settings. An unknown name with an endpoint is an OpenAI-compatible server.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// The base address, such as `http://127.0.0.1:8080/v1`.
    pub endpoint: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    /// The command that prints the key.
    pub key_command: Option<KeyCommand>,
    /// Sent with each request. Taken for secrets in messages.
    pub headers: BTreeMap<String, String>,
    /// Whose protocol the endpoint speaks: a provider's name, such as `anthropic`.
    pub adapter: Option<String>,
    /// The address of a proxy, in place of the environment's.
    pub proxy: Option<String>,
    /// A file of certificates (PEM) that are trusted beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Fields that each request's body has besides.
    pub extra_body: Option<serde_json::Map<String, serde_json::Value>>,
}

impl fmt::Debug for ProviderSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSettings")
            .field("endpoint", &self.endpoint)
            .field("key_env", &self.key_env)
            .field("key_command", &self.key_command)
            .field("headers", &self.headers.keys())
            .field("adapter", &self.adapter)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

/// What the requests to a model ask for. What is absent is left to the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OptionSettings {
    /// How much it is to reason.
    pub effort: Option<Effort>,
    /// How freely it is to choose its words, from 0.
    pub temperature: Option<f64>,
    /// Tokens that a reply may have.
    pub max_tokens: Option<u32>,
}

/// How much a model is to reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    Max,
}

/// Finds what the user says of a model: by the whole name, else by the longest beginning that ends in `*`.
pub(crate) fn named<'a, T>(set: &'a BTreeMap<String, T>, model: &str) -> Option<&'a T> {
    let begins = |name: &str| name.strip_suffix('*').is_some_and(|begin| model.starts_with(begin));
    let widest = || set.iter().filter(|(name, _)| begins(name)).max_by_key(|(name, _)| name.len());
    set.get(model).or_else(|| widest().map(|(_, own)| own))
}

/// A command whose output's first line is a key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum KeyCommand {
    /// A line for `sh -c`.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

impl fmt::Display for KeyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => f.write_str(line),
            Self::Words(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// How long to wait, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection.
    pub connect_ms: u64,
    /// From the request to the first bytes of the reply; a long prompt on a local server takes minutes.
    pub first_byte_ms: u64,
    /// Between two pieces of the reply.
    pub idle_ms: u64,
    /// For a key command; a password store may ask for a passphrase meanwhile.
    pub key_command_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect_ms: 30_000, first_byte_ms: 300_000, idle_ms: 300_000, key_command_ms: 120_000 }
    }
}

/// How a request that failed in a way that passes is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retries {
    /// Tries in all, the first included; at least 1.
    pub tries: u32,
    /// Milliseconds before the second try; doubled for each further one.
    pub base_ms: u64,
    /// The longest wait that is accepted, also from a provider's `Retry-After`.
    pub max_ms: u64,
}

impl Default for Retries {
    fn default() -> Self {
        Self { tries: 5, base_ms: 1_000, max_ms: 120_000 }
    }
}

/// Where local servers are looked for: base addresses without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalEndpoints {
    /// Ollama's.
    pub ollama: String,
    /// llama.cpp's server's.
    pub llama_cpp: String,
}

impl Default for LocalEndpoints {
    fn default() -> Self {
        Self { ollama: "http://127.0.0.1:11434".to_owned(), llama_cpp: "http://127.0.0.1:8080".to_owned() }
    }
}
