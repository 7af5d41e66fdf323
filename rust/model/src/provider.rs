//! Which provider a model's name means: genai's own names, those of the settings, and `llama_cpp`.
//!
//! genai takes a name that it does not know for an Ollama model. Here such a name is an error.

use std::sync::LazyLock;

use genai::ModelName;
use genai::adapter::AdapterKind;
use koda_protocol::port::{ModelError, ModelErrorKind};
use serde::Deserialize;

use crate::http::Way;
use crate::nearest;
use crate::settings::{KeyCommand, ModelSettings};

/// What the replay model is called.
pub(crate) const REPLAY: &str = "replay";
/// llama.cpp's server, which genai has no name for.
pub(crate) const LLAMA_CPP: &str = "llama_cpp";
/// A second name of genai's for Z.ai, with an endpoint of its own.
const ZAI_CODING: &str = "zai_coding";

/// A row of `data/providers.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    /// genai's name of the provider.
    pub name: String,
    /// The model that is taken if the user names none.
    pub model: String,
    /// Further environment variables that usually hold its key.
    #[serde(default)]
    keys: Vec<String>,
}

/// The providers with a default model, the preferred first.
pub(crate) static TABLE: LazyLock<Vec<Row>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/providers.json")).unwrap_or_default());

/// A provider as one request needs it.
#[derive(Clone)]
pub(crate) struct Provider {
    /// What stands before `::`.
    pub name: String,
    /// Whose protocol it speaks.
    pub kind: AdapterKind,
    /// The base address, if not the adapter's own.
    pub endpoint: Option<String>,
    /// Environment variables that may hold the key, the first is the one to name.
    pub key_vars: Vec<String>,
    /// Whether a request without a key is useless.
    pub key_needed: bool,
    /// The command that prints the key.
    pub key_command: Option<KeyCommand>,
    /// Sent with each request.
    pub headers: Vec<(String, String)>,
    /// How it is reached.
    pub way: Way,
    /// Fields of each request's body.
    pub extra_body: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A model's name, taken apart.
pub(crate) struct Named {
    /// The provider.
    pub provider: Provider,
    /// The whole name, `provider::model`.
    pub full: String,
    /// The model as the provider calls it.
    pub model: String,
}

/// Takes `provider::model` apart. Errors are of the kind `Config`.
pub(crate) fn resolve(settings: &ModelSettings, full: &str) -> Result<Named, ModelError> {
    let name = ModelName::from(full);
    let (provider, model) = name.namespace_and_name();
    let Some(provider) = provider else { return Err(no_provider(settings, full)) };
    if model.trim().is_empty() {
        return Err(config(
            format!("{full}: no model is named"),
            format!("name one: {provider}::MODEL ({})", example(provider)),
        ));
    }
    let provider = find(settings, provider)?;
    Ok(Named { provider, full: full.to_owned(), model: model.to_owned() })
}

/// Finds a provider by its name.
pub(crate) fn find(settings: &ModelSettings, name: &str) -> Result<Provider, ModelError> {
    let set = settings.providers.get(name);
    let known = known_kind(name);
    let adapter = match set.and_then(|set| set.adapter.as_deref()) {
        Some(adapter) => Some(known_kind(adapter).ok_or_else(|| {
            config(
                format!("providers.{name}.adapter: {adapter} is no provider"),
                format!("the nearest are {}", nearest(adapter, kinds())),
            )
        })?),
        None => known,
    };
    let endpoint = set.and_then(|set| set.endpoint.clone());
    let Some(kind) = adapter.or_else(|| endpoint.is_some().then_some(AdapterKind::OpenAI)) else {
        return Err(unknown(settings, name, set.is_some()));
    };
    let kind = if endpoint.is_some() { keeps_endpoint(kind) } else { kind };
    let endpoint = endpoint
        .or_else(|| (name == LLAMA_CPP).then(|| settings.local.llama_cpp.clone()))
        .map(|endpoint| base_address(name, kind, &endpoint))
        .transpose()?;
    Ok(Provider {
        key_vars: key_vars(settings, name, known.or(adapter.filter(|_| endpoint.is_none()))),
        key_needed: set.is_some_and(|set| set.key_env.is_some()) || (endpoint.is_none() && needs_key(kind)),
        key_command: set.and_then(|set| set.key_command.clone()),
        headers: set.map(|set| set.headers.clone().into_iter().collect()).unwrap_or_default(),
        way: Way {
            proxy: set.and_then(|set| set.proxy.clone()),
            ca_file: set.and_then(|set| set.ca_file.clone()),
        },
        extra_body: set.and_then(|set| set.extra_body.clone()),
        name: name.to_owned(),
        kind,
        endpoint,
    })
}

/// Names every provider that can be asked, the settings' own first.
pub(crate) fn names(settings: &ModelSettings) -> Vec<String> {
    let mut names: Vec<String> = settings.providers.keys().cloned().collect();
    let table = TABLE.iter().map(|row| row.name.clone());
    for name in table.chain(kinds().map(str::to_owned)).chain([LLAMA_CPP.to_owned()]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn kinds() -> impl Iterator<Item = &'static str> {
    AdapterKind::all().iter().map(AdapterKind::as_lower_str)
}

fn known_kind(name: &str) -> Option<AdapterKind> {
    match name {
        LLAMA_CPP => Some(AdapterKind::OpenAI),
        ZAI_CODING => Some(AdapterKind::Zai),
        // genai's `genai_N` takes its endpoint from the environment; the settings do that here.
        _ => AdapterKind::from_lower_str(name).filter(|kind| !matches!(kind, AdapterKind::Custom(_))),
    }
}

/// Two adapters of genai put their own endpoint in the place of any other. They speak OpenAI's protocol.
fn keeps_endpoint(kind: AdapterKind) -> AdapterKind {
    match kind {
        AdapterKind::Zai | AdapterKind::Baidu => AdapterKind::OpenAI,
        kind => kind,
    }
}

fn needs_key(kind: AdapterKind) -> bool {
    kind.default_key_env_name().is_some() && kind != AdapterKind::Omlx
}

fn key_vars(settings: &ModelSettings, name: &str, known: Option<AdapterKind>) -> Vec<String> {
    if let Some(var) = settings.providers.get(name).and_then(|set| set.key_env.clone()) {
        return vec![var];
    }
    if name == LLAMA_CPP {
        return Vec::new();
    }
    let own = known.and_then(|kind| kind.default_key_env_name()).map(str::to_owned);
    let more = TABLE.iter().find(|row| row.name == name).map(|row| row.keys.clone()).unwrap_or_default();
    own.into_iter().chain(more).collect()
}

/// Brings an address into the form that genai joins paths to: it ends in `/`, and where the protocol's paths
/// begin with a version, a bare host gets `v1/`.
fn base_address(name: &str, kind: AdapterKind, endpoint: &str) -> Result<String, ModelError> {
    let wrong = |reason: String| {
        config(
            format!("providers.{name}.endpoint: {endpoint}: {reason}"),
            "give a base address, such as http://127.0.0.1:8080/v1".to_owned(),
        )
    };
    let mut url = reqwest::Url::parse(endpoint.trim()).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("neither http nor https".to_owned()));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let path =
        path.strip_suffix("/chat/completions").or_else(|| path.strip_suffix("/messages")).unwrap_or(&path);
    let path = if path.is_empty() && versioned(kind) { "/v1/".to_owned() } else { format!("{path}/") };
    url.set_path(&path);
    Ok(url.to_string())
}

fn versioned(kind: AdapterKind) -> bool {
    matches!(
        kind,
        AdapterKind::OpenAI | AdapterKind::OpenAIResp | AdapterKind::Anthropic | AdapterKind::MiniMax
    )
}

fn unknown(settings: &ModelSettings, name: &str, set: bool) -> ModelError {
    if set {
        return config(
            format!("providers.{name} has no endpoint, and {name} is no provider that is known"),
            "set its endpoint, or its adapter".to_owned(),
        );
    }
    let names = names(settings);
    let nearest = nearest(name, names.iter().map(String::as_str).chain([REPLAY]));
    config(
        format!("{name} is no provider"),
        format!("the nearest are {nearest}; another server needs providers.{name}.endpoint"),
    )
}

fn no_provider(settings: &ModelSettings, full: &str) -> ModelError {
    let guess = AdapterKind::from_model(full).ok().filter(|kind| *kind != AdapterKind::Ollama);
    let hint = match guess {
        Some(kind) => format!("did you mean {}::{full}?", kind.as_lower_str()),
        None if names(settings).iter().any(|name| name == full) => {
            format!("add a model: {full}::MODEL ({})", example(full))
        }
        None => {
            "name models as provider::model, such as anthropic::claude-sonnet-5 or ollama::qwen3".to_owned()
        }
    };
    config(format!("{full}: no provider is named"), hint)
}

fn example(provider: &str) -> String {
    let row = TABLE.iter().find(|row| row.name == provider);
    row.map_or_else(|| "as its documentation calls it".to_owned(), |row| format!("such as {}", row.model))
}

/// Builds an error of the kind `Config`.
pub(crate) fn config(message: String, hint: String) -> ModelError {
    ModelError { kind: ModelErrorKind::Config, message, hint: Some(hint) }
}

/// Joins the three names nearest to `name`.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest::names(name, names, 3).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ProviderSettings;

    fn refused(settings: &ModelSettings, name: &str) -> ModelError {
        resolve(settings, name).err().unwrap_or_else(|| panic!("{name} must be refused"))
    }

    fn settings(entries: &[(&str, &str)]) -> ModelSettings {
        let mut settings = ModelSettings::new(|_| None);
        for (name, endpoint) in entries {
            let set = ProviderSettings { endpoint: Some((*endpoint).to_owned()), ..Default::default() };
            settings.providers.insert((*name).to_owned(), set);
        }
        settings
    }

    #[test]
    fn unknown_provider_names_the_nearest() {
        let error = refused(&settings(&[]), "antropic::x");
        assert_eq!(error.kind, ModelErrorKind::Config);
        assert!(error.hint.unwrap().contains("anthropic"));
    }

    #[test]
    fn a_name_without_provider_is_never_guessed_to_be_ollama() {
        for name in ["qwen3", "nosuch::x", "genai_1::x", "::x", "openai::", ""] {
            let error = refused(&settings(&[]), name);
            assert_eq!(error.kind, ModelErrorKind::Config, "{name}");
        }
        let hint = refused(&settings(&[]), "claude-sonnet-5").hint.unwrap();
        assert!(hint.contains("anthropic::claude-sonnet-5"), "{hint}");
    }

    #[test]
    fn a_bare_host_gets_the_version_and_a_path_is_kept() {
        let cases = [
            ("http://h:1", "http://h:1/v1/"),
            ("http://h:1/", "http://h:1/v1/"),
            ("http://h:1/v1", "http://h:1/v1/"),
            ("http://h:1/api/v4/chat/completions", "http://h:1/api/v4/"),
            ("http://h:1/v1?key=a", "http://h:1/v1/?key=a"),
        ];
        for (given, wanted) in cases {
            let named = resolve(&settings(&[("mine", given)]), "mine::m").unwrap();
            assert_eq!(named.provider.endpoint.as_deref(), Some(wanted));
        }
        let ollama = resolve(&settings(&[("ollama", "http://h:1")]), "ollama::m").unwrap();
        assert_eq!(ollama.provider.endpoint.as_deref(), Some("http://h:1/"));
    }

    #[test]
    fn an_endpoint_must_be_an_address() {
        for endpoint in ["", "localhost:8080", "file:///etc", "http://"] {
            let error = refused(&settings(&[("mine", endpoint)]), "mine::m");
            assert!(error.message.contains("providers.mine.endpoint"), "{}", error.message);
        }
    }

    #[test]
    fn every_row_of_the_table_is_a_provider() {
        assert!(!TABLE.is_empty());
        for row in TABLE.iter() {
            assert!(known_kind(&row.name).is_some(), "{}", row.name);
        }
    }
}
