//! What goes wrong on the way, over a real connection: each failure has its kind, its words and a hint.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::time::{Duration, Instant, SystemTime};

use common::*;
use futures::StreamExt;
use koda_model::Models;
use koda_model::testing::{End, Reply, Server, Turn, openai};
use koda_protocol::message::Message;
use koda_protocol::port::{Model, ModelError, ModelErrorKind, ModelEvent};
use serde_json::json;

fn fault(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": { "message": message, "type": "some_error" } }))
}

/// Plays replies for both wires and checks that each ends with an error of the kind, told with a hint and
/// without the key. Returns the OpenAI side's error.
async fn fails(reply: Reply, kind: ModelErrorKind) -> ModelError {
    let mut first = None;
    for wire in WIRES {
        let reply = reply.clone();
        let server = Server::answering(move |_, _| reply.clone());
        let (_, error) = collect(&models(&server.address()), hello(wire.model())).await;
        let error = error.expect("it must fail");
        assert_eq!(error.kind, kind, "{wire:?}: {error:?}");
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
        assert!(error.hint.is_some(), "{error:?}");
        first = first.or(Some(error));
    }
    first.unwrap()
}

#[tokio::test]
async fn a_refused_key_names_its_source_and_never_the_key() {
    for status in [401, 403] {
        let error = fails(fault(status, &format!("bad key {KEY}")), ModelErrorKind::Auth).await;
        assert!(error.message.contains("bad key •••"), "{}", error.message);
        assert!(error.hint.unwrap().contains("SCRIPTED_KEY"));
    }
}

#[tokio::test]
async fn statuses_have_their_kinds() {
    let cases = [
        (404, "model not there", ModelErrorKind::UnknownModel),
        (400, "The model `x` does not exist: model_not_found", ModelErrorKind::UnknownModel),
        (400, "This model's maximum context length is 8192 tokens", ModelErrorKind::TooLong),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", ModelErrorKind::TooLong),
        (400, "the request exceeds the available context size", ModelErrorKind::TooLong),
        (413, "request_too_large", ModelErrorKind::TooLong),
        (400, "messages.1: roles must alternate", ModelErrorKind::Request),
        (422, "extra fields", ModelErrorKind::Request),
        (402, "Payment required", ModelErrorKind::Quota),
        (400, "Your credit balance is too low to access the API", ModelErrorKind::Quota),
        (429, "insufficient_quota", ModelErrorKind::Quota),
    ];
    for (status, message, kind) in cases {
        let error = fails(fault(status, message), kind).await;
        assert!(error.message.contains(message), "{}", error.message);
    }
}

#[tokio::test]
async fn busy_servers_are_tried_again_and_given_up_in_the_end() {
    for status in [429, 500, 502, 503, 529] {
        let error = fails(fault(status, "Overloaded"), ModelErrorKind::Busy).await;
        assert!(
            error.message.contains("Overloaded") && error.message.contains("3 times"),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn a_retry_is_told_before_the_wait_and_the_reply_follows() {
    for wire in WIRES {
        let good = Reply::sse(wire.stream(&Turn::new().text("at last")));
        let server = Server::scripted([fault(529, "Overloaded"), Reply::none(End::Reset), good]);
        let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
        assert_eq!((error, text(&events).as_str()), (None, "at last"));
        let told: Vec<u32> = retries(&events).iter().map(|(attempt, _)| *attempt).collect();
        assert_eq!(told, [1, 2]);
        assert!(matches!(&events[0], ModelEvent::Retry { reason, .. } if reason.contains("Overloaded")));
        assert_eq!(server.requests().len(), 3);
        assert_eq!(server.problems(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn retry_after_is_kept_in_all_its_forms() {
    let date = httpdate_in(Duration::from_secs(3));
    let cases = [
        ("retry-after", "0.25", 250..=250),
        ("retry-after-ms", "40", 40..=40),
        ("retry-after", &date, 500..=3000),
    ];
    for (name, value, wanted) in cases {
        let good = Reply::sse(openai::stream(&Turn::new().text("ok")));
        let server = Server::scripted([fault(429, "slow down").header(name, value), good]);
        let begun = Instant::now();
        let (events, error) = collect(&models(&server.address()), hello("chat::scripted")).await;
        assert_eq!(error, None);
        let waits = retries(&events);
        assert!(wanted.contains(&waits[0].1), "{name}: {value}: {waits:?}");
        assert!(begun.elapsed() >= Duration::from_millis(waits[0].1));
    }
}

fn httpdate_in(wait: Duration) -> String {
    // The form of HTTP dates has whole seconds.
    httpdate::fmt_http_date(SystemTime::now() + wait)
}

#[tokio::test]
async fn a_wait_longer_than_accepted_is_told_instead() {
    let reply = fault(429, "slow down").header("retry-after", "3600");
    let error = fails(reply, ModelErrorKind::Busy).await;
    assert!(error.hint.unwrap().contains("3600"));
}

#[tokio::test]
async fn quota_is_not_tried_again() {
    let server = Server::answering(|_, _| fault(429, "You exceeded your quota: insufficient_quota"));
    let (events, error) = collect(&models(&server.address()), hello("chat::scripted")).await;
    assert_eq!((events, error.unwrap().kind), (Vec::new(), ModelErrorKind::Quota));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn cancel_ends_a_wait_at_once() {
    let server = Server::answering(|_, _| fault(429, "slow down").header("retry-after", "5"));
    let models = models(&server.address());
    let request = hello("chat::scripted");
    let cancel = request.cancel.clone();
    let mut stream = models.stream(request).await.unwrap();
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Retry { .. }))));
    let begun = Instant::now();
    cancel.cancel();
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind, ModelErrorKind::Cancelled);
    assert!(stream.next().await.is_none());
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn cancel_closes_the_connection_though_the_stream_is_still_held() {
    for wire in WIRES {
        let bytes = wire.stream(&Turn::new().text("one").text("two"));
        let server = Server::scripted([Reply::sse(bytes.clone()).first(bytes.len() / 2 + 60).end(End::Hang)]);
        let models = models(&server.address());
        let request = hello(wire.model());
        let cancel = request.cancel.clone();
        let mut stream = models.stream(request).await.unwrap();
        assert!(matches!(stream.next().await, Some(Ok(ModelEvent::Text(_)))));
        cancel.cancel();
        let last = loop {
            match stream.next().await {
                Some(Ok(_)) => {}
                other => break other,
            }
        };
        assert_eq!(last.unwrap().unwrap_err().kind, ModelErrorKind::Cancelled);
        let hung_up = tokio::task::spawn_blocking(move || server.wait_hung_up(1, Duration::from_secs(10)));
        assert!(hung_up.await.unwrap());
        drop(stream);
    }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_keeps_what_came() {
    for wire in WIRES {
        for end in [End::Close, End::Reset, End::Whole] {
            let bytes = wire.stream(&Turn::new().text("one").text("two"));
            let at = String::from_utf8_lossy(&bytes).find("two").unwrap();
            let server = Server::scripted([Reply::sse(bytes).first(at).end(end)]);
            let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
            let error = error.unwrap();
            // A reset may overtake what was sent before it; then nothing had come and it is tried again.
            if end == End::Reset && events.iter().any(|event| matches!(event, ModelEvent::Retry { .. })) {
                continue;
            }
            assert_eq!(
                (text(&events).as_str(), error.kind),
                ("one", ModelErrorKind::Cut),
                "{wire:?} {end:?}"
            );
            assert_eq!(server.requests().len(), 1, "what came must not be sent for again");
        }
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_given_out() {
    // Gemini sends a call in one piece.
    for wire in WIRES.into_iter().filter(|wire| *wire != Wire::Gemini) {
        let bytes =
            wire.stream(&Turn::new().call("a", "Read", &json!({ "path": "a/long/path/to/somewhere" })));
        let at = String::from_utf8_lossy(&bytes).find("somewher").unwrap_or(bytes.len() / 2);
        let server = Server::scripted([Reply::sse(bytes).first(at).end(End::Close)]);
        let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Cut);
        assert_eq!(calls(&events), []);
        assert!(events.iter().any(|event| matches!(event, ModelEvent::CallForming { .. })));
    }
}

#[tokio::test]
async fn a_connection_lost_after_the_message_is_no_failure() {
    // With the others the last frame is the end.
    for wire in [Wire::OpenAi, Wire::Anthropic] {
        let bytes = wire.stream(&Turn::new().text("all"));
        let text_of = String::from_utf8_lossy(&bytes).into_owned();
        let at = text_of.find("[DONE]").or_else(|| text_of.find("event: message_stop")).unwrap();
        let server = Server::scripted([Reply::sse(bytes).first(at).end(End::Close)]);
        let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
        assert_eq!((error, text(&events).as_str()), (None, "all"), "{wire:?}");
    }
}

#[tokio::test]
async fn an_error_object_within_a_success_is_told() {
    let object =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "it broke" } });
    let frame = openai::frame_bytes(&object.to_string());
    let error = fails(Reply::sse(frame.clone()), ModelErrorKind::Reply).await;
    assert!(error.message.contains("it broke"), "{}", error.message);
    // As plain JSON, which is no stream at all.
    let error = fails(Reply::json(200, &object), ModelErrorKind::Reply).await;
    assert!(error.message.contains("it broke"), "{}", error.message);
    // After text.
    let mut bytes = openai::frame_bytes(r#"{"choices":[{"delta":{"content":"hi"}}]}"#);
    bytes.extend(frame);
    let server = Server::scripted([Reply::sse(bytes)]);
    let (events, error) = collect(&models(&server.address()), hello("chat::scripted")).await;
    assert_eq!((text(&events).as_str(), error.unwrap().kind), ("hi", ModelErrorKind::Reply));
}

#[tokio::test]
async fn an_overload_within_a_success_is_tried_again() {
    let overload =
        json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    for wire in WIRES {
        let good = Reply::sse(wire.stream(&Turn::new().text("ok")));
        let server = Server::scripted([Reply::sse(openai::frame_bytes(&overload.to_string())), good]);
        let (events, error) = collect(&models(&server.address()), hello(wire.model())).await;
        assert_eq!((error, text(&events).as_str(), retries(&events).len()), (None, "ok", 1));
    }
}

#[tokio::test]
async fn a_page_from_a_proxy_is_told_as_one() {
    let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>\n\n</body></html>";
    for status in [200, 404, 302] {
        let error = fails(Reply::new(status, "text/html", page), ModelErrorKind::Reply).await;
        assert!(error.message.contains("Sign in"), "{}", error.message);
        assert!(error.hint.unwrap().contains("proxy"));
    }
    let error = fails(Reply::new(502, "text/html", page), ModelErrorKind::Busy).await;
    assert!(error.message.contains("Sign in"), "{}", error.message);
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let other = Server::playing([Turn::new().text("stolen")]);
    let place = format!("{}/v1/messages", other.address());
    let server =
        Server::answering(move |_, _| Reply::new(307, "text/plain", "moved").header("location", &place));
    for wire in WIRES {
        let (_, error) = collect(&models(&server.address()), hello(wire.model())).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Request);
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn an_empty_reply_is_an_error() {
    fails(Reply::sse(""), ModelErrorKind::Reply).await;
    for wire in WIRES {
        let empty = Server::scripted([Reply::sse(wire.stream(&Turn::new()))]);
        let thought = Server::scripted([Reply::sse(wire.stream(&Turn::new().reasoning("hm")))]);
        for server in [empty, thought] {
            let (_, error) = collect(&models(&server.address()), hello(wire.model())).await;
            assert_eq!(error.unwrap().kind, ModelErrorKind::Reply);
        }
    }
}

#[tokio::test]
async fn a_success_without_a_byte_is_an_empty_reply() {
    let error = fails(Reply::new(200, "application/json", ""), ModelErrorKind::Reply).await;
    assert!(error.message.ends_with("sent an empty reply"), "{error:?}");
}

#[tokio::test]
async fn no_server_is_told_with_its_address() {
    let gone = Server::scripted([]).address();
    // The port is free again once the listener is gone; nobody else takes it within this test.
    let (_, error) = loop {
        let (events, error) = collect(&models(&gone), hello("chat::scripted")).await;
        if error.as_ref().is_some_and(|error| error.kind == ModelErrorKind::Network) {
            break (events, error);
        }
    };
    let error = error.unwrap();
    assert!(error.message.contains(&gone), "{}", error.message);
    assert!(error.hint.unwrap().contains("running"));
}

#[tokio::test]
async fn an_unknown_host_is_told() {
    let (_, error) = collect(&models("http://nosuch.invalid/v1"), hello("chat::scripted")).await;
    let error = error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network, "{error:?}");
    assert!(error.message.contains("nosuch.invalid"));
}

#[tokio::test]
async fn a_silent_server_times_out_before_and_after_the_first_byte() {
    let bytes = openai::stream(&Turn::new().text("one").text("two"));
    let server = Server::answering(move |number, _| match number {
        0 => Reply::none(End::Hang),
        1 => Reply::sse("").end(End::Hang),
        _ => Reply::sse(bytes.clone()).first(bytes.len() - 100).end(End::Hang),
    });
    let mut settings = settings(&server.address());
    settings.timeouts.first_byte_ms = 60;
    settings.timeouts.idle_ms = 80;
    let models = Models::new(settings);
    for (wanted, setting) in
        [("sent nothing", "first_byte_ms"), ("sent nothing", "first_byte_ms"), ("silent", "idle_ms")]
    {
        let (_, error) = collect(&models, hello("chat::scripted")).await;
        let error = error.unwrap();
        assert_eq!(error.kind, ModelErrorKind::Timeout);
        assert!(error.message.contains(wanted), "{}", error.message);
        assert!(error.hint.unwrap().contains(setting));
    }
}

#[tokio::test]
async fn a_conversation_that_no_one_takes_is_not_sent() {
    let server = Server::scripted([]);
    for history in [vec![], vec![Message::user("a"), assistant(vec![say("b")])]] {
        let (_, error) = collect(&models(&server.address()), request("chat::scripted", history)).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Request);
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn loopback_goes_past_a_proxy() {
    let server = Server::playing([Turn::new().text("direct")]);
    let mut settings = settings(&server.address());
    let env = settings.env.clone();
    let proxied = move |name: &str| {
        if name.ends_with("_PROXY") { Some("http://127.0.0.1:9".to_owned()) } else { env(name) }
    };
    settings.env = std::sync::Arc::new(proxied);
    settings.providers.get_mut("claude").unwrap().endpoint = Some("http://model.invalid/v1".to_owned());
    let models = Models::new(settings);
    let (events, error) = collect(&models, hello("chat::scripted")).await;
    assert_eq!((error, text(&events).as_str()), (None, "direct"));
    // The other goes to the proxy, which is not there; the name is never looked up.
    let (_, error) = collect(&models, hello("claude::scripted")).await;
    assert!(error.unwrap().message.contains("refused"));
}

#[tokio::test]
async fn big_prompts_and_replies_pass() {
    let piece = "ä€😀 ".repeat(900);
    let turn = (0..112).fold(Turn::new(), |turn, _| turn.text(&piece));
    let big = piece.repeat(112);
    for wire in WIRES {
        let server = Server::playing([turn.clone()]);
        let request = request(wire.model(), vec![Message::user(&*big)]);
        let (events, error) = collect(&models(&server.address()), request).await;
        assert_eq!(error, None);
        assert!(text(&events) == big, "the text differs");
        assert!(server.requests()[0].json().to_string().len() > big.len());
    }
}
