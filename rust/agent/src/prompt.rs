//! The system prompt: short, and the same for every request of a session, so that providers cache it.

use std::path::Path;

use koda_protocol::Mode;
use koda_protocol::port::Editor;

/// Files with the project's rules, in the order in which they are told.
const RULES: [&str; 2] = ["KODA.md", "AGENTS.md"];

/// Bytes of a rules file that are told; a longer one is cut with a note.
const MAX_RULES: usize = 24 * 1024;

const BASE: &str = "You are Koda, a coding agent inside the user's Neovim. You work on the project with the tools you are given.
- Find out before you act: read the code that matters, search instead of guessing, and never invent file contents or results.
- Read a file before you edit it. Make the smallest change that does what was asked, in the style of the code around it.
- Edits go into the user's open buffers; text that you did not change stays as it is.
- Commands run in a terminal that the user sees. Their exit code is told to you: run the tests after a change, and report what they said.
- Independent calls can be made at once. A rejected or denied call is the user's decision: do not try to get around it.
- When you are done, say in a few sentences what you changed and what you verified. If something did not work, say so plainly.";

/// Builds the system prompt of a session in the project at `root`.
pub async fn build(mode: Mode, root: &Path, os: &str, editor: &dyn Editor) -> String {
    let mut text = BASE.to_owned();
    if let Some(line) = mode_line(mode) {
        text.push_str("\n\n");
        text.push_str(line);
    }
    text.push_str(&format!("\n\nProject: {}\nSystem: {os}", root.display()));
    for name in RULES {
        if let Ok(document) = editor.read(&root.join(name)).await {
            text.push_str(&format!("\n\nThe project's rules, from {name}:\n{}", cut(&document.text)));
        }
    }
    text
}

fn mode_line(mode: Mode) -> Option<&'static str> {
    match mode {
        Mode::Agent => None,
        Mode::Plan => Some(
            "You are planning: change nothing. Explore, then give a plan that can be carried out step by step.",
        ),
        Mode::Ask => Some("You are answering questions: change nothing."),
        Mode::Debug => Some(
            "You are debugging: reproduce the fault and find its cause, with evidence, before you change anything.",
        ),
        Mode::Educator => {
            Some("You are teaching: change nothing. Explain, ask back, and let the user do the work.")
        }
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_RULES {
        return text.to_owned();
    }
    let kept = text.get(..text.floor_char_boundary(MAX_RULES)).unwrap_or_default();
    format!("{kept}\n[cut: the file is longer; read it for the rest]")
}
