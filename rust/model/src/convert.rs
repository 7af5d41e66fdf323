//! Shapes a conversation into genai's request, as the target takes it.
//!
//! The history is valid (see [`crate::history`]). Reasoning goes back only to the provider that signed it, or
//! that demands it; calls always have an object for arguments; results come before text.

use std::collections::HashMap;

use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatRequest, ContentPart, CustomPart, MessageContent, MessageOptions, Tool,
    ToolCall, ToolName, ToolResponse,
};
use koda_protocol::CallId;
use koda_protocol::call::{ToolResult, ToolSpec};
use koda_protocol::message::{Message, Part, Role};
use serde_json::{Value, json};

use crate::ids::Ids;
use crate::wire::{Format, signature};

/// The longest name of a tool that all providers take.
const LONGEST_NAME: usize = 64;

/// How a provider takes the results of calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    /// In the user's message, before its text.
    InUser,
    /// All in a message of their own, which is followed by the user's.
    Apart,
    /// Each in a message of its own.
    Each,
}

/// The target of a conversion.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub kind: AdapterKind,
    pub format: Format,
    /// The model as the provider calls it.
    pub model: &'a str,
}

/// Converts a valid conversation.
pub(crate) fn request(
    target: Target<'_>,
    system: &str,
    messages: &[Message],
    tools: &[ToolSpec],
) -> ChatRequest {
    let mut shaper = Shaper { target, ids: Ids::new(target.kind), called: HashMap::new(), sent: Vec::new() };
    // Reasoning of finished turns is of no use to anyone; that of the running one may be demanded.
    let turn = messages.iter().rposition(|message| message.role == Role::User && answers_nothing(message));
    for (index, message) in messages.iter().enumerate() {
        match message.role {
            Role::User => shaper.user(message),
            Role::Assistant => shaper.assistant(message, turn.is_none_or(|turn| index > turn)),
        }
    }
    let mut sent = shaper.sent;
    let cached = target.format == Format::Anthropic && target.kind != AdapterKind::OpenCodeGo;
    let mut request = ChatRequest::default();
    if cached {
        // Two marks: after the tools and the system prompt, and after the last message, so that each step of
        // a turn pays for its new tokens only.
        let mark = || MessageOptions::default().with_cache_control(CacheControl::Ephemeral);
        if let Some(last) = sent.last_mut() {
            last.options = Some(mark());
        }
        if !system.trim().is_empty() {
            sent.insert(0, ChatMessage::system(system).with_options(mark()));
        }
    } else if !system.trim().is_empty() {
        request.system = Some(system.to_owned());
    }
    request.messages = sent;
    if !tools.is_empty() {
        request.tools = Some(tools.iter().map(|spec| tool(target, spec)).collect());
    }
    request
}

fn answers_nothing(message: &Message) -> bool {
    !message.parts.iter().any(|part| matches!(part, Part::Result(_)))
}

fn tool(target: Target<'_>, spec: &ToolSpec) -> Tool {
    // Named outright: genai takes some plain names for a provider's own tools.
    let tool = Tool::new(ToolName::Custom(spec.name.clone()))
        .with_description(spec.description.clone())
        .with_schema(spec.schema.clone());
    // Where nothing is said, Responses makes every argument a required one.
    if target.format == Format::Responses { tool.with_strict(false) } else { tool }
}

struct Shaper<'a> {
    target: Target<'a>,
    ids: Ids,
    /// By the id of the last message's calls: what the model called. A result under another name, such as that of
    /// an alias, is refused by Gemini.
    called: HashMap<CallId, String>,
    sent: Vec<ChatMessage>,
}

impl Shaper<'_> {
    fn user(&mut self, message: &Message) {
        let mut results = Vec::new();
        let mut texts = Vec::new();
        for part in &message.parts {
            match part {
                Part::Result(result) => results.push(ContentPart::ToolResponse(self.response(result))),
                Part::Text { text } => texts.push(ContentPart::Text(text.clone())),
                Part::Reasoning { .. } | Part::Call(_) => {}
            }
        }
        match self.results() {
            Results::InUser => {
                results.extend(texts);
                self.sent.push(ChatMessage::user(MessageContent::from_parts(results)));
                return;
            }
            Results::Apart if !results.is_empty() => {
                self.sent.push(ChatMessage::tool(MessageContent::from_parts(results)));
            }
            Results::Apart => {}
            Results::Each => {
                let each =
                    results.into_iter().map(|part| ChatMessage::tool(MessageContent::from_parts(vec![part])));
                self.sent.extend(each);
            }
        }
        if !texts.is_empty() {
            self.bridge();
            self.sent.push(ChatMessage::user(MessageContent::from_parts(texts)));
        }
    }

    /// Mistral takes no message of the user right after a result.
    fn bridge(&mut self) {
        let after_result = self.sent.last().is_some_and(|last| last.content.contains_tool_response());
        if after_result && self.target.kind == AdapterKind::Mistral {
            self.sent.push(ChatMessage::assistant("I have the results."));
        }
    }

    fn results(&self) -> Results {
        match (self.target.format, self.target.kind) {
            (Format::Anthropic, _)
            | (_, AdapterKind::Gemini | AdapterKind::Vertex | AdapterKind::BedrockApi) => Results::InUser,
            // genai sends one result per message to Ollama and drops the others.
            (_, AdapterKind::Ollama | AdapterKind::OllamaCloud) => Results::Each,
            _ => Results::Apart,
        }
    }

    fn response(&mut self, result: &ToolResult) -> ToolResponse {
        let text = if result.text.trim().is_empty() { "(no output)" } else { &result.text };
        let name = self.called.get(&result.id).cloned().unwrap_or_else(|| legal(&result.tool));
        ToolResponse::new(self.ids.sent(result.id.as_str()), text).with_fn_name(name)
    }

    fn assistant(&mut self, message: &Message, running: bool) {
        let mut parts = Vec::new();
        self.called = message.calls().map(|call| (call.id.clone(), legal(&call.tool))).collect();
        for part in &message.parts {
            match part {
                Part::Text { text } => parts.push(ContentPart::Text(text.clone())),
                Part::Reasoning { text, signature } => {
                    self.reasoning(text, signature.as_deref(), running, &mut parts)
                }
                Part::Call(call) => {
                    let own = call.signature.as_deref().and_then(|text| text.strip_prefix(signature::GEMINI));
                    parts.push(ContentPart::ToolCall(ToolCall {
                        call_id: self.ids.sent(call.id.as_str()),
                        fn_name: legal(&call.tool),
                        fn_arguments: object(&call.args),
                        thought_signatures: own
                            .filter(|_| self.speaks_gemini())
                            .map(|text| vec![text.to_owned()]),
                    }));
                }
                Part::Result(_) => {}
            }
        }
        if parts.is_empty() {
            // Only reasoning, which this provider does not take. Leaving the message out would put two of
            // the user's side by side.
            parts.push(ContentPart::Text("(no answer)".to_owned()));
        }
        self.sent.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
    }

    fn reasoning(&self, text: &str, signed: Option<&str>, running: bool, parts: &mut Vec<ContentPart>) {
        let own = |prefix: &str| signed.and_then(|signed| signed.strip_prefix(prefix)).map(str::to_owned);
        let kind = self.target.kind;
        if self.target.format == Format::Anthropic {
            if let Some(data) = own(signature::REDACTED) {
                let data = json!({ "type": "redacted_thinking", "data": data });
                parts.push(ContentPart::Custom(CustomPart { model_iden: None, data }));
            } else if let Some(signed) = own(signature::ANTHROPIC).filter(|_| !text.is_empty()) {
                parts.push(ContentPart::ThoughtSignature(signed));
                parts.push(ContentPart::ReasoningContent(text.to_owned()));
            }
        } else if kind == AdapterKind::OpenAIResp {
            parts.extend(own(signature::RESPONSES).map(ContentPart::ThoughtSignature));
        } else if kind == AdapterKind::BedrockApi {
            if let Some(signed) = own(signature::BEDROCK).filter(|_| !text.is_empty()) {
                parts.push(ContentPart::ThoughtSignature(signed));
                parts.push(ContentPart::ReasoningContent(text.to_owned()));
            }
        } else if running && wants_reasoning(kind) && !text.is_empty() {
            parts.push(ContentPart::ReasoningContent(text.to_owned()));
        }
    }

    fn speaks_gemini(&self) -> bool {
        let kind = self.target.kind;
        matches!(kind, AdapterKind::Gemini | AdapterKind::GeminiIx)
            || kind == AdapterKind::Vertex && self.target.model.starts_with("gemini")
    }
}

/// These want their reasoning back within a turn. Others of the same protocol refuse the field.
fn wants_reasoning(kind: AdapterKind) -> bool {
    matches!(
        kind,
        AdapterKind::DeepSeek
            | AdapterKind::Kimi
            | AdapterKind::Moonshot
            | AdapterKind::Mimo
            | AdapterKind::Zai
    )
}

/// Brings a name that a model made up into the form that providers take back.
fn legal(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(LONGEST_NAME).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Every provider wants an object. What was no JSON goes back under a name that says so.
fn object(args: &Value) -> Value {
    match args {
        Value::Object(_) => args.clone(),
        Value::Null => json!({}),
        other => json!({ "unreadable_arguments": other }),
    }
}
