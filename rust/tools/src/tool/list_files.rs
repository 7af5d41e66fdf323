//! ListFiles: what a folder holds.

use koda_protocol::Effect;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::json;

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::search;

#[derive(Deserialize)]
struct Args {
    path: Option<String>,
}

pub fn entry() -> Entry {
    Entry {
        name: "ListFiles",
        aliases: &["ls", "list_files", "list_directory", "list_dir", "list"],
        description: "List a folder: folders end in /, links in @. Ignored files are left out.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": { "path": { "type": "string", "description": "the project if absent" } }
        }),
        prepare: |args, place| {
            let mut fields = object(args)?;
            rename(&mut fields, PATH_NAMES);
            let args: Args = read(fields.into())?;
            let path = place.resolve(args.path.as_deref().filter(|path| !path.is_empty()).unwrap_or("."))?;
            Ok(Job::new({
                let path = path.clone();
                move |_: ToolContext| run(path)
            })
            .reads(&path))
        },
    }
}

async fn run(path: ResolvedPath) -> Output {
    let folder = path.as_path().to_owned();
    match tokio::task::spawn_blocking(move || search::list(&folder)).await {
        Ok(Ok(names)) => {
            let text = format!("{}: {} entries\n{}", path.shown(), names.len(), names.join("\n"));
            Output::ok(text, json!({ "path": path.shown(), "entries": names.len() }))
        }
        Ok(Err(error)) => Output::failed(format!("{} can't be listed: {error}", path.shown())),
        Err(error) => Output::failed(format!("The listing failed: {error}")),
    }
}
