//! The formats that genai reads for us, over a real connection.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use koda_model::testing::{End, Received, Reply, Server, openai};
use koda_model::{ModelSettings, Models, ProviderSettings};
use koda_protocol::message::{Message, Part};
use koda_protocol::port::{ModelErrorKind, ModelEvent, StopReason};
use serde_json::{Value, json};

fn models(provider: &str, server: &Server) -> Models {
    let mut settings = ModelSettings::new(|name| name.ends_with("_KEY").then(|| KEY.to_owned()));
    let set = ProviderSettings { endpoint: Some(server.address()), ..ProviderSettings::default() };
    settings.providers.insert(provider.to_owned(), set);
    settings.retries.base_ms = 2;
    settings.retries.tries = 2;
    Models::new(settings)
}

fn sse(frames: &[Value]) -> Vec<u8> {
    frames.iter().flat_map(|frame| openai::frame_bytes(&frame.to_string())).collect()
}

fn sent(server: &Server) -> Vec<Value> {
    server.requests().iter().map(Received::json).collect()
}

/// Plays the reply and then takes its call, answered, back to the model.
async fn round_trip(models: &Models, model: &str) -> Vec<ModelEvent> {
    let (events, error) = collect(models, hello(model)).await;
    assert_eq!(error, None);
    let mut parts = Vec::new();
    let mut results = Vec::new();
    for event in &events {
        match event {
            ModelEvent::ReasoningSignature(signature) => {
                parts.push(Part::Reasoning { text: String::new(), signature: Some(signature.clone()) });
            }
            ModelEvent::Call(call) => {
                results.push(result(call.id.as_str(), "its text"));
                parts.push(Part::Call(call.clone()));
            }
            _ => {}
        }
    }
    results.push(say("and quick"));
    let history = vec![Message::user("hello"), assistant(parts), user(results)];
    assert_eq!(collect(models, request(model, history)).await.1, None);
    events
}

#[tokio::test]
async fn gemini_gets_its_signature_back_with_its_call() {
    let part =
        json!({ "functionCall": { "name": "Read", "args": { "path": "ä" } }, "thoughtSignature": "sig-g" });
    let frames = [
        json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "I look." }] } }] }),
        json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 5, "candidatesTokenCount": 3 } }),
    ];
    let server = Server::answering(move |_, _| Reply::sse(sse(&frames)).cut_every(7));
    let models = models("gemini", &server);
    let events = round_trip(&models, "gemini::gemini-3.8-flash").await;
    assert_eq!(text(&events), "I look.");
    assert_eq!(calls(&events)[0].2, json!({ "path": "ä" }));
    assert_eq!(events.last(), Some(&ModelEvent::Stop(StopReason::Calls)));
    let contents = sent(&server)[1]["contents"].clone();
    assert_eq!(contents[1]["parts"][0]["thoughtSignature"], "sig-g");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["name"], "Read");
    assert_eq!(contents[2]["parts"][1]["text"], "and quick");
    // Another provider never sees it.
    assert_eq!(contents.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn responses_get_their_sealed_reasoning_back() {
    let call =
        json!({ "type": "function_call", "id": "fc", "call_id": "call_r", "name": "Read", "arguments": "" });
    let mut done = call.clone();
    done["arguments"] = json!("{\"path\":\"x\"}");
    let frames = [
        json!({ "type": "response.created", "response": {} }),
        json!({ "type": "response.output_item.done", "output_index": 0,
            "item": { "type": "reasoning", "encrypted_content": "sealed" } }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "hé" }),
        json!({ "type": "response.output_item.added", "output_index": 2, "item": call }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"path\"" }),
        json!({ "type": "response.output_item.done", "output_index": 2, "item": done }),
        json!({ "type": "response.completed", "response": { "id": "r", "model": "m", "status": "completed",
            "output": [], "usage": { "input_tokens": 4, "output_tokens": 2, "total_tokens": 6 } } }),
    ];
    let server = Server::answering(move |_, _| Reply::sse(sse(&frames)).cut_every(5));
    let models = models("openai_resp", &server);
    let events = round_trip(&models, "openai_resp::gpt-5.6").await;
    assert_eq!((text(&events).as_str(), calls(&events)[0].2.clone()), ("hé", json!({ "path": "x" })));
    assert_eq!(events.last(), Some(&ModelEvent::Stop(StopReason::Calls)));
    assert!(sent(&server)[1]["input"].to_string().contains("sealed"));
}

#[tokio::test]
async fn ollama_gets_every_result() {
    let call = |path: &str| json!({ "function": { "name": "Read", "arguments": { "path": path } } });
    let lines = [
        json!({ "message": { "role": "assistant", "content": "I lo" }, "done": false }),
        json!({ "message": { "role": "assistant", "content": "ok.", "tool_calls": [call("a"), call("b")] }, "done": false }),
        json!({ "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
            "prompt_eval_count": 9, "eval_count": 4 }),
    ];
    let body = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let server =
        Server::answering(move |_, _| Reply::new(200, "application/x-ndjson", body.clone()).cut_every(6));
    let models = models("ollama", &server);
    let events = round_trip(&models, "ollama::qwen3:4b").await;
    assert_eq!(text(&events), "I look.");
    assert_eq!(calls(&events).len(), 2);
    assert_ne!(calls(&events)[0].0, calls(&events)[1].0);
    let roles: Vec<Value> =
        sent(&server)[1]["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
}

#[tokio::test]
async fn their_errors_and_cuts_are_told_too() {
    let object =
        sse(&[json!({ "error": { "code": 400, "message": "it broke", "status": "INVALID_ARGUMENT" } })]);
    let half =
        sse(&[json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "so" }] } }] })]);
    let server = Server::scripted([
        Reply::sse(object),
        Reply::sse(half.clone()),
        Reply::sse(half).end(End::Close),
        Reply::json(401, &json!([{ "error": { "message": "no such key" } }])),
    ]);
    let models = models("gemini", &server);
    for (kind, words) in [
        (ModelErrorKind::Reply, "it broke"),
        (ModelErrorKind::Cut, "broke off"),
        (ModelErrorKind::Cut, "broke off"),
        (ModelErrorKind::Auth, "no such key"),
    ] {
        let error = collect(&models, hello("gemini::gemini-3.8-flash")).await.1.unwrap();
        assert_eq!(error.kind, kind, "{error:?}");
        assert!(error.message.contains(words), "{error:?}");
    }
}
