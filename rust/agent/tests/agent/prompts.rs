//! What a model is told before the conversation.

use std::path::Path;

use koda_agent::{Change, InstructionSettings, OpenSession};
use koda_protocol::{Mode, Outcome, Part, Trust};
use serde_json::json;

use crate::rig::{Rig, Setup, rig};
use crate::stage::{call, text};

async fn system(rig: &mut Rig) -> String {
    let session = rig.open(Trust::Safe);
    rig.probe(&session).await;
    rig.last_request().system
}

#[tokio::test]
async fn it_names_the_project_the_system_and_the_day() {
    let mut rig = rig();
    let system = system(&mut rig).await;
    for part in [&*rig.root().to_string_lossy(), "System: test", "Today: 2024-02-29"] {
        assert!(system.contains(part), "{system}");
    }
}

#[tokio::test]
async fn it_has_the_projects_rules_as_the_user_sees_them_up_to_a_limit() {
    let mut rig = rig();
    rig.editor.put_unsaved(rig.root().join("AGENTS.md"), "Use tabs, unsaved.");
    rig.editor.put(rig.root().join("KODA.md"), &"ä".repeat(50_000));
    let system = system(&mut rig).await;
    assert!(system.contains("Use tabs, unsaved."));
    assert!(system.contains("[cut: the file is longer") && system.len() < 20 * 1024);
}

#[tokio::test]
async fn with_all_tools_it_stays_under_its_budget_of_tokens() {
    let mut rig = rig();
    let session = rig.open(Trust::Safe);
    rig.probe(&session).await;
    let request = rig.last_request();
    let tools = serde_json::to_string(&request.tools).unwrap();
    let counter = tiktoken_rs::o200k_base().unwrap();
    let tokens = counter.encode_ordinary(&request.system).len() + counter.encode_ordinary(&tools).len();
    assert!(!request.tools.is_empty() && tokens < 6_000, "{tokens} tokens");
}

#[tokio::test]
async fn its_parts_have_names() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("AGENTS.md"), "Use tabs.");
    let session = rig.open(Trust::Auto);
    let parts = session.system_prompt().await;
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["koda", "mode", "trust", "project", "AGENTS.md"]);
    assert!(parts[2].text.contains("Trust: auto"));
    assert_eq!(parts[4].text, "Instructions from AGENTS.md:\nUse tabs.");
    rig.probe(&session).await;
    assert!(parts.iter().all(|part| rig.last_request().system.contains(&part.text)));
}

/// A session in `pkg` of a repository, with a folder of the user's own beside it.
fn nested_rig(config: &Path) -> Rig {
    let instructions =
        InstructionSettings { config: Some(config.to_owned()), ..InstructionSettings::default() };
    let rig = Setup { instructions, ..Setup::default() }.rig();
    std::fs::create_dir_all(rig.root().join(".git")).unwrap();
    std::fs::create_dir_all(rig.root().join("pkg/deep/er")).unwrap();
    rig
}

#[tokio::test]
async fn instructions_come_from_the_users_folder_the_repository_and_the_sessions_folder() {
    let config = tempfile::tempdir().unwrap();
    let config = config.path().canonicalize().unwrap();
    let mut rig = nested_rig(&config);
    rig.editor.put(config.join("AGENTS.md"), "MINE");
    rig.editor.put(rig.root().join("AGENTS.md"), "TOP");
    rig.editor.put(rig.root().join("CLAUDE.md"), "TOP");
    rig.editor.put(rig.root().join("pkg/KODA.md"), "PKG");
    rig.editor.put(rig.root().join("pkg/deep/AGENTS.md"), "DEEP");
    rig.editor.put(rig.root().join("other/AGENTS.md"), "OTHER");
    let opening = OpenSession { root: rig.root().join("pkg"), ..rig.opening() };
    let session = rig.engine.open(opening).unwrap();
    rig.probe(&session).await;
    let system = rig.last_request().system;
    let places: Vec<usize> = ["MINE", "TOP", "PKG"].map(|text| system.find(text).expect(text)).to_vec();
    assert!(places.is_sorted(), "{system}");
    assert_eq!(system.matches("TOP").count(), 1, "the same text is told once");
    assert!(!system.contains("DEEP") && !system.contains("OTHER"));
}

#[tokio::test]
async fn includes_are_followed_in_the_project_and_the_users_folder_only() {
    let (config, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = config.path().canonicalize().unwrap();
    let secret = outside.path().canonicalize().unwrap().join("secret.md");
    let mut rig = nested_rig(&config);
    let text =
        format!("START see @docs/a.md, @{}, @{}/own.md and @nobody", secret.display(), config.display());
    rig.editor.put(rig.root().join("AGENTS.md"), &text);
    rig.editor.put(rig.root().join("docs/a.md"), "STYLE, and @b.md");
    rig.editor.put(rig.root().join("docs/b.md"), "CIRCLE to @a.md and @../AGENTS.md");
    rig.editor.put(config.join("own.md"), "OWN");
    rig.editor.put(&secret, "SECRET");
    let system = system(&mut rig).await;
    for once in ["START", "STYLE", "CIRCLE", "OWN"] {
        assert_eq!(system.matches(once).count(), 1, "{once}: {system}");
    }
    assert!(!system.contains("SECRET") && system.contains("docs/b.md (included by docs/a.md)"), "{system}");
}

#[tokio::test]
async fn cursors_rules_are_told_where_the_setting_asks_for_them() {
    for cursor in [false, true] {
        let instructions = InstructionSettings { cursor, ..InstructionSettings::default() };
        let mut rig = Setup { instructions, ..Setup::default() }.rig();
        std::fs::create_dir_all(rig.root().join(".cursor/rules")).unwrap();
        std::fs::write(rig.root().join(".cursor/rules/a.mdc"), "").unwrap();
        rig.editor.put(rig.root().join(".cursor/rules/a.mdc"), "---\nalwaysApply: true\n---\nRULE");
        rig.editor.put(rig.root().join(".cursorrules"), "OLD");
        let system = system(&mut rig).await;
        assert_eq!((system.contains("RULE"), system.contains("OLD")), (cursor, cursor));
    }
}

#[tokio::test]
async fn none_are_told_where_their_limit_is_nothing() {
    let instructions = InstructionSettings { max_bytes: 0, ..InstructionSettings::default() };
    let mut rig = Setup { instructions, ..Setup::default() }.rig();
    rig.editor.put(rig.root().join("AGENTS.md"), "TOP");
    assert!(!system(&mut rig).await.contains("TOP"));
}

#[tokio::test]
async fn nested_ones_come_once_with_the_first_result_of_their_folder() {
    let config = tempfile::tempdir().unwrap();
    let mut rig = nested_rig(config.path());
    for (path, text) in [("AGENTS.md", "TOP"), ("pkg/AGENTS.md", "OUTER"), ("pkg/deep/KODA.md", "INNER")] {
        rig.editor.put(rig.root().join(path), text);
    }
    rig.editor.put(rig.root().join("pkg/deep/a.rs"), "fn a() {}");
    rig.editor.put(rig.root().join("pkg/b.rs"), "fn b() {}");
    let read = |id: &str, path: &str| call(id, "Read", json!({ "path": path }));
    rig.model.says([read("1", "pkg/deep/a.rs")]);
    rig.model.says([read("2", "pkg/b.rs"), read("3", "pkg/deep/a.rs")]);
    rig.model.says([text("Done.")]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let results = rig.results();
    let told = |index: usize| -> Vec<usize> {
        let result: &(String, bool, String) = &results[index];
        ["OUTER", "INNER"].into_iter().filter_map(|text| result.2.find(text)).collect()
    };
    assert!(told(0).len() == 2 && told(0).is_sorted(), "{results:?}");
    assert!(told(1).is_empty() && told(2).is_empty(), "{results:?}");
    assert!(results.iter().all(|(_, _, text)| !text.contains("TOP")), "{results:?}");
    assert_eq!(rig.notices(), ["Instructions read: pkg/AGENTS.md, pkg/deep/KODA.md"]);

    rig.editor.put(rig.root().join("pkg/AGENTS.md"), "CHANGED");
    rig.model.says([read("4", "pkg/b.rs")]);
    rig.probe(&session).await;
    assert!(rig.results()[3].2.contains("CHANGED"), "what changed is told again");
}

#[cfg(unix)]
#[tokio::test]
async fn rules_that_are_a_link_out_of_the_project_are_not_told() {
    let mut rig = rig();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().canonicalize().unwrap().join("secret");
    std::fs::write(&secret, "").unwrap();
    rig.editor.put(&secret, "the secret itself");
    std::os::unix::fs::symlink(&secret, rig.root().join("AGENTS.md")).unwrap();
    assert!(!system(&mut rig).await.contains("the secret itself"));
}

#[tokio::test]
async fn it_stays_the_same_from_step_to_step_and_changes_with_the_mode() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("AGENTS.md"), "Rule one.");
    rig.model.says([call("1", "Think", json!({ "thought": "so" }))]);
    rig.model.says([text("Done.")]);
    let session = rig.open(Trust::Auto);
    session.prompt("go".to_owned(), "selected text".to_owned());
    assert_eq!(rig.end().await, Outcome::Done);
    rig.editor.put(rig.root().join("AGENTS.md"), "Rule two.");
    rig.probe(&session).await;
    session.set(Change { mode: Some(Mode::Plan), ..Change::default() });
    rig.probe(&session).await;
    let systems: Vec<String> = rig.model.requests().into_iter().map(|request| request.system).collect();
    assert!(systems[0] == systems[1] && systems[1] == systems[2]);
    assert!(systems[0].contains("Rule one.") && !systems[0].contains("selected text"));
    assert!(systems[3].contains("You are planning"), "{}", systems[3]);
}

#[tokio::test]
async fn what_the_user_selected_comes_before_what_they_say() {
    let mut rig = rig();
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("explain".to_owned(), "a.rs:1-2".to_owned());
    assert_eq!(rig.end().await, Outcome::Done);
    let text = |text: &str| Part::Text { text: text.to_owned() };
    assert_eq!(rig.last_request().messages[0].parts, [text("a.rs:1-2"), text("explain")]);
}

#[tokio::test]
async fn it_has_the_notes_of_earlier_sessions() {
    let mut rig = rig();
    let notes = rig.root().join(".koda/memories");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("build.md"), "").unwrap();
    rig.editor.put(notes.join("build.md"), "- Tests run by make test, unsaved.\n");
    let system = system(&mut rig).await;
    assert!(system.contains("build.md (project):\n- Tests run by make test, unsaved."), "{system}");
}

#[tokio::test]
async fn it_lists_skills_by_what_they_are_for() {
    let mut rig = rig();
    let skill = rig.root().join(".koda/skills/deploy");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\ndescription: Goes live\n---\nThe body.").unwrap();
    let system = system(&mut rig).await;
    assert!(system.contains("- deploy: Goes live") && !system.contains("The body."), "{system}");
}
