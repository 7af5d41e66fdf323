//! The models by name: the way from a request to a stream.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use genai::chat::{ChatOptions, ReasoningEffort};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use koda_protocol::ModelFacts;
use koda_protocol::message::Message;
use koda_protocol::port::{Model, ModelError, ModelErrorKind, ModelRequest, ModelStream};
use tokio::sync::Mutex;

use crate::attempt::Plan;
use crate::catalog::{self, Listing, Lists};
use crate::convert::{self, Target};
use crate::failure::Context;
use crate::http::Http;
use crate::keys::{Key, Keys};
use crate::local::{self, LocalServer};
use crate::provider::{self, Named, Provider};
use crate::settings::{self, Effort, ModelSettings};
use crate::ways::{self, Way};
use crate::wire::Format;
use crate::{history, prices, replay, stream};

/// Sent where a protocol has a place for a key and the server wants none.
const NO_KEY: &str = "none";

/// All models that can be named. Cheap to clone; building it touches neither network nor files.
#[derive(Clone)]
pub struct Models {
    inner: Arc<Inner>,
}

/// What the streams share.
pub(crate) struct Inner {
    pub(crate) settings: ModelSettings,
    pub(crate) http: Http,
    pub(crate) keys: Keys,
    /// What providers were found to offer; nothing before the file was read.
    pub(crate) listed: Mutex<Option<Lists>>,
}

impl Models {
    /// Builds the models. Wrong settings are told when their provider is first used, or by [`Models::check`].
    pub fn new(settings: ModelSettings) -> Self {
        let timeouts = settings.timeouts;
        let http = Http::new(settings.env.clone(), Duration::from_millis(timeouts.connect_ms));
        let keys = Keys::new(settings.env.clone(), Duration::from_millis(timeouts.key_command_ms));
        Self { inner: Arc::new(Inner { settings, http, keys, listed: Mutex::default() }) }
    }

    /// Checks a model's name and its provider's settings, without network. Errors are of the kind `Config`.
    pub fn check(&self, model: &str) -> Result<(), ModelError> {
        match replay_file(model) {
            Some(file) => replay::read(file).map(drop),
            None => provider::resolve(&self.inner.settings, model).map(drop),
        }
    }

    /// Returns every provider, its key's variable, and whether a key is there; those with a key first.
    pub fn ways(&self) -> Vec<Way> {
        ways::ways(&self.inner)
    }

    /// Returns a sensible model of the first provider that has a key.
    pub fn default_model(&self) -> Option<String> {
        ways::default_model(&self.inner)
    }

    /// Asks the providers that have a key, or an endpoint of the user's, what they offer, unless their lists of
    /// the last day are kept. Unless it `may_ask`, nobody is asked and no key command runs.
    pub async fn listings(&self, may_ask: bool) -> Vec<Listing> {
        catalog::listings(&self.inner, may_ask).await
    }

    /// Asks the usual ports for local servers. Takes half a second at most.
    pub async fn local_servers(&self) -> Vec<LocalServer> {
        local::servers(&self.inner).await
    }
}

#[async_trait]
impl Model for Models {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        if let Some(file) = replay_file(&request.model) {
            return replay::stream(file, &request);
        }
        provider::resolve(&self.inner.settings, &request.model)?;
        Ok(stream::open(self.inner.clone(), request))
    }

    fn facts(&self, model: &str) -> ModelFacts {
        prices::facts(&self.inner.settings.prices, model)
    }
}

fn replay_file(model: &str) -> Option<&str> {
    model.strip_prefix(provider::REPLAY)?.strip_prefix("::")
}

impl Inner {
    /// Gathers what an attempt needs. Each attempt has its own, since a key may have changed.
    pub(crate) async fn plan(&self, request: &ModelRequest) -> Result<Plan, ModelError> {
        let named = provider::resolve(&self.settings, &request.model)?;
        let messages = valid(&request.messages)?;
        let key = self.keys.find(&named.provider).await?;
        let (client, target) = self.target(&named, &key).await?;
        let format = Format::of(named.provider.kind, &named.model);
        let shape = Target { kind: named.provider.kind, format, model: &named.model };
        Ok(Plan {
            request: convert::request(shape, &request.system, &messages, &request.tools),
            options: self.options(&named, format),
            taken: taken(&messages),
            timeouts: self.settings.timeouts,
            context: context(&named, &key, target.endpoint.base_url()),
            client,
            target,
            format,
        })
    }

    /// Forgets a key that a provider refused, so that its command is asked again.
    pub(crate) async fn forget_key(&self, model: &str) {
        if let Ok(named) = provider::resolve(&self.settings, model) {
            self.keys.forget(&named.provider).await;
        }
    }

    /// Returns a provider's base address.
    pub(crate) async fn endpoint(&self, provider: &Provider) -> Result<String, ModelError> {
        if let Some(endpoint) = &provider.endpoint {
            return Ok(endpoint.clone());
        }
        let endpoint = self.own_endpoint(&ModelIden::new(provider.kind, "any")).await?;
        Ok(endpoint.base_url().to_owned())
    }

    /// Names what a request for a provider's list of models is about, for messages.
    pub(crate) fn listing_context(&self, provider: &Provider, key: &Key, endpoint: &str) -> Context {
        let full = format!("{}::", provider.name);
        context(&Named { provider: provider.clone(), full, model: String::new() }, key, endpoint)
    }

    async fn target(&self, named: &Named, key: &Key) -> Result<(Client, ServiceTarget), ModelError> {
        let model = ModelIden::new(named.provider.kind, named.full.as_str());
        let auth = AuthData::from_single(key.secret.as_deref().unwrap_or(NO_KEY));
        let endpoint = match &named.provider.endpoint {
            Some(endpoint) => Endpoint::from_owned(endpoint.as_str()),
            None => self.own_endpoint(&model).await?,
        };
        let http = self.http.client_by(endpoint.base_url(), &named.provider.way)?;
        let client = client(http)?;
        Ok((client, ServiceTarget { endpoint, auth, model }))
    }

    /// Asks genai where an adapter's provider is. It looks at no key for that.
    async fn own_endpoint(&self, model: &ModelIden) -> Result<Endpoint, ModelError> {
        // Never used to send; any client will do.
        let client = client(self.http.client("http://localhost/")?)?;
        let target = client.resolve_service_target(model.clone()).await;
        target.map(|target| target.endpoint).map_err(|error| {
            provider::config(
                format!("{}: {error}", model.model_name),
                "set the provider's endpoint".to_owned(),
            )
        })
    }

    fn options(&self, named: &Named, format: Format) -> ChatOptions {
        let mut options = ChatOptions::default().with_capture_usage(true).with_capture_content(false);
        if let Some(fields) = &named.provider.extra_body {
            options = options.with_extra_body(fields.clone().into());
        }
        let own = settings::named(&self.settings.options, &named.full).copied().unwrap_or_default();
        if let Some(most) = own.max_tokens.or(self.settings.max_output_tokens) {
            options = options.with_max_tokens(most);
        }
        if let Some(temperature) = own.temperature {
            options = options.with_temperature(temperature);
        }
        if !named.provider.headers.is_empty() {
            options = options.with_extra_headers(Headers::from(named.provider.headers.clone()));
        }
        // genai cuts a word such as `-max` off a model's name and takes it for an effort. A budget keeps the
        // name whole, and is not sent in this format. Where the word is an effort, it stays one.
        let suffixed = ReasoningEffort::from_model_name(&named.model).0.is_some();
        if suffixed && format == Format::OpenAi && !takes_effort(named) {
            options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
        }
        if let Some(effort) = own.effort {
            options = options.with_reasoning_effort(reasoning(effort));
        }
        options
    }
}

/// Whether an effort may stand at the end of a model's name.
fn takes_effort(named: &Named) -> bool {
    matches!(named.provider.name.as_str(), "openai" | "deepseek") && named.provider.endpoint.is_none()
}

fn reasoning(effort: Effort) -> ReasoningEffort {
    match effort {
        Effort::None => ReasoningEffort::Zero,
        Effort::Minimal => ReasoningEffort::Minimal,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
        Effort::Max => ReasoningEffort::Max,
    }
}

fn client(http: reqwest::Client) -> Result<Client, ModelError> {
    Client::builder().with_reqwest(http).build().map_err(|error| ModelError {
        kind: ModelErrorKind::Network,
        message: format!("the HTTP client could not start: {error}"),
        hint: None,
    })
}

fn context(named: &Named, key: &Key, endpoint: &str) -> Context {
    let mut secrets: Vec<String> = named.provider.headers.iter().map(|(_, value)| value.clone()).collect();
    secrets.extend(key.secret.clone());
    secrets.extend(named.provider.way.proxy.clone());
    Context {
        model: named.full.clone(),
        provider: named.provider.name.clone(),
        endpoint: endpoint.to_owned(),
        key_source: key.source.clone(),
        secrets,
    }
}

/// Mends a conversation where it must be. What can't be mended is refused before anything is sent.
fn valid(messages: &[Message]) -> Result<Vec<Message>, ModelError> {
    let mended = history::mend(messages);
    history::check(&mended).map(|()| mended).map_err(|error| ModelError {
        kind: ModelErrorKind::Request,
        message: format!("the conversation can't be sent: {error}"),
        hint: Some("send a further prompt, or begin a new session".to_owned()),
    })
}

fn taken(messages: &[Message]) -> HashSet<String> {
    messages.iter().flat_map(Message::calls).map(|call| call.id.to_string()).collect()
}
