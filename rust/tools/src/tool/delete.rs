//! Delete: one file, or an empty folder.

use koda_protocol::Effect;
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::json;

use super::PATH_NAMES;
use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};

#[derive(Deserialize)]
struct Args {
    path: String,
}

pub fn entry() -> Entry {
    Entry {
        name: "Delete",
        aliases: &["delete_file", "remove_file"],
        description: "Delete one file or one empty folder. To remove text but keep the file, use Edit with an empty `new`.",
        effect: Effect::Destroy,
        schema: json!({
            "type": "object",
            "properties": { "path": { "type": "string" } },
            "required": ["path"]
        }),
        prepare: |args, place| {
            let mut fields = object(args)?;
            rename(&mut fields, PATH_NAMES);
            let args: Args = read(fields.into())?;
            let path = place.resolve(&args.path)?;
            if path.as_path() == place.resolver.root() {
                return Err("`path`: the project itself can't be deleted".to_owned());
            }
            Ok(Job::new({
                let path = path.clone();
                move |context| run(context, path)
            })
            .writes(&path))
        },
    }
}

async fn run(context: ToolContext, path: ResolvedPath) -> Output {
    match context.ports.editor.delete(path.as_path()).await {
        Ok(()) => {
            context.state.forget(path.as_path());
            Output::ok(format!("Deleted {}.", path.shown()), json!({ "path": path.shown() }))
        }
        Err(error) => Output::failed(format!("Nothing was deleted: {error}")),
    }
}
