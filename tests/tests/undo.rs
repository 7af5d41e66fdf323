//! Taking a turn back in a real Neovim: files of every kind, buffers, the conversation, and what the user did besides.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use koda_tests::{Editor, Opening, Place, Replay, call};
use serde_json::{Value, json};

fn set_up(editor: &Editor<'_>, model: &str) {
    editor.setup(&json!({ "model": model, "trust": "auto" }));
    editor.lua(
        "turns = 0
        require('koda').on('turn_end', function() turns = turns + 1 end)
        -- What is destructive is asked for, also in auto.
        require('koda').on('approval', function(event)
          vim.schedule(function() require('koda').answer(event.id, { decision = 'accept' }) end)
        end)",
        &[],
    );
}

fn send(editor: &Editor<'_>, prompt: &str) {
    let before = editor.lua("return turns", &[]);
    editor.command(&format!("Koda {prompt}"));
    editor.until("return turns > ...", &[before]);
}

/// Calls a function of the API without waiting within Neovim, and returns its report or its error's code.
fn api(editor: &Editor<'_>, name: &str, opts: &Value) -> Value {
    editor.lua(
        "answer = nil
        local name, opts = ...
        local ok, refused = require('koda')[name](opts, function(report, problem)
          answer = report or { code = problem.code }
        end)
        if not ok then answer = { code = refused.code } end",
        &[json!(name), opts.clone()],
    );
    editor.until("return answer", &[])
}

fn undo(editor: &Editor<'_>) -> Value {
    api(editor, "undo", &json!({}))
}

fn redo(editor: &Editor<'_>) -> Value {
    api(editor, "redo", &json!({}))
}

fn hows(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let changes = report["changes"].as_array().cloned().unwrap_or_default();
    changes.iter().map(|change| (text(&change["path"]), text(&change["how"]))).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(path, how)| ((*path).to_owned(), (*how).to_owned())).collect()
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    call("Edit", json!({ "path": path, "edits": [{ "old": old, "new": new }] }))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

#[test]
fn a_turn_goes_back_and_again_in_files_buffers_and_conversation() {
    let place = Place::new();
    let project =
        place.project(&[("a.txt", "one\ntwo\nthree\n"), ("gone.txt", "gone\n"), ("dos.txt", "a\r\nb\r\n")]);
    fs::set_permissions(project.join("gone.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let model = Replay::new()
        .calls(
            "I change.",
            &[
                edit("a.txt", "two", "TWO"),
                edit("dos.txt", "b", "B"),
                call("Write", json!({ "path": "new/deep/file.txt", "content": "new\n" })),
                call("Delete", json!({ "path": "gone.txt" })),
            ],
        )
        .says("All changed.")
        .model(&place);
    let editor = Opening::new(&place, &project).arguments(&["a.txt"]).open();
    set_up(&editor, &model);
    editor.lua("source = vim.api.nvim_get_current_buf()", &[]);
    send(&editor, "change it all");
    assert_eq!(read(&project.join("a.txt")), "one\nTWO\nthree\n");
    assert!(project.join("new/deep/file.txt").exists() && !project.join("gone.txt").exists());

    let report = undo(&editor);
    assert_eq!(report["text"], "change it all", "{report}");
    assert_eq!(
        hows(&report),
        pairs(&[
            ("a.txt", "restored"),
            ("dos.txt", "restored"),
            ("gone.txt", "restored"),
            ("new", "removed"),
            ("new/deep", "removed"),
            ("new/deep/file.txt", "removed"),
        ])
    );
    assert_eq!(read(&project.join("a.txt")), "one\ntwo\nthree\n");
    assert_eq!(read(&project.join("dos.txt")), "a\r\nb\r\n");
    assert_eq!(read(&project.join("gone.txt")), "gone\n");
    assert_eq!(fs::metadata(project.join("gone.txt")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!project.join("new").exists());
    let buffer = "return { vim.bo[source].modified, table.concat(vim.api.nvim_buf_get_lines(source, 0, -1, true), '|') }";
    assert_eq!(editor.lua(buffer, &[]), json!([false, "one|two|three"]));
    editor.expect_text("taken back from");
    // It is an ordinary step of the buffer's undo.
    editor.lua("vim.api.nvim_buf_call(source, function() vim.cmd('silent undo') end)", &[]);
    assert_eq!(editor.lua(buffer, &[])[1], "one|TWO|three");
    editor.lua("vim.api.nvim_buf_call(source, function() vim.cmd('silent redo | silent write') end)", &[]);

    let report = redo(&editor);
    assert_eq!(report["text"], "change it all", "{report}");
    assert_eq!(read(&project.join("a.txt")), "one\nTWO\nthree\n");
    assert_eq!(read(&project.join("dos.txt")), "a\r\nB\r\n");
    assert_eq!(read(&project.join("new/deep/file.txt")), "new\n");
    assert!(!project.join("gone.txt").exists());
    assert_eq!(redo(&editor)["code"], "nothing_to_redo");

    undo(&editor);
    assert_eq!(undo(&editor)["code"], "nothing_to_undo");
    // The next request knows nothing of what was taken back: the script, which goes by the model's messages so far,
    // begins anew.
    send(&editor, "again");
    assert_eq!(read(&project.join("a.txt")), "one\nTWO\nthree\n");
    assert_eq!(redo(&editor)["code"], "nothing_to_redo");
}

#[test]
fn what_the_user_changed_since_is_merged_or_left_and_told() {
    let place = Place::new();
    let text: String = (1..=9).map(|line| format!("line {line}\n")).collect();
    let project = place.project(&[("open.txt", &text), ("closed.txt", &text), ("clash.txt", &text)]);
    let calls = ["open.txt", "closed.txt", "clash.txt"].map(|path| edit(path, "line 5\n", "line 5\nAGENT\n"));
    let made = call("Write", json!({ "path": "made.txt", "content": "made\n" }));
    let model = Replay::new().calls("", &[&calls[..], &[made]].concat()).says("Done.").model(&place);
    let editor = Opening::new(&place, &project).arguments(&["open.txt"]).open();
    set_up(&editor, &model);
    editor.lua("source = vim.api.nvim_get_current_buf()", &[]);
    send(&editor, "insert");
    // Unsaved in the buffer, by another program on disk, in the very line, and in the file that Koda made.
    editor.lua("vim.api.nvim_buf_set_lines(source, 0, 1, true, { 'MINE' })", &[]);
    editor.command("silent! bwipeout closed.txt");
    let changed = |path: &str, old: &str, new: &str| {
        let path = project.join(path);
        fs::write(&path, read(&path).replace(old, new)).unwrap();
    };
    changed("closed.txt", "line 9", "MINE");
    changed("clash.txt", "AGENT", "MINE");
    changed("made.txt", "made", "mine");

    let report = undo(&editor);
    assert_eq!(
        hows(&report),
        pairs(&[
            ("clash.txt", "conflict"),
            ("closed.txt", "merged"),
            ("made.txt", "conflict"),
            ("open.txt", "merged")
        ]),
        "{report}"
    );
    assert_eq!(report["changes"][0]["lines"], json!([6]), "{report}");
    let mine: String = text.replace("line 1\n", "MINE\n");
    let shown = editor.lua("return { vim.bo[source].modified, table.concat(vim.api.nvim_buf_get_lines(source, 0, -1, true), '\\n') .. '\\n' }", &[]);
    assert_eq!(shown, json!([true, mine]));
    assert_eq!(read(&project.join("closed.txt")), text.replace("line 9", "MINE"));
    assert_eq!(read(&project.join("clash.txt")), text.replace("line 5\n", "line 5\nMINE\n"));
    assert_eq!(read(&project.join("made.txt")), "mine\n");
    let listed = editor.lua(
        "return vim.tbl_map(function(item) return { vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum } end, vim.fn.getqflist())",
        &[],
    );
    assert_eq!(listed, json!([["clash.txt", 6], ["made.txt", 1]]));
    editor.expect_text("clash.txt was left (line 6)");
}

#[test]
fn a_binary_file_and_an_empty_folder_come_back_and_a_file_too_big_is_said_before() {
    let place = Place::new();
    let project = place.project(&[]);
    let bytes = b"\x00\xff binary \r\n";
    fs::write(project.join("data.bin"), bytes).unwrap();
    fs::create_dir(project.join("empty")).unwrap();
    fs::write(project.join("big.bin"), vec![b'x'; 3000]).unwrap();
    let command = "rm data.bin big.bin && rmdir empty && printf new > data.bin";
    let model =
        Replay::new().calls("", &[call("Bash", json!({ "command": command }))]).says("Gone.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model);
    editor.lua("require('koda.config').get().checkpoints.max_file_bytes = 2000", &[]);
    editor.lua(
        "notices = {} require('koda').on('notice', function(event) table.insert(notices, event.text) end)",
        &[],
    );
    send(&editor, "remove");
    assert!(!project.join("big.bin").exists() && !project.join("empty").exists());
    let notices = editor.lua("return notices", &[]);
    assert_eq!(notices, json!(["big.bin is over 2000 bytes: undo can't give it back."]));

    let report = undo(&editor);
    assert_eq!(
        hows(&report),
        pairs(&[("big.bin", "failed"), ("data.bin", "restored"), ("empty", "restored"),]),
        "{report}"
    );
    assert_eq!(fs::read(project.join("data.bin")).unwrap(), bytes);
    assert!(project.join("empty").is_dir());
}

#[test]
fn undo_waits_for_no_turn_and_survives_a_restart() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\n")]);
    let wait = call("Bash", json!({ "command": "until [ -e go ]; do sleep 0.05; done" }));
    let model = Replay::new()
        .calls("", &[edit("a.txt", "one", "ONE")])
        .calls("Waiting.", &[wait])
        .says("Done.")
        .model(&place);
    let session = {
        let editor = Opening::new(&place, &project).open();
        set_up(&editor, &model);
        editor.command("Koda change");
        editor.expect_text("Waiting.");
        assert_eq!(undo(&editor)["code"], "busy");
        fs::write(project.join("go"), "").unwrap();
        editor.until("return turns == 1", &[]);
        let session = editor.lua("return require('koda.chat').session()", &[]);
        editor.type_command("qa!");
        assert!(editor.exit(std::time::Duration::from_secs(10)).is_some());
        session
    };
    assert_eq!(read(&project.join("a.txt")), "ONE\n");
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model);
    assert_eq!(undo(&editor)["code"], "no_session");
    editor.command(&format!("Koda resume {}", session.as_str().unwrap_or_default()));
    editor.expect_text("Waiting.");
    editor.command("Koda undo");
    editor.expect_text("taken back from");
    assert_eq!(read(&project.join("a.txt")), "one\n");
    editor.command("Koda redo");
    editor.expect_text("done again");
    assert_eq!(read(&project.join("a.txt")), "ONE\n");
}

#[test]
fn an_earlier_message_is_taken_back_changed_and_sent_again() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "one\n")]);
    let model = Replay::new()
        .says("First answer.")
        .calls("", &[edit("a.txt", "one", "ONE")])
        .says("Second answer.")
        .model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model);
    send(&editor, "first question");
    send(&editor, "second question");
    assert_eq!(read(&project.join("a.txt")), "ONE\n");
    // At the message, in the transcript.
    editor.input("<Esc><C-w>k/second question<CR>u");
    editor.expect_text("conversation only");
    editor.input("1<CR>");
    editor.expect_text("taken back from");
    assert_eq!(read(&project.join("a.txt")), "one\n");
    let prompt = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '|')";
    editor.until("return vim.bo.filetype == 'koda-prompt'", &[]);
    assert_eq!(editor.lua(prompt, &[]), "second question");
    editor.input("A, in other words<C-s>");
    editor.until("return turns == 3", &[]);
    editor.expect_text("second question, in other words");
    assert_eq!(read(&project.join("a.txt")), "ONE\n");
    // Files alone: the conversation stays, and the model is told.
    assert_eq!(api(&editor, "rewind", &json!({ "message": 2 }))["code"], "unknown_message");
    let report = api(&editor, "rewind", &json!({ "message": 3, "conversation": false }));
    assert_eq!(report["text"], "second question, in other words");
    assert_eq!(read(&project.join("a.txt")), "one\n");
    assert_eq!(redo(&editor)["message"], 3);
    assert_eq!(read(&project.join("a.txt")), "ONE\n");
}
