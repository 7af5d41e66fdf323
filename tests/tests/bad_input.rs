//! What comes in wrong: each time a clear message, nothing lost, no crash.

use std::fs;

use koda_tests::{Editor, Exit, Headless, Opening, Place, Replay, call};
use serde_json::{Value, json};

fn tool(editor: &Editor<'_>, name: &str, args: Value) -> Value {
    let question = json!({ "name": name, "args": args, "trust": "auto" });
    let result = editor.lua("return require('koda').tool(...):wait(20000)", &[question]);
    assert!(result.is_object(), "no result of {name}: {result}");
    result
}

/// Asserts that a call fails with a text that says what was wrong, and what to do.
fn fails(editor: &Editor<'_>, name: &str, args: Value, said: &[&str]) {
    let result = tool(editor, name, args);
    let text = result["text"].as_str().unwrap_or_default().to_lowercase();
    assert_eq!(result["ok"], false, "{result}");
    for word in said {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
}

#[test]
fn paths_that_cant_be_read_are_named() {
    let place = Place::new();
    let project = place.project(&[("src/a.txt", "a\n")]);
    fs::write(project.join("binary"), b"\x7fELF\0\0\0").unwrap();
    let editor = Opening::new(&place, &project).open();
    fails(&editor, "Read", json!({ "path": "missing.txt" }), &["missing.txt"]);
    fails(&editor, "Read", json!({ "path": "src" }), &["src", "director"]);
    fails(&editor, "Read", json!({ "path": "binary" }), &["binary"]);
    let edits = json!([{ "old": "a", "new": "b" }]);
    fails(&editor, "Edit", json!({ "path": "src", "edits": edits }), &["src"]);
    fails(&editor, "Edit", json!({ "path": "missing.txt", "edits": edits }), &["missing.txt"]);
    fails(&editor, "ListFiles", json!({ "path": "src/a.txt" }), &["src/a.txt"]);
    fails(&editor, "Grep", json!({ "pattern": "a", "path": "nowhere" }), &["nowhere"]);
    fails(&editor, "Grep", json!({ "pattern": "(" }), &["("]);
    fails(&editor, "Bash", json!({ "command": "ls", "cwd": "nowhere" }), &["nowhere"]);
    assert_eq!(fs::read(project.join("binary")).unwrap(), b"\x7fELF\0\0\0");
}

#[test]
fn a_path_outside_the_project_is_asked_for() {
    let place = Place::new();
    let project = place.project(&[]);
    let outside = place.path().join("outside.txt");
    let editor = Opening::new(&place, &project).open();
    for path in [outside.display().to_string(), "../outside.txt".to_owned(), "a/../../outside.txt".to_owned()]
    {
        let question = json!({ "name": "Write", "args": { "path": path, "content": "x" }, "trust": "auto" });
        editor.lua("handle = require('koda').tool(...)", &[question]);
        let pending = editor.until("return require('koda').pending()[1]", &[]);
        assert!(!outside.exists());
        let reject = json!({ "decision": "reject" });
        editor.lua("require('koda').answer(...)", &[pending["id"].clone(), reject]);
        assert_eq!(editor.lua("return handle:wait(10000).ok", &[]), false);
        assert!(!outside.exists());
    }
}

#[test]
fn calls_that_make_no_sense_get_results_that_do() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "alpha\n")]);
    let editor = Opening::new(&place, &project).open();
    fails(&editor, "Raed", json!({ "path": "a.txt" }), &["raed", "read"]);
    fails(&editor, "Read", json!({}), &["path"]);
    fails(&editor, "Read", json!({ "path": ["a.txt", 7] }), &["path"]);
    fails(&editor, "Edit", json!({ "path": "a.txt", "edits": 7 }), &["edits"]);
    fails(&editor, "Edit", json!({ "path": "a.txt", "edits": [] }), &["edits"]);
    fails(&editor, "Bash", json!({ "command": "" }), &["command"]);
    assert_eq!(fs::read_to_string(project.join("a.txt")).unwrap(), "alpha\n");
}

#[test]
fn broken_arguments_of_a_model_are_answered_and_the_turn_goes_on() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "alpha\n")]);
    let model = Replay::new()
        .calls(
            "",
            &[
                call("Read", json!("{\"path\": \"a.t")),
                call("Read", json!("{\"path\": \"a.txt\"}{\"path\": \"a.txt\"}")),
                call("Nosuch", json!({})),
            ],
        )
        .says("I see.")
        .model(&place);
    let run =
        Headless::start(&place, &project, &[&format!("+Koda run --json --model {model} -- go")]).finish();
    assert_eq!(run.exit, Exit::Code(0), "{}\n{}", run.output, run.problem);
    let results = run.events_of("tool_result");
    assert_eq!(results.len(), 3);
    assert_eq!(
        results.iter().filter(|result| result["tool"] == "Nosuch" && result["ok"] == false).count(),
        1
    );
    let cut = run.events_of("tool_call").into_iter().find(|event| event["args"] == json!("{\"path\": \"a.t"));
    if let Some(cut) = cut {
        let result =
            results.iter().find(|result| result["id"] == cut["id"]).expect("a result of the cut call");
        assert_eq!(result["ok"], false, "{result}");
    }
}

#[test]
fn a_script_that_is_no_json_or_not_there_is_named() {
    let place = Place::new();
    let project = place.project(&[]);
    let broken = place.write("broken.json", "{ \"turns\": [");
    let missing = place.path().join("missing.json");
    for file in [broken, missing] {
        let command = format!("+Koda run --model replay::{} -- hello", file.display());
        let run = Headless::start(&place, &project, &[&command]).finish();
        assert!(matches!(run.exit, Exit::Code(1 | 2)), "{:?}", run.exit);
        let said = format!("{}{}", run.output, run.problem);
        assert!(said.contains(&file.display().to_string()), "{} is not named in:\n{said}", file.display());
    }
}

#[test]
fn a_prompt_and_a_reply_of_a_megabyte_pass() {
    let place = Place::new();
    let project = place.project(&[]);
    let reply = "lorem ipsum dolor\n".repeat(58_300);
    let model = Replay::new().says(&reply).paced(4096, 0).model(&place);
    let editor = Opening::new(&place, &project).open();
    editor.setup(&json!({ "model": model }));
    editor.command("Koda");
    editor.lua(
        "seen = {}
        require('koda').on('user_message', function(event) seen.prompt = #event.text end)
        require('koda').on('message', function(event) seen.message = true end)
        require('koda').on('text_delta', function(event) seen.reply = (seen.reply or 0) + #event.text end)
        require('koda').on('turn_end', function(event) seen.outcome = event.outcome end)
        require('koda').run({ prompt = ('x'):rep(1024 * 1024) })",
        &[],
    );
    editor.until("return seen.outcome", &[]);
    let seen = editor.lua("return seen", &[]);
    let expected = json!({ "prompt": 1024 * 1024, "message": true, "reply": reply.len(), "outcome": "done" });
    assert_eq!(seen, expected);
}

#[test]
fn settings_that_are_wrong_name_the_nearest_right_one() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let said = |settings: Value| {
        let said = editor.lua(
            "local ok, _, problem = pcall(require('koda').setup, ...)
            return { ok, problem, vim.fn.execute('messages') }",
            &[settings],
        );
        said.to_string()
    };
    let cases = [
        (json!({ "modle": "replay::x" }), vec!["modle", "model"]),
        (json!({ "chat": { "widht": 3 } }), vec!["widht", "width"]),
        (json!({ "trust": "saef" }), vec!["saef", "safe"]),
        (json!({ "max_steps": "many" }), vec!["max_steps", "number"]),
        (json!({ "keys": 7 }), vec!["keys"]),
    ];
    for (settings, words) in cases {
        let text = said(settings.clone());
        for word in words {
            assert!(text.contains(word), "{settings}: no {word:?} in {text}");
        }
    }
    // Neovim itself goes on.
    assert_eq!(editor.lua("return 1 + 1", &[]), 2);
}
