//! Which tools each mode offers: those that it is about, and nothing that would change files in a mode that reads.

use koda_protocol::{Effect, Mode};

/// Tools of the modes that change things: they start and follow commands, or track such work.
const WORK: &[&str] =
    &["Bash", "BashInput", "CancelTask", "ListBackgroundTasks", "TaskOutput", "TodoWrite", "WaitTask"];

/// Tools of lessons.
const LESSONS: &[&str] = &["CheckUnderstanding", "CreateLesson"];

/// Tells whether a mode offers a tool at all; the user may switch off some that it does.
pub fn offers(mode: Mode, tool: &str, effect: Effect) -> bool {
    if LESSONS.contains(&tool) {
        return mode == Mode::Educator;
    }
    if matches!(mode, Mode::Agent | Mode::Debug) {
        return true;
    }
    match tool {
        // A note is none of the project's files.
        "MemoryWrite" => true,
        "UpdatePlan" => mode == Mode::Plan,
        tool => {
            !matches!(effect, Effect::Mutate | Effect::Destroy | Effect::Command) && !WORK.contains(&tool)
        }
    }
}
