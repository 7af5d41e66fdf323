//! Models.

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::call::{ToolCall, ToolSpec};
use crate::cost::ModelFacts;
use crate::message::{Message, Usage};

/// One request: everything that a model needs to go on.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// `provider::model`.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The conversation, ending with a message of the user.
    pub messages: Vec<Message>,
    /// The tools on offer, sorted by name so that a provider's cache keeps them.
    pub tools: Vec<ToolSpec>,
    /// Cancelling it closes the connection at once; the stream then ends with `ModelErrorKind::Cancelled`.
    pub cancel: CancellationToken,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// It reached the limit of output.
    Length,
    /// The provider stopped it (a filter).
    Refused,
    /// Not told.
    Unknown,
}

/// What a model's stream says.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// Text came.
    Text(String),
    /// Reasoning came.
    Reasoning(String),
    /// The signature of the reasoning so far.
    ReasoningSignature(String),
    /// A call forms; `bytes` of its arguments have come.
    CallForming {
        /// The provider's id, or one that we made.
        id: String,
        /// The name as it came.
        tool: String,
        /// Bytes of arguments so far.
        bytes: u64,
    },
    /// A call is complete. Arguments that are no JSON are a `Value::String`, as they came.
    Call(ToolCall),
    /// Tokens counted.
    Usage(Usage),
    /// A request failed in a way that passes, and is tried again. Only before any other event.
    Retry {
        /// Tries so far, from 1.
        attempt: u32,
        /// Milliseconds until the next.
        wait_ms: u64,
        /// What failed.
        reason: String,
    },
    /// The model stopped. Always the last event of a stream that did not fail.
    Stop(StopReason),
}

/// What kind of failure it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// No model, provider or endpoint by that name, or the settings are wrong.
    Config,
    /// No key where one is needed, or it was refused (401, 403).
    Auth,
    /// The provider knows no such model (404).
    UnknownModel,
    /// The request was refused as malformed (400).
    Request,
    /// The conversation is longer than the model takes.
    TooLong,
    /// Too many requests, overloaded, and retries are used up (429, 5xx, 529).
    Busy,
    /// The account has no more credit.
    Quota,
    /// No connection: refused, no network, no such host, TLS.
    Network,
    /// The stream ended before the message did.
    Cut,
    /// Nothing came for too long.
    Timeout,
    /// An error object inside a success, HTML where JSON was due, an empty reply.
    Reply,
    /// Stopped by the user.
    Cancelled,
}

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind.
    pub kind: ModelErrorKind,
    /// What happened, with the provider's own words where there are any. Never a key.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

/// A model's answer as it comes. After an `Err` nothing follows.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// Models by name. Implementors retry what passes before the first event, never after.
#[async_trait]
pub trait Model: Send + Sync {
    /// Sends a request and returns its stream. Errors before the first byte come here or in the stream.
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError>;
    /// Returns what is known of a model without asking anybody. Quick.
    fn facts(&self, _model: &str) -> ModelFacts {
        ModelFacts::default()
    }
}
