//! What the tools for background tasks have in common.

use koda_protocol::TaskId;
use koda_protocol::port::TerminalsError;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::arguments::rename;
use crate::entry::Output;

/// Arguments that name one task.
#[derive(Deserialize)]
pub struct One {
    /// The task.
    #[serde(deserialize_with = "id")]
    pub task_id: TaskId,
}

/// The schema of [`One`].
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "task_id": { "type": "string", "description": "as Bash gave it, such as sh:7" } },
        "required": ["task_id"]
    })
}

/// Gives the siblings' names for a task the name that is known here.
pub fn renamed(mut fields: Map<String, Value>) -> Value {
    rename(&mut fields, &[("terminal_id", "task_id"), ("agent_id", "task_id"), ("id", "task_id")]);
    fields.into()
}

/// Reads an id: spaces around it are nothing, and a bare number is a command's.
pub fn parse(text: &str) -> TaskId {
    let text = text.trim();
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    TaskId(if bare { format!("sh:{text}") } else { text.to_owned() })
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TaskId, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(parse(&text)),
        Value::Number(number) => Ok(parse(&number.to_string())),
        _ => Err(serde::de::Error::custom("it must be a task's id, such as \"sh:7\"")),
    }
}

/// Says that a task can't be asked for.
pub fn unknown(error: &TerminalsError) -> Output {
    Output::failed(format!("Nothing was done: {error}. ListBackgroundTasks lists yours."))
}
