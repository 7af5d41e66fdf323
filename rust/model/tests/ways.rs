//! The first run: which ways there are, and who answers on this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use koda_model::testing::{Reply, Server, Turn};
use koda_model::{LocalEndpoints, ModelSettings, Models};
use koda_protocol::port::ModelErrorKind;
use serde_json::json;

fn with_keys(keys: &'static [&'static str]) -> Models {
    Models::new(ModelSettings::new(move |name| keys.contains(&name).then(|| "key".to_owned())))
}

#[test]
fn the_first_provider_with_a_key_gives_the_model() {
    assert_eq!(with_keys(&[]).default_model(), None);
    let models = with_keys(&["OPENAI_API_KEY", "GROQ_API_KEY"]);
    assert!(models.default_model().unwrap().starts_with("openai::"));
    let ways = models.ways();
    assert_eq!((ways[0].provider.as_str(), ways[0].key_env.as_deref()), ("openai", Some("OPENAI_API_KEY")));
    assert_eq!(ways.iter().filter(|way| way.has_key).count(), 3, "openai, openai_resp and groq");
    assert!(ways.iter().any(|way| way.provider == "anthropic" && !way.has_key && way.model.is_some()));
}

#[test]
fn every_way_can_be_named() {
    let models = with_keys(&[]);
    for way in models.ways() {
        assert_eq!(models.check(&format!("{}::some-model", way.provider)), Ok(()));
        assert_eq!(way.model.map(|model| models.check(&model)).unwrap_or(Ok(())), Ok(()));
    }
    assert_eq!(models.check("nosuch::x").unwrap_err().kind, ModelErrorKind::Config);
}

#[tokio::test]
async fn local_servers_that_answer_are_listed_and_can_be_asked() {
    let ollama = Server::answering(|_, received| match received.path.as_str() {
        "/api/tags" => Reply::json(200, &json!({ "models": [{ "name": "qwen3:4b" }, { "name": "x" }] })),
        _ => Reply::new(404, "text/plain", "no"),
    });
    let llama = Server::answering(|_, received| match received.path.as_str() {
        "/v1/models" => Reply::json(200, &json!({ "data": [{ "id": "smol" }] })),
        _ => Reply::sse(koda_model::testing::openai::stream(&Turn::new().text("local"))),
    });
    let mut settings = ModelSettings::new(|_| None);
    settings.local = LocalEndpoints { ollama: ollama.address(), llama_cpp: llama.address() };
    let models = Models::new(settings);
    let found = models.local_servers().await;
    let listed: Vec<&[String]> = found.iter().map(|server| server.models.as_slice()).collect();
    assert_eq!(listed, [vec!["ollama::qwen3:4b", "ollama::x"], vec!["llama_cpp::smol"]]);
    let (events, error) = collect(&models, hello("llama_cpp::smol")).await;
    assert_eq!((error, text(&events).as_str()), (None, "local"));
}

#[tokio::test]
async fn what_is_no_model_server_is_not_listed() {
    let page = Server::answering(|_, _| Reply::new(200, "text/html", "<html></html>"));
    let mut settings = ModelSettings::new(|_| None);
    settings.local = LocalEndpoints { ollama: page.address(), llama_cpp: page.address() };
    assert_eq!(Models::new(settings).local_servers().await, []);
}
