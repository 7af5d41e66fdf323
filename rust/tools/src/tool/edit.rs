//! Edit: exact replacements in one file, each rejected or applied on its own.

use koda_protocol::port::{Diagnostic, Severity, Written};
use koda_protocol::{Document, Effect, Proposal};
use koda_text::cut::{self, Limits};
use koda_text::diff;
use koda_text::edit::{Applied, Plan, Reason, Rejected, Replacement, Rung, plan};
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::review::{self, Standing};

/// A diff for people is cut here; the change itself never is.
const DIFF: Limits = Limits { lines: 400, bytes: 20 * 1024 };

const EDIT_NAMES: &[(&str, &str)] = &[
    ("old_string", "old"),
    ("old_str", "old"),
    ("old_text", "old"),
    ("new_string", "new"),
    ("new_str", "new"),
    ("new_text", "new"),
    ("replace_all", "all"),
];

#[derive(Deserialize)]
struct Args {
    path: String,
    edits: Vec<Replacement>,
}

pub fn entry() -> Entry {
    Entry {
        name: "Edit",
        aliases: &["edit_file", "str_replace", "replace_in_file"],
        description: "Change one file: replace each `old`, copied exactly from the file as it is now (without line numbers) and unique in it, by `new`; an empty `new` deletes. All edits of a call are found in the same text and may not overlap; one that can't be applied is rejected, the rest apply. Read the file first.",
        effect: Effect::Mutate,
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "edits": { "type": "array", "minItems": 1, "items": {
                    "type": "object",
                    "properties": {
                        "old": { "type": "string" },
                        "new": { "type": "string" },
                        "all": { "type": "boolean", "description": "replace every occurrence" }
                    },
                    "required": ["old", "new"]
                } }
            },
            "required": ["path", "edits"]
        }),
        prepare: |args, place| {
            let args: Args = read(canonical(object(args)?).into())?;
            if args.edits.is_empty() {
                return Err("`edits`: there are none".to_owned());
            }
            let path = place.resolve(&args.path)?;
            let job = Job::new({
                let (path, edits) = (path.clone(), args.edits.clone());
                move |context| run(context, path, edits)
            });
            Ok(job.writes(&path).proposes(move |context| propose(context, path.clone(), args.edits.clone())))
        },
    }
}

/// Gives the sibling products' shapes the canonical one: other names, one edit without the list.
fn canonical(mut fields: Map<String, Value>) -> Map<String, Value> {
    rename(&mut fields, PATH_NAMES);
    rename(&mut fields, &[("replacements", "edits")]);
    rename(&mut fields, EDIT_NAMES);
    if !fields.contains_key("edits") && fields.contains_key("old") {
        let mut edit = Map::new();
        for name in ["old", "new", "all"] {
            if let Some(value) = fields.shift_remove(name) {
                edit.insert(name.to_owned(), value);
            }
        }
        fields.insert("edits".to_owned(), json!([edit]));
    }
    if let Some(Value::Array(edits)) = fields.get_mut("edits") {
        edits.iter_mut().filter_map(Value::as_object_mut).for_each(|edit| rename(edit, EDIT_NAMES));
    }
    fields
}

async fn propose(context: ToolContext, path: ResolvedPath, wishes: Vec<Replacement>) -> Option<Proposal> {
    let document = context.ports.editor.read(path.as_path()).await.ok()?;
    let wishes: Vec<_> = wishes.into_iter().map(|wish| wish.for_format(&document.format)).collect();
    let plan = plan(&document.text, &wishes);
    let after = (!plan.applied.is_empty()).then(|| changed(&document.text, &plan))?;
    Some(review::proposal(&path, Some(&document.text), &after))
}

async fn run(context: ToolContext, path: ResolvedPath, wishes: Vec<Replacement>) -> Output {
    let editor = &context.ports.editor;
    let document = match editor.read(path.as_path()).await {
        Ok(document) => document,
        Err(error) => return Output::failed(format!("Nothing was changed: {error}")),
    };
    let wishes: Vec<_> = wishes.into_iter().map(|wish| wish.for_format(&document.format)).collect();
    let mut plan = plan(&document.text, &wishes);
    if plan.applied.is_empty() {
        let text = format!("Nothing was changed in {}.\n{}", path.shown(), rejections(&plan));
        return Output { data: data(&path, &plan, None, &[]), ..Output::failed(text) };
    }
    let standing = review::settle(context.review.as_ref(), &document.text, &changed(&document.text, &plan));
    if standing.partly {
        keep(&mut plan, &standing, &document.text);
        if plan.edits.is_empty() {
            let text = format!("Nothing was changed in {}.\n{}", path.shown(), standing.report);
            let fields = data(&path, &plan, None, &[]);
            return Output { data: fields, ..Output::failed(text) };
        }
    }
    let before = diagnostics(&context, &path).await;
    match editor.edit(path.as_path(), &document.revision, &plan.edits).await {
        Ok(written) => {
            context.state.edited(path.as_path(), &document.revision, &written.revision);
            let after = only_new(&before, diagnostics(&context, &path).await);
            report(&context, &path, &document, &plan, &standing, &written, &after)
        }
        Err(error) => Output::failed(format!("Nothing was changed: {error}. Read the file again.")),
    }
}

async fn diagnostics(context: &ToolContext, path: &ResolvedPath) -> Vec<Diagnostic> {
    // A failing language server must not fail the edit; it then has nothing to say.
    context.ports.editor.diagnostics(&[path.as_path().to_owned()]).await.unwrap_or_default()
}

/// Leaves out what was there before. An edit moves what stands below it, so lines are not compared.
fn only_new(before: &[Diagnostic], mut after: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut known: Vec<&Diagnostic> = before.iter().collect();
    after.retain(|found| {
        let same = |old: &&Diagnostic| {
            (&old.path, old.severity, &old.message, &old.source)
                == (&found.path, found.severity, &found.message, &found.source)
        };
        let at = known.iter().position(same);
        at.map(|at| known.swap_remove(at)).is_none()
    });
    after
}

/// Tells what was done, in text and in fields.
fn report(
    context: &ToolContext,
    path: &ResolvedPath,
    document: &Document,
    plan: &Plan,
    standing: &Standing,
    written: &Written,
    found: &[Diagnostic],
) -> Output {
    let mut text = match standing.partly {
        true => format!("Changed {} in part.", path.shown()),
        false => format!("Changed {}: {}.", path.shown(), applications(plan)),
    };
    if !standing.report.is_empty() {
        text.push_str(&format!("\n{}", standing.report));
    }
    if !written.saved {
        text.push_str("\nIt is not saved: the user has unsaved changes in this buffer.");
    }
    if written.reformatted.is_some() {
        text.push_str(
            "\nSaving ran a formatter, which changed more: Read the file before you edit it again.",
        );
    }
    if !plan.rejected.is_empty() {
        text.push_str(&format!("\nNot applied:\n{}", rejections(plan)));
    }
    if !found.is_empty() {
        let lines: Vec<String> = found.iter().map(diagnostic).collect();
        text.push_str(&format!("\nNew diagnostics:\n{}", lines.join("\n")));
    }
    let after = written.reformatted.as_deref().unwrap_or(&standing.text);
    let mut fields = data(path, plan, Some(written), found);
    if let Value::Object(fields) = &mut fields {
        fields.insert("diff".to_owned(), json!(shown_diff(&document.text, after, path.shown())));
        let kept = review::history(path, &document.text, after, context.review.is_some());
        fields.extend(kept.as_object().cloned().unwrap_or_default());
    }
    Output::ok(text, fields)
}

/// Takes out of a plan what the user did not let stand.
fn keep(plan: &mut Plan, standing: &Standing, text: &str) {
    let (kept, left): (Vec<_>, Vec<_>) =
        plan.applied.drain(..).partition(|edit| edit.lines.iter().all(|&line| standing.keeps(line)));
    plan.applied = kept;
    plan.rejected
        .extend(left.into_iter().map(|edit| Rejected { position: edit.position, reason: Reason::User }));
    plan.rejected.sort_by_key(|edit| edit.position);
    plan.edits = diff::minimal(text, &standing.text);
}

fn changed(text: &str, plan: &Plan) -> String {
    let mut result = text.to_owned();
    for edit in plan.edits.iter().rev() {
        result.replace_range(edit.range.clone(), &edit.new);
    }
    result
}

/// A unified diff for people, cut to what they would read.
pub fn shown_diff(old: &str, new: &str, path: &str) -> String {
    cut::head(&diff::unified(old, new, path, 3), DIFF).text
}

fn applications(plan: &Plan) -> String {
    let one = |edit: &Applied| {
        let times = if edit.count == 1 { String::new() } else { format!(" ({} times)", edit.count) };
        let loosely = match edit.rung {
            Rung::Exact => String::new(),
            loose => format!(", matched loosely ({})", loose.name().replace('_', " ")),
        };
        let lines: Vec<String> = edit.lines.iter().map(ToString::to_string).collect();
        let more = if edit.count > edit.lines.len() { " ..." } else { "" };
        format!("edit {} at line {}{more}{times}{loosely}", edit.position, lines.join(", "))
    };
    plan.applied.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn rejections(plan: &Plan) -> String {
    let lines = plan.rejected.iter().map(|edit| format!("edit {}: {}", edit.position, edit.reason));
    lines.collect::<Vec<_>>().join("\n")
}

fn diagnostic(found: &Diagnostic) -> String {
    let severity = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
        Severity::Hint => "hint",
    };
    format!("line {}: {severity}: {}", found.line, found.message)
}

fn data(path: &ResolvedPath, plan: &Plan, written: Option<&Written>, found: &[Diagnostic]) -> Value {
    let rung = plan.applied.iter().map(|edit| edit.rung).max();
    let lines: Vec<usize> = plan.applied.iter().flat_map(|edit| edit.lines.clone()).collect();
    json!({
        "path": path.shown(),
        "applied": plan.applied.iter().map(|edit| edit.position).collect::<Vec<_>>(),
        "rejected": plan.rejected,
        "rung": rung,
        "lines": lines,
        "details": plan.applied,
        "saved": written.map(|written| written.saved),
        "reformatted": written.is_some_and(|written| written.reformatted.is_some()),
        "diagnostics": found,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: u64, message: &str) -> Diagnostic {
        let (severity, message) = (Severity::Error, message.to_owned());
        Diagnostic { path: "/a".into(), line, column: 1, severity, message, source: None }
    }

    #[test]
    fn a_diagnostic_that_only_moved_is_not_new() {
        let before = [found(2, "old")];
        let after = vec![found(5, "old"), found(6, "old"), found(1, "new")];
        assert_eq!(only_new(&before, after), [found(6, "old"), found(1, "new")]);
    }
}
