//! Grep: a regular expression over the project's files, on the text that the user sees.

use koda_protocol::Effect;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::json;

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::search::{self, Found, Grep, Show};

/// Matching lines unless the call says otherwise.
const LIMIT: usize = 200;

/// Matching lines at most, whatever the call says.
const MAX_LIMIT: usize = 2_000;

const NAMES: &[(&str, &str)] = &[
    ("query", "pattern"),
    ("regex", "pattern"),
    ("include", "glob"),
    ("include_pattern", "glob"),
    ("-i", "case_insensitive"),
    ("-C", "context"),
    ("output_mode", "output"),
    ("head_limit", "limit"),
];

#[derive(Deserialize)]
struct Args {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    context: usize,
    output: Option<OutputKind>,
    limit: Option<usize>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutputKind {
    #[serde(alias = "content")]
    Lines,
    #[serde(alias = "files_with_matches")]
    Files,
    Count,
}

pub fn entry() -> Entry {
    Entry {
        name: "Grep",
        aliases: &["rg", "grep_search", "ripgrep"],
        description: "Search file contents by regular expression (ripgrep's syntax). Ignored and hidden files are left out; unsaved changes in the editor count. Lines come as `number:text` below their file.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string" },
                "path": { "type": "string", "description": "file or folder; the project if absent" },
                "glob": { "type": "string", "description": "only files like this, e.g. *.rs" },
                "case_insensitive": { "type": "boolean" },
                "literal": { "type": "boolean", "description": "the pattern is plain text" },
                "context": { "type": "integer", "description": "lines around each match" },
                "output": { "type": "string", "enum": ["lines", "files", "count"] },
                "limit": { "type": "integer", "description": "matching lines at most, 200 if absent" }
            },
            "required": ["pattern"]
        }),
        prepare: |args, place| {
            let mut fields = object(args)?;
            rename(&mut fields, PATH_NAMES);
            rename(&mut fields, NAMES);
            let args: Args = read(fields.into())?;
            if args.pattern.is_empty() {
                return Err("`pattern`: it is empty".to_owned());
            }
            let path = place.resolve(args.path.as_deref().filter(|path| !path.is_empty()).unwrap_or("."))?;
            if let Some(pattern) = &args.glob {
                search::glob(pattern).map_err(|error| format!("`glob`: {error}"))?;
            }
            Ok(Job::new({
                let path = path.clone();
                move |context| run(context, path, args)
            })
            .reads(&path))
        },
    }
}

async fn run(context: ToolContext, path: ResolvedPath, args: Args) -> Output {
    if !path.as_path().exists() {
        return Output::failed(format!("There is no {} to search in.", path.shown()));
    }
    // Without the buffers' texts the result would be of another text than the user sees.
    let unsaved = match context.ports.editor.unsaved().await {
        Ok(unsaved) => unsaved,
        Err(error) => return Output::failed(format!("The search did not run: {error}")),
    };
    let grep = Grep {
        base: path.as_path().to_owned(),
        pattern: args.pattern,
        literal: args.literal,
        ignore_case: args.case_insensitive,
        context: args.context.min(20),
        glob: args.glob.as_deref().and_then(|pattern| search::glob(pattern).ok()),
        show: match args.output {
            Some(OutputKind::Files) => Show::Files,
            Some(OutputKind::Count) => Show::Count,
            Some(OutputKind::Lines) | None => Show::Lines,
        },
        limit: args.limit.unwrap_or(LIMIT).clamp(1, MAX_LIMIT),
        unsaved,
    };
    let (show, cancel) = (grep.show, context.cancel.clone());
    match tokio::task::spawn_blocking(move || search::grep(&grep, &cancel)).await {
        Ok(Ok(found)) => report(&path, show, &found),
        Ok(Err(error)) => Output::failed(format!("`pattern`: {error}")),
        Err(error) => Output::failed(format!("The search failed: {error}")),
    }
}

fn report(path: &ResolvedPath, show: Show, found: &Found) -> Output {
    let matches: usize = found.files.iter().map(|file| file.matches).sum();
    let fields = json!({ "matches": matches, "files": found.files.len(), "capped": found.capped });
    if matches == 0 {
        return Output::ok(format!("No matches in {}.", path.shown()), fields);
    }
    let mut text = String::new();
    for file in &found.files {
        let name = file.path.to_string_lossy();
        match show {
            Show::Lines => text.push_str(&format!("{name}\n{}\n", file.text)),
            Show::Files => text.push_str(&format!("{name}\n")),
            Show::Count => text.push_str(&format!("{name}: {}\n", file.matches)),
        }
    }
    let what = if show == Show::Files { "" } else { &format!("{matches} matching lines in ") };
    text.push_str(&format!("[{what}{} files", found.files.len()));
    text.push_str(if found.capped { "; stopped at the limit, there may be more]" } else { "]" });
    Output::ok(text, fields)
}
