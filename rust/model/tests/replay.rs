//! The replay model through the port.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::*;
use futures::StreamExt;
use koda_model::{ModelSettings, Models};
use koda_protocol::message::{Message, Usage};
use koda_protocol::port::{Model, ModelErrorKind, ModelEvent, StopReason};
use serde_json::{Value, json};

fn models() -> Models {
    Models::new(ModelSettings::new(|_| None))
}

fn name(path: &Path) -> String {
    format!("replay::{}", path.display())
}

fn write(dir: &tempfile::TempDir, script: &Value) -> String {
    let path = dir.path().join("turns.json");
    std::fs::write(&path, script.to_string()).unwrap();
    name(&path)
}

#[tokio::test]
async fn each_request_takes_the_turn_after_those_in_the_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let script = json!({
        "turns": [
            { "reasoning": "hm", "text": "Grüße 😀", "calls": [
                { "tool": "Read", "args": { "path": "ä" } },
                { "tool": "Read", "args": "{\"cut", "id": "mine" },
                { "tool": "Read" },
            ], "usage": { "input": 3, "output_tokens": 4 } },
            { "text": "done" },
        ],
        "chunk_bytes": 3,
    });
    let model = write(&dir, &script);
    let (events, error) = collect(&models(), hello(&model)).await;
    assert_eq!(error, None);
    assert_eq!((text(&events).as_str(), reasoning(&events).as_str()), ("Grüße 😀", "hm"));
    assert!(events.iter().all(|event| !matches!(event, ModelEvent::Text(text) if text.len() > 4)));
    let got = calls(&events);
    let args: Vec<&Value> = got.iter().map(|(_, _, args)| args).collect();
    assert_eq!(args, [&json!({ "path": "ä" }), &json!("{\"cut"), &json!({})]);
    assert_eq!(got[1].0, "mine");
    let usage = Usage { input: Some(3), output: Some(4), ..Usage::default() };
    assert_eq!(events[events.len() - 2..], [ModelEvent::Usage(usage), ModelEvent::Stop(StopReason::Calls)]);

    let history = vec![
        Message::user("hello"),
        assistant(vec![say("Grüße 😀"), call(&got[0].0, json!({}))]),
        user(vec![result(&got[0].0, "x")]),
    ];
    // The same instance and a fresh one go on alike; another session begins anew.
    for models in [models(), models()] {
        let (events, error) = collect(&models, request(&model, history.clone())).await;
        assert_eq!((error, text(&events).as_str()), (None, "done"));
        assert_eq!(events.last(), Some(&ModelEvent::Stop(StopReason::End)));
        assert_eq!(text(&collect(&models, hello(&model)).await.0), "Grüße 😀");
    }
    let mut over = history;
    over.extend([assistant(vec![say("done")]), Message::user("more")]);
    let error = collect(&models(), request(&model, over)).await.1.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Config);
    assert!(error.message.contains("2 turns are used up") && error.hint.unwrap().contains("turns[2]"));
}

#[tokio::test]
async fn an_error_ends_its_turn_after_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let model = write(&dir, &json!({ "turns": [{ "text": "so far", "error": "it broke" }] }));
    let (events, error) = collect(&models(), hello(&model)).await;
    assert_eq!((text(&events).as_str(), error.unwrap().message.as_str()), ("so far", "it broke"));
}

#[tokio::test]
async fn ids_that_the_conversation_has_are_not_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let turn = json!({ "calls": [{ "tool": "Read", "args": {}, "id": "a" }, { "tool": "Read", "args": {}, "id": "a" }] });
    let model = write(&dir, &json!({ "turns": [turn, turn] }));
    let history =
        vec![Message::user("x"), assistant(vec![call("a", json!({}))]), user(vec![result("a", "y")])];
    let (events, _) = collect(&models(), request(&model, history)).await;
    let ids: Vec<String> = calls(&events).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["a-2", "a-3"]);
}

#[tokio::test]
async fn wrong_files_say_what_and_where() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turns.json");
    let model = name(&path);
    let check = |wanted: &str| {
        let error = models().check(&model).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Config);
        assert!(error.message.contains(wanted) && error.message.contains("turns.json"), "{}", error.message);
        assert!(error.hint.is_some());
    };
    check("No such file");
    for (body, wanted) in [
        ("{\n  \"turns\": [,]", "line 2"),
        ("", "not JSON"),
        ("\u{feff}hello", "not JSON"),
        ("{}", "missing field `turns`"),
        ("{\"turns\": 3}", "wrong shape"),
        ("{\"turns\": [{\"calls\": [{\"args\": {}}]}]}", "missing field `tool`"),
        ("{\"turns\": [{\"text\": \"a\"}, {\"txt\": \"b\"}]}", "turns[1] says nothing"),
        ("{\"turns\": [], \"chunk_bytes\": -1}", "chunk_bytes"),
    ] {
        std::fs::write(&path, body).unwrap();
        if wanted == "chunk_bytes" {
            check("wrong shape");
        } else {
            check(wanted);
        }
    }
    std::fs::write(&path, "{\"turns\": []}").unwrap();
    let (_, error) = collect(&models(), hello(&model)).await;
    assert!(error.unwrap().message.contains("0 turns are used up"));
}

#[tokio::test]
async fn cancel_stops_between_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let model =
        write(&dir, &json!({ "turns": [{ "text": "x".repeat(100) }], "chunk_bytes": 1, "delay_ms": 60_000 }));
    let request = hello(&model);
    let cancel = request.cancel.clone();
    let mut stream = models().stream(request).await.unwrap();
    let reading = tokio::spawn(async move { stream.next().await });
    cancel.cancel();
    let last = tokio::time::timeout(Duration::from_secs(10), reading).await.unwrap().unwrap();
    assert_eq!(last.unwrap().unwrap_err().kind, ModelErrorKind::Cancelled);
}

#[tokio::test]
async fn many_pieces_without_delay_are_quick() {
    let dir = tempfile::tempdir().unwrap();
    let args = json!({ "path": "a", "content": "y".repeat(160_000) });
    let turn = json!({ "text": "word123 ".repeat(20_000), "calls": [{ "tool": "Write", "args": args }] });
    let model = write(&dir, &json!({ "turns": [turn] }));
    let begun = Instant::now();
    let (events, error) = collect(&models(), hello(&model)).await;
    assert_eq!(error, None);
    assert!(events.len() > 40_000);
    // Unoptimised and on a busy machine it is some 50 ms; what is quadratic takes seconds.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}
