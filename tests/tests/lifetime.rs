//! What is left when Neovim goes, and what the main thread bears while Koda works.

use std::time::{Duration, Instant};

use koda_tests::{Editor, Exit, Opening, Place, Replay, Terminal, call};
use serde_json::{Value, json};

/// How long `:qa` may take while everything runs.
const LEAVES_WITHIN: Duration = Duration::from_millis(1500);

/// A long answer, in small pieces that come as fast as they can.
fn flood(lines: usize) -> Replay {
    let text: String = (0..lines).map(|line| format!("line {line} of a long answer\n")).collect();
    Replay::new().says(&text).paced(1, 0)
}

fn run_in(editor: &Editor<'_>, model: &str) {
    editor.lua(
        "local model = ...
        runs = runs or {}
        local run = { text = {}, ends = 0 }
        runs[#runs + 1] = run
        require('koda').run({ prompt = 'go', model = model, trust = 'auto', on_event = function(event)
          if event.type == 'text_delta' then
            run.text[#run.text + 1] = event.text
          elseif event.type == 'turn_end' then
            run.ends = run.ends + 1
            run.outcome = event.outcome
          end
        end })",
        &[json!(model)],
    );
}

fn leaves_cleanly(place: &Place, editor: &Editor<'_>) {
    let asked = Instant::now();
    editor.type_command("qa!");
    assert_eq!(editor.exit(LEAVES_WITHIN), Some(Exit::Code(0)), "after {:?}", asked.elapsed());
    assert_eq!(place.survivors(Duration::from_secs(1)), Vec::<String>::new());
}

#[test]
fn quitting_while_a_turn_streams_leaves_at_once() {
    let place = Place::new();
    let project = place.project(&[]);
    let model = Replay::new().says(&"word ".repeat(100_000)).paced(4, 1).model(&place);
    let editor = Opening::new(&place, &project).open();
    run_in(&editor, &model);
    editor.until("return #runs[1].text > 3", &[]);
    leaves_cleanly(&place, &editor);
}

#[test]
fn quitting_while_a_command_runs_takes_it_along() {
    let place = Place::new();
    let project = place.project(&[]);
    let command = call("Bash", json!({ "command": "touch started; sleep 1000 & trap '' TERM; sleep 1000" }));
    let model = Replay::new().calls("", &[command]).model(&place);
    let editor = Opening::new(&place, &project).open();
    run_in(&editor, &model);
    editor.until("return vim.uv.fs_stat('started') ~= nil", &[]);
    leaves_cleanly(&place, &editor);
}

#[test]
fn quitting_while_something_waits_for_an_approval_leaves_at_once() {
    let place = Place::new();
    let project = place.project(&[]);
    let write = call("Write", json!({ "path": "new.txt", "content": "new\n" }));
    let model = Replay::new().calls("", &[write]).model(&place);
    let editor = Opening::new(&place, &project).open();
    editor.setup(&json!({ "model": model, "trust": "safe" }));
    editor.lua("require('koda').run({ prompt = 'go' })", &[]);
    editor.until("return #require('koda').pending() > 0", &[]);
    leaves_cleanly(&place, &editor);
    assert!(!project.join("new.txt").exists());
}

#[test]
fn quitting_an_idle_koda_leaves_at_once() {
    let place = Place::new();
    let project = place.project(&[]);
    let model = Replay::new().says("Hello.").model(&place);
    let editor = Opening::new(&place, &project).open();
    run_in(&editor, &model);
    editor.until("return runs[1].outcome", &[]);
    leaves_cleanly(&place, &editor);
}

#[test]
fn a_real_terminal_is_left_as_it_was() {
    let place = Place::new();
    let project = place.project(&[]);
    let model = Replay::new().says(&"word ".repeat(100_000)).paced(4, 1).model(&place);
    let setup = format!("lua require('koda').setup({{ model = '{model}' }})");
    let mut terminal = Terminal::open(&place, &project, &["-c", &setup, "-c", "Koda go"]);
    terminal.expect_text("word word");
    terminal.escape();
    terminal.input(":qa!\r");
    assert_eq!(terminal.exit(LEAVES_WITHIN), Some(0));
    assert_eq!(place.survivors(Duration::from_secs(1)), Vec::<String>::new());
}

#[test]
fn a_flood_from_several_threads_arrives_whole_and_in_order_while_keys_are_handled() {
    const RUNS: usize = 4;
    const LINES: usize = 400;
    let place = Place::new();
    let project = place.project(&[("a.txt", "")]);
    let script = flood(LINES);
    let editor = Opening::new(&place, &project).arguments(&["a.txt"]).open();
    for run in 0..RUNS {
        // A script of its own for each: they are played by sessions that know nothing of each other.
        let file = script.write(&place, &format!("flood{run}.json"));
        run_in(&editor, &format!("replay::{}", file.display()));
    }
    for key in "ithe user types".chars() {
        editor.input(&key.to_string());
    }
    editor.expect_text("the user types");
    editor.until("return #vim.tbl_filter(function(run) return run.outcome end, runs) == #runs", &[]);
    let expected: String = (0..LINES).map(|line| format!("line {line} of a long answer\n")).collect();
    for run in 1..=RUNS {
        let seen = editor.lua("return table.concat(runs[...].text)", &[json!(run)]);
        assert_eq!(seen.as_str().unwrap_or_default(), expected, "run {run}");
    }
    let ends =
        editor.lua("return vim.tbl_map(function(run) return { run.ends, run.outcome } end, runs)", &[]);
    assert_eq!(ends, Value::Array(vec![json!([1, "done"]); RUNS]));
}

#[test]
fn a_flood_never_holds_the_main_thread() {
    let place = Place::new();
    let project = place.project(&[]);
    let model = flood(4000).model(&place);
    let editor = Opening::new(&place, &project).open();
    // A callback queued each 2 ms; how late it runs is how long a key would have waited.
    editor.lua(
        "worst = 0
        local timer, due = vim.uv.new_timer(), nil
        local function arm()
          due = vim.uv.hrtime() + 2e6
          timer:start(2, 0, vim.schedule_wrap(function()
            worst = math.max(worst, (vim.uv.hrtime() - due) / 1e6)
            arm()
          end))
        end
        arm()",
        &[],
    );
    run_in(&editor, &model);
    editor.until("return runs[1].outcome", &[]);
    let worst = editor.lua("return worst", &[]).as_f64().unwrap_or(f64::MAX);
    // The promise is 8 ms on an idle machine (`make bench` measures it). Tests share the machine with each other, so
    // this bound only catches a drain without a budget: this flood takes far longer as a whole.
    assert!(worst < 100.0, "a queued callback waited for {worst} ms");
}

#[test]
fn a_listener_that_fails_keeps_nothing_from_others() {
    let place = Place::new();
    let project = place.project(&[]);
    let model = Replay::new().says("Hello.").model(&place);
    let editor = Opening::new(&place, &project).open();
    editor.lua("require('koda').on('text_delta', function() error('mine') end)", &[]);
    run_in(&editor, &model);
    editor.until("return runs[1].outcome == 'done'", &[]);
    assert_eq!(editor.lua("return table.concat(runs[1].text)", &[]), "Hello.");
    editor.until("return vim.fn.execute('messages'):find('mine', 1, true) ~= nil", &[]);
}

#[test]
fn two_neovims_share_a_project() {
    let place = Place::new();
    let project = place.project(&[]);
    let editors = [Opening::new(&place, &project).open(), Opening::new(&place, &project).open()];
    for (index, editor) in editors.iter().enumerate() {
        let script = Replay::new().says(&format!("answer {index} ").repeat(200)).paced(3, 0);
        run_in(editor, &format!("replay::{}", script.write(&place, &format!("{index}.json")).display()));
    }
    for (index, editor) in editors.iter().enumerate() {
        editor.until("return runs[1].outcome == 'done'", &[]);
        let seen = editor.lua("return table.concat(runs[1].text)", &[]);
        assert_eq!(seen.as_str().unwrap_or_default(), format!("answer {index} ").repeat(200));
    }
    for editor in &editors {
        leaves_cleanly_alone(editor);
    }
    assert_eq!(place.survivors(Duration::from_secs(1)), Vec::<String>::new());
}

fn leaves_cleanly_alone(editor: &Editor<'_>) {
    editor.type_command("qa!");
    assert_eq!(editor.exit(LEAVES_WITHIN), Some(Exit::Code(0)));
}
