//! The chat in a real terminal: what a person sees while it streams.

use koda_tests::{Place, Replay, Terminal, call};
use serde_json::json;

#[test]
fn an_answer_streams_without_flicker() {
    let place = Place::new();
    let project = place.project(&[]);
    let answer: String = (1..12).map(|line| format!("- point **{line}** of `many`\n")).collect();
    let model = Replay::new().says(&format!("# Heading\n\n{answer}\nThe end.\n")).paced(2, 1).model(&place);
    let setup = format!("lua require('koda').setup({{ model = '{model}' }})");
    let terminal = Terminal::open(&place, &project, &["-c", &setup, "-c", "Koda"]);
    terminal.expect_text("idle");
    terminal.input(":Koda go\r");
    terminal.expect_text("# Heading");
    // Seen after each piece that Neovim writes, in the middle of a drawing too.
    terminal.expect("the end", |screen| {
        assert!(screen.contains("# Heading"), "what was drawn is gone:\n{screen}");
        assert!(screen.contains(" Koda ") && screen.contains("╰─"), "the windows are gone:\n{screen}");
        screen.contains("The end.") && screen.contains("idle")
    });
}

#[test]
fn a_command_is_seen_in_its_terminal_and_an_approval_is_answered_by_key() {
    let place = Place::new();
    let project = place.project(&[]);
    let command = call("Bash", json!({ "command": "echo from-the-command > out.txt; cat out.txt" }));
    let model = Replay::new().calls("I run it.", &[command]).says("It ran.").model(&place);
    let setup = format!("lua require('koda').setup({{ model = '{model}' }})");
    let terminal = Terminal::open(&place, &project, &["-c", &setup, "-c", "Koda run it"]);
    terminal.expect_text("accept once");
    // Alt-a: accepts, from within the prompt.
    terminal.input("\x1ba");
    terminal.expect_text("It ran.");
    terminal.input("q");
    terminal.expect("the command's terminal", |screen| {
        screen.lines().any(|line| line.trim_end() == "from-the-command") && !screen.contains("It ran.")
    });
}
