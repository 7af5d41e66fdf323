//! What providers offer: asked for, kept in a file for a day.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use genai::adapter::AdapterKind;
use koda_protocol::ModelFacts;
use koda_protocol::cost::{Price, Rates};
use koda_protocol::port::{ModelError, ModelErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::models::Inner;
use crate::provider::{self, Provider};
use crate::{nearest, prices};

/// How long a provider may take to list its models.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long an error may wait for the names to tell with it.
const HINT_PATIENCE: Duration = Duration::from_secs(4);

/// How long a list is taken for true.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

const MILLION: f64 = 1_000_000.0;

/// A model that a provider offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offered {
    /// `provider::model`.
    pub model: String,
    /// Its price and size: the user's numbers, else the provider's, else the table's.
    #[serde(flatten)]
    pub facts: ModelFacts,
}

/// What came of asking a provider.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// What stands before `::`.
    pub provider: String,
    /// Its models, sorted by name; empty if it could not be asked.
    pub models: Vec<Offered>,
    /// Why it could not be asked.
    pub problem: Option<String>,
}

/// A list as the file keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    /// Seconds since 1970.
    asked: u64,
    /// Where it was asked: another endpoint has other models.
    endpoint: String,
    models: Vec<Offered>,
}

type File = BTreeMap<String, Kept>;

/// Lists what every provider offers that has a key or an endpoint of the user's. Unless it may ask, only lists
/// that are kept, for which no key is looked up.
pub(crate) async fn listings(inner: &Inner, may_ask: bool) -> Vec<Listing> {
    let is_set = |name: &str| inner.settings.providers.contains_key(name);
    let named = provider::names(&inner.settings).into_iter();
    let found = named.filter_map(|name| provider::find(&inner.settings, &name).ok());
    let asked: Vec<Provider> = found
        .filter(|found| inner.keys.present(found) || (is_set(&found.name) && !found.key_needed))
        // The same provider by another protocol, which lists the same.
        .filter(|found| found.kind != AdapterKind::OpenAIResp || is_set(&found.name))
        .collect();
    let listing = async |provider: &Provider| {
        let (models, problem) = match offered(inner, provider, may_ask).await {
            Ok(models) => (models, None),
            Err(error) => (Vec::new(), Some(error.message)),
        };
        Listing { provider: provider.name.clone(), models, problem }
    };
    join_all(asked.iter().map(listing)).await
}

/// Returns the models of a provider that are nearest to a name that it does not know.
pub(crate) async fn nearest_to(inner: &Inner, full: &str) -> Option<String> {
    let named = provider::resolve(&inner.settings, full).ok()?;
    // An error waits for this: it must not wait long.
    let offered =
        tokio::time::timeout(HINT_PATIENCE, offered(inner, &named.provider, true)).await.ok()?.ok()?;
    let prefix = format!("{}::", named.provider.name);
    let names = offered.iter().filter_map(|offered| offered.model.strip_prefix(&prefix));
    let nearest = nearest::names(&named.model, names, 3);
    (!nearest.is_empty()).then(|| format!("the nearest that it offers are {}", nearest.join(", ")))
}

async fn offered(inner: &Inner, provider: &Provider, may_ask: bool) -> Result<Vec<Offered>, ModelError> {
    let endpoint = inner.endpoint(provider).await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut file = inner.listed.lock().await;
    let lists = match file.as_mut() {
        Some(lists) => lists,
        None => file.insert(read(inner).await),
    };
    let fresh = |kept: &&Kept| kept.endpoint == endpoint && now.saturating_sub(kept.asked) < FRESH.as_secs();
    if let Some(kept) = lists.0.get(&provider.name).filter(fresh) {
        return Ok(own_numbers(inner, kept.models.clone()));
    }
    // Not held while somebody is asked: the other providers are asked at the same time.
    drop(file);
    if !may_ask {
        return Ok(Vec::new());
    }
    let models =
        tokio::time::timeout(PATIENCE, ask(inner, provider, &endpoint)).await.unwrap_or_else(|_| {
            Err(provider::config(
                format!("{} did not list its models within {} s", provider.name, PATIENCE.as_secs()),
                "try again".to_owned(),
            ))
        })?;
    let mut file = inner.listed.lock().await;
    if let Some(lists) = file.as_mut() {
        lists.0.insert(provider.name.clone(), Kept { asked: now, endpoint, models: models.clone() });
        write(inner, lists).await;
    }
    Ok(own_numbers(inner, models))
}

/// The lists of all providers, as far as they were asked for.
#[derive(Default)]
pub(crate) struct Lists(File);

fn path(inner: &Inner) -> Option<PathBuf> {
    Some(inner.settings.cache_dir.as_ref()?.join("models.json"))
}

/// Reads the file. What can't be read is asked for again.
async fn read(inner: &Inner) -> Lists {
    let Some(path) = path(inner) else { return Lists::default() };
    let text = tokio::fs::read(path).await.unwrap_or_default();
    Lists(serde_json::from_slice(&text).unwrap_or_default())
}

/// Writes the file whole or not at all; without it the lists are asked for once in each Neovim.
async fn write(inner: &Inner, lists: &Lists) {
    let (Some(path), Ok(text)) = (path(inner), serde_json::to_vec(&lists.0)) else { return };
    let written = async {
        if let Some(folder) = path.parent() {
            tokio::fs::create_dir_all(folder).await?;
        }
        let aside = path.with_extension(format!("{}.tmp", std::process::id()));
        tokio::fs::write(&aside, text).await?;
        tokio::fs::rename(&aside, &path).await
    };
    if let Err(error) = written.await {
        tracing::warn!(%error, path = %path.display(), "the lists of models could not be kept");
    }
}

fn own_numbers(inner: &Inner, mut models: Vec<Offered>) -> Vec<Offered> {
    for offered in &mut models {
        let ours = prices::facts(&inner.settings.prices, &offered.model);
        let is_own = prices::is_set(&inner.settings.prices, &offered.model);
        let told = offered.facts;
        offered.facts = if is_own {
            ModelFacts { price: ours.price.or(told.price), context: ours.context.or(told.context) }
        } else {
            ModelFacts { price: told.price.or(ours.price), context: told.context.or(ours.context) }
        };
    }
    models
}

async fn ask(inner: &Inner, provider: &Provider, endpoint: &str) -> Result<Vec<Offered>, ModelError> {
    let key = inner.keys.find(provider).await?;
    let context = inner.listing_context(provider, &key, endpoint);
    let (path, header) = match provider.kind {
        AdapterKind::Ollama => ("api/tags", None),
        AdapterKind::Anthropic => ("models?limit=1000", Some("x-api-key")),
        AdapterKind::Gemini => ("models?pageSize=1000", Some("x-goog-api-key")),
        _ => ("models", None),
    };
    let mut request = inner.http.client_by(endpoint, &provider.way)?.get(format!("{endpoint}{path}"));
    if provider.kind == AdapterKind::Anthropic {
        request = request.header("anthropic-version", "2023-06-01");
    }
    request = match (&key.secret, header) {
        (Some(secret), Some(header)) => request.header(header, secret),
        (Some(secret), None) => request.bearer_auth(secret),
        (None, _) => request,
    };
    for (name, value) in &provider.headers {
        request = request.header(name, value);
    }
    let failed = |error: reqwest::Error| {
        let reason = crate::failure::chain(&error);
        context.error(
            ModelErrorKind::Network,
            format!("no list of models from {endpoint}: {reason}"),
            "try again",
        )
    };
    let reply = request.send().await.map_err(failed)?;
    let (status, headers) = (reply.status(), reply.headers().clone());
    let body = reply.text().await.map_err(failed)?;
    if !status.is_success() {
        return Err(context.status(status.as_u16(), &headers, &body).error);
    }
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    let mut models = parse(&provider.name, &body)
        .ok_or_else(|| context.no_reply("it lists no models where they were looked for"))?;
    models.sort_by(|a, b| a.model.cmp(&b.model));
    Ok(models)
}

/// Reads a list in any of the known forms.
fn parse(provider: &str, body: &Value) -> Option<Vec<Offered>> {
    let list = body.get("data").or_else(|| body.get("models")).unwrap_or(body).as_array()?;
    let offered = |entry: &Value| {
        let name = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
        let name = name.strip_prefix("models/").unwrap_or(name);
        let facts = ModelFacts { price: price(entry), context: context(entry) };
        speaks(entry).then(|| Offered { model: format!("{provider}::{name}"), facts })
    };
    Some(list.iter().filter_map(offered).collect())
}

/// Whether a model can be talked with, where its provider tells.
fn speaks(entry: &Value) -> bool {
    let methods = entry.get("supportedGenerationMethods").and_then(Value::as_array);
    methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

fn context(entry: &Value) -> Option<u64> {
    let names = [
        "/context_length",
        "/context_window",
        "/max_model_len",
        "/max_input_tokens",
        "/inputTokenLimit",
        "/meta/n_ctx",
    ];
    names.iter().find_map(|name| entry.pointer(name)?.as_u64().filter(|tokens| *tokens > 0))
}

/// Reads prices as OpenRouter tells them: dollars for a token, as text.
fn price(entry: &Value) -> Option<Price> {
    let pricing = entry.get("pricing")?;
    let rate = |name: &str| pricing.get(name)?.as_str()?.parse::<f64>().ok().map(|usd| usd * MILLION);
    // A price below nothing stands for one that depends on where the request goes.
    let (input, output) =
        (rate("prompt").filter(|usd| *usd >= 0.0)?, rate("completion").filter(|usd| *usd >= 0.0)?);
    let rates =
        Rates { input, output, cached: rate("input_cache_read"), cache_write: rate("input_cache_write") };
    Some(Price { rates, long: None })
}
