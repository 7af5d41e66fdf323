//! Messages that are typed while a turn runs.

use koda_protocol::port::ModelErrorKind;
use koda_protocol::{Event, HunkState, Judged, JudgedHunk, Outcome, Part, Trust};

use crate::rig::{bash, rig};
use crate::stage::{call, error, stop, text};

#[tokio::test]
async fn they_go_in_at_the_next_step_after_the_results() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("gate one"))]);
    rig.model.says([text("Both.")]);
    let session = rig.open(Trust::Auto);
    session.prompt("first".to_owned(), String::new());
    rig.hall.has_begun("gate one").await;
    session.prompt("second".to_owned(), "b.rs:3".to_owned());
    session.prompt("third".to_owned(), String::new());
    assert_eq!(session.snapshot().queued, 2);
    rig.hall.open("one");
    assert_eq!(rig.end().await, Outcome::Done);
    let sent = rig.last_request().messages.pop().unwrap().parts;
    assert!(matches!(&sent[0], Part::Result(result) if result.id.as_str() == "1"));
    let text = |text: &str| Part::Text { text: text.to_owned() };
    assert_eq!(sent[1..], [text("b.rs:3"), text("second"), text("third")]);
    let order = "queued queued tool_result user_message user_message step_start";
    assert!(rig.types().join(" ").contains(order), "{:?}", rig.types());
    rig.check();
}

#[tokio::test]
async fn one_that_comes_while_the_model_has_its_last_word_begins_a_step() {
    let mut rig = rig();
    let speech = rig.model.is_led();
    rig.model.says([text("That too.")]);
    let session = rig.open(Trust::Safe);
    session.prompt("first".to_owned(), String::new());
    speech.send(text("Done.")).unwrap();
    rig.until(|event| matches!(event, Event::TextDelta { .. })).await;
    session.prompt("second".to_owned(), String::new());
    speech.send(stop()).unwrap();
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.model.requests().len(), 2);
    assert!(rig.last_request().messages[2].text().contains("second"));
    rig.check();
}

#[tokio::test]
async fn after_a_stop_they_wait_for_the_next_prompt() {
    let mut rig = rig();
    rig.model.says([call("1", "Bash", bash("gate one"))]);
    let session = rig.open(Trust::Auto);
    session.prompt("first".to_owned(), String::new());
    rig.hall.has_begun("gate one").await;
    session.prompt("second".to_owned(), String::new());
    session.cancel();
    assert_eq!(rig.end().await, Outcome::Cancelled);
    assert!(rig.notices()[0].contains("next message"), "{:?}", rig.notices());
    assert!(!session.snapshot().running, "stop stops");
    let last = rig.probe(&session).await.pop().unwrap().text();
    assert_eq!(last, "secondprobe");
    assert_eq!(session.snapshot().queued, 0);
    rig.check();
}

#[tokio::test]
async fn after_a_failure_they_wait_too() {
    let mut rig = rig();
    let speech = rig.model.is_led();
    let session = rig.open(Trust::Safe);
    session.prompt("first".to_owned(), String::new());
    speech.send(text("Ha")).unwrap();
    rig.until(|event| matches!(event, Event::TextDelta { .. })).await;
    session.prompt("second".to_owned(), String::new());
    speech.send(Err(error(ModelErrorKind::Cut, "cut off"))).unwrap();
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!(rig.model.requests().len(), 1, "a provider that is down is not asked on and on");
    assert_eq!(rig.probe(&session).await.pop().unwrap().text(), "secondprobe");
    rig.check();
}

#[tokio::test]
async fn each_prompt_of_a_burst_is_answered_in_order() {
    let mut rig = rig();
    // More replies than turns: how many messages a step takes in depends on who is faster.
    (0..60).for_each(|_| rig.model.says([text("Yes.")]));
    let session = rig.open(Trust::Safe);
    for n in 0..50 {
        session.prompt(format!("message {n};"), String::new());
        tokio::task::yield_now().await;
    }
    let last = |event: &Event| matches!(event, Event::UserMessage { text, .. } if text == "message 49;");
    rig.until(last).await;
    assert_eq!(rig.end().await, Outcome::Done);
    let said: String = rig.last_request().messages.iter().map(|message| message.text()).collect();
    let expected: String = (0..50).map(|n| format!("message {n};")).collect();
    assert_eq!(said.replace("Yes.", ""), expected);
    rig.check();
}

fn judged(call: &str, state: HunkState, said: &str) -> Judged {
    let (old, new, said) = ("old\n".to_owned(), "new\n".to_owned(), Some(said.to_owned()));
    let hunk = JudgedHunk { number: 1, line: 7, state, old, new, said };
    Judged { call: call.into(), tool: "Edit".to_owned(), shown: "a.rs".to_owned(), hunks: vec![hunk] }
}

#[tokio::test]
async fn what_the_user_says_to_changes_goes_with_the_next_request_once_a_call() {
    let mut rig = rig();
    rig.model.says([text("Done.")]);
    let session = rig.open(Trust::Auto);
    session.judged(&judged("1", HunkState::Waits, "hm"));
    session.judged(&judged("2", HunkState::TakenBack, "no"));
    session.judged(&judged("1", HunkState::Stands, "well, yes"));
    session.prompt("go on".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.model.requests().len(), 1, "it is no step of its own");
    let sent: Vec<String> = rig.last_request().messages[0]
        .parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[0].contains("Taken back: hunk 1 (line 7)") && sent[0].contains("line 7): no"), "{sent:?}");
    assert!(
        sent[1].contains("Stands") && sent[1].contains("well, yes") && !sent[1].contains("hm"),
        "{sent:?}"
    );
    assert_eq!(sent[2], "go on");
    rig.check();
}
