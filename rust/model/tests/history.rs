//! The rules of a conversation, checked and mended.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use koda_model::history::{HistoryError, check, mend};
use koda_protocol::message::{Message, Part, Role};
use proptest::prelude::*;
use serde_json::json;

fn asked() -> Message {
    assistant(vec![say("I look."), call("a", json!({})), call("b", json!({}))])
}

#[test]
fn a_valid_conversation_is_accepted_and_left_alone() {
    let history = vec![
        Message::user("go"),
        asked(),
        user(vec![result("b", "2"), result("a", ""), say("quick")]),
        assistant(vec![
            Part::Reasoning { text: String::new(), signature: Some("s".to_owned()) },
            say("done"),
        ]),
        Message::user("thanks"),
    ];
    assert_eq!(check(&history), Ok(()));
    assert_eq!(mend(&history), history);
}

#[test]
fn each_rule_is_named() {
    let go = || Message::user("go");
    let cases = [
        (vec![], HistoryError::Empty),
        (vec![assistant(vec![say("x")])], HistoryError::BeginsWithModel),
        (vec![go(), assistant(vec![say("x")])], HistoryError::EndsWithModel),
        (vec![go(), go()], HistoryError::SameRole(1)),
        (vec![user(vec![])], HistoryError::EmptyPart(0)),
        (vec![go(), assistant(vec![say(" ")]), go()], HistoryError::EmptyPart(1)),
        (vec![user(vec![call("a", json!({}))])], HistoryError::WrongRole(0)),
        (
            vec![go(), assistant(vec![call("a", json!({})), call("a", json!({}))])],
            HistoryError::SameId(1, "a".to_owned()),
        ),
        (vec![go(), asked(), go()], HistoryError::NotAnswered(1, "a".to_owned())),
        (
            vec![go(), asked(), user(vec![result("a", "1"), result("a", "2"), result("b", "3")])],
            HistoryError::NotAnswered(1, "a".to_owned()),
        ),
        (vec![user(vec![result("a", "1")])], HistoryError::NotAsked(0, "a".to_owned())),
    ];
    for (history, wanted) in cases {
        assert_eq!(check(&history), Err(wanted));
    }
}

#[test]
fn a_cancelled_turn_is_mended_with_one_result_a_call() {
    let mended =
        mend(&[Message::user("go"), asked(), user(vec![result("b", "2")]), Message::user("stop that")]);
    assert_eq!(check(&mended), Ok(()));
    let [Part::Result(first), second, third] = mended[2].parts.as_slice() else { panic!("{mended:?}") };
    assert_eq!((first.id.as_str(), first.ok), ("a", false));
    assert_eq!((second, third), (&result("b", "2"), &say("stop that")));
}

#[test]
fn a_turn_that_broke_off_after_its_calls_is_answered() {
    let mended = mend(&[Message::user("go"), asked()]);
    assert_eq!((check(&mended), mended.len()), (Ok(()), 3));
}

fn part() -> impl Strategy<Value = Part> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        prop::sample::select(vec!["", " ", "text"]).prop_map(say),
        id.clone().prop_map(|id| call(id, json!({}))),
        id.prop_map(|id| result(id, "out")),
        (prop::sample::select(vec!["", "hm"]), prop::option::of(Just("s".to_owned())))
            .prop_map(|(text, signature)| Part::Reasoning { text: text.to_owned(), signature }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant]);
    (role, prop::collection::vec(part(), 0..5)).prop_map(|(role, parts)| Message { role, parts })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn whatever_happened_is_mended_or_ends_with_the_model(history in prop::collection::vec(message(), 0..9)) {
        let mended = mend(&history);
        match check(&mended) {
            Ok(()) | Err(HistoryError::Empty | HistoryError::EndsWithModel) => {}
            Err(error) => prop_assert!(false, "{error}: {mended:?}"),
        }
        prop_assert_eq!(mend(&mended), mended);
    }

    #[test]
    fn a_users_last_word_can_always_be_sent(history in prop::collection::vec(message(), 0..9)) {
        let mut history = history;
        history.push(Message::user("go on"));
        let mended = mend(&history);
        prop_assert_eq!(check(&mended), Ok(()));
        prop_assert!(mended.last().is_some_and(|last| last.text().ends_with("go on")));
    }
}
