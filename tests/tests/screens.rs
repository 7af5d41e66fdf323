//! How the chat looks: text with named highlights. A change that a user can see changes a snapshot here.
//!
//! After a change on purpose run `INSTA_UPDATE=always make test T=screen` and read the difference.

use std::path::Path;

use koda_model::testing::{End, Reply, Server, Turn, openai};
use koda_tests::{Editor, Opening, Place, Replay, call};
use serde_json::{Value, json};

const FILE: &str = "def add(a, b):\n    return a - b\n";
const ANSWER: &str = "# Cause\n\n`add` **subtracts**. See:\n\n- the *test*\n- [the docs](https://example.com)\n\n\
                      ```python\ndef add(a, b):\n    return a + b\n```\n\nThat is all.\n";

fn open<'a>(place: &'a Place, project: &'a Path, settings: &Value) -> Editor<'a> {
    let editor = Opening::new(place, project).arguments(&["add.py"]).open();
    editor.setup(settings);
    editor
}

/// Compares with the stored screen. Neovim 0.10 names some groups of windows differently, so it has screens of its own.
fn assert_screen(editor: &Editor<'_>, name: &str) {
    let mut settings = insta::Settings::clone_current();
    if editor.lua("return vim.fn.has('nvim-0.11')", &[]) == 0 {
        settings.set_snapshot_suffix("nvim-0.10");
    }
    settings.bind(|| insta::assert_snapshot!(name, editor.snapshot()));
}

#[test]
fn screen_of_an_empty_chat() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = open(&place, &project, &json!({ "model": "openai::some-model" }));
    editor.command("Koda");
    editor.expect_text("some-model");
    assert_screen(&editor, "empty");
}

#[test]
fn screen_while_an_answer_streams() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let said = openai::stream(&Turn::new().text("I think about `add`.\n\nIt takes **two").text("UNSAID"));
    let upto = String::from_utf8_lossy(&said).find("UNSAID").expect("the second piece");
    let server = Server::scripted([Reply::sse(said).first(upto).end(End::Hang)]);
    let provider = json!({ "endpoint": format!("{}/v1/", server.address()), "key_command": "echo key" });
    let settings = json!({ "model": "scripted::some-model", "providers": { "scripted": provider } });
    let editor = open(&place, &project, &settings);
    editor.command("Koda what is wrong?");
    editor.expect_text("two");
    assert_screen(&editor, "streaming");
}

#[test]
fn screen_with_an_approval() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let command = call("Bash", json!({ "command": "rm -r build && make" }));
    let model = Replay::new().calls("I build it anew.", &[command]).model(&place);
    let editor = open(&place, &project, &json!({ "model": model }));
    editor.command("Koda build it");
    editor.expect("the card", |grid| grid.has("waits for you") && grid.has("accept once"));
    assert_screen(&editor, "approval");
}

#[test]
fn screen_after_a_turn() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let edits = json!([{ "old": "return a - b", "new": "return a + b" }]);
    let model = Replay::new()
        .calls("", &[call("Read", json!({ "path": "no.py" }))])
        .calls("", &[call("Edit", json!({ "path": "add.py", "edits": edits }))])
        .turn(json!({ "text": ANSWER, "usage": { "input": 1234, "output": 56 } }))
        .model(&place);
    let editor = open(&place, &project, &json!({ "model": model, "trust": "auto" }));
    editor.command("Koda mend add");
    editor.expect("the end of the turn", |grid| grid.has("That is all.") && grid.has("idle"));
    assert_screen(&editor, "after_a_turn");
}
