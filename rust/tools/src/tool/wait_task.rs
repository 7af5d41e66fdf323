//! WaitTask: waits for many background tasks at once and tells what became of each.

use std::time::Duration;

use futures::future::join_all;
use koda_protocol::port::{CommandOutcome, CommandState, TerminalsError};
use koda_protocol::{Effect, TaskId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::ending::{brief, ending};
use crate::entry::{Entry, Job, Output};
use crate::tool::task;

/// How long each task is waited for.
const LIMIT: Duration = Duration::from_secs(300);

/// What may become of a task, in the order of the summary.
const STATUSES: [&str; 6] = ["success", "failed", "timeout", "cancelled", "forbidden", "not_found"];

#[derive(Deserialize)]
struct Args {
    task_ids: Vec<String>,
}

pub fn entry() -> Entry {
    Entry {
        name: "WaitTask",
        aliases: &[],
        description: "Wait until background tasks have ended, at most 300 s for each, and get what became of each of them. A task that fails or is not there does not spoil the others.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": {
                "task_ids": { "type": "array", "items": { "type": "string" }, "minItems": 1 }
            },
            "required": ["task_ids"]
        }),
        prepare: |args, _| {
            let mut fields = object(args)?;
            rename(&mut fields, &[("task_id", "task_ids")]);
            if let Some(one @ Value::String(_)) = fields.get("task_ids") {
                let list = json!([one]);
                fields.insert("task_ids".to_owned(), list);
            }
            let args: Args = read(fields.into())?;
            let mut ids: Vec<TaskId> = Vec::new();
            for id in args.task_ids.iter().map(|id| task::parse(id)) {
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            if ids.is_empty() {
                return Err("`task_ids`: it is empty; ListBackgroundTasks lists yours".to_owned());
            }
            Ok(Job::new(move |context| run(context, ids)))
        },
    }
}

async fn run(context: ToolContext, ids: Vec<TaskId>) -> Output {
    let waits = join_all(ids.iter().map(|id| one(&context, id)));
    let tasks = tokio::select! {
        biased;
        () = context.cancel.cancelled() => {
            return Output::failed("The user stopped the waiting.");
        }
        tasks = waits => tasks,
    };
    let count = |status: &str| tasks.iter().filter(|task| task["status"] == status).count();
    let mut summary = Map::new();
    summary.insert("total".to_owned(), json!(tasks.len()));
    summary.extend(STATUSES.map(|status| (status.to_owned(), json!(count(status)))));
    let answer = json!({ "tasks": tasks, "summary": summary });
    Output::ok(format!("{answer:#}"), answer)
}

async fn one(context: &ToolContext, id: &TaskId) -> Value {
    let ended = context.ports.terminals.wait(&context.session, id);
    match tokio::time::timeout(LIMIT, ended).await {
        Err(_) => json!({ "task_id": id, "status": "timeout" }),
        Ok(Err(error @ TerminalsError::Foreign(_))) => {
            json!({ "task_id": id, "status": "forbidden", "error": error.to_string() })
        }
        Ok(Err(error)) => json!({ "task_id": id, "status": "not_found", "error": error.to_string() }),
        Ok(Ok(outcome)) => ended_as(id, &outcome),
    }
}

fn ended_as(id: &TaskId, outcome: &CommandOutcome) -> Value {
    let output = brief(outcome);
    match (outcome.state, outcome.exit_code) {
        (CommandState::Cancelled, _) => json!({ "task_id": id, "status": "cancelled" }),
        (CommandState::Done, Some(0)) => json!({
            "task_id": id,
            "status": "success",
            "result": {
                "exit_code": 0,
                "output": output,
                "duration_ms": outcome.duration_ms,
                "output_bytes": outcome.output_bytes
            }
        }),
        _ => {
            let error = format!("{}\n{output}", ending(outcome));
            json!({ "task_id": id, "status": "failed", "error": error.trim_end() })
        }
    }
}
