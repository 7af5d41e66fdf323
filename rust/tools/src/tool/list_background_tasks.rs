//! ListBackgroundTasks: the tasks of this conversation that went to the background.

use koda_protocol::Effect;
use koda_protocol::port::TaskInfo;
use serde_json::json;

use crate::arguments::object;
use crate::context::ToolContext;
use crate::ending::ended;
use crate::entry::{Entry, Job, Output, data};

pub fn entry() -> Entry {
    Entry {
        name: "ListBackgroundTasks",
        aliases: &[],
        description: "List your background tasks with their states: those that run, and those that ended lately.",
        effect: Effect::Read,
        schema: json!({ "type": "object", "properties": {} }),
        prepare: |args, _| {
            object(args)?;
            Ok(Job::new(run))
        },
    }
}

/// Lists the tasks.
pub async fn run(context: ToolContext) -> Output {
    let tasks = context.ports.terminals.tasks(&context.session);
    let lines: Vec<String> = tasks.iter().map(line).collect();
    let text = if lines.is_empty() { "There are no background tasks.".to_owned() } else { lines.join("\n") };
    Output::ok(text, json!({ "tasks": data(&tasks) }))
}

fn line(task: &TaskInfo) -> String {
    let mut how = ended(task.state, task.exit_code, task.signal.as_deref());
    if task.waiting {
        how.push_str(", seems to wait for input");
    }
    let command = task.command.lines().next().unwrap_or_default();
    format!("{}: {how}, {} s, {} bytes: {command}", task.task_id, task.age_ms / 1000, task.output_bytes)
}
