//! ActivateSkill: the instructions of a skill.

use std::path::Path;

use koda_protocol::Effect;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::skills::Skills;

/// Names of files that lie beside the instructions and are told.
const MAX_FILES: usize = 40;

#[derive(Deserialize)]
struct Args {
    name: String,
}

pub fn entry() -> Entry {
    Entry {
        name: "ActivateSkill",
        aliases: &["activate_skill", "read_skill", "skill"],
        description: "Load the instructions of a skill, then follow them. Files that it names lie in its folder; Read them there.",
        effect: Effect::Internal,
        schema: json!({
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"]
        }),
        prepare: |args, _| {
            let mut fields = object(args)?;
            rename(&mut fields, &[("skill_name", "name"), ("skillName", "name"), ("skill", "name")]);
            let args: Args = read(fields.into())?;
            Ok(Job::new(move |context| run(context, args.name)))
        },
    }
}

async fn run(context: ToolContext, name: String) -> Output {
    let found = Skills::find(&context.workplace).await;
    let skill = match found.named(&name) {
        Ok(skill) => skill,
        Err(problem) => return Output::failed(problem),
    };
    let folder = skill.path.parent().unwrap_or(Path::new("/")).to_owned();
    let files = tokio::task::spawn_blocking({
        let folder = folder.clone();
        move || beside(&folder)
    });
    let files = files.await.unwrap_or_default();
    let mut text = format!("Skill {} (in {}):\n\n{}", skill.name, folder.display(), skill.body);
    if !files.is_empty() {
        text.push_str(&format!("\n\nBeside it: {}", files.join(", ")));
    }
    let path = skill.path.to_string_lossy();
    Output::ok(text, json!({ "skill": skill.name, "path": path, "files": files }))
}

/// The files in a skill's folder and one below, relative to it, sorted.
fn beside(folder: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder).max_depth(Some(2)).sort_by_file_path(Path::cmp).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let names = files.filter_map(|entry| {
        let relative = entry.path().strip_prefix(folder).ok()?;
        (relative != Path::new("SKILL.md")).then(|| relative.to_string_lossy().into_owned())
    });
    names.take(MAX_FILES).collect()
}
