//! What waits for the user: through the API, and that nothing runs before the answer.

use std::fs;

use koda_tests::{Editor, Opening, Place, Replay, call};
use serde_json::{Value, json};

fn writing(place: &Place) -> String {
    let write = call("Write", json!({ "path": "new.txt", "content": "new\n" }));
    Replay::new().calls("I write.", &[write]).says("Done.").model(place)
}

fn begin(editor: &Editor<'_>, model: &str) -> Value {
    editor.setup(&json!({ "model": model, "trust": "safe" }));
    editor.lua(
        "events = {}
        require('koda').run({ prompt = 'write', on_event = function(event) table.insert(events, event) end })",
        &[],
    );
    let pending =
        editor.until("local pending = require('koda').pending() return pending[1] and pending", &[]);
    pending[0].clone()
}

fn events_of(editor: &Editor<'_>, kind: &str) -> Vec<Value> {
    editor.until("return #events > 0 and events[#events].type == 'turn_end'", &[]);
    let found = editor.lua(
        "local kind = ... return vim.tbl_filter(function(event) return event.type == kind end, events)",
        &[json!(kind)],
    );
    found.as_array().cloned().unwrap_or_default()
}

fn answer(editor: &Editor<'_>, id: &Value, answer: Value) -> Value {
    editor.lua(
        "local id, answer = ... local ok, problem = require('koda').answer(id, answer) return { ok, problem }",
        &[id.clone(), answer],
    )
}

#[test]
fn an_accepted_call_runs() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let pending = begin(&editor, &writing(&place));
    assert_eq!(pending["kind"], "approval");
    assert_eq!(pending["call"]["tool"], "Write", "{pending}");
    assert_eq!(pending["verdict"]["verdict"], "ask", "{pending}");
    assert!(!pending["verdict"]["reasons"].as_array().unwrap().is_empty(), "{pending}");
    assert!(!project.join("new.txt").exists());
    answer(&editor, &pending["id"], json!({ "decision": "accept" }));
    assert_eq!(events_of(&editor, "tool_result")[0]["ok"], true);
    assert_eq!(fs::read_to_string(project.join("new.txt")).unwrap(), "new\n");
    assert_eq!(editor.lua("return require('koda').pending()", &[]), json!([]));
}

#[test]
fn a_rejected_call_does_not_run_and_the_model_reads_why() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let pending = begin(&editor, &writing(&place));
    answer(&editor, &pending["id"], json!({ "decision": "reject", "reason": "not in this folder" }));
    let result = &events_of(&editor, "tool_result")[0];
    assert_eq!(result["ok"], false);
    assert!(result["text"].as_str().unwrap().contains("not in this folder"), "{result}");
    assert!(!project.join("new.txt").exists());
}

#[test]
fn accepted_for_the_session_asks_no_more() {
    let place = Place::new();
    let project = place.project(&[]);
    let write = |name: &str| call("Write", json!({ "path": name, "content": "new\n" }));
    let model = Replay::new()
        .calls("", &[write("one.txt")])
        .calls("", &[write("two.txt")])
        .says("Done.")
        .model(&place);
    let editor = Opening::new(&place, &project).open();
    let pending = begin(&editor, &model);
    answer(&editor, &pending["id"], json!({ "decision": "accept", "scope": "session" }));
    assert_eq!(events_of(&editor, "approval").len(), 1);
    assert!(project.join("two.txt").exists());
}

#[test]
fn a_key_makes_a_rule_that_lasts_and_a_command_deletes_it() {
    let place = Place::new();
    let project = place.project(&[]);
    let write = |name: &str| call("Write", json!({ "path": name, "content": "new\n" }));
    let model = Replay::new()
        .calls("", &[write("one.txt")])
        .calls("", &[write("two.txt")])
        .says("Done.")
        .model(&place);
    let editor = Opening::new(&place, &project).open();
    editor.setup(&json!({ "model": model, "trust": "safe" }));
    editor.command("Koda write");
    editor.expect("the rule on the card", |grid| {
        grid.has("for this project from now on: Write in the project")
    });
    editor.expect_text("for this session");
    editor.input("<M-P>");
    editor.expect_text("Done.");
    assert!(project.join("one.txt").exists() && project.join("two.txt").exists());
    let judged = "return require('koda').judge({ tool = 'Write', args = { path = 'x', content = '' } })";
    assert_eq!(editor.lua(judged, &[])["verdict"], "allow");
    editor.command("Koda rules");
    editor.expect("the list", |grid| grid.has("allow Write in the project") && grid.has("used 1 times"));
    editor.input("q");
    editor.until("return vim.fn.getcompletion('Koda rules ', 'cmdline')[1] == '1'", &[]);
    editor.command("Koda rules 1");
    editor.until("return require('koda').judge({ tool = 'Write', args = { path = 'x', content = '' } }).verdict == 'ask'", &[]);
}

#[test]
fn a_question_gets_its_answer() {
    let place = Place::new();
    let project = place.project(&[]);
    let ask = call("AskUser", json!({ "question": "Which colour?", "options": ["red", "blue"] }));
    let model = Replay::new().calls("", &[ask]).says("Thanks.").model(&place);
    let editor = Opening::new(&place, &project).open();
    let pending = begin(&editor, &model);
    assert_eq!(pending["kind"], "question");
    answer(&editor, &pending["id"], json!({ "decision": "accept", "text": "blue" }));
    let result = &events_of(&editor, "tool_result")[0];
    assert!(result["text"].as_str().unwrap().contains("blue"), "{result}");
}

#[test]
fn stop_settles_what_waits() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    begin(&editor, &writing(&place));
    editor.command("Koda stop");
    assert_eq!(events_of(&editor, "turn_end")[0]["outcome"], "cancelled");
    assert_eq!(events_of(&editor, "tool_result").len(), 1);
    assert_eq!(editor.lua("return require('koda').pending()", &[]), json!([]));
    assert!(!project.join("new.txt").exists());
}

#[test]
fn a_call_by_the_api_waits_like_any_other() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    editor.lua(
        "handle = require('koda').tool({ name = 'Write', args = { path = 'new.txt', content = 'x' }, trust = 'safe' })",
        &[],
    );
    let pending = editor.until("return require('koda').pending()[1]", &[]);
    answer(&editor, &pending["id"], json!({ "decision": "accept" }));
    let result = editor.lua("return handle:wait(10000)", &[]);
    assert_eq!(result["ok"], true, "{result}");
    assert!(project.join("new.txt").exists());
}

#[test]
fn an_unknown_id_and_a_wrong_decision_are_errors_that_say_so() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let pending = begin(&editor, &writing(&place));
    let unknown = editor.lua(
        "local ok, problem = require('koda').answer('nosuch', { decision = 'accept' }) return { ok == nil, problem }",
        &[],
    );
    assert_eq!(unknown[0], true, "{unknown}");
    assert!(unknown[1]["message"].as_str().unwrap_or_default().contains("nosuch"), "{unknown}");
    let wrong = editor.lua(
        "local ok, problem = require('koda').answer(..., { decision = 'perhaps' }) return { ok == nil, problem }",
        &[pending["id"].clone()],
    );
    assert!(wrong[1]["message"].as_str().unwrap_or_default().contains("perhaps"), "{wrong}");
    // It still waits.
    assert_eq!(editor.lua("return require('koda').pending()[1].id", &[]), pending["id"]);
}

#[test]
fn verdicts_are_told_without_running_anything() {
    let place = Place::new();
    let project = place.project(&[("keep.txt", "keep\n")]);
    let editor = Opening::new(&place, &project).open();
    let judge = |tool: &str, args: Value, trust: &str| {
        let question = json!({ "tool": tool, "args": args, "trust": trust });
        editor.lua("return require('koda').judge(...)", &[question])
    };
    let deleting = json!({ "command": "rm -rf ." });
    assert_eq!(judge("Bash", deleting.clone(), "auto")["verdict"], "ask");
    assert_eq!(judge("Bash", deleting.clone(), "auto")["class"], "destructive");
    assert_eq!(judge("Bash", deleting, "plan")["verdict"], "deny");
    assert_eq!(judge("Read", json!({ "path": "keep.txt" }), "plan")["verdict"], "allow");
    assert_eq!(judge("Write", json!({ "path": "new.txt", "content": "" }), "safe")["verdict"], "ask");
    assert_eq!(judge("Write", json!({ "path": "/outside.txt", "content": "" }), "auto")["verdict"], "ask");
    assert!(project.join("keep.txt").exists());
}
