//! What the tests of this crate share: models that ask a scripted server, and requests.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test file uses its part")]

use std::time::Duration;

use futures::StreamExt;
use koda_model::{ModelSettings, Models, ProviderSettings, Retries};
use koda_protocol::call::{ToolCall, ToolResult, ToolSpec};
use koda_protocol::message::{Message, Part, Role};
use koda_protocol::port::{Model, ModelError, ModelEvent, ModelRequest};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub const KEY: &str = "sk-very-secret-key";

/// A protocol, as a provider of [`settings`] speaks it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wire {
    OpenAi,
    Anthropic,
    Responses,
    Gemini,
}

pub const WIRES: [Wire; 4] = [Wire::OpenAi, Wire::Anthropic, Wire::Responses, Wire::Gemini];

impl Wire {
    pub fn model(self) -> &'static str {
        match self {
            Self::OpenAi => "chat::scripted",
            Self::Anthropic => "claude::scripted",
            Self::Responses => "respond::scripted",
            Self::Gemini => "google::scripted",
        }
    }

    pub fn stream(self, turn: &koda_model::testing::Turn) -> Vec<u8> {
        match self {
            Self::OpenAi => koda_model::testing::openai::stream(turn),
            Self::Anthropic => koda_model::testing::anthropic::stream(turn),
            Self::Responses => koda_model::testing::responses::stream(turn),
            Self::Gemini => koda_model::testing::gemini::stream(turn),
        }
    }
}

/// Settings whose providers are at `address`, with retries that take milliseconds.
pub fn settings(address: &str) -> ModelSettings {
    let mut settings = ModelSettings::new(|name| (name == "SCRIPTED_KEY").then(|| KEY.to_owned()));
    let provider = |adapter: Option<&str>| ProviderSettings {
        endpoint: Some(address.to_owned()),
        key_env: Some("SCRIPTED_KEY".to_owned()),
        adapter: adapter.map(str::to_owned),
        ..ProviderSettings::default()
    };
    settings.providers.insert("chat".to_owned(), provider(None));
    settings.providers.insert("claude".to_owned(), provider(Some("anthropic")));
    settings.providers.insert("respond".to_owned(), provider(Some("openai_resp")));
    settings.providers.insert("google".to_owned(), provider(Some("gemini")));
    settings.retries = Retries { tries: 3, base_ms: 4, max_ms: 5_000 };
    settings
}

pub fn models(address: &str) -> Models {
    Models::new(settings(address))
}

pub fn request(model: &str, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: model.to_owned(),
        system: "You are tested.".to_owned(),
        messages,
        tools: vec![read_tool()],
        cancel: CancellationToken::new(),
    }
}

pub fn hello(model: &str) -> ModelRequest {
    request(model, vec![Message::user("hello")])
}

pub fn read_tool() -> ToolSpec {
    ToolSpec {
        name: "Read".to_owned(),
        description: "Reads a file.".to_owned(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
    }
}

/// Reads a stream to its end. A stream that gives no end within a minute fails the test.
pub async fn collect(models: &Models, request: ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let reading = async {
        let mut events = Vec::new();
        let mut stream = match models.stream(request).await {
            Ok(stream) => stream,
            Err(error) => return (events, Some(error)),
        };
        while let Some(item) = stream.next().await {
            match item {
                Ok(event) => events.push(event),
                Err(error) => {
                    assert!(stream.next().await.is_none(), "something follows an error");
                    return (events, Some(error));
                }
            }
        }
        (events, None)
    };
    tokio::time::timeout(Duration::from_secs(60), reading).await.expect("the stream has no end")
}

pub fn text(events: &[ModelEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub fn reasoning(events: &[ModelEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        ModelEvent::Reasoning(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

pub fn calls(events: &[ModelEvent]) -> Vec<(String, String, Value)> {
    let calls = events.iter().filter_map(|event| match event {
        ModelEvent::Call(call) => Some((call.id.0.clone(), call.tool.clone(), call.args.clone())),
        _ => None,
    });
    calls.collect()
}

pub fn retries(events: &[ModelEvent]) -> Vec<(u32, u64)> {
    let retries = events.iter().filter_map(|event| match event {
        ModelEvent::Retry { attempt, wait_ms, .. } => Some((*attempt, *wait_ms)),
        _ => None,
    });
    retries.collect()
}

pub fn assistant(parts: Vec<Part>) -> Message {
    Message { role: Role::Assistant, parts }
}

pub fn user(parts: Vec<Part>) -> Message {
    Message { role: Role::User, parts }
}

pub fn say(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

pub fn call(id: &str, args: Value) -> Part {
    Part::Call(ToolCall { id: id.into(), tool: "Read".to_owned(), args, signature: None })
}

pub fn result(id: &str, text: &str) -> Part {
    Part::Result(ToolResult {
        id: id.into(),
        tool: "Read".to_owned(),
        ok: true,
        text: text.to_owned(),
        data: Value::Null,
    })
}
