//! Read: a file's lines with their numbers, whole or by ranges.

use std::fmt::Write as _;

use koda_protocol::port::EditorError;
use koda_protocol::{Document, Effect};
use koda_text::Lines;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::search;

/// Lines of a read; more are reached by ranges.
const MAX_LINES: usize = 1_900;

/// Bytes of a read; under the limit of results, so that the note about the rest survives.
const MAX_BYTES: usize = 48 * 1024;

/// Bytes of one line among others; the rest of it is reached by a range of that line alone.
const MAX_LINE: usize = 2_000;

#[derive(Clone, Deserialize)]
struct Range {
    #[serde(alias = "start")]
    start_line: usize,
    #[serde(alias = "end")]
    end_line: Option<usize>,
    /// Bytes of the first line to leave out.
    #[serde(default)]
    skip_bytes: usize,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    #[serde(default)]
    ranges: Vec<Range>,
}

pub fn entry() -> Entry {
    Entry {
        name: "Read",
        aliases: &["read_file", "file_read", "view"],
        description: "Read a file, unsaved changes in the editor included: lines as `number<tab>text`, numbers from 1. Give ranges for parts of a long file.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "ranges": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "start_line": { "type": "integer" },
                        "end_line": { "type": "integer" },
                        "skip_bytes": { "type": "integer", "description": "of a very long first line" }
                    },
                    "required": ["start_line"]
                } }
            },
            "required": ["path"]
        }),
        prepare: |args, place| {
            let args: Args = read(canonical(object(args)?).into())?;
            check(&args.ranges)?;
            let path = place.resolve(&args.path)?;
            Ok(Job::new({
                let path = path.clone();
                move |context| run(context, path, args.ranges)
            })
            .reads(&path))
        },
    }
}

/// Gives other shapes of a single range the canonical one.
fn canonical(mut fields: Map<String, Value>) -> Map<String, Value> {
    rename(&mut fields, PATH_NAMES);
    rename(&mut fields, &[("offset", "start_line"), ("limit", "num_lines")]);
    if fields.get("ranges").is_none_or(Value::is_null) {
        fields.shift_remove("ranges");
        let number = |name: &str| fields.get(name).and_then(Value::as_u64);
        let start = number("start_line").unwrap_or(1).max(1);
        let end = number("end_line").or_else(|| number("num_lines").map(|count| start + count.max(1) - 1));
        if fields.contains_key("start_line") || end.is_some() {
            let range = json!({ "start_line": start, "end_line": end });
            fields.insert("ranges".to_owned(), json!([range]));
        }
    }
    fields
}

fn check(ranges: &[Range]) -> Result<(), String> {
    for (at, range) in ranges.iter().enumerate() {
        if range.start_line == 0 {
            return Err(format!("`ranges[{at}].start_line`: lines count from 1"));
        }
        if let Some(end) = range.end_line.filter(|end| *end < range.start_line) {
            return Err(format!("`ranges[{at}]`: it ends ({end}) before it starts ({})", range.start_line));
        }
    }
    Ok(())
}

async fn run(context: ToolContext, path: ResolvedPath, ranges: Vec<Range>) -> Output {
    match context.ports.editor.read(path.as_path()).await {
        Ok(document) => show(&context, &path, &document, &ranges),
        Err(EditorError::NotFound(_)) => missing(&context, &path).await,
        Err(EditorError::IsDirectory(_)) => {
            Output::failed(format!("{} is a directory: use ListFiles.", path.shown()))
        }
        Err(EditorError::Binary(_)) => {
            Output::failed(format!("{} is a binary file: it can't be read as text.", path.shown()))
        }
        Err(error) => Output::failed(error.to_string()),
    }
}

/// Says that there is no such file, and what may have been meant.
async fn missing(context: &ToolContext, path: &ResolvedPath) -> Output {
    let near = if path.inside() {
        let (root, wanted) = (context.workplace.resolver.root().to_owned(), path.as_path().to_owned());
        let cancel = context.cancel.clone();
        tokio::task::spawn_blocking(move || search::nearby(&root, &wanted, &cancel)).await.unwrap_or_default()
    } else {
        Vec::new()
    };
    let names: Vec<_> = near.iter().map(|path| path.to_string_lossy()).collect();
    let help = match names.as_slice() {
        [] => "Look with ListFiles or Glob.".to_owned(),
        some => format!("Near it: {}.", some.join(", ")),
    };
    Output {
        data: json!({ "near": names }),
        ..Output::failed(format!("There is no file {}. {help}", path.shown()))
    }
}

fn show(context: &ToolContext, path: &ResolvedPath, document: &Document, ranges: &[Range]) -> Output {
    let lines = Lines::new(&document.text);
    let total = lines.count();
    if total == 0 {
        context.state.saw(path.as_path(), &document.revision);
        return Output::ok(format!("{} is empty.", path.shown()), fields(path, document, total, false));
    }
    if let Some(range) = ranges.iter().find(|range| range.start_line > total) {
        return Output::failed(format!("{} has {total} lines, none at {}.", path.shown(), range.start_line));
    }
    let whole = [Range { start_line: 1, end_line: None, skip_bytes: 0 }];
    let mut view = View::default();
    for range in if ranges.is_empty() { &whole } else { ranges } {
        view.add(&lines, range, total);
    }
    if ranges.is_empty() && view.rest.is_none() && !view.cut {
        context.state.saw(path.as_path(), &document.revision);
    }
    let cut = view.rest.is_some();
    if let Some((line, skip)) = view.rest {
        let skip = if skip > 0 { format!(", skip_bytes {skip}") } else { String::new() };
        let _ = writeln!(
            view.text,
            "[cut here: {total} lines in all; go on with a range from start_line {line}{skip}]"
        );
    }
    if document.unsaved {
        view.text.push_str("[the user has unsaved changes in this file; this is the text with them]\n");
    }
    Output::ok(view.text, fields(path, document, total, cut))
}

fn fields(path: &ResolvedPath, document: &Document, total: usize, cut: bool) -> Value {
    json!({
        "path": path.shown(),
        "lines": total,
        "bytes": document.text.len(),
        "unsaved": document.unsaved,
        "cut": cut,
    })
}

/// The numbered lines so far.
#[derive(Default)]
struct View {
    text: String,
    lines: usize,
    /// Whether a line was shortened.
    cut: bool,
    /// Where to go on: line, and bytes of it to skip.
    rest: Option<(usize, usize)>,
}

impl View {
    fn add(&mut self, lines: &Lines<'_>, range: &Range, total: usize) {
        let end = range.end_line.unwrap_or(total).min(total);
        let alone = end == range.start_line;
        for number in range.start_line..=end {
            if self.rest.is_some() {
                return;
            }
            let skip = if number == range.start_line { range.skip_bytes } else { 0 };
            self.line(lines.get(number), number, skip, alone);
        }
    }

    fn line(&mut self, line: &str, number: usize, skip: usize, alone: bool) {
        let line = line.get(line.floor_char_boundary(skip)..).unwrap_or_default();
        let room = MAX_BYTES.saturating_sub(self.text.len());
        let most = if alone { room } else { MAX_LINE };
        let kept = line.get(..line.floor_char_boundary(most)).unwrap_or_default();
        if self.lines >= MAX_LINES || (kept.len() > room && self.lines > 0) {
            self.rest = Some((number, skip));
            return;
        }
        self.lines += 1;
        let _ = writeln!(self.text, "{number}\t{kept}");
        let left = line.len() - kept.len();
        if left > 0 {
            self.cut = true;
            let next = skip + kept.len();
            let _ = writeln!(
                self.text,
                "[line {number} goes on for {left} bytes: read it alone, start_line and end_line {number}, skip_bytes {next}]"
            );
        }
    }
}
