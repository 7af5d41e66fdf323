//! Plans under review, pinned tasks, and questions with several answers.

use koda_tests::{Editor, Opening, Place, Replay, call};
use serde_json::{Value, json};

/// Collects all events from now on in the global `events`.
const LISTEN: &str = "events = {} require('koda').on('*', function(event) table.insert(events, event) end)";

fn open<'a>(place: &'a Place, project: &'a std::path::Path, settings: &Value) -> Editor<'a> {
    let editor = Opening::new(place, project).open();
    editor.setup(settings);
    editor.lua(LISTEN, &[]);
    editor
}

fn planning() -> Replay {
    let plan = call("UpdatePlan", json!({ "explanation": "Why.", "steps": ["one", "two"] }));
    Replay::new().calls("I looked.", &[plan])
}

#[test]
fn a_plan_is_edited_accepted_and_started_with_the_same_trust() {
    let place = Place::new();
    let project = place.project(&[]);
    let doing = call("UpdatePlan", json!({ "steps": [{ "text": "one", "status": "in_progress" }, "three"] }));
    let model = planning().calls("", &[doing]).says("At work.").model(&place);
    let editor = open(&place, &project, &json!({ "model": model, "mode": "plan", "trust": "auto" }));
    editor.command("Koda plan it");
    // The turn ends with the plan, whatever else the model would say.
    editor.expect("the plan", |grid| grid.has("Plan: edit it as you like") && grid.has("- [ ] two"));
    editor.until("return vim.iter(events):any(function(event) return event.type == 'turn_end' and event.outcome == 'done' end)", &[]);
    editor.input("/two<CR>cwthree<Esc>");
    editor.input("<M-a>");
    editor.expect("the plan at work", |grid| {
        grid.has("Carry out this plan:")
            && grid.has("- [ ] three")
            && grid.has("Tasks, 0 of 2 done")
            && grid.has("At work.")
    });
    let settings = editor.lua(
        "return vim.iter(events):filter(function(event) return event.type == 'settings' end):totable()",
        &[],
    );
    assert_eq!(
        (&settings[0]["mode"], &settings[0]["trust"]),
        (&json!("agent"), &json!("auto")),
        "{settings}"
    );
    editor.command("Koda plan");
    editor.expect_text("there is no plan to review");
}

#[test]
fn a_rejected_plan_is_made_anew_in_the_same_mode() {
    let place = Place::new();
    let project = place.project(&[]);
    let again = call("UpdatePlan", json!({ "steps": ["another way"] }));
    let model = planning().calls("", &[again]).model(&place);
    let editor = open(&place, &project, &json!({ "model": model, "mode": "plan" }));
    editor.command("Koda plan it");
    editor.expect_text("Plan: edit it as you like");
    editor.input("<M-r>not like that<CR>");
    editor.expect_text("- [ ] another way");
    let said = editor.lua("return vim.iter(events):filter(function(event) return event.type == 'user_message' end):totable()[2].text", &[]);
    assert_eq!(said, "I don't accept this plan: not like that");
}

#[test]
fn tasks_stay_pinned_until_all_are_done() {
    let place = Place::new();
    let project = place.project(&[]);
    let todo = |status: &str| {
        call(
            "TodoWrite",
            json!({ "todos": [
        { "content": "first thing", "status": "completed" }, { "content": "second thing", "status": status }
    ] }),
        )
    };
    let long: String = (0..80).map(|n| format!("line {n}\n\n")).collect();
    let model = Replay::new()
        .calls("", &[todo("in_progress")])
        .says(&long)
        .calls("", &[todo("completed")])
        .says("All done.")
        .model(&place);
    for layout in ["float", "right"] {
        let editor = open(&place, &project, &json!({ "model": model, "chat": { "layout": layout } }));
        editor.command("Koda go");
        editor.expect("tasks under a long answer", |grid| {
            grid.has("line 79") && grid.has("Tasks, 1 of 2 done") && grid.has("▸ second thing")
        });
        editor.lua("require('koda.chat').hide()", &[]);
        editor.expect("nothing", |grid| !grid.has("Tasks, 1 of 2"));
        editor.command("Koda go on");
        editor.expect("the end", |grid| grid.has("All done.") && !grid.has("Tasks, "));
    }
}

#[test]
fn several_answers_are_ticked_by_their_numbers() {
    let place = Place::new();
    let project = place.project(&[]);
    let options = json!({ "question": "Which?", "options": ["red", "green", "blue"], "multiple": true });
    let one = json!({ "question": "And now?", "options": ["yes", "no"] });
    let model = Replay::new()
        .calls("", &[call("AskUser", options)])
        .calls("", &[call("AskUser", one)])
        .says("Thanks.")
        .model(&place);
    let editor = open(&place, &project, &json!({ "model": model }));
    editor.command("Koda ask me");
    editor.expect_text("[1-3] tick");
    editor.input("<M-1><M-2><M-3><M-2>");
    editor.expect("ticks", |grid| {
        grid.has("1. [x] red") && grid.has("2. [ ] green") && grid.has("3. [x] blue")
    });
    editor.input("<M-a>");
    editor.expect_text("[1-2] choose");
    editor.input("<Esc><C-w>k2");
    editor.expect_text("Thanks.");
    let results = editor.lua(
        "return vim.iter(events):filter(function(event) return event.type == 'tool_result' end):totable()",
        &[],
    );
    assert_eq!(results[0]["data"]["choices"], json!(["red", "blue"]), "{results}");
    assert_eq!(results[1]["text"], "The user answered: no");
}
