//! TodoWrite: the task list of the session.

use koda_protocol::event::{TodoItem, TodoStatus};
use koda_protocol::{Effect, Event};
use serde::Deserialize;
use serde_json::json;

use crate::arguments::read;
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output, data};

#[derive(Deserialize)]
struct Args {
    #[serde(alias = "items")]
    todos: Vec<TodoItem>,
}

pub fn entry() -> Entry {
    Entry {
        name: "TodoWrite",
        aliases: &["todo_write", "todowrite"],
        description: "Replace the task list of this session. Use it for work of several steps; keep at most one item in_progress, and mark items completed as soon as they are.",
        effect: Effect::Internal,
        schema: json!({
            "type": "object",
            "properties": { "todos": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "content": { "type": "string" },
                    "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
                    "priority": { "type": "string", "enum": ["high", "medium", "low"] }
                },
                "required": ["content", "status"]
            } } },
            "required": ["todos"]
        }),
        prepare: |args, _| {
            let args: Args = read(args)?;
            check(&args.todos)?;
            Ok(Job::new(move |context| async move { run(&context, &args.todos) }))
        },
    }
}

fn check(todos: &[TodoItem]) -> Result<(), String> {
    if let Some(at) = todos.iter().position(|item| item.content.trim().is_empty()) {
        return Err(format!("`todos[{at}].content`: it is empty"));
    }
    let running = todos.iter().filter(|item| item.status == TodoStatus::InProgress).count();
    if running > 1 {
        return Err(format!("`todos`: {running} items are in_progress, at most one may be"));
    }
    Ok(())
}

fn run(context: &ToolContext, todos: &[TodoItem]) -> Output {
    let fields = data(&json!({ "todos": todos }));
    if !context.state.set_todos(todos) {
        return Output::ok("The list is as it was; no need to send it again.", fields);
    }
    (context.emit)(Event::Todo { items: todos.to_vec() });
    let done = todos.iter().filter(|item| item.status == TodoStatus::Completed).count();
    let lines: Vec<String> = todos.iter().map(line).collect();
    Output::ok(format!("{done} of {} done\n{}", todos.len(), lines.join("\n")), fields)
}

fn line(item: &TodoItem) -> String {
    let mark = match item.status {
        TodoStatus::Pending => " ",
        TodoStatus::InProgress => "~",
        TodoStatus::Completed => "x",
    };
    format!("[{mark}] {}", item.content)
}
