//! What goes over the wire: the same prefix in each step of a turn, and nothing that an API refuses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use koda_model::testing::{Reply, Server, Turn, histories};
use koda_model::{Models, OptionSettings};
use koda_protocol::message::Message;
use serde_json::{Value, json};

/// A server that answers all requests in the wire's form.
fn answering(wire: Wire) -> Server {
    let stream = wire.stream(&Turn::new().text("fine"));
    Server::answering(move |_, _| Reply::sse(stream.clone()))
}

/// Takes the marks out that say where a cache ends: they move on, and are no part of what is cached. A text that
/// stands alone is written as a block where it has a mark, and as a string elsewhere, which Anthropic's protocol
/// calls the same.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match value {
                Value::String(text) if name == "content" && fields.contains_key("role") => {
                    (name.clone(), json!([{ "type": "text", "text": text }]))
                }
                value => (name.clone(), unmarked(value)),
            };
            fields.iter().filter(|(name, _)| *name != "cache_control").map(field).collect()
        }
        Value::Array(items) => items.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            usize::from(fields.contains_key("cache_control")) + fields.values().map(marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

#[tokio::test]
async fn each_step_of_a_turn_begins_with_the_bytes_of_the_last() {
    for wire in WIRES {
        let server = answering(wire);
        let models = models(&server.address());
        let mut messages = vec![Message::user("go")];
        for step in 0..6 {
            collect(&models, request(wire.model(), messages.clone())).await;
            let id = format!("call_{step}");
            messages.push(assistant(vec![say("I look."), call(&id, json!({ "path": "a", "n": step }))]));
            messages.push(user(vec![result(&id, "text of the file")]));
        }
        let bodies: Vec<Value> = server.requests().iter().map(|received| received.json()).collect();
        assert_eq!(bodies.len(), 6);
        for pair in bodies.windows(2) {
            for field in ["system", "tools"] {
                assert_eq!(
                    pair[0].get(field).map(Value::to_string),
                    pair[1].get(field).map(Value::to_string)
                );
            }
            let sent = |body: &Value| unmarked(&body["messages"]).to_string();
            let (before, after) = (sent(&pair[0]), sent(&pair[1]));
            assert!(after.starts_with(before.trim_end_matches(']')), "{wire:?}:\n{before}\n{after}");
        }
        let expected = if wire == Wire::Anthropic { 2 } else { 0 };
        assert!(bodies.iter().all(|body| marks(body) == expected), "{wire:?}: {}", bodies[0]);
    }
}

#[tokio::test]
async fn whatever_happened_before_no_request_breaks_an_apis_rules() {
    for wire in WIRES {
        let server = answering(wire);
        let models = models(&server.address());
        for seed in 0..1_000 {
            let messages = histories::history(seed);
            let (_, error) = collect(&models, request(wire.model(), messages.clone())).await;
            assert_eq!(error, None, "{messages:?}");
            assert_eq!(server.problems(), Vec::<String>::new(), "{wire:?} {seed}: {messages:?}");
        }
    }
}

#[tokio::test]
async fn options_of_a_model_are_sent_and_those_of_others_are_not() {
    for wire in WIRES {
        let server = answering(wire);
        let mut settings = settings(&server.address());
        let provider = wire.model().split("::").next().unwrap();
        let own =
            |temperature, max_tokens| OptionSettings { temperature, max_tokens, ..OptionSettings::default() };
        settings.options.insert(format!("{provider}::*"), own(Some(0.25), Some(777)));
        settings.options.insert("other::*".to_owned(), own(Some(1.0), Some(1)));
        let models = Models::new(settings);
        collect(&models, hello(wire.model())).await;
        let body = server.requests()[0].json();
        let body = body.get("generationConfig").unwrap_or(&body);
        let most = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"];
        let most = most.iter().find_map(|name| body[name].as_u64());
        assert_eq!((&body["temperature"], most), (&json!(0.25), Some(777)), "{body}");
    }
}

#[tokio::test]
async fn an_effort_is_sent_as_the_protocol_has_it() {
    let server = answering(Wire::OpenAi);
    let mut settings = settings(&server.address());
    let low: OptionSettings = serde_json::from_value(json!({ "effort": "low" })).unwrap();
    settings.options.insert("chat::scripted".to_owned(), low);
    collect(&Models::new(settings), hello("chat::scripted")).await;
    assert_eq!(server.requests()[0].json()["reasoning_effort"], "low");
}

#[tokio::test]
async fn extra_fields_of_the_settings_are_in_the_body() {
    for wire in WIRES {
        let server = answering(wire);
        let mut settings = settings(&server.address());
        let provider = wire.model().split("::").next().unwrap();
        let extra = json!({ "vendor": { "route": "fast" } });
        settings.providers.get_mut(provider).unwrap().extra_body = extra.as_object().cloned();
        collect(&Models::new(settings), hello(wire.model())).await;
        assert_eq!(server.requests()[0].json()["vendor"]["route"], "fast", "{wire:?}");
    }
}

#[tokio::test]
async fn a_provider_is_reached_through_its_own_proxy() {
    let proxy = answering(Wire::OpenAi);
    let mut settings = settings("http://models.invalid/v1");
    settings.providers.get_mut("chat").unwrap().proxy = Some(proxy.address());
    let (events, error) = collect(&Models::new(settings), hello("chat::scripted")).await;
    assert_eq!((text(&events).as_str(), error), ("fine", None));
    assert!(proxy.requests()[0].path.contains("models.invalid"), "{:?}", proxy.requests()[0].path);
}

#[tokio::test]
async fn a_file_of_certificates_must_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    for file in [folder.path().join("nosuch.pem"), empty] {
        let mut settings = settings("https://127.0.0.1:9/v1");
        settings.providers.get_mut("chat").unwrap().ca_file = Some(file.clone());
        let (_, error) = collect(&Models::new(settings), hello("chat::scripted")).await;
        let error = error.unwrap();
        assert!(error.message.contains(&*file.to_string_lossy()), "{error:?}");
    }
}
