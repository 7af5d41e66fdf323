//! Real HTTP: Koda in a real Neovim against a scripted provider on the loopback that checks every request.

use std::fs;
use std::time::Duration;

use koda_model::testing::{End, Reply, Server, Turn, anthropic, openai};
use koda_tests::{Exit, Finished, Headless, Opening, Place};
use serde_json::{Value, json};

const BUGGY: &str = "def add(a, b):\n    return a - b\n";
const TEST: &str = "from add import add\n\nassert add(2, 3) == 5, add(2, 3)\nprint('all fine')\n";
const KEY: &str = "sk-secret-of-the-test";

/// What the model says on the main job: looks at two files at once, edits, tests, answers.
fn main_job() -> Vec<Turn> {
    let edits = json!([{ "old": "return a - b", "new": "return a + b" }]);
    vec![
        Turn::new()
            .text("I look ")
            .text("at both.")
            .call("call-1", "Read", &json!({ "path": "add.py" }))
            .call("call-2", "Grep", &json!({ "pattern": "assert" }))
            .usage(900, 40),
        Turn::new().call("call-3", "Edit", &json!({ "path": "add.py", "edits": edits })).usage(1000, 50),
        Turn::new().call("call-4", "Bash", &json!({ "command": "python3 check.py" })).usage(1100, 20),
        Turn::new().text("Now it adds: é, 世, 🙂.").usage(1200, 10),
    ]
}

fn settings(server: &Server, protocol: &str) -> Value {
    let provider = json!({
        "endpoint": format!("{}/v1/", server.address()),
        "adapter": protocol,
        "key_command": format!("echo {KEY}"),
    });
    json!({ "model": "scripted::some-model", "trust": "auto", "providers": { "scripted": provider } })
}

fn run(place: &Place, server: &Server, protocol: &str) -> Finished {
    let project = place.project(&[("add.py", BUGGY), ("check.py", TEST)]);
    let settings = settings(server, protocol);
    let run = Headless::with_settings(place, &project, &settings, &["+Koda run --json -- mend add"]);
    run.finish_within(Duration::from_secs(60))
}

fn does_the_main_job(protocol: &str, piece: usize) {
    let place = Place::new();
    let turns = main_job();
    let server = Server::answering(move |index, received| {
        let turn = turns.get(index).cloned().unwrap_or_else(|| Turn::new().text("too many requests"));
        let is_openai = received.path.contains("/chat/completions");
        let bytes = if is_openai { openai::stream(&turn) } else { anthropic::stream(&turn) };
        Reply::sse(bytes).cut_every(piece)
    });
    let run = run(&place, &server, protocol);
    assert_eq!(run.exit, Exit::Code(0), "{}\n{}", run.output, run.problem);
    assert_eq!(server.problems(), Vec::<String>::new());
    assert_eq!(server.requests().len(), 4);
    let fixed = fs::read_to_string(place.path().join("project/add.py")).unwrap();
    assert_eq!(fixed, "def add(a, b):\n    return a + b\n");
    let results = run.events_of("tool_result");
    assert_eq!(results.len(), 4, "{results:?}");
    assert!(results.iter().all(|result| result["ok"] == true), "{results:?}");
    let text: String =
        run.events_of("text_delta").iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(text, "I look at both.Now it adds: é, 世, 🙂.");
    let last = server.requests().pop().unwrap();
    assert!(String::from_utf8_lossy(&last.body).contains("all fine"), "the tests' output went to the model");
    let sent = run.events_of("usage").last().map(|event| event["total"]["output"].clone());
    assert_eq!(sent, Some(json!(120)));
    assert!(!run.output.contains(KEY) && !place.logs().contains(KEY), "the key leaks");
}

#[test]
fn the_main_job_over_openai_chat_completions() {
    does_the_main_job("openai", usize::MAX);
}

#[test]
fn the_main_job_over_anthropic_messages() {
    does_the_main_job("anthropic", usize::MAX);
}

#[test]
fn the_main_job_over_openai_in_pieces_of_one_byte() {
    does_the_main_job("openai", 1);
}

#[test]
fn the_main_job_over_anthropic_in_pieces_of_seven_bytes() {
    does_the_main_job("anthropic", 7);
}

/// Runs against a server with these replies and returns the message and hint of the error that ended it.
fn failure(replies: Vec<Reply>) -> (Finished, String) {
    let place = Place::new();
    let server = Server::scripted(replies);
    let run = run(&place, &server, "openai");
    assert_eq!(run.exit, Exit::Code(1), "{}\n{}", run.output, run.problem);
    let errors = run.events_of("error");
    let said = errors.last().unwrap_or_else(|| panic!("no error in:\n{}", run.output))["error"].to_string();
    assert!(!said.contains(KEY), "{said}");
    (run, said)
}

#[test]
fn a_wrong_key_says_so_at_once() {
    let refused =
        json!({ "error": { "message": "Incorrect API key provided", "type": "invalid_request_error" } });
    let (run, said) = failure(vec![Reply::json(401, &refused)]);
    assert!(said.contains("Incorrect API key provided") && said.contains("key"), "{said}");
    assert_eq!(run.events_of("retry").len(), 0);
}

#[test]
fn an_error_object_inside_a_200_is_an_error() {
    // A reply without frames is asked for once more without streaming; a real server says the same again.
    let body = json!({ "error": { "message": "the model is on holiday" } });
    let (_, said) = failure(vec![Reply::json(200, &body), Reply::json(200, &body)]);
    assert!(said.contains("the model is on holiday"), "{said}");
}

#[test]
fn a_page_in_place_of_a_stream_is_an_error() {
    let (_, said) = failure(vec![Reply::new(200, "text/html", "<html><title>Log in</title></html>")]);
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn an_empty_reply_is_an_error() {
    let (_, said) = failure(vec![Reply::sse(openai::stream(&Turn::new()))]);
    assert!(said.contains("empty"), "{said}");
}

#[test]
fn a_stream_cut_in_the_middle_keeps_what_came() {
    let bytes = openai::stream(&Turn::new().text("The answer is ").text("forty-two, since"));
    let upto = bytes.len() - 200;
    let (run, said) = failure(vec![Reply::sse(bytes).first(upto).end(End::Close)]);
    assert!(!said.is_empty());
    let message = &run.events_of("message")[0];
    assert_eq!(message["cut"], true, "{message}");
    assert!(message.to_string().contains("The answer is"), "{message}");
}

#[test]
fn a_refused_connection_names_the_address() {
    let place = Place::new();
    let project = place.project(&[]);
    let server = Server::scripted([]);
    let address = server.address();
    let settings = settings(&server, "openai");
    drop(server);
    let run = Headless::with_settings(&place, &project, &settings, &["+Koda run --json -- hello"]);
    let run = run.finish_within(Duration::from_secs(60));
    assert_eq!(run.exit, Exit::Code(1), "{}\n{}", run.output, run.problem);
    let said = run.events_of("error").last().expect("an error")["error"].to_string();
    assert!(said.contains(address.trim_start_matches("http://")), "{said}");
}

#[test]
fn busy_providers_are_asked_again() {
    let busy = json!({ "error": { "message": "overloaded", "type": "overloaded_error" } });
    for reply in [Reply::json(429, &busy).header("retry-after", "1"), Reply::json(529, &busy)] {
        let place = Place::new();
        let server = Server::scripted([reply, Reply::sse(openai::stream(&Turn::new().text("Here I am.")))]);
        let run = run(&place, &server, "openai");
        assert_eq!(run.exit, Exit::Code(0), "{}\n{}", run.output, run.problem);
        let retry = &run.events_of("retry")[0];
        assert_eq!(retry["attempt"], 1, "{retry}");
        assert!(retry["wait_ms"].as_u64().is_some_and(|wait| (500..=2000).contains(&wait)), "{retry}");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_wait_is_counted_down_in_the_bar_and_stop_ends_it() {
    let place = Place::new();
    let project = place.project(&[]);
    let busy = json!({ "error": { "message": "overloaded", "type": "overloaded_error" } });
    let server = Server::answering(move |_, _| Reply::json(429, &busy).header("retry-after", "90"));
    let editor = Opening::new(&place, &project).open();
    editor.setup(&settings(&server, "openai"));
    editor.lua("ends = 0; require('koda').on('turn_end', function() ends = ends + 1 end)", &[]);
    editor.command("Koda hello");
    editor.expect_text("trying again in 90 s");
    editor.expect_text("trying again in 88 s");
    editor.command("Koda stop");
    editor.until("return ends == 1", &[]);
    editor.expect("the bar to say that nothing runs", |grid| !grid.has("trying again in 8"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_stop_closes_the_connection() {
    let place = Place::new();
    let project = place.project(&[]);
    let bytes = openai::stream(&Turn::new().text("I begin").text(" and never end"));
    let server = Server::scripted([Reply::sse(bytes).first(400).end(End::Hang)]);
    let editor = Opening::new(&place, &project).open();
    editor.setup(&settings(&server, "openai"));
    editor.lua(
        "seen = {}
        handle = require('koda').run({ prompt = 'go', on_event = function(event) seen[event.type] = event end })",
        &[],
    );
    editor.until("return seen.text_delta ~= nil", &[]);
    editor.lua("handle:cancel()", &[]);
    assert!(server.wait_hung_up(1, Duration::from_secs(5)), "the connection stays open");
    editor.until("return seen.turn_end ~= nil", &[]);
    assert_eq!(editor.lua("return seen.turn_end.outcome", &[]), "cancelled");
}
