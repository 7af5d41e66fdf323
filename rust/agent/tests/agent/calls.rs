//! Several calls at once: their order, their faults, and calls outside of a conversation.

use std::collections::BTreeMap;

use koda_agent::ToolRequest;
use koda_protocol::{CallId, Decision, Event, Mode, Outcome, Part, Scope, ToolPolicy, Trust};
use serde_json::{Value, json};

use crate::rig::{Rig, Setup, bash, edit, rig, write};
use crate::stage::{call, text};

#[tokio::test]
async fn independent_calls_run_at_once_and_go_back_in_order() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("gate one")), call("2", "Bash", bash("gate two"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    rig.hall.has_begun("gate one").await;
    rig.hall.has_begun("gate two").await;
    rig.hall.open("two");
    rig.result("2").await;
    rig.hall.open("one");
    assert_eq!(rig.end().await, Outcome::Done);
    let ids: Vec<String> = rig.results().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["2", "1"], "told as they end");
    rig.check();
}

#[tokio::test]
async fn edits_of_one_file_keep_the_models_order() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("a.txt"), "1\n");
    rig.model.says([
        call("1", "Edit", edit("a.txt", "1", "2")),
        call("2", "Edit", edit("a.txt", "2", "3")),
        call("3", "Edit", edit("./a.txt", "3", "4")),
        call("4", "Read", json!({ "path": "a.txt" })),
        call("5", "Edit", edit("a.txt", "4", "5")),
    ]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert!(rig.result("4").await.contains("1\t4"));
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("a.txt").as_deref(), Some("5\n"));
    rig.check();
}

#[tokio::test]
async fn an_approval_holds_up_only_its_own_file() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("b"), "b\n");
    rig.model.says([
        call("1", "Write", write("a", "1")),
        call("2", "Edit", edit("a", "1", "2")),
        call("3", "Read", json!({ "path": "b" })),
    ]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let first = rig.asked().await;
    rig.result("3").await;
    assert_eq!(rig.desk.pending().len(), 1, "the second waits for the first and asks for nothing yet");
    rig.accept(&first, Scope::Once);
    let second = rig.asked().await;
    rig.accept(&second, Scope::Once);
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("a").as_deref(), Some("2"));
    rig.check();
}

#[tokio::test]
async fn a_call_that_is_wrong_or_fails_has_a_result_and_the_turn_goes_on() {
    let mut rig = rig();
    rig.model.says([
        call("1", "Nosuch", json!({})),
        call("2", "Read", json!("{\"path\": \"a")),
        call("3", "Read", json!({ "path": 7 })),
        call("4", "Read", json!([1])),
        call("5", "Bash", bash("panic")),
        call("6", "Bash", bash("fine")),
    ]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let mut results = rig.results();
    results.sort();
    let ok: Vec<bool> = results.iter().map(|(_, ok, _)| *ok).collect();
    assert_eq!(ok, [false, false, false, false, false, true], "{results:?}");
    for (result, part) in results.iter().zip(["Nosuch", "cut short", "path", "object", "not known", "fine"]) {
        assert!(result.2.contains(part), "{result:?}");
    }
    rig.check();
}

#[tokio::test]
async fn what_is_switched_off_or_not_of_the_mode_is_neither_offered_nor_run() {
    let tools = BTreeMap::from([("Bash".to_owned(), ToolPolicy::Off)]);
    let mut rig = Setup { tools, ..Setup::default() }.rig();
    rig.model.says([call("1", "Bash", bash("fine")), call("2", "Write", write("a", "x"))]);
    rig.model.says([text("Done.")]);
    let session = rig.open(Trust::Auto);
    session.set(koda_agent::Change { mode: Some(Mode::Ask), ..Default::default() });
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let offered: Vec<String> = rig.last_request().tools.into_iter().map(|tool| tool.name).collect();
    assert!(offered.contains(&"Read".to_owned()) && offered.is_sorted());
    assert!(!offered.contains(&"Bash".to_owned()) && !offered.contains(&"Write".to_owned()));
    assert!(rig.results().iter().all(|(_, ok, _)| !ok), "{:?}", rig.results());
    assert!(rig.hall.begun().is_empty() && rig.text_of("a").is_none());
    rig.check();
}

#[tokio::test]
async fn what_the_model_is_sent_is_what_was_told() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("one")), call("2", "Nosuch", json!({}))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let sent = rig.last_request().messages.pop().unwrap().parts;
    let mut told = rig.results();
    told.sort();
    let sent: Vec<_> = sent
        .into_iter()
        .map(|part| if let Part::Result(result) = part { result } else { panic!("{part:?}") })
        .map(|result| (result.id.to_string(), result.ok, result.text))
        .collect();
    assert_eq!(sent, told);
}

fn request(rig: &Rig, tool: &str, args: Value, trust: Trust) -> ToolRequest {
    ToolRequest { tool: tool.to_owned(), args, root: rig.root(), trust: Some(trust), mode: None }
}

#[tokio::test]
async fn calls_outside_of_a_conversation_are_judged_alike() {
    let mut rig = rig();
    let judge = |tool: &str, args: Value, trust| rig.engine.judge(&request(&rig, tool, args, trust)).decision;
    assert_eq!(judge("shell", json!({ "cmd": "rm -rf x" }), Trust::Auto), Decision::Ask);
    assert_eq!(judge("Read", json!({ "file_path": "a" }), Trust::Plan), Decision::Allow);
    assert_eq!(judge("Nosuch", json!({}), Trust::Auto), Decision::Deny);
    rig.editor.put(rig.root().join("a"), "x\n");
    let read = request(&rig, "read_file", json!({ "target_file": "a" }), Trust::Plan);
    let id = rig.engine.tool(read);
    assert_eq!(rig.result(id.as_str()).await, "1\tx\n");
    assert_eq!(rig.types(), ["tool_call", "tool_result"]);
    assert!(rig.store.sessions(None).unwrap().is_empty());
    rig.check();
}

#[tokio::test]
async fn a_call_outside_of_a_conversation_waits_for_the_user_too() {
    let mut rig = rig();
    let id = rig.engine.tool(request(&rig, "Write", write("a", "x"), Trust::Safe));
    let ask = rig.asked().await;
    assert_eq!(rig.desk.pending()[0].call.id, id);
    rig.accept(&ask, Scope::Once);
    rig.result(id.as_str()).await;
    assert_eq!(rig.text_of("a").as_deref(), Some("x"));
    rig.check();
}

#[tokio::test]
async fn calls_outside_of_a_conversation_are_stopped_and_others_may_follow() {
    let mut rig = rig();
    let running = rig.engine.tool(request(&rig, "Bash", bash("gate one"), Trust::Auto));
    rig.hall.has_begun("gate one").await;
    let waiting = rig.engine.tool(request(&rig, "Write", write("a", "x"), Trust::Safe));
    rig.asked().await;
    rig.engine.stop_calls();
    let has_ended = |rig: &Rig, call: &CallId| rig.results().iter().any(|(id, ..)| *id == call.to_string());
    while !has_ended(&rig, &running) || !has_ended(&rig, &waiting) {
        rig.next().await;
    }
    assert!(rig.desk.pending().is_empty() && rig.text_of("a").is_none());
    let later = rig.engine.tool(request(&rig, "Write", write("b", "x"), Trust::Auto));
    rig.result(later.as_str()).await;
    assert_eq!(rig.text_of("b").as_deref(), Some("x"));
    rig.check();
}

#[tokio::test]
async fn leaving_ends_everything_and_tells_it() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("gate one")), call("2", "Write", write("a", "x"))]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    let (first, _second) = (rig.asked().await, rig.asked().await);
    let running = rig.desk.pending().into_iter().find(|ask| ask.call.tool == "Bash").unwrap().id;
    rig.accept(&running, Scope::Once);
    rig.hall.has_begun("gate one").await;
    let loose = rig.engine.tool(request(&rig, "Write", write("b", "x"), Trust::Safe));
    rig.asked().await;
    rig.engine.shutdown().await;
    let stored = rig.store.events(session.id()).unwrap();
    assert!(matches!(stored.last().unwrap().event, Event::TurnEnd { outcome: Outcome::Cancelled, .. }));
    assert_eq!(rig.end().await, Outcome::Cancelled);
    while !rig.results().iter().any(|(id, ..)| *id == loose.to_string()) {
        rig.next().await;
    }
    assert!(first != running || rig.text_of("a").is_none());
    rig.check();
}
