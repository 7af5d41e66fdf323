//! Keys: where they come from, and that no message ever holds one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use koda_model::testing::{Reply, Server, Turn, openai};
use koda_model::{KeyCommand, ModelSettings, Models};
use koda_protocol::port::ModelErrorKind;
use serde_json::json;

#[tokio::test]
async fn a_missing_key_is_told_with_its_variable() {
    let models = Models::new(ModelSettings::new(|_| None));
    let (_, error) = collect(&models, hello("anthropic::claude-sonnet-5")).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.message.contains("ANTHROPIC_API_KEY"), "{}", error.message);
}

#[tokio::test]
async fn a_key_comes_from_a_command_once_and_again_after_a_refusal() {
    let dir = tempfile::tempdir().unwrap();
    let count = dir.path().join("count");
    let good = Reply::sse(openai::stream(&Turn::new().text("ok")));
    let server = Server::scripted([
        good.clone(),
        good.clone(),
        Reply::json(401, &json!({ "error": { "message": "no" } })),
        good,
    ]);
    let mut settings = settings(&server.address());
    let line = format!("echo >> '{}'; echo ' {KEY} '; echo more", count.display());
    settings.providers.get_mut("chat").unwrap().key_command = Some(KeyCommand::Line(line));
    let models = Models::new(settings);
    let mut failed = Vec::new();
    for _ in 0..4 {
        failed.push(collect(&models, hello("chat::scripted")).await.1.is_some());
    }
    assert_eq!(failed, [false, false, true, false]);
    assert!(server.requests().iter().all(|r| r.header("authorization") == Some(&format!("Bearer {KEY}"))));
    assert_eq!(std::fs::read_to_string(count).unwrap().lines().count(), 2);
}

#[tokio::test]
async fn a_failing_key_command_is_told_without_what_it_printed() {
    let commands = [
        KeyCommand::Line(format!("echo {KEY}; echo {KEY} >&2; exit 3")),
        KeyCommand::Line("true".to_owned()),
        KeyCommand::Line("sleep 60".to_owned()),
        KeyCommand::Words(vec!["/no/such/program".to_owned()]),
        KeyCommand::Words(Vec::new()),
    ];
    for command in commands {
        let mut settings = settings("http://127.0.0.1:9");
        settings.timeouts.key_command_ms = 300;
        settings.providers.get_mut("chat").unwrap().key_command = Some(command.clone());
        let (_, error) = collect(&Models::new(settings), hello("chat::scripted")).await;
        let error = error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Auth, "{command}");
        let told = error.message.replace(&command.to_string(), "");
        assert!(!told.contains(KEY), "{told}");
    }
}
