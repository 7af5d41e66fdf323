//! Takes over what genai has read: of formats that have no reader here, and of replies that came whole.

use std::collections::HashSet;

use genai::adapter::AdapterKind;
use genai::chat::{self, ChatResponse, ChatStreamEvent, ContentPart, StreamEnd};
use koda_protocol::call::ToolCall;
use koda_protocol::message::Usage;
use koda_protocol::port::{ModelEvent, StopReason};
use serde_json::Value;

use super::text::arguments;
use super::{signature, stop_reason};
use crate::failure::{Context, Failure};

/// One stream's state.
pub(crate) struct Reader {
    kind: AdapterKind,
    taken: HashSet<String>,
    end: Option<StreamEnd>,
    context: Context,
}

impl Reader {
    pub(super) fn new(kind: AdapterKind, taken: HashSet<String>, context: Context) -> Self {
        Self { kind, taken, end: None, context }
    }

    /// Looks for an error, which some of genai's streamers pass over.
    pub(super) fn frame(&mut self, data: &str) -> Result<(), Failure> {
        if !data.contains("\"error\"") {
            return Ok(());
        }
        let frame: Value = serde_json::from_str(data).unwrap_or_default();
        match frame.get("error").or_else(|| frame.pointer("/response/error")).filter(|error| !error.is_null())
        {
            Some(error) => Err(self.context.object(error)),
            None => Ok(()),
        }
    }

    pub(super) fn event(&mut self, event: ChatStreamEvent, out: &mut Vec<ModelEvent>) {
        match event {
            ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
                out.push(ModelEvent::Text(chunk.content))
            }
            ChatStreamEvent::ReasoningChunk(chunk) if !chunk.content.is_empty() => {
                out.push(ModelEvent::Reasoning(chunk.content));
            }
            ChatStreamEvent::ThoughtSignatureChunk(chunk) if self.kind == AdapterKind::BedrockApi => {
                out.push(ModelEvent::ReasoningSignature(format!("{}{}", signature::BEDROCK, chunk.content)));
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                let call = chunk.tool_call;
                let bytes =
                    call.fn_arguments.as_str().map_or_else(|| call.fn_arguments.to_string().len(), str::len);
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
                out.push(ModelEvent::CallForming { id: call.call_id, tool: call.fn_name, bytes });
            }
            ChatStreamEvent::End(end) => self.end = Some(end),
            _ => {}
        }
    }

    /// genai makes up an end where the stream has none, but then without a reason.
    pub(super) fn complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.captured_stop_reason.is_some())
    }

    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> StopReason {
        let Some(end) = self.end.take() else { return StopReason::Unknown };
        let parts = end.captured_content.map(|content| content.into_parts()).unwrap_or_default();
        let taken = &mut self.taken;
        let calls = parts.into_iter().filter_map(ContentPart::into_tool_call);
        let calls: Vec<ModelEvent> =
            calls.map(|call| ModelEvent::Call(tool_call(self.kind, call, taken))).collect();
        let any = !calls.is_empty();
        out.extend(calls);
        out.extend(end.captured_usage.as_ref().map(|usage| ModelEvent::Usage(usage_of(usage))));
        reason(end.captured_stop_reason.as_ref(), any)
    }
}

/// Reads a reply that came whole.
pub(super) fn whole(
    reply: ChatResponse,
    kind: AdapterKind,
    mut taken: HashSet<String>,
    out: &mut Vec<ModelEvent>,
) -> StopReason {
    let filled = |text: &String| !text.trim().is_empty();
    out.extend(reply.reasoning_content.filter(filled).map(ModelEvent::Reasoning));
    let mut any = false;
    for part in reply.content.into_parts() {
        match part {
            ContentPart::Text(text) if filled(&text) => out.push(ModelEvent::Text(text)),
            ContentPart::ToolCall(call) => {
                any = true;
                out.push(ModelEvent::Call(tool_call(kind, call, &mut taken)));
            }
            _ => {}
        }
    }
    out.push(ModelEvent::Usage(usage_of(&reply.usage)));
    reason(reply.stop_reason.as_ref(), any)
}

fn tool_call(kind: AdapterKind, call: chat::ToolCall, taken: &mut HashSet<String>) -> ToolCall {
    let mut id = call.call_id.clone();
    let mut count = 2;
    while id.is_empty() || !taken.insert(id.clone()) {
        id = format!("{}-{count}", if call.call_id.is_empty() { "call" } else { &call.call_id });
        count += 1;
    }
    let gemini = matches!(kind, AdapterKind::Gemini | AdapterKind::GeminiIx | AdapterKind::Vertex);
    let own = call.thought_signatures.and_then(|list| list.into_iter().next()).filter(|_| gemini);
    ToolCall {
        id: id.into(),
        tool: call.fn_name,
        args: match call.fn_arguments {
            Value::String(text) => arguments(&text),
            Value::Null => Value::Object(serde_json::Map::new()),
            args => args,
        },
        signature: own.map(|text| format!("{}{text}", signature::GEMINI)),
    }
}

fn usage_of(usage: &chat::Usage) -> Usage {
    let known = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok());
    let sent = usage.prompt_tokens_details.as_ref();
    let received = usage.completion_tokens_details.as_ref();
    Usage {
        input: known(usage.prompt_tokens),
        output: known(usage.completion_tokens),
        cached: known(sent.and_then(|details| details.cached_tokens)),
        cache_write: known(sent.and_then(|details| details.cache_creation_tokens)),
        reasoning: known(received.and_then(|details| details.reasoning_tokens)),
    }
}

fn reason(reason: Option<&chat::StopReason>, calls: bool) -> StopReason {
    match reason {
        Some(chat::StopReason::MaxTokens(_)) => StopReason::Length,
        Some(chat::StopReason::ContentFilter(_)) => StopReason::Refused,
        other => stop_reason(other.map(|reason| reason.raw()), calls),
    }
}
