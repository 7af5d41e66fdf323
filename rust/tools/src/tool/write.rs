//! Write: a new file, or all of a file that the model has seen.

use koda_protocol::port::EditorError;
use koda_protocol::{Document, Effect, LineEnd, TextFormat};
use koda_text::diff;
use koda_text::edit::placeholder;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::{Value, json};

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};

#[derive(Deserialize)]
struct Args {
    path: String,
    content: String,
    #[serde(default)]
    overwrite: bool,
}

pub fn entry() -> Entry {
    Entry {
        name: "Write",
        aliases: &["create_file", "create_new_file", "write_file"],
        description: "Create a file with this content, and its folders. An existing file is only replaced with overwrite, after you have Read all of it; prefer Edit for changes.",
        effect: Effect::Mutate,
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "content": { "type": "string" },
                "overwrite": { "type": "boolean" }
            },
            "required": ["path", "content"]
        }),
        prepare: |args, place| {
            let mut fields = object(args)?;
            rename(&mut fields, PATH_NAMES);
            rename(&mut fields, &[("contents", "content"), ("text", "content")]);
            let args: Args = read(fields.into())?;
            let path = place.resolve(&args.path)?;
            Ok(Job::new({
                let path = path.clone();
                move |context| run(context, path, args)
            })
            .writes(&path))
        },
    }
}

async fn run(context: ToolContext, path: ResolvedPath, args: Args) -> Output {
    let shown = path.shown();
    match context.ports.editor.read(path.as_path()).await {
        Err(EditorError::NotFound(_)) => create(&context, &path, &args.content).await,
        Err(error) => Output::failed(format!("Nothing was written: {error}")),
        Ok(_) if !args.overwrite => Output::failed(format!(
            "Nothing was written: {shown} exists. Use Edit to change it, or set `overwrite` to replace all of it."
        )),
        Ok(document) if !context.state.has_seen(path.as_path(), &document.revision) => Output::failed(
            format!("Nothing was written: Read all of {shown} first, so that nothing in it is lost unseen."),
        ),
        Ok(document) => replace(&context, &path, &document, &args.content).await,
    }
}

async fn create(context: &ToolContext, path: &ResolvedPath, content: &str) -> Output {
    match context.ports.editor.create(path.as_path(), content).await {
        Ok(written) => {
            context.state.saw(path.as_path(), &written.revision);
            let lines = content.lines().count();
            let text = format!("Created {}: {lines} lines, {} bytes.", path.shown(), content.len());
            Output::ok(text, fields(path, None, content, true))
        }
        Err(error) => Output::failed(format!("Nothing was written: {error}")),
    }
}

async fn replace(context: &ToolContext, path: &ResolvedPath, document: &Document, content: &str) -> Output {
    if let Some(line) = placeholder(&document.text, content) {
        return Output::failed(format!(
            "Nothing was written: {line:?} stands in place of text. Send all of it, or use Edit for a part."
        ));
    }
    let content = &in_format(content, &document.format);
    let edits = diff::minimal(&document.text, content);
    if edits.is_empty() {
        return Output::ok(format!("{} has this content already.", path.shown()), Value::Null);
    }
    match context.ports.editor.edit(path.as_path(), &document.revision, &edits).await {
        Ok(written) => {
            context.state.saw(path.as_path(), &written.revision);
            let saved =
                if written.saved { "" } else { " It is not saved: the user has unsaved changes in it." };
            let text = format!("Replaced {}.{saved}", path.shown());
            Output::ok(text, fields(path, Some(&document.text), content, written.saved))
        }
        Err(error) => Output::failed(format!("Nothing was written: {error}")),
    }
}

/// The content with the `\n` that a document's text has, where the file's format brings its `\r`.
fn in_format(content: &str, format: &TextFormat) -> String {
    if format.line_end == LineEnd::CrLf { content.replace("\r\n", "\n") } else { content.to_owned() }
}

fn fields(path: &ResolvedPath, old: Option<&str>, new: &str, saved: bool) -> Value {
    json!({
        "path": path.shown(),
        "created": old.is_none(),
        "saved": saved,
        "diff": super::edit::shown_diff(old.unwrap_or_default(), new, path.shown()),
    })
}
