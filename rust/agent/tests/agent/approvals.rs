//! What must be asked: answers, grants, and nobody to ask.

use koda_agent::{Change, OpenSession};
use koda_protocol::event::{Answer, AskKind};
use koda_protocol::port::Ask;
use koda_protocol::{Event, HunkText, Outcome, Scope, Trust};
use serde_json::json;

use crate::rig::{accepting, bash, edit, rig, write};
use crate::stage::{call, text};

#[tokio::test]
async fn a_rejection_reaches_the_model_with_its_reason() {
    let mut rig = rig();
    rig.model.says([call("1", "Write", write("a", "x"))]);
    rig.model.says([text("Understood.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    let Some(Event::Approval { kind, call, verdict, .. }) = rig.seen.last() else { panic!("{:?}", rig.seen) };
    assert_eq!((*kind, call.tool.as_str(), verdict.reasons.is_empty()), (AskKind::Approval, "Write", false));
    rig.desk.answer(&id, Answer::Reject { reason: Some("not here".to_owned()) }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.results()[0].2.contains("not here"));
    assert_eq!(rig.text_of("a"), None);
    let again = rig.desk.answer(&id, Answer::Reject { reason: None }).unwrap_err();
    assert_eq!(again.code, "unknown_ask");
    rig.check();
}

#[tokio::test]
async fn accepted_for_the_session_is_not_asked_again() {
    let mut rig = rig();
    rig.model.says([call("1", "Write", write("a", "x"))]);
    rig.model.says([call("2", "Write", write("b", "x")), call("3", "Write", write("../c", "x"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let first = rig.asked().await;
    rig.accept(&first, Scope::Session);
    // Only what lies outside still asks.
    let second = rig.asked().await;
    assert_eq!(rig.desk.pending()[0].call.args["path"], "../c");
    rig.desk.answer(&second, Answer::Reject { reason: None }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.text_of("b").is_some());
    rig.check();
}

#[tokio::test]
async fn accepting_one_for_the_session_lets_the_alike_go_that_wait() {
    let mut rig = rig();
    rig.model.says([
        call("1", "Write", write("a", "x")),
        call("2", "Write", write("b", "x")),
        call("3", "Delete", json!({ "path": "c" })),
    ]);
    rig.model.says([text("Done.")]);
    rig.editor.put(rig.root().join("c"), "");
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let [first, _, third] = [rig.asked().await, rig.asked().await, rig.asked().await];
    rig.accept(&first, Scope::Session);
    rig.result("2").await;
    let pending: Vec<_> = rig.desk.pending().into_iter().map(|ask| ask.id).collect();
    assert_eq!(pending.first(), Some(&third));
    assert_eq!(pending.len(), 1, "what destroys is asked for all the same");
    rig.accept(&third, Scope::Session);
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.notices()[0].contains("this once"), "{:?}", rig.notices());
    rig.check();
}

#[tokio::test]
async fn trusting_more_lets_go_what_waits() {
    let mut rig = rig();
    rig.model.says([call("1", "Write", write("a", "x"))]);
    rig.model.says([text("Done.")]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    session.set(Change { trust: Some(Trust::Auto), ..Change::default() });
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("a").as_deref(), Some("x"));
    assert_eq!(rig.desk.answer(&id, Answer::Nobody).unwrap_err().code, "unknown_ask");
    rig.check();
}

#[tokio::test]
async fn a_question_gets_its_answer() {
    let mut rig = rig();
    rig.model.says([call("1", "AskUser", json!({ "question": "which?", "options": ["a", "b"] }))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Plan).prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    assert_eq!(rig.desk.pending()[0].kind, AskKind::Question);
    rig.desk.answer(&id, accepting(Scope::Once, Some("b, please"))).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.results()[0].2.contains("b, please"));
    rig.check();
}

#[tokio::test]
async fn nobody_there_ends_the_turn_with_every_call_answered() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("b"), "b\n");
    rig.model.says([
        call("1", "Write", write("a", "x")),
        call("2", "Read", json!({ "path": "b" })),
        call("3", "AskUser", json!({ "question": "which?" })),
    ]);
    let session = rig.engine.open(OpenSession { unattended: true, ..rig.opening() }).unwrap();
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::NeedsApproval);
    let mut results = rig.results();
    results.sort();
    assert_eq!(results.iter().map(|(_, ok, _)| *ok).collect::<Vec<_>>(), [false, true, false]);
    assert!(results[0].2.contains("approval"));
    assert_eq!(rig.text_of("a"), None);
    rig.probe(&session).await;
    rig.check();
}

#[tokio::test]
async fn what_is_denied_says_why_and_asks_nobody() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("rm -rf /"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Plan).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.results()[0].2.starts_with("Denied"), "{:?}", rig.results());
    assert!(!rig.types().contains(&"approval".to_owned()));
    rig.check();
}

#[tokio::test]
async fn what_was_refused_is_not_asked_again_until_the_user_says_something_new() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("c"), "");
    let delete = |id| call(id, "Delete", json!({ "path": "c" }));
    rig.model.says([delete("1")]);
    rig.model.says([delete("2"), call("3", "Delete", json!({ "path": "./c" }))]);
    rig.model.says([text("I can't.")]);
    let session = rig.open(Trust::Auto);
    session.prompt("go".to_owned(), String::new());
    let first = rig.asked().await;
    rig.desk.answer(&first, Answer::Reject { reason: None }).unwrap();
    // Another call is asked for, and says nothing about the one that was refused.
    let other = rig.asked().await;
    assert_eq!(rig.desk.pending()[0].call.id.as_str(), "3");
    rig.desk.answer(&other, Answer::Reject { reason: None }).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    let results = rig.results();
    let second = &results.iter().find(|(id, ..)| id == "2").unwrap().2;
    assert!(second.contains("rejected this very call"), "{second}");

    rig.model.says([delete("4")]);
    rig.model.says([text("Done.")]);
    session.prompt("do it, I was wrong".to_owned(), String::new());
    let again = rig.asked().await;
    rig.accept(&again, Scope::Once);
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("c"), None);
    rig.check();
}

#[tokio::test]
async fn a_model_that_goes_on_with_denied_calls_is_told_and_then_stopped() {
    let mut rig = rig();
    for n in 0..4 {
        rig.model.says([call(&format!("{n}"), "Bash", bash(&format!("rm -rf {n}")))]);
    }
    rig.open(Trust::Plan).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!(rig.errors(), ["denied"]);
    let told: Vec<bool> = rig.results().iter().map(|(_, _, text)| text.contains("way around")).collect();
    assert_eq!(told, [false, false, true, true]);
    rig.check();
}

/// Accepts some hunks of what waits.
fn some(hunks: &[usize], said: &[(usize, &str)]) -> Answer {
    let said = said.iter().map(|(hunk, text)| HunkText { hunk: *hunk, text: (*text).to_owned() }).collect();
    let hunks = Some(hunks.to_vec());
    Answer::Accept { scope: Scope::Once, text: None, hunks, edited: Vec::new(), said }
}

#[tokio::test]
async fn a_proposal_is_told_untouched_and_only_accepted_hunks_stand() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("f"), "a\nb\nc\n");
    rig.model.says([call(
        "1",
        "Edit",
        json!({ "path": "f", "edits": [
        { "old": "a", "new": "A" }, { "old": "c", "new": "C" } ] }),
    )]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    let Some(Ask { proposal: Some(proposal), .. }) = rig.desk.pending().pop() else { panic!("no proposal") };
    assert_eq!(proposal.hunks.iter().map(|hunk| hunk.line).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(rig.text_of("f").as_deref(), Some("a\nb\nc\n"), "untouched while it waits");
    // The user types meanwhile: the hunk stands where its line is then.
    rig.editor.put(rig.root().join("f"), "new\na\nb\nc\n");
    rig.desk.answer(&id, some(&[2], &[(1, "keep it small")])).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("f").as_deref(), Some("new\na\nb\nC\n"));
    let told = &rig.results()[0].2;
    assert!(told.contains("rejected hunk 1") && told.contains("keep it small"), "{told}");
    rig.check();
}

#[tokio::test]
async fn two_proposals_for_one_file_are_made_one_after_the_other() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("f"), "a\nb\n");
    rig.model.says([call("1", "Edit", edit("f", "a", "A")), call("2", "Edit", edit("f", "b", "B"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let first = rig.asked().await;
    assert_eq!(rig.desk.pending().len(), 1);
    rig.accept(&first, Scope::Once);
    let second = rig.asked().await;
    let proposal = rig.desk.pending()[0].proposal.clone().unwrap();
    assert_eq!((proposal.hunks[0].old.as_str(), proposal.hunks[0].line), ("b\n", 2));
    rig.desk.answer(&second, some(&[], &[])).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("f").as_deref(), Some("A\nb\n"));
    rig.check();
}

#[tokio::test]
async fn accepted_for_the_project_holds_in_its_next_session() {
    let mut rig = rig();
    rig.model.says([call("1", "Write", write("a", "x"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    let id = rig.asked().await;
    assert_eq!(rig.desk.pending()[0].verdict.always.as_deref(), Some("Write in the project"));
    rig.accept(&id, Scope::Project);
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.notices()[0].contains("rule 1"), "{:?}", rig.notices());

    rig.model.says([call("2", "Write", write("b", "x"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.text_of("b").is_some());
    rig.check();
}
