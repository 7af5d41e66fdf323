//! The headless run: the main job, the event stream, the exit statuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use koda_tests::{Exit, Finished, Headless, Place, Replay, Signal, call};
use serde_json::{Value, json};

const BUGGY: &str = "def add(a, b):\n    return a - b\n";
const TEST: &str = "from add import add\n\nassert add(2, 3) == 5, add(2, 3)\nprint('all fine')\n";

/// A script that does the main job on [`project`]: looks, edits, tests, answers.
fn main_job() -> Replay {
    let edits = json!([{ "old": "return a - b", "new": "return a + b" }]);
    Replay::new()
        .calls(
            "I look at both files.",
            &[call("Read", json!({ "path": "add.py" })), call("Grep", json!({ "pattern": "assert" }))],
        )
        .calls("It subtracts.", &[call("Edit", json!({ "path": "add.py", "edits": edits }))])
        .calls("", &[call("Bash", json!({ "command": "python3 check.py" }))])
        .says("`add` subtracted; now it adds.")
}

fn project(place: &Place) -> std::path::PathBuf {
    place.project(&[("add.py", BUGGY), ("check.py", TEST)])
}

fn run(place: &Place, folder: &Path, arguments: &str) -> Finished {
    Headless::start(place, folder, &[&format!("+Koda run {arguments}")]).finish()
}

#[test]
fn does_the_main_job() {
    let place = Place::new();
    let project = project(&place);
    let model = main_job().model(&place);
    let run = run(&place, &project, &format!("--json --trust auto --model {model} -- mend add"));
    assert_eq!(run.exit, Exit::Code(0), "{}\n{}", run.output, run.problem);
    assert_eq!(fs::read_to_string(project.join("add.py")).unwrap(), "def add(a, b):\n    return a + b\n");

    let results = run.events_of("tool_result");
    let by_tool: BTreeMap<&str, &Value> =
        results.iter().filter_map(|event| Some((event["tool"].as_str()?, event))).collect();
    assert!(by_tool["Read"]["text"].as_str().unwrap().contains("return a - b"), "{}", by_tool["Read"]);
    assert!(by_tool["Grep"]["text"].as_str().unwrap().contains("check.py"), "{}", by_tool["Grep"]);
    assert_eq!(by_tool["Edit"]["data"]["applied"], json!([1]), "{}", by_tool["Edit"]);
    assert_eq!(by_tool["Bash"]["data"]["exit_code"], 0, "{}", by_tool["Bash"]);
    assert!(by_tool["Bash"]["text"].as_str().unwrap().contains("all fine"), "{}", by_tool["Bash"]);
    assert_eq!(place.survivors(Duration::from_secs(2)), Vec::<String>::new());
}

#[test]
fn a_limit_of_cost_is_kept_and_refused_where_it_can_not_be() {
    let place = Place::new();
    let project = project(&place);
    let usage = json!({ "input": 1_000_000, "output": 0 });
    let think =
        |thought: &str| json!({ "calls": [call("Think", json!({ "thought": thought }))], "usage": usage });
    let script = Replay::new().turn(think("one")).turn(think("two")).turn(think("three"));
    let settings =
        json!({ "model": script.model(&place), "prices": { "replay::*": { "input": 0.5, "output": 1 } } });
    let limited = ["+Koda run --json --max-cost 1 -- go"];
    let run = Headless::with_settings(&place, &project, &settings, &limited).finish();
    assert_eq!(run.exit, Exit::Code(1), "{}\n{}", run.output, run.problem);
    assert_eq!(run.events_of("usage").len(), 2, "{}", run.output);
    let end = &run.events_of("turn_end")[0];
    assert_eq!((end["outcome"].as_str(), end["cost"]["usd"].as_f64()), (Some("budget"), Some(1.0)), "{end}");
    assert_eq!(end["usage"]["input"], 2_000_000);

    let settings =
        json!({ "providers": { "lab": { "endpoint": "http://127.0.0.1:9/v1" } }, "model": "lab::x" });
    let run = Headless::with_settings(&place, &project, &settings, &limited).finish();
    assert_eq!(run.exit, Exit::Code(2), "{}", run.output);
    assert!(run.problem.contains("no price is known of lab::x"), "{}", run.problem);
}

#[test]
fn every_event_has_its_fields_and_every_call_one_result() {
    let place = Place::new();
    let project = project(&place);
    let model = main_job().model(&place);
    let run = run(&place, &project, &format!("--json --trust auto --model {model} -- mend add"));
    let events = run.events();
    let session = events[0]["session"].as_str().expect("a session id");
    let mut last = 0;
    for event in &events {
        assert!(event["type"].is_string(), "{event}");
        assert_eq!(event["session"], session, "{event}");
        let time = event["time"].as_u64().unwrap_or_else(|| panic!("no time: {event}"));
        assert!(time >= last && time > 1_600_000_000_000, "time goes back, or is no epoch: {event}");
        last = time;
    }
    assert_eq!(events[0]["type"], "session_start");
    let end = events.last().expect("events");
    assert_eq!((&end["type"], &end["outcome"]), (&json!("turn_end"), &json!("done")));

    let ids = |kind: &str| -> Vec<String> {
        let mut ids: Vec<_> = run.events_of(kind).iter().map(|event| event["id"].to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("tool_call").len(), 4);
    assert_eq!(ids("tool_call"), ids("tool_result"));
    let text: String =
        run.events_of("text_delta").iter().filter_map(|event| event["text"].as_str()).collect();
    assert!(text.ends_with("`add` subtracted; now it adds."), "{text}");
}

#[test]
fn tells_people_what_happens() {
    let place = Place::new();
    let project = project(&place);
    let model = main_job().model(&place);
    let run = run(&place, &project, &format!("--trust auto --model {model} -- mend add"));
    assert_eq!(run.exit, Exit::Code(0), "{}", run.problem);
    for shown in ["It subtracts.", "python3 check.py", "add.py", "`add` subtracted; now it adds."] {
        assert!(run.output.contains(shown), "no {shown:?} in:\n{}", run.output);
    }
    assert!(!run.output.contains("{\"type\""), "events leak into the text for people:\n{}", run.output);
}

#[test]
fn a_failing_command_is_a_result_and_no_failure() {
    let place = Place::new();
    let project = project(&place);
    let script =
        Replay::new().calls("", &[call("Bash", json!({ "command": "python3 check.py" }))]).says("It fails.");
    let model = script.model(&place);
    let run = run(&place, &project, &format!("--json --trust auto --model {model} -- test"));
    let result = &run.events_of("tool_result")[0];
    assert_eq!((&result["ok"], &result["data"]["exit_code"]), (&json!(true), &json!(1)), "{result}");
    assert_eq!(run.exit, Exit::Code(0));
}

#[test]
fn an_error_of_the_model_is_status_1() {
    let place = Place::new();
    let project = project(&place);
    let model = Replay::new().turn(json!({ "error": "the provider is on fire" })).model(&place);
    let run = run(&place, &project, &format!("--json --model {model} -- hello"));
    assert_eq!(run.exit, Exit::Code(1), "{}", run.output);
    let message = &run.events_of("error")[0]["error"]["message"];
    assert!(message.as_str().unwrap().contains("the provider is on fire"), "{message}");
    assert_eq!(run.events_of("turn_end")[0]["outcome"], "failed");
}

#[test]
fn wrong_usage_is_status_2_and_says_what_is_wrong() {
    let place = Place::new();
    let project = project(&place);
    let model = Replay::new().says("Hello.").model(&place);
    let cases = [
        (format!("--model {model}"), "prompt"),
        (format!("--model {model} --trust yes -- hello"), "yes"),
        (format!("--model {model} --mode fast -- hello"), "fast"),
        (format!("--modle {model} -- hello"), "--modle"),
        ("--model nosuch -- hello".to_owned(), "nosuch"),
        ("-- hello".to_owned(), "model"),
    ];
    for (arguments, named) in cases {
        let run = run(&place, &project, &arguments);
        assert_eq!(run.exit, Exit::Code(2), "{arguments}\n{}\n{}", run.output, run.problem);
        assert!(run.problem.contains(named), "{arguments}: no {named:?} in:\n{}", run.problem);
    }
}

#[test]
fn what_needs_an_approval_is_status_3_and_not_done() {
    let place = Place::new();
    let project = project(&place);
    let write = call("Write", json!({ "path": "new.txt", "content": "new\n" }));
    let model = Replay::new().calls("I write.", &[write]).says("Done.").model(&place);
    let run = run(&place, &project, &format!("--json --trust safe --model {model} -- write"));
    assert_eq!(run.exit, Exit::Code(3), "{}\n{}", run.output, run.problem);
    assert!(!project.join("new.txt").exists());
    assert_eq!(run.events_of("approval")[0]["verdict"]["verdict"], "ask");
    assert_eq!(run.events_of("tool_result").len(), 1);
    assert_eq!(run.events_of("turn_end")[0]["outcome"], "needs_approval");
}

#[test]
fn an_interrupt_is_status_130_and_leaves_nobody() {
    is_broken_off_by(Signal::INT);
}

#[test]
fn a_request_to_terminate_is_status_130_and_leaves_nobody() {
    is_broken_off_by(Signal::TERM);
}

fn is_broken_off_by(signal: Signal) {
    let place = Place::new();
    let project = project(&place);
    let sleep = call("Bash", json!({ "command": "echo started; sleep 1000" }));
    let model = Replay::new().calls("I wait.", &[sleep]).says("Done.").model(&place);
    let command = format!("+Koda run --json --trust auto --model {model} -- wait");
    let mut run = Headless::start(&place, &project, &[&command]);
    run.expect_text("\"tool_call\"");
    run.process().signal(signal);
    let run = run.finish_within(Duration::from_secs(5));
    assert_eq!(run.exit, Exit::Code(130), "{}\n{}", run.output, run.problem);
    assert_eq!(run.events_of("tool_result").len(), 1);
    assert_eq!(run.events_of("turn_end")[0]["outcome"], "cancelled");
    assert_eq!(place.survivors(Duration::from_secs(2)), Vec::<String>::new());
}

#[test]
fn an_open_buffer_is_edited_with_its_unsaved_lines() {
    let place = Place::new();
    let project = project(&place);
    let model = main_job().model(&place);
    let arguments = [
        "add.py",
        "+call append(0, '# mine, unsaved')",
        &format!("+Koda run --json --trust auto --model {model} -- mend add"),
    ];
    let run = Headless::start(&place, &project, &arguments).finish();
    let read =
        run.events_of("tool_result").into_iter().find(|event| event["tool"] == "Read").expect("a Read");
    assert!(read["text"].as_str().unwrap().contains("# mine, unsaved"), "{read}");
    // The user's line was not saved, so neither is the edit; the command sees the file as it is on disk.
    assert_eq!(fs::read_to_string(project.join("add.py")).unwrap(), BUGGY);
    let bash =
        run.events_of("tool_result").into_iter().find(|event| event["tool"] == "Bash").expect("a Bash");
    assert_eq!(bash["data"]["exit_code"], 1, "{bash}");
}
