//! TaskOutput: how far a command in the background is, and what it printed since the last time.

use koda_protocol::Effect;
use koda_protocol::TaskId;
use koda_protocol::port::CommandState;
use serde_json::{Value, json};

use crate::arguments::{object, read};
use crate::context::ToolContext;
use crate::ending::ending;
use crate::entry::{Entry, Job, Output, data};
use crate::tool::list_background_tasks;
use crate::tool::task::{self, One};

pub fn entry() -> Entry {
    Entry {
        name: "TaskOutput",
        aliases: &["get_terminal_output", "agent_status"],
        description: "Get the output of a background task that is new since you last asked, its state, exit code and sizes. You are told of its end anyway: ask only to see how far it is.",
        effect: Effect::Read,
        schema: task::schema(),
        prepare: |args, _| {
            let args = task::renamed(object(args)?);
            // The siblings list everything when no task is named.
            if args.as_object().is_some_and(serde_json::Map::is_empty) {
                return Ok(Job::new(list_background_tasks::run));
            }
            let One { task_id } = read(args)?;
            Ok(Job::new(move |context| run(context, task_id)))
        },
    }
}

async fn run(context: ToolContext, id: TaskId) -> Output {
    let outcome = match context.ports.terminals.look(&context.session, &id) {
        Ok(outcome) => outcome,
        Err(error) => return task::unknown(&error),
    };
    let mut text = outcome.output.clone();
    let new_bytes = text.len();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let how = match outcome.state {
        CommandState::Running if outcome.waiting => "running; it seems to wait for input".to_owned(),
        CommandState::Running => "running".to_owned(),
        _ => ending(&outcome),
    };
    let seconds = outcome.duration_ms / 1000;
    text.push_str(&format!(
        "[{id}: {how}; {new_bytes} new bytes of {} in all; {seconds} s]",
        outcome.output_bytes
    ));
    let mut fields = data(&outcome);
    if let Value::Object(fields) = &mut fields {
        fields.insert("new_bytes".to_owned(), json!(new_bytes));
    }
    Output { keep_tail: true, ..Output::ok(text, fields) }
}
