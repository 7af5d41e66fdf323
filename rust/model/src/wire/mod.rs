//! Readings of what providers stream.
//!
//! genai's streamers assemble tool calls by index alone, drop calls without one, and lose what comes before
//! an error. So for the wire formats that most servers speak, OpenAI Chat Completions and Responses and
//! Anthropic Messages, this module reads the raw frames itself (genai hands them out through its frame sink) and only
//! takes the transport from genai. The other formats are taken as genai reads them.

mod anthropic;
mod calls;
mod genai_events;
mod openai;
mod prose;
mod responses;
mod text;

pub(crate) use text::arguments;

use std::collections::HashSet;

use genai::adapter::AdapterKind;
use genai::chat::{ChatResponse, ChatStreamEvent};
use koda_protocol::port::{ModelEvent, StopReason};
use serde_json::Value;

use crate::failure::{Context, Failure};

/// Which format a provider streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// OpenAI Chat Completions.
    OpenAi,
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// Any other, as genai reads it.
    Other,
}

impl Format {
    /// Returns the format that genai's adapter gets for a model.
    pub(crate) fn of(kind: AdapterKind, model: &str) -> Self {
        match kind {
            AdapterKind::Anthropic | AdapterKind::MiniMax => Self::Anthropic,
            AdapterKind::Vertex if model.starts_with("claude") => Self::Anthropic,
            AdapterKind::OpenCodeGo if model.to_lowercase().starts_with("minimax-") => Self::Anthropic,
            AdapterKind::OpenAIResp => Self::Responses,
            AdapterKind::Vertex
            | AdapterKind::Gemini
            | AdapterKind::GeminiIx
            | AdapterKind::Cohere
            | AdapterKind::Ollama
            | AdapterKind::OllamaCloud
            | AdapterKind::BedrockApi => Self::Other,
            _ => Self::OpenAi,
        }
    }
}

/// Reads one stream.
pub(crate) enum Reader {
    /// Reads frames.
    OpenAi(openai::Reader),
    /// Reads frames.
    Anthropic(anthropic::Reader),
    /// Reads frames.
    Responses(responses::Reader),
    /// Reads genai's events.
    Other(genai_events::Reader),
}

impl Reader {
    /// Builds a reader. `taken` are the call ids that the conversation has already.
    pub(crate) fn new(format: Format, kind: AdapterKind, taken: HashSet<String>, context: Context) -> Self {
        match format {
            Format::OpenAi => Self::OpenAi(openai::Reader::new(taken, context)),
            Format::Anthropic => Self::Anthropic(anthropic::Reader::new(taken, context)),
            Format::Responses => Self::Responses(responses::Reader::new(taken, context)),
            Format::Other => Self::Other(genai_events::Reader::new(kind, taken, context)),
        }
    }

    /// Reads a frame's data, in the order of the wire.
    pub(crate) fn frame(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<(), Failure> {
        match self {
            Self::OpenAi(reader) => reader.frame(data, out),
            Self::Anthropic(reader) => reader.frame(data, out),
            Self::Responses(reader) => reader.frame(data, out),
            Self::Other(reader) => reader.frame(data),
        }
    }

    /// Reads an event of genai's, which the own readers have no use for.
    pub(crate) fn event(&mut self, event: ChatStreamEvent, out: &mut Vec<ModelEvent>) {
        if let Self::Other(reader) = self {
            reader.event(event, out);
        }
    }

    /// Returns whether the message is complete, whatever the connection does now.
    pub(crate) fn complete(&self) -> bool {
        match self {
            Self::OpenAi(reader) => reader.complete(),
            Self::Anthropic(reader) => reader.complete(),
            Self::Responses(reader) => reader.complete(),
            Self::Other(reader) => reader.complete(),
        }
    }

    /// Returns whether the last frame of the format has come, so that nothing need be waited for.
    pub(crate) fn ended(&self) -> bool {
        match self {
            Self::OpenAi(reader) => reader.ended(),
            Self::Anthropic(reader) => reader.ended(),
            Self::Responses(reader) => reader.complete(),
            Self::Other(reader) => reader.complete(),
        }
    }

    /// Gives out what was held back, usage included, and why the model stopped.
    pub(crate) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> StopReason {
        match self {
            Self::OpenAi(reader) => reader.finish(out),
            Self::Anthropic(reader) => reader.finish(out),
            Self::Responses(reader) => reader.finish(out),
            Self::Other(reader) => reader.finish(out),
        }
    }
}

/// Reads a reply that came whole.
pub(crate) fn whole(
    reply: ChatResponse,
    kind: AdapterKind,
    taken: HashSet<String>,
    out: &mut Vec<ModelEvent>,
) -> StopReason {
    genai_events::whole(reply, kind, taken, out)
}

/// Maps the words that providers stop with. `calls` tells whether the message has calls.
fn stop_reason(word: Option<&str>, calls: bool) -> StopReason {
    match word {
        Some("length" | "max_tokens" | "model_length" | "model_context_window_exceeded") => {
            StopReason::Length
        }
        Some("content_filter" | "refusal") => StopReason::Refused,
        _ if calls => StopReason::Calls,
        Some(_) => StopReason::End,
        None => StopReason::Unknown,
    }
}

/// Marks whose signature it is, so that it is never sent to another provider.
///
/// Signatures are opaque to everyone above this crate.
pub(crate) mod signature {
    /// Of a thinking block.
    pub(crate) const ANTHROPIC: &str = "anthropic:";
    /// A whole thinking block that the provider hid.
    pub(crate) const REDACTED: &str = "anthropic-redacted:";
    /// Of a call or a thought.
    pub(crate) const GEMINI: &str = "gemini:";
    /// Reasoning in the provider's own cipher.
    pub(crate) const RESPONSES: &str = "responses:";
    /// Of a thinking block that came through Bedrock.
    pub(crate) const BEDROCK: &str = "bedrock:";
}

/// What OpenAI's streams end with, and others now and then.
const DONE: &str = "[DONE]";

/// Parses the JSON of a frame; none where there is none, or where it is garbage behind a message that is
/// `complete`, which does not spoil it.
fn parsed(data: &str, complete: bool, context: &Context) -> Result<Option<Value>, Failure> {
    let data = data.trim();
    if data.is_empty() || data == DONE {
        return Ok(None);
    }
    match text::parse(data) {
        Ok(frame) => Ok(Some(frame)),
        Err(_) if complete => Ok(None),
        Err(error) => Err(context.unreadable(&error, data)),
    }
}

/// Returns a counter that is no whole number of tokens as unknown.
fn count(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_u64)
}
