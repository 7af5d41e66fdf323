//! The system prompt: short, and the same for every request of a session, so that providers cache it.
//!
//! Nothing in it changes from step to step: what the user selected comes with the prompt, and the date is
//! that of the session's first request.

use koda_protocol::port::Editor;
use koda_protocol::{Mode, UnixMillis};
use koda_tools::Workplace;

/// Files with the project's rules, in the order in which they are told.
const RULES: [&str; 2] = ["KODA.md", "AGENTS.md"];

/// Bytes of a rules file that are told; a longer one is cut with a note.
const MAX_RULES: usize = 24 * 1024;

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

const BASE: &str = "You are Koda, a coding agent inside the user's Neovim. You work on the project with the tools you are given.
- Find out before you act: read the code that matters, search instead of guessing, and never invent file contents or results.
- Read a file before you edit it. Make the smallest change that does what was asked, in the style of the code around it.
- Edits go into the user's open buffers; text that you did not change stays as it is.
- Commands run in a terminal that the user sees. Their exit code is told to you: run the tests after a change, and report what they said.
- Independent calls can be made at once; they run at the same time, so that a call which needs another's result belongs in the next message. A rejected or denied call is the user's decision: do not try to get around it.
- When you are done, say in a few sentences what you changed and what you verified. If something did not work, say so plainly.";

/// Builds the system prompt of a session.
pub async fn build(mode: Mode, place: &Workplace, os: &str, now: UnixMillis, editor: &dyn Editor) -> String {
    let mut text = BASE.to_owned();
    if let Some(line) = mode_line(mode) {
        text.push_str("\n\n");
        text.push_str(line);
    }
    let root = place.resolver.root().display();
    text.push_str(&format!("\n\nProject: {root}\nSystem: {os}\nToday: {}", date(now)));
    for name in RULES {
        if let Some(rules) = rules(name, place, editor).await {
            text.push_str(&format!("\n\nThe project's rules, from {name}:\n{rules}"));
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

/// Reads a rules file as the user sees it, unsaved lines included. A link that leads out of the project is
/// not followed: a project must not have other files told to a model.
async fn rules(name: &str, place: &Workplace, editor: &dyn Editor) -> Option<String> {
    let path = place.resolver.resolve(name, place.resolver.root()).ok().filter(|path| path.inside())?;
    let text = editor.read(path.as_path()).await.ok()?.text;
    if text.trim().is_empty() {
        return None;
    }
    if text.len() <= MAX_RULES {
        return Some(text.to_string());
    }
    let kept = text.get(..text.floor_char_boundary(MAX_RULES))?;
    Some(format!("{kept}\n[cut: the file is longer; read it for the rest]"))
}

/// Writes a day as `2024-02-29`, in UTC.
///
/// Days are counted from a March, so that the leap day is a year's last, and a cycle of 400 years
/// has 146,097 of them.
fn date(now: UnixMillis) -> String {
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    let days = now.0 / MILLIS_PER_DAY + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (month_day, january_on) = (day - (153 * month + 2) / 5 + 1, month >= 10);
    let month = if january_on { month - 9 } else { month + 3 };
    format!("{:04}-{month:02}-{month_day:02}", cycle * 400 + year + u64::from(january_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_as_in_the_calendar() {
        let days = [
            (0, "1970-01-01"),
            (1_709_164_799_999, "2024-02-28"),
            (1_709_164_800_000, "2024-02-29"),
            (1_709_251_200_000, "2024-03-01"),
            (951_782_400_000, "2000-02-29"),
            (4_107_542_400_000, "2100-03-01"),
            (1_735_689_599_999, "2024-12-31"),
            (1_735_689_600_000, "2025-01-01"),
        ];
        for (millis, shown) in days {
            assert_eq!(date(UnixMillis(millis)), shown, "{millis}");
        }
    }
}
