//! What went wrong with a request: its kind, whether it passes, and what the user can do.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use koda_protocol::port::{ModelError, ModelErrorKind};
use reqwest::header::HeaderMap;

use crate::readable;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the user is told if it is not tried again.
    pub error: ModelError,
    /// Whether the same request may succeed later.
    pub passes: bool,
    /// What the provider asks to be waited.
    pub after: Option<Duration>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, passes: false, after: None }
    }
}

/// What messages name: the model, where it is, and whose key was sent.
#[derive(Clone)]
pub(crate) struct Context {
    /// `provider::model`.
    pub model: String,
    /// The provider's name.
    pub provider: String,
    /// The base address.
    pub endpoint: String,
    /// Where the key came from.
    pub key_source: String,
    /// Never shown: the key, and the values of headers.
    pub secrets: Vec<String>,
}

impl Context {
    /// Builds an error that does not pass, with every secret struck out.
    pub(crate) fn error(&self, kind: ModelErrorKind, message: impl Into<String>, hint: &str) -> ModelError {
        let hint = (!hint.is_empty()).then(|| self.struck(hint.to_owned()));
        ModelError { kind, message: self.struck(message.into()), hint }
    }

    fn passing(&self, kind: ModelErrorKind, message: String, hint: &str, after: Option<Duration>) -> Failure {
        Failure { error: self.error(kind, message, hint), passes: true, after }
    }

    fn struck(&self, mut text: String) -> String {
        // Shorter ones would strike out ordinary words.
        for secret in self.secrets.iter().filter(|secret| secret.len() >= 6) {
            text = text.replace(secret.as_str(), "•••");
        }
        text
    }

    /// Maps a status that is no success.
    pub(crate) fn status(&self, status: u16, headers: &HeaderMap, body: &str) -> Failure {
        let said = readable::message(body);
        let said = if said.is_empty() { "it said nothing more".to_owned() } else { said };
        let message = format!("{} answered {status}: {said}", self.provider);
        let told = Told { status, said: &said, body, message };
        if status == 407 || readable::is_html(body) && !matches!(status, 401 | 429 | 500..) {
            return self.html(&said).into();
        }
        if let Some(error) = self.lasting(&told) {
            return error.into();
        }
        let after = retry_after(headers);
        match status {
            429 => self.passing(ModelErrorKind::Busy, told.message, BUSY, after),
            408 | 409 | 425 | 500.. => self.passing(ModelErrorKind::Busy, told.message, BUSY, after),
            _ => self.error(ModelErrorKind::Request, told.message, REQUEST).into(),
        }
    }

    /// Maps an error object within a reply that began as a success.
    pub(crate) fn object(&self, body: &serde_json::Value) -> Failure {
        let text = body.to_string();
        let said = readable::message(&text);
        let message = format!("{} sent an error: {said}", self.provider);
        let status = ["code", "status", "status_code"]
            .iter()
            .find_map(|name| {
                body.get(name).and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()))
            })
            .and_then(|code| u16::try_from(code).ok())
            .unwrap_or(200);
        let told = Told { status, said: &said, body: &text, message };
        if let Some(error) = self.lasting(&told) {
            return error.into();
        }
        let passing = ["overloaded", "rate_limit", "server_error", "api_error", "unavailable", "timeout"];
        if status == 429 || status >= 500 || passing.iter().any(|word| text.contains(word)) {
            return self.passing(ModelErrorKind::Busy, told.message, BUSY, None);
        }
        self.error(ModelErrorKind::Reply, told.message, AGAIN).into()
    }

    /// Returns the error of what no waiting mends.
    fn lasting(&self, told: &Told<'_>) -> Option<ModelError> {
        let kind = told.kind()?;
        let hint = match kind {
            ModelErrorKind::Auth => {
                format!("the key came from {}; check it, and what it may be used for", self.key_source)
            }
            ModelErrorKind::UnknownModel => {
                format!("check the name {} and the endpoint {}", self.model, self.endpoint)
            }
            ModelErrorKind::TooLong => "shorten the conversation, or begin a new one".to_owned(),
            _ => "add credit to the account, or take another provider".to_owned(),
        };
        Some(self.error(kind, told.message.clone(), &hint))
    }

    /// Maps a page where a reply was due.
    pub(crate) fn html(&self, said: &str) -> ModelError {
        let message = format!("{} did not answer as a model does: {said}", self.endpoint);
        self.error(
            ModelErrorKind::Reply,
            message,
            "check the endpoint, and whether a proxy or a login page is in between",
        )
    }

    /// Maps what genai gives up with. `begun` tells whether a reply had begun.
    pub(crate) fn genai(&self, error: &genai::Error, begun: bool) -> Failure {
        use genai::Error as E;
        match error {
            E::WebStream { error, .. } => self.transport(error.as_ref(), begun),
            E::HttpError { status, body, headers, .. } => self.status(status.as_u16(), headers, body),
            E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => {
                self.web(webc_error, begun)
            }
            E::ChatResponse { body, .. } => self.object(body),
            E::ChatResponseGeneration { response_body, .. } => match response_body.get("error") {
                Some(inner) => self.object(inner),
                None => self.no_reply(&readable::message(&response_body.to_string())).into(),
            },
            // A frame that only lacks its end was cut off.
            E::StreamParse { serde_error, .. } if serde_error.is_eof() => {
                self.cut("its last piece is not whole")
            }
            E::StreamParse { serde_error, .. } => self.no_reply(&serde_error.to_string()).into(),
            E::AdapterNotSupported { feature, .. } => {
                let message = format!("{} does not support {feature}", self.provider);
                self.error(ModelErrorKind::Config, message, "take another model").into()
            }
            other => self.error(ModelErrorKind::Request, format!("{}: {other}", self.model), REQUEST).into(),
        }
    }

    fn web(&self, error: &genai::webc::Error, begun: bool) -> Failure {
        use genai::webc::Error as W;
        match error {
            W::ResponseFailedStatus { status, body, headers } => self.status(status.as_u16(), headers, body),
            W::ResponseFailedNotJson { body, .. } if readable::is_html(body) => {
                self.html(&readable::message(body)).into()
            }
            W::ResponseFailedNotJson { body, .. } | W::ResponseFailedInvalidJson { body, .. } => {
                self.no_reply(&readable::message(body)).into()
            }
            W::Reqwest(error) => self.transport(error, begun),
            W::JsonValueExt(error) => self.no_reply(&error.to_string()).into(),
        }
    }

    /// Builds the error of a reply that no one can read.
    pub(crate) fn no_reply(&self, said: &str) -> ModelError {
        if said.trim().is_empty() {
            return self.empty("");
        }
        let message = format!("{} sent a reply that can't be read: {said}", self.provider);
        self.error(ModelErrorKind::Reply, message, AGAIN)
    }

    /// Maps a frame that is no JSON; one that only lacks its end was cut off.
    pub(crate) fn unreadable(&self, error: &serde_json::Error, data: &str) -> Failure {
        if error.is_eof() {
            return self.cut("its last piece is not whole");
        }
        self.no_reply(&readable::message(data)).into()
    }

    /// Builds the error of a reply that holds nothing of use.
    pub(crate) fn empty(&self, said: &str) -> ModelError {
        let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
        self.error(ModelErrorKind::Reply, format!("{} sent an empty reply{said}", self.provider), AGAIN)
    }

    /// Builds the error of a stream that ended before the message did.
    pub(crate) fn cut(&self, reason: &str) -> Failure {
        let message = format!("the reply of {} broke off: {reason}", self.provider);
        self.passing(ModelErrorKind::Cut, message, "what came is kept; send the prompt again to go on", None)
    }

    /// Builds the error of a wait that was too long.
    pub(crate) fn timeout(&self, waited: Duration, begun: bool) -> Failure {
        let seconds = waited.as_secs_f32();
        let (what, setting) =
            if begun { ("went silent for", "idle_ms") } else { ("sent nothing for", "first_byte_ms") };
        let message = format!("{} {what} {seconds} s", self.provider);
        self.error(ModelErrorKind::Timeout, message, &format!("try again, or raise timeouts.{setting}"))
            .into()
    }

    /// Maps what the network says. A failed connection passes only where it was made and then lost.
    fn transport(&self, error: &(dyn StdError + 'static), begun: bool) -> Failure {
        if let Some(inner) = error.downcast_ref::<genai::Error>() {
            return self.genai(inner, begun);
        }
        let Some(error) = error.downcast_ref::<reqwest::Error>() else {
            return self.no_reply(&chain(error)).into();
        };
        let reason = chain(error);
        if error.is_connect() {
            let message = format!("no connection to {}: {reason}", self.endpoint);
            return self.error(ModelErrorKind::Network, message, connect_hint(&reason)).into();
        }
        if error.is_builder() {
            let message = format!("the request to {} could not be built: {reason}", self.endpoint);
            return self
                .error(ModelErrorKind::Config, message, "check the endpoint, the headers and the key")
                .into();
        }
        if begun {
            return self.cut(&reason);
        }
        let message = format!("the connection to {} was lost: {reason}", self.endpoint);
        self.passing(ModelErrorKind::Network, message, "try again", None)
    }
}

const AGAIN: &str = "try again; if it stays, try another model";
const BUSY: &str = "wait a little and send the prompt again, or take another model";
const REQUEST: &str = "the provider refuses the request as it is; try another model or a new session";

fn connect_hint(reason: &str) -> &'static str {
    let reason = reason.to_lowercase();
    if reason.contains("refused") {
        "is the server running, and is the endpoint right?"
    } else if reason.contains("dns") || reason.contains("lookup") || reason.contains("resolve") {
        "is there a network, and is the host's name right?"
    } else if reason.contains("certificate") || reason.contains("tls") {
        "check the endpoint's certificate, and the system's"
    } else {
        "check the network, the endpoint and the proxy"
    }
}

/// What a provider said, in the forms that are looked at.
struct Told<'a> {
    status: u16,
    said: &'a str,
    body: &'a str,
    message: String,
}

impl Told<'_> {
    fn kind(&self) -> Option<ModelErrorKind> {
        let says = |words: &[&str]| {
            let text = format!("{} {}", self.said, self.body).to_lowercase();
            words.iter().any(|word| text.contains(word))
        };
        let client = self.status < 500;
        if self.status == 402 || client && says(QUOTA) {
            Some(ModelErrorKind::Quota)
        } else if matches!(self.status, 401 | 403) || client && says(AUTH) {
            Some(ModelErrorKind::Auth)
        } else if self.status == 413 || self.status != 429 && says(TOO_LONG) {
            Some(ModelErrorKind::TooLong)
        } else if self.status == 404 || client && self.status != 429 && says(UNKNOWN_MODEL) {
            Some(ModelErrorKind::UnknownModel)
        } else {
            None
        }
    }
}

const QUOTA: &[&str] = &[
    "insufficient_quota",
    "insufficient quota",
    "insufficient credit",
    "insufficient balance",
    "credit balance is too low",
    "billing_hard_limit",
    "requires more credits",
    "out of credits",
];
const AUTH: &[&str] =
    &["invalid_api_key", "authentication_error", "invalid api key", "incorrect api key", "api key not valid"];
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "maximum number of tokens",
    "exceeds the maximum number of input tokens",
    "request_too_large",
];
const UNKNOWN_MODEL: &[&str] = &[
    "model_not_found",
    "model not found",
    "not a valid model",
    "unknown model",
    "invalid model",
    "no such model",
];

/// Reads how long a provider wants to be left alone: `retry-after-ms`, else `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    if let Some(millis) = value("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = value("retry-after")?;
    seconds(text).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    })
}

/// Joins an error and its causes, without repeating what one has taken over from the next.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = match error.downcast_ref::<reqwest::Error>() {
            // reqwest adds the address, which may hold a key.
            Some(error) if error.url().is_some() => {
                error.to_string().split(" for url").next().unwrap_or_default().to_owned()
            }
            _ => error.to_string(),
        };
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        next = error.source();
    }
    parts.join(": ")
}
