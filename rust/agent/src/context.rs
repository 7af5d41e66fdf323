//! What fills the model's window: for people, who pay for it with each request.

use koda_protocol::{Message, Part, ToolSpec};
use serde::Serialize;

use crate::prompt::PromptPart;

/// Bytes of a token, about: of English and code more, of other scripts less.
const BYTES_PER_TOKEN: usize = 4;

/// A part of each request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// `prompt`, `instructions` or `tool`.
    pub kind: &'static str,
    /// The part of the prompt, the file, or the tool.
    pub name: String,
    /// Tokens, about.
    pub tokens: u64,
}

/// What a session sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextReport {
    /// `provider::model`.
    pub model: String,
    /// Tokens that the model takes, if that is known.
    pub window: Option<u64>,
    /// What is sent with each request.
    pub fixed: Vec<Share>,
    /// Tokens of the conversation, about.
    pub conversation: u64,
    /// Tokens of the last request and its reply, as the provider counted them.
    pub counted: Option<u64>,
}

/// Lists what is sent with each request.
pub fn fixed(parts: &[PromptPart], tools: &[ToolSpec]) -> Vec<Share> {
    let own = ["koda", "mode", "trust", "project", "memory", "skills"];
    let part = |part: &PromptPart| {
        let kind = if own.contains(&part.name.as_str()) { "prompt" } else { "instructions" };
        Share { kind, name: part.name.clone(), tokens: tokens(part.text.len()) }
    };
    let tool = |tool: &ToolSpec| {
        let bytes = tool.name.len() + tool.description.len() + tool.schema.to_string().len();
        Share { kind: "tool", name: tool.name.clone(), tokens: tokens(bytes) }
    };
    parts.iter().map(part).chain(tools.iter().map(tool)).collect()
}

/// Counts the tokens of a conversation, about.
pub fn conversation(messages: &[Message]) -> u64 {
    let bytes = |part: &Part| match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.len(),
        Part::Call(call) => call.tool.len() + call.args.to_string().len(),
        Part::Result(result) => result.text.len(),
    };
    tokens(messages.iter().flat_map(|message| &message.parts).map(bytes).sum())
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}
