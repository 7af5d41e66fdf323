//! What a model is told before the conversation.

use koda_agent::Change;
use koda_protocol::{Mode, Outcome, Part, Trust};
use serde_json::json;

use crate::rig::{Rig, rig};
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
    assert!(system.contains("[cut: the file is longer") && system.len() < 32 * 1024);
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
