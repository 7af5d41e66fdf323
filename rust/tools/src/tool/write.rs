//! Write: a new file, or all of a file that the model has seen.

use koda_protocol::port::EditorError;
use koda_protocol::{Document, Effect, LineEnd, Proposal, TextFormat};
use koda_text::diff;
use koda_text::edit::placeholder;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::{Value, json};

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::review::{self, Standing};

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
            let (target, content) = (path.clone(), args.content.clone());
            let job = Job::new({
                let path = path.clone();
                move |context| run(context, path, args)
            });
            Ok(job.writes(&path).proposes(move |context| propose(context, target.clone(), content.clone())))
        },
    }
}

async fn propose(context: ToolContext, path: ResolvedPath, content: String) -> Option<Proposal> {
    match context.ports.editor.read(path.as_path()).await {
        Err(EditorError::NotFound(_)) => Some(review::proposal(&path, None, &content)),
        Err(_) => None,
        Ok(document) => {
            let content = in_format(&content, &document.format);
            Some(review::proposal(&path, Some(&document.text), &content))
        }
    }
}

/// What came of a review, before anything is written; an error if nothing of it stands.
fn reviewed(context: &ToolContext, path: &ResolvedPath, old: &str, new: &str) -> Result<Standing, Output> {
    let standing = review::settle(context.review.as_ref(), old, new);
    if standing.partly && standing.hunks.is_empty() {
        let text = format!("Nothing was written to {}.\n{}", path.shown(), standing.report);
        return Err(Output::failed(text));
    }
    Ok(standing)
}

/// The line that a review adds to a report.
fn said(standing: &Standing) -> String {
    if standing.report.is_empty() { String::new() } else { format!("\n{}", standing.report) }
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
    let standing = match reviewed(context, path, "", content) {
        Ok(standing) => standing,
        Err(nothing) => return nothing,
    };
    let content = standing.text.as_str();
    match context.ports.editor.create(path.as_path(), content).await {
        Ok(written) => {
            context.state.saw(path.as_path(), &written.revision);
            let lines = content.lines().count();
            let text = format!(
                "Created {}: {lines} lines, {} bytes.{}",
                path.shown(),
                content.len(),
                said(&standing)
            );
            Output::ok(text, fields(context, path, None, content, true))
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
    if *content == *document.text {
        return Output::ok(format!("{} has this content already.", path.shown()), Value::Null);
    }
    let standing = match reviewed(context, path, &document.text, content) {
        Ok(standing) => standing,
        Err(nothing) => return nothing,
    };
    let edits = diff::minimal(&document.text, &standing.text);
    match context.ports.editor.edit(path.as_path(), &document.revision, &edits).await {
        Ok(written) => {
            context.state.saw(path.as_path(), &written.revision);
            let saved =
                if written.saved { "" } else { " It is not saved: the user has unsaved changes in it." };
            let how = if standing.partly { " in part" } else { "" };
            let text = format!("Replaced {}{how}.{saved}{}", path.shown(), said(&standing));
            let after = written.reformatted.as_deref().unwrap_or(&standing.text);
            Output::ok(text, fields(context, path, Some(&document.text), after, written.saved))
        }
        Err(error) => Output::failed(format!("Nothing was written: {error}")),
    }
}

/// The content with the `\n` that a document's text has, where the file's format brings its `\r`.
fn in_format(content: &str, format: &TextFormat) -> String {
    if format.line_end == LineEnd::CrLf { content.replace("\r\n", "\n") } else { content.to_owned() }
}

fn fields(context: &ToolContext, path: &ResolvedPath, old: Option<&str>, new: &str, saved: bool) -> Value {
    let mut fields = json!({
        "path": path.shown(),
        "created": old.is_none(),
        "saved": saved,
        "diff": super::edit::shown_diff(old.unwrap_or_default(), new, path.shown()),
    });
    let kept = review::history(path, old.unwrap_or_default(), new, context.review.is_some());
    if let (Value::Object(fields), Value::Object(kept)) = (&mut fields, kept) {
        fields.extend(kept);
    }
    fields
}
