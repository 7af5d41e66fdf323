//! The system prompt: short, and the same for every request of a session, so that providers cache it.
//!
//! It is made of parts, which `:Koda context` lists. Nothing in it changes from step to step: what the user
//! selected comes with the prompt, and the date is that of the session's first request.

use koda_protocol::{Mode, Trust, UnixMillis};

use crate::instructions::Instruction;

const BASE: &str = "You are Koda, a coding agent inside the user's Neovim. You work on the project with the tools you are given.
- Find out before you act: read the code that matters, search instead of guessing, and never invent file contents or results.
- Read a file before you edit it. Make the smallest change that does what was asked, in the style of the code around it.
- Edits go into the user's open buffers; text that you did not change stays as it is.
- Commands run in a terminal that the user sees. Their exit code is told to you: run the tests after a change, and report what they said.
- Independent calls can be made at once; they run at the same time, so that a call which needs another's result belongs in the next message. A rejected or denied call is the user's decision: do not try to get around it.
- When you are done, say in a few sentences what you changed and what you verified. If something did not work, say so plainly.";

/// What a prompt is made from.
pub struct Circumstances<'a> {
    /// Which tools are offered.
    pub mode: Mode,
    /// Who approves.
    pub trust: Trust,
    /// The project's root.
    pub root: &'a str,
    /// The operating system.
    pub os: &'a str,
    /// When the session's first request is made.
    pub now: UnixMillis,
}

/// A part of the system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPart {
    /// `koda`, `mode`, `trust`, `project`, or the path of a file with instructions.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Builds the parts of a session's system prompt, what changes least first.
pub fn parts(about: &Circumstances<'_>, instructions: &[Instruction]) -> Vec<PromptPart> {
    let part = |name: &str, text: String| PromptPart { name: name.to_owned(), text };
    let Circumstances { mode, trust, root, os, now } = about;
    let mut parts = vec![
        part("koda", BASE.to_owned()),
        part("mode", mode_line(*mode).to_owned()),
        part("trust", trust_line(*trust).to_owned()),
        part("project", format!("Project: {root}\nSystem: {os}\nToday: {}", now.date())),
    ];
    parts.extend(instructions.iter().map(|Instruction { shown, included_by, text }| {
        let by = included_by.as_ref().map_or_else(String::new, |by| format!(" (included by {by})"));
        part(shown, format!("Instructions from {shown}{by}:\n{text}"))
    }));
    parts
}

/// Joins the parts to the prompt.
pub fn joined(parts: &[PromptPart]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

fn mode_line(mode: Mode) -> &'static str {
    match mode {
        Mode::Agent => "Mode: agent. You may change files and run commands.",
        Mode::Plan => {
            "Mode: plan. You are planning: change nothing. Explore, then give a plan that can be carried out step by step."
        }
        Mode::Ask => "Mode: ask. You are answering questions: change nothing.",
        Mode::Debug => {
            "Mode: debug. Reproduce the fault and find its cause, with evidence, before you change anything."
        }
        Mode::Educator => {
            "Mode: educator. You are teaching: change nothing. Explain, ask back, and let the user do the work."
        }
    }
}

fn trust_line(trust: Trust) -> &'static str {
    match trust {
        Trust::Plan => "Trust: plan. Calls that would change something are denied.",
        Trust::Safe => {
            "Trust: safe. The user is asked before each change and each command that is not read-only."
        }
        Trust::Auto => {
            "Trust: auto. Changes in the project go through; destructive calls and those outside of it are asked for."
        }
    }
}
