//! The wire formats over a real connection: whole, cut at every byte, and with the faults of real servers.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::time::Duration;

use common::*;
use futures::StreamExt;
use koda_model::testing::{End, Reply, Server, Turn, anthropic, openai};
use koda_protocol::message::{Message, Part, Usage};
use koda_protocol::port::{Model, ModelEvent, StopReason};
use serde_json::{Value, json};

fn turn() -> Turn {
    Turn::new()
        .reasoning("hm €")
        .text("Grüße, ")
        .text("世界 😀.")
        .call("toolu_1", "Read", &json!({ "path": "ä/😀.rs" }))
        .usage(12, 7)
}

fn check_turn(wire: Wire, events: &[ModelEvent], at: usize) {
    assert_eq!(text(events), "Grüße, 世界 😀.", "{wire:?} cut at {at}");
    assert_eq!(reasoning(events), "hm €", "{wire:?} cut at {at}");
    let wanted = ("toolu_1".to_owned(), "Read".to_owned(), json!({ "path": "ä/😀.rs" }));
    assert_eq!(calls(events), [wanted], "{wire:?} cut at {at}");
    assert_eq!(events.last(), Some(&ModelEvent::Stop(StopReason::Calls)), "{wire:?} cut at {at}");
}

#[tokio::test]
async fn a_stream_cut_at_any_byte_reads_the_same() {
    for wire in WIRES {
        let bytes = wire.stream(&turn());
        let length = bytes.len();
        let server = Server::answering(move |number, _| Reply::sse(bytes.clone()).cut_at(number));
        let models = models(&server.address());
        for at in 0..=length {
            let (events, error) = collect(&models, hello(wire.model())).await;
            assert_eq!(error, None, "{wire:?} cut at {at}");
            check_turn(wire, &events, at);
        }
        assert_eq!(server.problems(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn every_line_end_and_small_pieces_read_the_same() {
    for wire in WIRES {
        let text = String::from_utf8(wire.stream(&turn())).unwrap();
        let tight = text.replace("data: ", "data:").replace("event: ", "event:");
        let spoken =
            [text.replace('\n', "\r\n"), text.replace('\n', "\r"), tight, format!(": hello\n\n\n{text}")];
        for body in spoken {
            for bytes in [1, 2, 3, 5, 7] {
                let server = Server::scripted([Reply::sse(body.clone()).cut_every(bytes)]);
                let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
                assert_eq!(error, None, "{wire:?} {bytes} {body:?}");
                check_turn(wire, &events, bytes);
            }
        }
    }
}

#[tokio::test]
async fn a_call_is_told_as_it_grows_and_usage_before_the_stop() {
    for wire in WIRES {
        let server = Server::scripted([Reply::sse(wire.stream(&turn()))]);
        let (events, _) = collect(&models(&server.address()), hello(wire.model())).await;
        let sizes: Vec<u64> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::CallForming { id, tool, bytes } => {
                    assert_eq!((id.as_str(), tool.as_str()), ("toolu_1", "Read"));
                    Some(*bytes)
                }
                _ => None,
            })
            .collect();
        // Gemini sends a call in one piece.
        let pieces = if wire == Wire::Gemini { 1 } else { 3 };
        assert!(sizes.len() >= pieces && sizes.is_sorted(), "{wire:?}: {sizes:?}");
        let usage = Usage { input: Some(12), output: Some(7), ..Usage::default() };
        assert_eq!(events.iter().rev().nth(1), Some(&ModelEvent::Usage(usage)));
    }
}

#[tokio::test]
async fn a_conversation_with_calls_goes_back_as_it_must() {
    for wire in WIRES {
        let server = Server::playing([Turn::new().text("done")]);
        let long = "x".repeat(90);
        let history = vec![
            Message::user("go"),
            assistant(vec![call("a:1", json!({ "path": "a" })), call(&long, json!("{\"cut"))]),
            user(vec![result(&long, ""), result("a:1", "text"), say("and hurry")]),
            assistant(vec![say("I do."), call("b", Value::Null)]),
            user(vec![result("b", "more")]),
        ];
        let (events, error) = collect(&models(&server.address()), request(wire.model(), history)).await;
        assert_eq!((error, text(&events).as_str()), (None, "done"), "{wire:?}");
        assert_eq!(server.problems(), Vec::<String>::new(), "{wire:?}");
        let sent = server.requests()[0].json();
        if wire == Wire::Gemini {
            // It has both in its path.
            assert!(server.requests()[0].path.contains("scripted:streamGenerateContent"));
        } else {
            assert_eq!((&sent["model"], &sent["stream"]), (&json!("scripted"), &json!(true)));
        }
        assert!(sent.to_string().contains("and hurry"));
    }
}

#[tokio::test]
async fn the_key_goes_where_the_protocol_wants_it_and_headers_go_along() {
    let server = Server::playing(["a", "b", "c", "d"].map(|text| Turn::new().text(text)));
    let mut settings = settings(&server.address());
    let provider = settings.providers.get_mut("chat").unwrap();
    provider.headers.insert("x-team".to_owned(), "blue".to_owned());
    let models = koda_model::Models::new(settings);
    for wire in WIRES {
        assert_eq!(collect(&models, hello(wire.model())).await.1, None);
    }
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/chat/completions");
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(requests[0].header("x-team"), Some("blue"));
    assert_eq!(requests[1].path, "/v1/messages");
    assert_eq!(requests[1].header("x-api-key"), Some(KEY));
    assert_eq!(requests[2].path, "/v1/responses");
    assert_eq!(requests[2].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(requests[3].path.split('?').next(), Some("/models/scripted:streamGenerateContent"));
    assert_eq!(requests[3].header("x-goog-api-key"), Some(KEY));
}

#[tokio::test]
async fn signed_thinking_goes_back_to_its_signer_only() {
    let server = Server::playing([turn(), Turn::new().text("a"), Turn::new().text("b")]);
    let models = models(&server.address());
    let (events, _) = collect(&models, hello("claude::scripted")).await;
    let signature = events.iter().find_map(|event| match event {
        ModelEvent::ReasoningSignature(signature) => Some(signature.clone()),
        _ => None,
    });
    let history = vec![
        Message::user("hello"),
        assistant(vec![
            Part::Reasoning { text: "hm €".to_owned(), signature },
            call("toolu_1", json!({ "path": "a" })),
        ]),
        user(vec![result("toolu_1", "x")]),
    ];
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        assert_eq!(collect(&models, request(wire.model(), history.clone())).await.1, None);
    }
    let sent: Vec<Value> = server.requests().iter().map(koda_model::testing::Received::json).collect();
    let thinking = json!({ "type": "thinking", "thinking": "hm €", "signature": "sig-1" });
    assert_eq!(sent[1]["messages"][1]["content"][0], thinking);
    assert!(!sent[2].to_string().contains("sig-1") && !sent[2].to_string().contains("hm €"));
    assert_eq!(server.problems(), Vec::<String>::new());
}

#[tokio::test]
async fn the_prefix_is_marked_for_the_cache_and_stays_the_same() {
    let server = Server::playing([Turn::new().text("a"), Turn::new().text("b")]);
    let models = models(&server.address());
    let first = vec![Message::user("one")];
    let second = vec![Message::user("one"), assistant(vec![say("a")]), Message::user("two")];
    for history in [first, second] {
        assert_eq!(collect(&models, request("claude::scripted", history)).await.1, None);
    }
    let sent: Vec<Value> = server.requests().iter().map(koda_model::testing::Received::json).collect();
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(sent[0]["system"][0]["cache_control"], mark);
    assert_eq!(sent[1]["messages"][2]["content"][0]["cache_control"], mark);
    assert_eq!((&sent[0]["system"], &sent[0]["tools"]), (&sent[1]["system"], &sent[1]["tools"]));
}

#[tokio::test]
async fn a_models_name_is_sent_whole() {
    let server = Server::playing([Turn::new().text("a")]);
    let (_, error) = collect(&models(&server.address()), hello("chat::org/qwen-max")).await;
    assert_eq!(error, None);
    let sent = server.requests()[0].json();
    assert_eq!(sent["model"], "org/qwen-max");
    assert_eq!(sent.get("reasoning_effort"), None);
}

/// Plays frames of OpenAI's and returns what was read of them.
async fn chat(frames: &[&str]) -> (Vec<ModelEvent>, Option<koda_protocol::port::ModelError>) {
    let body: Vec<u8> = frames.iter().flat_map(|frame| openai::frame_bytes(frame)).collect();
    let server = Server::scripted([Reply::sse(body)]);
    collect(&models(&server.address()), hello("chat::scripted")).await
}

fn piece(call: &str) -> String {
    format!("{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}")
}

const STOP: &str = "{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}";

#[tokio::test]
async fn two_calls_at_one_index_are_two() {
    let first = piece(r#"{"index":0,"id":"a","function":{"name":"Read","arguments":"{\"path\":\"1\"}"}}"#);
    let second = piece(r#"{"index":0,"id":"b","function":{"name":"Read","arguments":"{\"path\":\"2\"}"}}"#);
    let (events, error) = chat(&[&first, &second, STOP, "[DONE]"]).await;
    assert_eq!(error, None);
    let paths: Vec<Value> = calls(&events).into_iter().map(|(_, _, args)| args["path"].clone()).collect();
    assert_eq!(paths, ["1", "2"]);
}

#[tokio::test]
async fn pieces_without_an_index_are_one_call() {
    let first = piece(r#"{"id":"a","function":{"name":"Read","arguments":"{\"pa"}}"#);
    let second = piece(r#"{"function":{"arguments":"th\":\"1\"}"}}"#);
    let (events, error) = chat(&[&first, &second, STOP, "[DONE]"]).await;
    assert_eq!(error, None);
    assert_eq!(calls(&events), [("a".to_owned(), "Read".to_owned(), json!({ "path": "1" }))]);
}

#[tokio::test]
async fn null_arguments_are_an_empty_object_and_an_object_is_taken() {
    let null = piece(r#"{"index":0,"id":"a","function":{"name":"Read","arguments":null}}"#);
    let object = piece(r#"{"index":1,"id":"b","function":{"name":"Read","arguments":{"path":"x"}}}"#);
    let (events, _) = chat(&[&null, &object, STOP]).await;
    let args: Vec<Value> = calls(&events).into_iter().map(|(_, _, args)| args).collect();
    assert_eq!(args, [json!({}), json!({ "path": "x" })]);
}

#[tokio::test]
async fn cut_and_glued_arguments_come_as_they_are() {
    for raw in ["{\"path\": \"a", "{\"path\":\"a\"}{\"path\":\"b\"}", "path=a"] {
        for wire in WIRES {
            let turn = Turn::new().raw_call("a", "Read", vec![raw.to_owned()]);
            let server = Server::scripted([Reply::sse(wire.stream(&turn))]);
            let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
            assert_eq!(error, None);
            assert_eq!(calls(&events)[0].2, Value::String(raw.to_owned()), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn usage_with_null_choices_and_no_done_is_no_fault() {
    let text = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#;
    for last in [r#"{"choices":null,"usage":{"prompt_tokens":3}}"#, r#"{"choices":[],"usage":null}"#, "x"] {
        let (events, error) = chat(&[text, last]).await;
        assert_eq!((error, text_and_stop(&events)), (None, ("hi".to_owned(), Some(StopReason::End))));
    }
}

fn text_and_stop(events: &[ModelEvent]) -> (String, Option<StopReason>) {
    let stop = events.iter().find_map(|event| match event {
        ModelEvent::Stop(reason) => Some(*reason),
        _ => None,
    });
    (text(events), stop)
}

#[tokio::test]
async fn halves_of_a_character_in_two_pieces_are_one() {
    let first = r#"{"choices":[{"delta":{"content":"a\ud83d"}}]}"#;
    let second = r#"{"choices":[{"delta":{"content":"\ude00b"},"finish_reason":"stop"}]}"#;
    let lone = r#"{"choices":[{"delta":{"content":"\ude00"},"finish_reason":"stop"}]}"#;
    let (events, error) = chat(&[first, second, "[DONE]"]).await;
    assert_eq!((error, text(&events).as_str()), (None, "a😀b"));
    let (events, error) = chat(&[lone, "[DONE]"]).await;
    assert_eq!((error, text(&events).as_str()), (None, "\u{FFFD}"));
}

#[tokio::test]
async fn a_message_cut_short_by_its_length_says_so() {
    let cut = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"length"}]}"#;
    let (events, error) = chat(&[cut, "[DONE]"]).await;
    assert_eq!((error, text_and_stop(&events)), (None, ("hi".to_owned(), Some(StopReason::Length))));
}

#[tokio::test]
async fn gateways_that_lose_event_names_or_mix_shapes_are_read() {
    let frames = [
        json!({ "type": "content_block_start", "index": 0,
            "content_block": { "type": "tool_use", "id": "a", "name": "Read", "input": { "path": "x" } } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": null }),
        json!({ "type": "message_stop" }),
    ];
    let nameless: Vec<u8> = frames.iter().flat_map(|frame| openai::frame_bytes(&frame.to_string())).collect();
    let named: Vec<u8> = frames.iter().flat_map(anthropic::frame_bytes).collect();
    for body in [nameless, named] {
        let server = Server::scripted([Reply::sse(body)]);
        let (events, error) = collect(&models(&server.address()), hello("claude::scripted")).await;
        assert_eq!(error, None);
        assert_eq!(calls(&events), [("a".to_owned(), "Read".to_owned(), json!({ "path": "x" }))]);
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_asked_for_the_whole() {
    let message = json!({ "content": "hi", "tool_calls": [
        { "id": "a", "type": "function", "function": { "name": "Read", "arguments": "{\"path\":\"x\"}" } } ] });
    let body = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    let server = Server::answering(move |_, _| Reply::json(200, &body));
    let (events, error) = collect(&models(&server.address()), hello("chat::scripted")).await;
    assert_eq!((error, text_and_stop(&events)), (None, ("hi".to_owned(), Some(StopReason::Calls))));
    assert_eq!(calls(&events), [("a".to_owned(), "Read".to_owned(), json!({ "path": "x" }))]);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn keep_alives_prolong_the_wait() {
    let mut body = ": wait\n\n".repeat(20);
    body.push_str(&String::from_utf8(openai::stream(&Turn::new().text("late"))).unwrap());
    let server = Server::scripted([Reply::sse(body).cut_every(9).pause(Duration::from_millis(20))]);
    let mut settings = settings(&server.address());
    settings.timeouts.first_byte_ms = 10_000;
    settings.timeouts.idle_ms = 2_000;
    let (events, error) = collect(&koda_model::Models::new(settings), hello("chat::scripted")).await;
    assert_eq!((error, text(&events).as_str()), (None, "late"));
}

/// Plays frames of Responses and returns what was read of them.
async fn respond(frames: &[Value]) -> Vec<ModelEvent> {
    let body: Vec<u8> = frames.iter().flat_map(anthropic::frame_bytes).collect();
    let server = Server::scripted([Reply::sse(body)]);
    let (events, error) = collect(&models(&server.address()), hello("respond::scripted")).await;
    assert_eq!(error, None, "{frames:?}");
    events
}

#[tokio::test]
async fn items_of_responses_are_told_apart_by_place_or_by_id() {
    let kind = "response.function_call_arguments.delta";
    let item = |id: &str, args: &str| json!({ "type": "function_call", "id": id, "call_id": format!("c{id}"), "name": "Read", "arguments": args });
    let last = json!({ "type": "response.completed", "response": { "status": "completed" } });
    // Two calls whose pieces alternate, known by id only, by place only, and by place while the ids change.
    for (ids, places) in [(true, false), (false, true), (true, true)] {
        let frame = |kind: &str, id: usize, change: &str, more: Value| {
            let mut frame = json!({ "type": kind });
            if ids {
                let change = if places { change } else { "" };
                frame["item_id"] = json!(format!("i{id}{change}"));
            }
            if places {
                frame["output_index"] = json!(id);
            }
            frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            frame
        };
        let (first, second) = (item("i0", ""), item("i1", ""));
        let whole = [item("i0", "{\"n\": 0}"), item("i1", "{\"n\": 1}")];
        let events = respond(&[
            frame("response.output_item.added", 0, "", json!({ "item": first })),
            frame("response.output_item.added", 1, "", json!({ "item": second })),
            frame(kind, 0, "a", json!({ "delta": "{\"n\"" })),
            frame(kind, 1, "b", json!({ "delta": "{\"n\"" })),
            frame("response.output_item.done", 0, "c", json!({ "item": whole[0] })),
            frame("response.output_item.done", 1, "d", json!({ "item": whole[1] })),
            last.clone(),
        ])
        .await;
        let read: Vec<(String, Value)> = calls(&events).into_iter().map(|(id, _, args)| (id, args)).collect();
        let wanted = [("ci0".to_owned(), json!({ "n": 0 })), ("ci1".to_owned(), json!({ "n": 1 }))];
        assert_eq!(read, wanted, "ids {ids}, places {places}");
    }
}

#[tokio::test]
async fn what_genai_passes_over_is_told_as_it_comes() {
    // Without places genai reads nothing of a call. Then the server is silent, with the call half told.
    let call = json!({ "type": "function_call", "id": "i", "call_id": "a", "name": "Read" });
    let frames = [
        json!({ "type": "response.output_item.added", "item": call }),
        json!({ "type": "response.function_call_arguments.delta", "item_id": "i", "delta": "{\"path\"" }),
    ];
    let body: Vec<u8> = frames.iter().flat_map(anthropic::frame_bytes).collect();
    let server = Server::scripted([Reply::sse(body).end(End::Hang)]);
    let models = models(&server.address());
    let mut stream = models.stream(hello("respond::scripted")).await.unwrap();
    for bytes in [0, 7] {
        let event = stream.next().await.unwrap().unwrap();
        assert_eq!(event, ModelEvent::CallForming { id: "a".to_owned(), tool: "Read".to_owned(), bytes });
    }
}

#[tokio::test]
async fn responses_that_come_only_whole_or_end_early_are_read() {
    let output = json!([
        { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] },
        { "type": "message", "content": [{ "type": "output_text", "text": "hi" }] },
        { "type": "function_call", "call_id": "a", "name": "Read", "arguments": "{\"path\":\"x\"}" },
    ]);
    let events = respond(&[
        json!({ "type": "response.completed", "response": { "status": "completed", "output": output } }),
    ])
    .await;
    assert_eq!((reasoning(&events).as_str(), text(&events).as_str()), ("hm", "hi"));
    assert_eq!(calls(&events), [("a".to_owned(), "Read".to_owned(), json!({ "path": "x" }))]);
    for (why, stop) in [("max_output_tokens", StopReason::Length), ("content_filter", StopReason::Refused)] {
        let events = respond(&[
            json!({ "type": "response.output_text.delta", "item_id": "m", "delta": "hi" }),
            json!({ "type": "response.incomplete",
                "response": { "status": "incomplete", "incomplete_details": { "reason": why } } }),
        ])
        .await;
        assert_eq!(text_and_stop(&events), ("hi".to_owned(), Some(stop)));
    }
}

#[tokio::test]
async fn responses_that_fail_say_why() {
    let failed = json!({ "type": "response.failed",
        "response": { "error": { "code": "server_error", "message": "it fell over" } } });
    let error = json!({ "type": "error", "code": "invalid_prompt", "message": "it fell over" });
    for frame in [failed, error] {
        let body = anthropic::frame_bytes(&frame);
        let server = Server::answering(move |_, _| Reply::sse(body.clone()));
        let (_, error) = collect(&models(&server.address()), hello("respond::scripted")).await;
        assert!(error.as_ref().unwrap().message.contains("it fell over"), "{error:?}");
    }
}
