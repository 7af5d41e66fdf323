//! The review of hunks: drawn where they stand, decided one by one, never misplaced.

use std::fs;
use std::path::Path;

use koda_tests::{Editor, Opening, Place, Replay, call};
use serde_json::{Value, json};

const FILE: &str =
    "def add(a, b):\n\treturn a - b\n\n\ndef \u{5bbd}(x):\n    return x * 2\n\n# end\nlast line";

/// A model that inserts above line 1, changes, deletes, and changes the last line, which has no end.
fn model(place: &Place) -> String {
    let edits = json!([
        { "old": "def add(a, b):\n", "new": "import os\n\ndef add(a, b):\n" },
        { "old": "\treturn a - b", "new": "\treturn a + b  # \u{5bbd}\n\t# tabbed" },
        { "old": "    return x * 2\n", "new": "" },
        { "old": "last line", "new": "last line, with more" },
    ]);
    let edit = call("Edit", json!({ "path": "add.py", "edits": edits }));
    Replay::new().calls("I mend it.", &[edit]).says("Done.").says("Well.").model(place)
}

fn begin<'a>(place: &'a Place, project: &'a Path, trust: &str) -> Editor<'a> {
    let editor = Opening::new(place, project).arguments(&["add.py"]).open();
    editor.setup(&json!({ "model": model(place), "trust": trust }));
    editor.lua(
        "events = {}
        require('koda').run({ prompt = 'go', on_event = function(event) table.insert(events, event) end })",
        &[],
    );
    editor.until("return #require('koda').hunks() == 4", &[]);
    editor
}

fn result(editor: &Editor<'_>) -> Value {
    editor.until(
        "for _, event in ipairs(events) do if event.type == 'tool_result' then return event end end",
        &[],
    )
}

fn lines(editor: &Editor<'_>) -> Value {
    editor.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('add.py'), 0, -1, false)", &[])
}

fn assert_screen(editor: &Editor<'_>, name: &str) {
    let mut settings = insta::Settings::clone_current();
    if editor.lua("return vim.fn.has('nvim-0.11')", &[]) == 0 {
        settings.set_snapshot_suffix("nvim-0.10");
    }
    settings.bind(|| insta::assert_snapshot!(name, editor.snapshot()));
}

/// Hides the chat that an approval opens, and goes to the file.
fn look(editor: &Editor<'_>) {
    editor.command("Koda review");
    editor.expect("the hunk above line 1", |grid| grid.has("import os") && grid.has("with more"));
}

#[test]
fn screen_of_a_proposal() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = begin(&place, &project, "safe");
    look(&editor);
    assert_eq!(lines(&editor).as_array().map(Vec::len), Some(9), "the text is untouched");
    assert_screen(&editor, "proposal");
}

#[test]
fn screen_of_a_change() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = begin(&place, &project, "auto");
    result(&editor);
    look(&editor);
    assert_screen(&editor, "change");
}

#[test]
fn hunks_of_a_proposal_are_decided_one_by_one_while_the_user_types() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = begin(&place, &project, "safe");
    editor.command("Koda review");
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# mine' })", &[]);
    let firsts =
        editor.lua("return vim.tbl_map(function(hunk) return hunk.first end, require('koda').hunks())", &[]);
    assert_eq!(firsts, json!([2, 3, 7, 10]), "each moved with its line");
    editor.lua(
        "local koda = require('koda')
        local hunks = koda.hunks()
        koda.accept(hunks[1]) koda.reject(hunks[2], 'minus is right') koda.accept(hunks[3]) koda.accept(hunks[4])",
        &[],
    );
    let told = result(&editor);
    let text = told["text"].as_str().unwrap_or_default();
    assert!(text.contains("rejected hunk 2") && text.contains("minus is right"), "{text}");
    let right = json!([
        "# mine",
        "import os",
        "",
        "def add(a, b):",
        "\treturn a - b",
        "",
        "",
        "def \u{5bbd}(x):",
        "",
        "# end",
        "last line, with more"
    ]);
    assert_eq!(lines(&editor), right);
    assert_eq!(editor.lua("return require('koda').hunks()", &[]), json!([]));
    assert_eq!(editor.lua("return vim.fn.maparg(']k', 'n')", &[]), "", "no keys are left");
}

#[test]
fn keys_decide_at_the_cursor_and_a_hunk_without_its_place_is_stale() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = begin(&place, &project, "safe");
    editor.command("Koda review");
    editor.lua(
        "vim.api.nvim_buf_set_text(0, 5, 4, 5, 10, { 'yield' }) vim.api.nvim_win_set_cursor(0, { 1, 0 })",
        &[],
    );
    editor.until(
        "return vim.iter(require('koda').hunks()):any(function(hunk) return hunk.state == 'stale' end)",
        &[],
    );
    editor.input("<M-a>");
    editor.until("return #require('koda').hunks() == 3", &[]);
    editor.input("]k.");
    editor.until("return #require('koda').hunks() == 2", &[]);
    editor.command("Koda reject all");
    let told = result(&editor);
    assert!(told["text"].as_str().unwrap_or_default().contains("rejected hunk 3"), "{told}");
    let text = lines(&editor).to_string();
    assert!(
        text.contains("yield x * 2") && text.contains("# tabbed") && !text.contains("with more"),
        "{text}"
    );
}

#[test]
fn a_hunk_whose_text_never_stood_there_is_stale_until_it_does() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = Opening::new(&place, &project).arguments(&["add.py"]).open();
    editor.setup(&json!({ "model": "replay::none" }));
    let hunk = json!({ "number": 1, "line": 1, "new_line": 1, "old": "def sub(a, b):\n", "new": "def add(a, b):\n" });
    let proposal = json!({ "path": project.join("add.py").canonicalize().unwrap(), "hunks": [hunk] });
    let call = json!({ "id": "c", "tool": "Edit", "args": {} });
    let event = json!({ "type": "approval", "id": "ask-0", "session": "s", "kind": "approval", "call": call,
        "verdict": { "verdict": "ask", "reasons": [], "parts": [] }, "proposal": proposal });
    let state = "return (require('koda').hunks()[1] or {}).state == ...";
    editor.lua("require('koda.review') require('koda.events').deliver({ ... })", &[event]);
    editor.until(state, &[json!("stale")]);
    editor.lua("vim.api.nvim_buf_set_lines(0, 3, 3, false, { '# typed' })", &[]);
    editor.until(state, &[json!("stale")]);
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'def sub(a, b):' })", &[]);
    editor.until(state, &[json!("pending")]);
    assert_eq!(editor.lua("return vim.v.errmsg", &[]), "");
}

#[test]
fn a_rejected_change_is_put_back_and_can_be_undone() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = begin(&place, &project, "auto");
    result(&editor);
    editor.command("Koda review");
    let changed = fs::read_to_string(project.join("add.py")).unwrap_or_default();
    editor.command("Koda reject all");
    assert_eq!(fs::read_to_string(project.join("add.py")).unwrap_or_default(), FILE, "byte for byte");
    for _ in 0..4 {
        editor.command("silent undo");
    }
    editor.command("silent setlocal nofixendofline");
    editor.command("silent write");
    assert_eq!(fs::read_to_string(project.join("add.py")).unwrap_or_default(), changed);
}

#[test]
fn what_is_taken_back_of_a_change_is_told_to_the_model() {
    let place = Place::new();
    let project = place.project(&[("add.py", FILE)]);
    let editor = begin(&place, &project, "auto");
    editor.until("return vim.iter(events):any(function(event) return event.type == 'turn_end' end)", &[]);
    editor.lua(
        "local koda, review = require('koda'), require('koda.review')
        local hunks = koda.hunks()
        review.amend(hunks[4].id, { said = 'good' })
        koda.accept(hunks[1]) koda.reject(hunks[2], 'minus is right') koda.reject(hunks[3])
        koda.run({ session = hunks[1].session, prompt = 'again', on_event = function(event) table.insert(events, event) end })",
        &[],
    );
    let note = editor.until(
        "for _, event in ipairs(events) do if event.type == 'note' then return event.text end end",
        &[],
    );
    let note = note.as_str().unwrap_or_default();
    insta::assert_snapshot!(note);
}
