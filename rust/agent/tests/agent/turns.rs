//! Turns without anything in their way, and models that fail.

use koda_protocol::port::{ModelErrorKind, ModelEvent, StopReason};
use koda_protocol::{Event, Outcome, Part, Trust, Usage};
use serde_json::json;

use crate::rig::{Setup, bash, edit, rig};
use crate::stage::{call, error, stop, text};

#[tokio::test]
async fn everything_that_happens_is_an_event_in_its_order() {
    let mut rig = rig();
    let usage = |input| Ok(ModelEvent::Usage(Usage { input: Some(input), ..Usage::default() }));
    rig.model.says([
        Ok(ModelEvent::Retry { attempt: 1, wait_ms: 5, reason: "busy".to_owned() }),
        Ok(ModelEvent::Reasoning("Hm.".to_owned())),
        text("I "),
        text("look."),
        Ok(ModelEvent::CallForming { id: "1".to_owned(), tool: "ls".to_owned(), bytes: 2 }),
        call("1", "Think", json!({ "thought": "so" })),
        usage(7),
    ]);
    rig.model.says([text("Done."), usage(9)]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), "a.rs:1-2".to_owned());
    assert_eq!(rig.end().await, Outcome::Done);
    let expected = "session_start user_message step_start retry reasoning_delta text_delta text_delta call_forming \
                    usage message tool_call tool_result step_start text_delta usage message turn_end";
    assert_eq!(rig.types(), expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(session.snapshot().total.input, Some(16));
    assert!(!session.snapshot().running);
    let Some(Event::TurnEnd { steps: 2, .. }) = rig.seen.last() else { panic!("{:?}", rig.seen.last()) };
    rig.check();
}

#[tokio::test]
async fn calls_run_and_their_results_go_back() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("a.txt"), "one\n");
    rig.model.says([
        text("I look."),
        call("1", "Read", json!({ "path": "a.txt" })),
        call("2", "Bash", bash("echo hi")),
    ]);
    rig.model.says([call("3", "Edit", edit("a.txt", "one", "two"))]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.text_of("a.txt").as_deref(), Some("two\n"));
    assert!(rig.results().iter().all(|(_, ok, _)| *ok), "{:?}", rig.results());
    assert_eq!(rig.model.requests().len(), 3);
    rig.check();
}

#[tokio::test]
async fn a_broken_stream_keeps_its_text_and_runs_none_of_its_calls() {
    let mut rig = rig();
    let cut = error(ModelErrorKind::Cut, "cut off");
    rig.model.says([text("Half"), call("1", "Bash", bash("touch x")), Err(cut)]);
    rig.model.breaks_off([text("Other half")]);
    let session = rig.open(Trust::Auto);
    for half in ["Half", "Other half"] {
        session.prompt("go".to_owned(), String::new());
        assert_eq!(rig.end().await, Outcome::Failed);
        let message = rig.seen.iter().rev().find_map(|event| match event {
            Event::Message { message, cut } => Some((message.text(), *cut)),
            _ => None,
        });
        assert_eq!(message, Some((half.to_owned(), true)));
    }
    assert_eq!(rig.errors(), ["model_cut", "model_cut"]);
    assert!(rig.results().is_empty() && rig.hall.begun().is_empty());
    assert_eq!(rig.probe(&session).await.len(), 5);
    rig.check();
}

#[tokio::test]
async fn a_refused_request_is_told_with_its_kind_and_the_next_works() {
    let mut rig = rig();
    rig.model.refuses(error(ModelErrorKind::Auth, "wrong key"));
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!(rig.errors(), ["model_auth"]);
    let messages = rig.probe(&session).await;
    assert_eq!(messages.len(), 1, "what was not answered goes along");
    assert!(messages[0].text().contains("go"));
    rig.check();
}

#[tokio::test]
async fn an_empty_reply_is_asked_for_once_more() {
    let mut rig = rig();
    rig.model.says([Ok(ModelEvent::Reasoning("Hm.".to_owned()))]);
    rig.model.says([text("Here.")]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let requests = rig.model.requests();
    assert_eq!(requests[0].messages, requests[1].messages);
    rig.model.says([]);
    rig.model.says([]);
    session.prompt("again".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed, "two empty replies are no answer");
    assert_eq!(rig.errors(), ["model_reply"]);
    rig.check();
}

#[tokio::test]
async fn why_a_reply_ended_early_is_told() {
    let mut rig = rig();
    let session = rig.open(Trust::Safe);
    let stopped = |reason| Ok(ModelEvent::Stop(reason));
    for (pieces, outcome) in [
        (vec![text("Long"), stopped(StopReason::Length)], Outcome::Done),
        (vec![stopped(StopReason::Length)], Outcome::Failed),
        (vec![stopped(StopReason::Refused)], Outcome::Failed),
    ] {
        rig.model.says(pieces);
        session.prompt("go".to_owned(), String::new());
        assert_eq!(rig.end().await, outcome);
    }
    assert!(rig.notices()[0].contains("max_output_tokens"), "{:?}", rig.notices());
    assert_eq!(rig.errors(), ["model_length", "model_refused"]);
    assert_eq!(rig.model.requests().len(), 3, "asking again would not help");
}

#[tokio::test]
async fn a_panic_ends_the_turn_and_not_the_session() {
    let mut rig = rig();
    rig.model.panics();
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!(rig.errors(), ["panic"]);
    rig.probe(&session).await;
    rig.check();
}

#[tokio::test]
async fn an_empty_prompt_is_an_error_and_no_request() {
    let mut rig = rig();
    rig.open(Trust::Safe).prompt(" \n".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!(rig.errors(), ["usage"]);
    assert!(rig.model.requests().is_empty());
}

#[tokio::test]
async fn ids_that_clash_are_made_unique_also_while_they_form() {
    let mut rig = rig();
    let think = |n: u32| json!({ "thought": n.to_string() });
    let forming =
        |id: &str| Ok(ModelEvent::CallForming { id: id.to_owned(), tool: "Think".to_owned(), bytes: 1 });
    rig.model.says([call("x", "Think", think(1)), call("x", "Think", think(2)), call("", "Think", think(3))]);
    rig.model.says([
        forming("x"),
        forming("y"),
        forming("x"),
        call("y", "Think", think(4)),
        call("x", "Think", think(5)),
        call("x", "Think", think(6)),
    ]);
    rig.model.says([text("Done.")]);
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert_eq!(rig.results().len(), 6);
    let of = |event: &Event| match event {
        Event::CallForming { id, .. } => Some(id.clone()),
        _ => None,
    };
    let formed: Vec<_> = rig.seen.iter().filter_map(of).collect();
    let called = |n: usize| rig.last_request().messages[3].calls().nth(n).unwrap().id.clone();
    assert_eq!(formed, [called(1), called(0), called(1)]);
    rig.check();
}

#[tokio::test]
async fn signatures_stay_with_their_reasoning() {
    let mut rig = rig();
    let sign = |text: &str| Ok(ModelEvent::ReasoningSignature(text.to_owned()));
    let reason = |text: &str| Ok(ModelEvent::Reasoning(text.to_owned()));
    rig.model.says([
        reason("a"),
        reason("b"),
        sign("1"),
        sign("2"),
        reason("c"),
        sign("3"),
        text("So."),
        sign("4"),
    ]);
    let session = rig.open(Trust::Safe);
    session.prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    let reasoning = |text: &str, signature: &str| Part::Reasoning {
        text: text.to_owned(),
        signature: Some(signature.to_owned()),
    };
    let parts = [
        reasoning("ab", "1"),
        reasoning("", "2"),
        reasoning("c", "3"),
        Part::Text { text: "So.".to_owned() },
        reasoning("", "4"),
    ];
    assert_eq!(rig.probe(&session).await[1].parts, parts);
}

#[tokio::test]
async fn the_limit_of_steps_ends_a_turn() {
    let mut rig = Setup { max_steps: 3, ..Setup::default() }.rig();
    (0..9).for_each(|n| rig.model.says([call("", "Think", json!({ "thought": n.to_string() }))]));
    rig.open(Trust::Safe).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::StepLimit);
    assert_eq!(rig.model.requests().len(), 3);
    rig.check();
}

#[tokio::test]
async fn a_model_that_repeats_itself_is_told_and_then_stopped() {
    let mut rig = rig();
    (0..20).for_each(|_| rig.model.says([call("", "Bash", bash("same")), stop()]));
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!(rig.errors(), ["loop"]);
    let told: Vec<_> =
        rig.results().iter().map(|(_, ok, text)| (*ok, text.contains("several times"))).collect();
    assert_eq!(
        (told[3], told[4], told[5], told[9]),
        ((true, false), (true, true), (true, false), (false, false))
    );
    assert_eq!(rig.hall.begun().len(), 9, "the last one was not run");
    rig.check();
}

#[tokio::test]
async fn a_model_whose_calls_all_fail_is_told_and_then_stopped() {
    let mut rig = rig();
    for n in 0..20 {
        let path = format!("nosuch-{n}.txt");
        rig.model
            .says([call("", "Read", json!({ "path": path })), call("", "Read", json!({ "path": path }))]);
    }
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Failed);
    assert_eq!((rig.errors(), rig.model.requests().len()), (vec!["loop".to_owned()], 8));
    let told: Vec<usize> = (0..)
        .zip(rig.results())
        .filter(|(_, (.., text))| text.contains("Stop and think"))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(told, [6, 7], "with the fourth message's results");
    rig.check();
}

#[tokio::test]
async fn a_call_that_works_between_failures_is_progress() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("a.txt"), "one\n");
    for n in 0..18 {
        let path = if n % 3 == 2 { "a.txt".to_owned() } else { format!("nosuch-{n}.txt") };
        rig.model.says([call("", "Read", json!({ "path": path }))]);
    }
    rig.model.says([text("Done.")]);
    rig.open(Trust::Auto).prompt("go".to_owned(), String::new());
    assert_eq!(rig.end().await, Outcome::Done);
    assert!(rig.results().iter().all(|(.., text)| !text.contains("Stop and think")));
}
