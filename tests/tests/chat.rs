//! The chat as a user works with it: prompts, keys, approvals, and what stays.

use std::fs;

use koda_model::testing::{End, Reply, Server, Turn, openai};
use koda_tests::{Editor, Opening, Place, Replay, call};
use serde_json::{Value, json};

const BUGGY: &str = "def add(a, b):\n    return a - b\n";
const FIXED: &str = "def add(a, b):\n    return a + b\n";
const TEST: &str = "from add import add\n\nassert add(2, 3) == 5, add(2, 3)\nprint('all fine')\n";

/// Collects all events from now on in the global `events`.
const LISTEN: &str = "events = {} require('koda').on('*', function(event) table.insert(events, event) end)";

fn set_up(editor: &Editor<'_>, model: &str, trust: &str) {
    editor.setup(&json!({ "model": model, "trust": trust }));
    editor.lua(LISTEN, &[]);
}

/// Waits until so many turns have ended, and returns the events of a type.
fn events_after(editor: &Editor<'_>, turns: u32, kind: &str) -> Vec<Value> {
    let of = "local kind = ... local found = vim.tbl_filter(function(event) return event.type == kind end, events)";
    editor.until(&format!("{of} return #found >= {turns}"), &[json!("turn_end")]);
    editor.lua(&format!("{of} return found"), &[json!(kind)]).as_array().cloned().unwrap_or_default()
}

#[test]
fn does_the_main_job() {
    let place = Place::new();
    let project = place.project(&[("add.py", BUGGY), ("check.py", TEST)]);
    let edits = json!([{ "old": "return a - b", "new": "return a + b" }]);
    let model = Replay::new()
        .calls(
            "I look.",
            &[call("Read", json!({ "path": "add.py" })), call("Read", json!({ "path": "check.py" }))],
        )
        .calls("", &[call("Edit", json!({ "path": "add.py", "edits": edits }))])
        .calls("", &[call("Bash", json!({ "command": "python3 check.py" }))])
        .says("`add` subtracted; now it adds.")
        .model(&place);
    let editor = Opening::new(&place, &project).arguments(&["add.py"]).open();
    set_up(&editor, &model, "auto");
    editor.lua("source = vim.api.nvim_get_current_buf() vim.cmd('normal! G$')", &[]);
    editor.command("Koda mend add");
    editor.expect_text("now it adds.");
    assert_eq!(fs::read_to_string(project.join("add.py")).unwrap(), FIXED);

    let results = events_after(&editor, 1, "tool_result");
    let bash = results.iter().find(|result| result["tool"] == "Bash").expect("a Bash");
    assert_eq!((&bash["data"]["exit_code"], &bash["data"]["verified"]), (&json!(0), &json!(true)), "{bash}");
    // The command ran where the user can see it.
    let terminal = "for _, window in ipairs(vim.api.nvim_list_wins()) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.bo[buffer].buftype == 'terminal' then
        return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\\n'):find('all fine') ~= nil
      end
    end";
    assert_eq!(editor.until(terminal, &[]), true);
    // The edit is one undo step of the open buffer, which is saved, and the cursor stayed.
    let buffer = "local shown = vim.api.nvim_buf_call(source, function()
        return { vim.bo.modified, table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n') .. '\\n' }
      end)
      return shown";
    assert_eq!(editor.lua(buffer, &[]), json!([false, FIXED]));
    assert_eq!(editor.lua("return vim.fn.getbufinfo(source)[1].lnum", &[]), 2);
    editor.lua("vim.api.nvim_buf_call(source, function() vim.cmd('silent undo') end)", &[]);
    assert_eq!(editor.lua(buffer, &[])[1], BUGGY);
}

#[test]
fn a_prompt_is_written_sent_and_the_draft_stays() {
    let place = Place::new();
    let project = place.project(&[]);
    let model = Replay::new().says("First answer.").says("Second answer.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "safe");
    editor.command("Koda");
    editor.input("ifirst question<Esc><CR>");
    editor.expect_text("First answer.");
    editor.input("ia draft, not sent<Esc>");
    editor.expect_text("a draft, not sent");
    editor.input("q");
    editor.expect("a hidden chat", |grid| !grid.has("First answer.") && !grid.has("a draft"));
    editor.command("Koda");
    editor.expect("the chat as it was", |grid| grid.has("First answer.") && grid.has("a draft, not sent"));
    editor.input("A: sent<C-s>");
    editor.expect_text("Second answer.");
    let sent: Vec<Value> =
        events_after(&editor, 2, "user_message").iter().map(|event| event["text"].clone()).collect();
    assert_eq!(sent, ["first question", "a draft, not sent: sent"]);
}

#[test]
fn a_range_sends_the_selection_with_its_place() {
    let place = Place::new();
    let project = place.project(&[("add.py", "one\ntwo\nthree\nfour\n")]);
    let model = Replay::new().says("I see.").model(&place);
    let editor = Opening::new(&place, &project).arguments(&["add.py"]).open();
    set_up(&editor, &model, "safe");
    editor.command("2,3Koda what is this?");
    let message = events_after(&editor, 1, "user_message").remove(0);
    assert_eq!(message["text"], "what is this?");
    let context = message["context"].as_str().unwrap_or_default();
    for part in ["add.py", "2", "3", "two\nthree"] {
        assert!(context.contains(part), "no {part:?} in: {context}");
    }
    assert!(!context.contains("four"), "{context}");
}

#[test]
fn a_message_sent_meanwhile_goes_in_at_the_next_step() {
    let place = Place::new();
    let project = place.project(&[]);
    let wait = call("Bash", json!({ "command": "until [ -e go ]; do sleep 0.05; done" }));
    let model = Replay::new().calls("I wait.", &[wait]).says("Both seen.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "auto");
    editor.command("Koda first");
    editor.expect_text("I wait.");
    editor.command("Koda second");
    editor.until("return vim.iter(events):any(function(event) return event.type == 'queued' end)", &[]);
    place.write("project/go", "");
    editor.expect_text("Both seen.");
    let messages = events_after(&editor, 1, "user_message");
    assert_eq!(messages.iter().map(|event| event["text"].clone()).collect::<Vec<_>>(), ["first", "second"]);
    let order: Vec<Value> = editor
        .lua("return vim.tbl_map(function(event) return event.type end, events)", &[])
        .as_array()
        .cloned()
        .unwrap_or_default();
    let at = |kind: &str| order.iter().rposition(|event| event == kind).expect("the event");
    assert!(at("tool_result") < at("user_message") && at("user_message") < at("step_start"), "{order:?}");
}

#[test]
fn a_folded_call_unfolds_and_folds() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "what the file says\n")]);
    let model =
        Replay::new().calls("", &[call("Read", json!({ "path": "a.txt" }))]).says("Done.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "safe");
    editor.command("Koda read it");
    editor.expect_text("Done.");
    assert!(!editor.grid().has("what the file says"));
    // Up into the transcript, to the call.
    editor.input("<Esc><C-w>w/Read a.txt<CR><Tab>");
    editor.expect("an unfolded call", |grid| grid.has("path: a.txt") && grid.has("what the file says"));
    editor.input("<Tab>");
    editor.expect("a folded call", |grid| !grid.has("what the file says") && grid.has("Read a.txt"));
}

#[test]
fn the_end_is_followed_unless_the_reader_went_up() {
    let place = Place::new();
    let project = place.project(&[]);
    let lines = |from: u32| (from..from + 80).map(|line| format!("- item {line}\n")).collect::<String>();
    let wait = call("Bash", json!({ "command": "until [ -e go ]; do sleep 0.05; done" }));
    let model = Replay::new().calls(&lines(0), &[wait]).says(&lines(100)).says("Short.").model(&place);
    let editor = Opening::new(&place, &project).open();
    editor.setup(&json!({ "model": model, "trust": "auto", "terminal": { "layout": "hidden" } }));
    editor.lua(LISTEN, &[]);
    editor.command("Koda count");
    editor.expect("the end", |grid| grid.has("item 79") && grid.has("Bash") && !grid.has("item 10"));
    editor.input("<Esc><C-w>wgg");
    editor.expect("the beginning", |grid| grid.has("item 10") && !grid.has("item 79"));
    place.write("project/go", "");
    events_after(&editor, 1, "turn_end");
    editor.expect("the reader's place", |grid| grid.has("item 10") && grid.has("new below"));
    // Whoever sends something wants to see what comes.
    editor.command("Koda go on");
    editor.expect("the end", |grid| grid.has("Short.") && grid.has("item 179") && !grid.has("new below"));
}

#[test]
fn only_what_is_new_is_told_to_stand_below() {
    let place = Place::new();
    let project = place.project(&[("a.txt", "alpha\nbeta\n")]);
    let lines = (0..80).map(|line| format!("- item {line}\n")).collect::<String>();
    let read = call("Read", json!({ "path": "a.txt" }));
    let model = Replay::new().calls("", &[read]).says(&lines).model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "safe");
    editor.command("Koda count");
    editor.expect("the end", |grid| grid.has("item 79") && grid.has("idle"));
    editor.input("<Esc><C-w>wgg/Read a.txt<CR><Tab>");
    editor.expect_text("alpha");
    editor.input("q");
    editor.command("Koda");
    let grid = editor.expect_text("alpha");
    assert!(!grid.has("new below"), "{}", grid.text());
}

#[test]
fn the_stop_key_stops() {
    let place = Place::new();
    let project = place.project(&[]);
    let bytes = openai::stream(&Turn::new().text("I begin").text(" and never end"));
    let server = Server::scripted([Reply::sse(bytes).first(400).end(End::Hang)]);
    let editor = Opening::new(&place, &project).open();
    let provider = json!({ "endpoint": format!("{}/v1/", server.address()), "key_command": "echo key" });
    editor.setup(&json!({ "model": "scripted::some-model", "providers": { "scripted": provider } }));
    editor.lua(LISTEN, &[]);
    editor.command("Koda go");
    editor.expect_text("I begin");
    editor.input("<C-c>");
    assert_eq!(events_after(&editor, 1, "turn_end")[0]["outcome"], "cancelled");
}

/// What a card says once its keys answer.
const ARMED: &str = "for this session";

/// Opens a chat in which a Write waits.
fn with_approval<'a>(place: &'a Place, folder: &'a std::path::Path) -> Editor<'a> {
    let write = |name: &str| call("Write", json!({ "path": name, "content": "new\n" }));
    let model = Replay::new()
        .calls("I write.", &[write("one.txt")])
        .calls("And again.", &[write("two.txt")])
        .says("Finished.")
        .model(place);
    let editor = Opening::new(place, folder).open();
    set_up(&editor, &model, "safe");
    editor.command("Koda write");
    editor.expect("a card that answers", |grid| grid.has("one.txt") && grid.has(ARMED));
    // From the prompt into the transcript, where single keys answer.
    editor.input("<Esc><C-w>w");
    editor
}

#[test]
fn a_key_accepts_once() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = with_approval(&place, &project);
    editor.input("a");
    editor.expect_text("And again.");
    editor.until(
        "local pending = require('koda').pending()[1] return pending and pending.call.args.path == 'two.txt'",
        &[],
    );
    assert!(project.join("one.txt").exists() && !project.join("two.txt").exists());
}

#[test]
fn the_bar_says_that_something_waits_until_nothing_does() {
    let place = Place::new();
    let project = place.project(&[]);
    let write = |name: &str| call("Write", json!({ "path": name, "content": "new\n" }));
    let model =
        Replay::new().calls("", &[write("one.txt"), write("two.txt")]).says("Finished.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "safe");
    editor.command("Koda write");
    editor.expect("the first card", |grid| grid.has("1 of 2") && grid.has(ARMED));
    editor.input("<M-R>not here<CR>");
    editor.expect("the second card", |grid| {
        grid.has("rejected: not here") && grid.has("waits for you") && grid.has(ARMED)
    });
    editor.input("<M-a>");
    editor.expect("the end", |grid| grid.has("Finished.") && grid.has("idle"));
}

#[test]
fn a_key_that_was_on_its_way_when_the_card_appeared_answers_nothing() {
    let place = Place::new();
    let project = place.project(&[]);
    let write = call("Write", json!({ "path": "one.txt", "content": "new\n" }));
    let model = Replay::new().calls("I write.", &[write]).says("Finished.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "safe");
    editor.lua("require('koda').on('approval', function() vim.api.nvim_input('<M-a><M-A><M-r>') end)", &[]);
    editor.command("Koda write");
    editor.expect_text(ARMED);
    assert_eq!(editor.lua("return #require('koda').pending()", &[]), 1);
    editor.input("<M-a>");
    editor.expect_text("Finished.");
    assert!(project.join("one.txt").exists());
}

#[test]
fn what_another_session_asks_is_shown_as_such_after_what_the_chat_s_own_asks() {
    let place = Place::new();
    let project = place.project(&[]);
    let write = call("Write", json!({ "path": "own.txt", "content": "new\n" }));
    let own = Replay::new().calls("", &[write]).says("Finished.").model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &own, "safe");
    let foreign =
        json!({ "name": "Write", "args": { "path": "foreign.txt", "content": "" }, "trust": "safe" });
    editor.lua("require('koda').tool(...)", &[foreign]);
    editor.until("return #require('koda').pending() == 1", &[]);
    editor.command("Koda write");
    editor.expect("the own card", |grid| grid.has("own.txt") && grid.has("1 of 2") && grid.has(ARMED));
    editor.input("<M-a>");
    editor.expect("the foreign card", |grid| {
        grid.has("foreign.txt") && grid.has("another session") && grid.has(ARMED)
    });
    editor.input("<M-a>");
    editor.until("return #require('koda').pending() == 0", &[]);
}

#[test]
fn a_prompt_without_a_model_is_kept_as_the_draft() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    editor.command("Koda mend the café");
    editor.expect("the ways to a model", |grid| grid.has("_API_KEY"));
    editor.input("q");
    editor.expect_text("mend the café");
}

#[test]
fn the_float_leaves_a_terminal_s_split_in_sight() {
    let place = Place::new();
    let project = place.project(&[]);
    let command = call("Bash", json!({ "command": "echo seen" }));
    let model = Replay::new().calls("I run it.", &[command]).says("It ran.").model(&place);
    let editor = Opening::new(&place, &project).open();
    editor.setup(&json!({ "model": model, "trust": "auto", "terminal": { "height": 3 } }));
    editor.command("Koda run it");
    editor
        .expect("chat and terminal", |grid| grid.has("It ran.") && grid.has("send ·") && grid.has("exit 0"));
    // And takes the room again when it is closed.
    let small = editor.lua("return vim.api.nvim_win_get_position(0)[1]", &[]);
    editor.lua(
        "for _, win in ipairs(vim.api.nvim_list_wins()) do
          if vim.b[vim.api.nvim_win_get_buf(win)].koda_terminal then vim.api.nvim_win_close(win, true) end
        end",
        &[],
    );
    editor.until("return vim.api.nvim_win_get_position(0)[1] > ...", &[small]);
}

#[test]
fn a_closed_code_block_is_coloured_by_its_language() {
    let place = Place::new();
    let project = place.project(&[]);
    let answer = "See:\n\n```lua\nlocal café = 'x' -- why\n```\n\n```nosuchlanguage\nplain\n```\n\n```lua\nlocal open = 1\n";
    let model = Replay::new().says(answer).model(&place);
    let editor = Opening::new(&place, &project).open();
    set_up(&editor, &model, "safe");
    editor.command("Koda show it");
    editor.expect("the end", |grid| grid.has("local open = 1") && grid.has("idle"));
    let coloured = editor.until(
        "local buf = vim.fn.bufnr('koda://chat')
        local found = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
          local group = mark[4].hl_group
          if type(group) == 'string' and group:find('^@') then
            local text = vim.api.nvim_buf_get_text(buf, mark[2], mark[3], mark[4].end_row, mark[4].end_col, {})[1]
            found[#found + 1] = group .. ' ' .. text
          end
        end
        return vim.iter(found):any(function(line) return line:find('comment') ~= nil end) and found",
        &[],
    );
    let coloured: Vec<&str> =
        coloured.as_array().expect("a list").iter().filter_map(|line| line.as_str()).collect();
    for expected in ["@keyword.lua local", "@variable.lua café", "@comment.lua -- why"] {
        assert!(coloured.contains(&expected), "{expected} in {coloured:?}");
    }
    assert!(!coloured.iter().any(|line| line.ends_with(" open") || line.ends_with(" plain")), "{coloured:?}");
}

#[test]
fn a_database_that_was_kept_aside_is_told() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    let data = editor.lua("return vim.fn.stdpath('data') .. '/koda'", &[]);
    let data = std::path::PathBuf::from(data.as_str().expect("a path"));
    std::fs::create_dir_all(&data).expect("the folder of the data");
    std::fs::write(
        data.join("koda.db"),
        "this is no database, but longer than a header of one hundred bytes".repeat(4),
    )
    .expect("a file");
    editor.lua(
        "told = {} vim.notify = function(text) table.insert(told, text) end
        require('koda').setup({ model = 'replay::none' }) require('koda').sessions(function() end)",
        &[],
    );
    let told = editor.until("return told[1]", &[]);
    assert!(told.as_str().unwrap_or_default().contains("koda.db"), "{told}");
}

#[test]
fn a_key_accepts_for_the_session() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = with_approval(&place, &project);
    editor.input("A");
    editor.expect_text("Finished.");
    assert!(project.join("one.txt").exists() && project.join("two.txt").exists());
}

#[test]
fn a_key_rejects_with_a_reason() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = with_approval(&place, &project);
    editor.input("Rnot here<CR>");
    editor.expect("the second card", |grid| grid.has("And again.") && grid.has("two.txt") && grid.has(ARMED));
    editor.input("r");
    editor.expect_text("Finished.");
    let results = events_after(&editor, 1, "tool_result");
    assert!(results.iter().all(|result| result["ok"] == false), "{results:?}");
    assert!(results[0]["text"].as_str().unwrap_or_default().contains("not here"), "{results:?}");
    assert!(!project.join("one.txt").exists() && !project.join("two.txt").exists());
}

#[test]
fn without_a_model_the_ways_to_one_are_told() {
    let place = Place::new();
    let project = place.project(&[]);
    let editor = Opening::new(&place, &project).open();
    editor.command("Koda");
    let grid = editor.expect("the ways to a model", |grid| grid.has("_API_KEY"));
    assert!(grid.has("model"), "{}", grid.text());
}
