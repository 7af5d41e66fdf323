//! Glob: files by the pattern of their path.

use koda_protocol::Effect;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::json;

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::search;

/// Paths shown; more are counted.
const SHOWN: usize = 500;

#[derive(Deserialize)]
struct Args {
    pattern: String,
    path: Option<String>,
}

pub fn entry() -> Entry {
    Entry {
        name: "Glob",
        aliases: &["file_glob_search", "glob_search"],
        description: "Find files by glob, e.g. src/**/*.rs; a pattern without a slash matches names at any depth. Ignored and hidden files are left out.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string" },
                "path": { "type": "string", "description": "folder; the project if absent" }
            },
            "required": ["pattern"]
        }),
        prepare: |args, place| {
            let mut fields = object(args)?;
            rename(&mut fields, PATH_NAMES);
            rename(&mut fields, &[("glob_pattern", "pattern"), ("glob", "pattern")]);
            let args: Args = read(fields.into())?;
            search::glob(&args.pattern).map_err(|error| format!("`pattern`: {error}"))?;
            let path = place.resolve(args.path.as_deref().filter(|path| !path.is_empty()).unwrap_or("."))?;
            Ok(Job::new({
                let path = path.clone();
                move |context| run(context, path, args.pattern)
            })
            .reads(&path))
        },
    }
}

async fn run(context: ToolContext, path: ResolvedPath, pattern: String) -> Output {
    if !path.as_path().is_dir() {
        return Output::failed(format!("{} is no folder.", path.shown()));
    }
    let matcher = match search::glob(&pattern) {
        Ok(matcher) => matcher,
        Err(error) => return Output::failed(format!("`pattern`: {error}")),
    };
    let (base, cancel) = (path.as_path().to_owned(), context.cancel.clone());
    let found = match tokio::task::spawn_blocking(move || search::files(&base, &matcher, &cancel)).await {
        Ok(found) => found,
        Err(error) => return Output::failed(format!("The search failed: {error}")),
    };
    let total = found.len();
    let mut text: String =
        found.iter().take(SHOWN).map(|path| format!("{}\n", path.to_string_lossy())).collect();
    match total {
        0 => text = format!("No files match {pattern} in {}.", path.shown()),
        _ if total > SHOWN => text.push_str(&format!("[{SHOWN} of {total} files: narrow the pattern]")),
        _ => text.push_str(&format!("[{total} files]")),
    }
    Output::ok(text, json!({ "files": total, "capped": total > SHOWN }))
}
