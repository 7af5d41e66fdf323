//! CancelTask: ends a background task with everything that it started.

use koda_protocol::Effect;
use koda_protocol::TaskId;

use crate::arguments::{object, read};
use crate::context::ToolContext;
use crate::ending::{brief, ending};
use crate::entry::{Entry, Job, Output, data};
use crate::tool::task::{self, One};

pub fn entry() -> Entry {
    Entry {
        name: "CancelTask",
        aliases: &["kill_terminal"],
        description: "End a background task with every process that it started. One that has ended already stays as it is.",
        effect: Effect::Read,
        schema: task::schema(),
        prepare: |args, _| {
            let One { task_id } = read(task::renamed(object(args)?))?;
            Ok(Job::new(move |context| run(context, task_id)))
        },
    }
}

async fn run(context: ToolContext, id: TaskId) -> Output {
    match context.ports.terminals.end(&context.session, &id).await {
        Ok(outcome) => {
            let output = brief(&outcome);
            let gap = if output.is_empty() { "" } else { "\n" };
            Output::ok(format!("{output}{gap}[{id}: {}]", ending(&outcome)), data(&outcome))
        }
        Err(error) => task::unknown(&error),
    }
}
