//! ListSkills: what skills there are, and which can't be used.

use koda_protocol::Effect;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::read;
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};
use crate::skills::{Broken, Skill, Skills};

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    query: String,
}

pub fn entry() -> Entry {
    Entry {
        name: "ListSkills",
        aliases: &["list_skills"],
        description: "List the skills that can be activated now, with what is wrong with broken ones.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": { "query": { "type": "string", "description": "words that name or description have" } }
        }),
        prepare: |args, _| {
            let args: Args = read(args)?;
            Ok(Job::new(move |context| run(context, args.query)))
        },
    }
}

async fn run(context: ToolContext, query: String) -> Output {
    let found = Skills::find(&context.workplace).await;
    let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let matches = |skill: &&Skill| {
        let text = format!("{} {}", skill.name, skill.description).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let skills: Vec<&Skill> = found.offered().filter(matches).collect();
    let mut lines: Vec<String> = skills.iter().map(|skill| line(skill)).collect();
    if lines.is_empty() {
        lines.push("There are no such skills.".to_owned());
    }
    lines.extend(
        found
            .broken
            .iter()
            .map(|Broken { path, problem }| format!("Can't be used: {}: {problem}", path.display())),
    );
    let names: Vec<_> = skills.iter().map(|skill| &skill.name).collect();
    Output::ok(lines.join("\n"), json!({ "skills": names, "broken": found.broken.len() }))
}

fn line(skill: &Skill) -> String {
    let whose = if skill.of_project { "project" } else { "user" };
    format!("- {} ({whose}): {}", skill.name, skill.description.replace('\n', " "))
}
