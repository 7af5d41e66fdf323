//! MemoryWrite: keeps a fact, or takes one back.

use koda_protocol::port::EditorError;
use koda_protocol::{Document, Effect, TextEdit};
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::memory::{self, MAX_FILE, MAX_FILES, MemoryScope};

/// How often a file that changes meanwhile is read again.
const TRIES: usize = 4;

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    content: String,
    #[serde(default)]
    scope: MemoryScope,
    path: Option<String>,
    delete: Option<Value>,
}

/// A change of one file of notes.
struct Change {
    scope: MemoryScope,
    name: String,
    /// The fact as it stands in the file: a bullet, further lines indented. Empty for the whole file.
    bullet: String,
    delete: bool,
}

pub fn entry() -> Entry {
    Entry {
        name: "MemoryWrite",
        aliases: &["memory_write", "write_memory", "memory"],
        description: "Keep a fact for later: how the project is built and tested, a decision and its reason, what the user prefers. One fact a call, added as a bullet. Scope project is shared with the project, global is the user's in all projects, session is this conversation. With delete the bullet of this content goes, without content the file. Never secrets.",
        effect: Effect::Mutate,
        schema: json!({
            "type": "object",
            "properties": {
                "content": { "type": "string" },
                "scope": { "type": "string", "enum": ["project", "global", "session"] },
                "path": { "type": "string", "description": "flat file name, memory.md without it" },
                "delete": { "type": "boolean" }
            },
            "required": ["content"]
        }),
        prepare: |args, place| {
            let mut fields = object(args)?;
            rename(
                &mut fields,
                &[("fact", "content"), ("text", "content"), ("name", "path"), ("file", "path")],
            );
            let change = understand(read(fields.into())?)?;
            if change.scope == MemoryScope::Session {
                return Ok(Job::new(move |context| async move { in_session(&context, &change) }));
            }
            let path = memory::path(place, change.scope, &change.name)?;
            let job = Job::new({
                let path = path.clone();
                move |context| run(context, path, change)
            });
            Ok(job.writes(&path))
        },
    }
}

fn understand(args: Args) -> Result<Change, String> {
    let delete = match args.delete {
        None | Some(Value::Null) => false,
        Some(Value::Bool(delete)) => delete,
        Some(Value::String(text)) if text == "true" || text == "false" => text == "true",
        Some(_) => return Err("`delete`: true or false".to_owned()),
    };
    let content = args.content.replace("\r\n", "\n");
    let content = content.trim();
    if content.contains('\0') {
        return Err("`content`: it has a NUL character".to_owned());
    }
    if content.is_empty() && !delete {
        return Err("`content`: it is empty".to_owned());
    }
    if content.is_empty() && args.path.is_none() {
        return Err("`content` or `path`: say which fact or which file is to go".to_owned());
    }
    if let Some(what) = memory::secret_in(content) {
        return Err(format!(
            "`content`: it looks like {what}, and notes are no place for secrets. Say where it is kept instead"
        ));
    }
    let bullet = if content.is_empty() { String::new() } else { bullet(content) };
    Ok(Change { scope: args.scope, name: memory::file_name(args.path.as_deref())?, bullet, delete })
}

fn bullet(content: &str) -> String {
    let content = content.strip_prefix("- ").unwrap_or(content);
    format!("- {}\n", content.replace('\n', "\n  "))
}

/// What a change makes of a text.
enum Outcome {
    Text(String),
    /// The file goes.
    Gone,
    Nothing(&'static str),
    Refused(String),
}

fn applied(text: &str, change: &Change) -> Outcome {
    if change.delete && change.bullet.is_empty() {
        return Outcome::Gone;
    }
    let ended = if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let at = position(&ended, &change.bullet);
    match (change.delete, at) {
        (true, None) => {
            Outcome::Nothing("No note has this content, nothing was deleted. MemoryRead shows them.")
        }
        (true, Some(at)) => {
            let mut left = ended;
            left.replace_range(at..at + change.bullet.len(), "");
            if left.trim().is_empty() { Outcome::Gone } else { Outcome::Text(left) }
        }
        (false, Some(_)) => Outcome::Nothing("This is noted already."),
        (false, None) if ended.len() + change.bullet.len() > MAX_FILE => Outcome::Refused(format!(
            "Nothing was noted: {} would have more than {MAX_FILE} bytes. Use another `path`, or delete what is out of date.",
            change.name
        )),
        (false, None) => Outcome::Text(ended + &change.bullet),
    }
}

/// Where a bullet stands in a text, as whole lines that no indented line follows.
fn position(text: &str, bullet: &str) -> Option<usize> {
    let whole = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + bullet.len()..).unwrap_or_default();
        (before.is_empty() || before.ends_with('\n')) && !after.starts_with("  ")
    };
    text.match_indices(bullet).map(|(at, _)| at).find(|at| whole(*at))
}

fn report(change: &Change, place: &str) -> String {
    match (change.delete, change.bullet.is_empty()) {
        (false, _) => format!("Noted in {place}:\n{}", change.bullet.trim_end()),
        (true, false) => format!("Deleted from {place}:\n{}", change.bullet.trim_end()),
        (true, true) => format!("Deleted {place}."),
    }
}

fn fields(change: &Change, extra: Value) -> Value {
    let mut fields = json!({ "scope": change.scope, "path": change.name, "deleted": change.delete });
    if let (Value::Object(fields), Value::Object(extra)) = (&mut fields, extra) {
        fields.extend(extra);
    }
    fields
}

fn in_session(context: &ToolContext, change: &Change) -> Output {
    let old = context.state.note(&change.name).unwrap_or_default();
    let new = match applied(&old, change) {
        Outcome::Text(text) => text,
        Outcome::Gone => String::new(),
        Outcome::Nothing(why) => return Output::ok(why, fields(change, Value::Null)),
        Outcome::Refused(why) => return Output::failed(why),
    };
    if old.is_empty() && context.state.notes().len() >= MAX_FILES {
        return Output::failed(too_many(change));
    }
    context.state.set_note(&change.name, &new);
    // The whole text, so that a session that is resumed has it again.
    let place = format!("{} of this session", change.name);
    Output::ok(report(change, &place), fields(change, json!({ "text": new })))
}

fn too_many(change: &Change) -> String {
    format!("Nothing was noted: there are {MAX_FILES} files of {} notes already.", change.scope.name())
}

async fn run(context: ToolContext, path: ResolvedPath, change: Change) -> Output {
    for _ in 0..TRIES {
        match attempt(&context, &path, &change).await {
            Err(EditorError::Stale(_) | EditorError::Exists(_)) => {}
            Err(error) => return Output::failed(format!("Nothing was noted: {error}")),
            Ok(output) => return output,
        }
    }
    Output::failed(format!("Nothing was noted: {} changes all the time.", path.shown()))
}

async fn attempt(context: &ToolContext, path: &ResolvedPath, change: &Change) -> Result<Output, EditorError> {
    let editor = context.ports.editor.as_ref();
    let document = match editor.read(path.as_path()).await {
        Ok(document) => Some(document),
        Err(EditorError::NotFound(_)) => None,
        Err(error) => return Err(error),
    };
    let old = document.as_ref().map(|document| document.text.clone()).unwrap_or_default();
    let shown = path.as_path().to_string_lossy();
    let done = |extra: Value| Output::ok(report(change, &shown), fields(change, extra));
    match (applied(&old, change), document) {
        (Outcome::Nothing(why), _) => Ok(Output::ok(why, fields(change, Value::Null))),
        (Outcome::Refused(why), _) => Ok(Output::failed(why)),
        (Outcome::Gone, None) => Ok(Output::failed(format!("There is no {shown}, nothing was deleted."))),
        (Outcome::Gone, Some(_)) => {
            editor.delete(path.as_path()).await?;
            Ok(done(Value::Null))
        }
        (Outcome::Text(text), None) => {
            if memory::names(&context.workplace, change.scope).await.len() >= MAX_FILES {
                return Ok(Output::failed(too_many(change)));
            }
            editor.create(path.as_path(), &text).await?;
            Ok(done(json!({ "saved": true })))
        }
        (Outcome::Text(text), Some(Document { text: old, revision, .. })) => {
            let edits: Vec<TextEdit> = koda_text::diff::minimal(&old, &text);
            let written = editor.edit(path.as_path(), &revision, &edits).await?;
            Ok(done(json!({ "saved": written.saved })))
        }
    }
}
