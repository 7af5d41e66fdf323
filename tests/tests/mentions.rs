//! Mentions: what a prompt attaches by `@`, and what it does not.

use koda_tests::{Editor, Opening, Place, Replay};
use serde_json::{Value, json};

fn open<'a>(place: &'a Place, project: &'a std::path::Path) -> Editor<'a> {
    let model = Replay::new().says("Seen.").says("Seen again.").model(place);
    let editor = Opening::new(place, project).arguments(&["a.txt"]).open();
    editor.setup(&json!({ "model": model }));
    editor.lua(
        "sent = {} require('koda').on('user_message', function(event) table.insert(sent, event) end)",
        &[],
    );
    editor
}

/// Sends a prompt and returns what went along.
fn context_of(editor: &Editor<'_>, prompt: &str) -> String {
    editor.lua("sent = {} require('koda.chat').send(...)", &[json!(prompt)]);
    let sent = editor.until("return sent[1]", &[]);
    assert_eq!(sent["text"], prompt);
    sent["context"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn files_lines_and_folders_go_along_as_the_editor_has_them() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\ntwo\nthree\n"), ("sub dir/b.txt", "b\n")]);
    let editor = open(&place, &project);
    editor.lua("vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'two, unsaved' })", &[]);
    let context = context_of(&editor, "see @a.txt:2-3 and @\"sub dir\"");
    assert!(context.contains("2\ttwo, unsaved") && context.contains("3\tthree"), "{context}");
    assert!(!context.contains("one") && context.contains("b.txt"), "{context}");
    assert!(context.starts_with("a.txt:2-3, sub dir:"), "{context}");
}

#[test]
fn the_buffer_and_the_selection_are_those_of_the_file_behind_the_chat() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\ntwo\nthree\n")]);
    let editor = open(&place, &project);
    editor.input("jV<Esc>");
    editor.command("Koda");
    let context = context_of(&editor, "what is @selection of @buffer");
    assert!(context.contains("a.txt, line 2:\n```text\ntwo\n```"), "{context}");
    assert!(context.contains("3\tthree"), "{context}");
}

#[test]
fn lists_of_the_editor_go_along() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\ntwo\n")]);
    let editor = open(&place, &project);
    editor.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0, { { lnum = 1, col = 2, message = 'odd', severity = 2 } })
        vim.fn.setqflist({ { filename = 'a.txt', lnum = 1, text = 'here' } })",
        &[],
    );
    let context = context_of(&editor, "@diagnostics @quickfix");
    assert!(context.contains("a.txt:2:3: warning: odd") && context.contains("a.txt:1: here"), "{context}");
}

#[test]
fn what_is_hidden_is_not_attached_and_said() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\n"), (".env", "KEY=secret\n"), (".kodaignore", ".env\n")]);
    let editor = open(&place, &project);
    editor.lua("told = {} vim.notify = function(text) table.insert(told, text) end", &[]);
    let context = context_of(&editor, "see @.env");
    assert!(!context.contains("secret"), "{context}");
    let told = editor.until("return told[1]", &[]);
    assert!(told.as_str().unwrap_or_default().contains(".env"), "{told}");
}

#[test]
fn what_is_no_file_is_text() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\n")]);
    let editor = open(&place, &project);
    assert_eq!(context_of(&editor, "@Override by me@a.txt is @nosuch"), "");
}

#[test]
fn prompts_leave_in_the_order_in_which_they_were_sent() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\n")]);
    let editor = open(&place, &project);
    editor.lua("local chat = require('koda.chat') chat.send('first @a.txt') chat.send('second')", &[]);
    let sent = editor.until("return #sent == 2 and sent", &[]);
    assert_eq!((&sent[0]["text"], &sent[1]["text"]), (&json!("first @a.txt"), &json!("second")));
}

#[test]
fn the_prompt_completes_mentions() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\n"), ("apple/b.txt", "b\n"), (".kodaignore", "a.txt\n")]);
    let editor = open(&place, &project);
    editor.command("Koda");
    editor.input("i@a<C-x><C-o>");
    let words = editor.until(
        "local words = vim.tbl_map(function(item) return item.word end, vim.fn.complete_info({ 'items' }).items)
        return #words > 0 and words",
        &[],
    );
    let words: Vec<&str> = words.as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert!(words.contains(&"apple/") && !words.contains(&"a.txt"), "{words:?}");
}
