//! MemoryRead: the notes of the project, of the user and of the session.

use koda_protocol::Effect;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::memory::{self, MemoryScope, Notes};

#[derive(Deserialize)]
struct Args {
    scope: Option<MemoryScope>,
    path: Option<String>,
}

pub fn entry() -> Entry {
    Entry {
        name: "MemoryRead",
        aliases: &["memory_read", "read_memory"],
        description: "Read the notes that were kept: of the project, of the user (global) and of this session.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": {
                "scope": { "type": "string", "enum": ["project", "global", "session"] },
                "path": { "type": "string", "description": "name of one file" }
            }
        }),
        prepare: |args, _| {
            let mut fields = object(args)?;
            rename(&mut fields, &[("name", "path"), ("file", "path")]);
            let args: Args = read(fields.into())?;
            let name = args.path.as_deref().map(|path| memory::file_name(Some(path))).transpose()?;
            Ok(Job::new(move |context| run(context, args.scope, name)))
        },
    }
}

async fn run(context: ToolContext, scope: Option<MemoryScope>, name: Option<String>) -> Output {
    let mut found = Vec::new();
    for of in [MemoryScope::Global, MemoryScope::Project] {
        found.extend(memory::read(context.ports.editor.as_ref(), &context.workplace, of).await);
    }
    found.extend(context.state.notes());
    found.retain(|notes| scope.is_none_or(|scope| scope == notes.scope));
    found.retain(|notes| name.as_ref().is_none_or(|name| *name == notes.name));
    let listed: Vec<_> =
        found.iter().map(|notes| json!({ "scope": notes.scope, "path": notes.name })).collect();
    if found.is_empty() {
        return Output::ok("There are no such notes. MemoryWrite keeps some.", json!({ "files": listed }));
    }
    let shown = |Notes { scope, name, text }: &Notes| format!("## {} ({})\n{text}", name, scope.name());
    let text = found.iter().map(shown).collect::<Vec<_>>().join("\n\n");
    Output::ok(text, json!({ "files": listed }))
}
