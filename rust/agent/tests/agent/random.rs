//! Whatever a model calls, whatever the user answers, whenever they stop: each call has exactly one result, each
//! request is valid, and a session that is resumed has the history that it had.

use std::collections::VecDeque;
use std::sync::Arc;

use koda_agent::OpenSession;
use koda_protocol::double::MemoryStore;
use koda_protocol::event::Answer;
use koda_protocol::port::{ModelErrorKind, Store};
use koda_protocol::{Event, Scope, Trust};
use proptest::prelude::*;
use serde_json::json;

use crate::rig::{Rig, Setup, accepting, bash, edit, write};
use crate::stage::{Piece, call, error, text};

/// What happens in one turn, as numbers that [`play`] makes sense of.
#[derive(Clone, Debug)]
struct Plot {
    /// For each step, its calls.
    steps: Vec<Vec<u8>>,
    /// Whether the last step breaks off.
    breaks: bool,
    answers: Vec<u8>,
    /// Stop after as many events.
    stop_after: Option<usize>,
    /// Type something after as many events.
    type_after: Option<usize>,
    trust: u8,
    unattended: bool,
}

fn plot() -> impl Strategy<Value = Plot> {
    let calls = prop::collection::vec(0_u8..12, 1..6);
    (
        prop::collection::vec(calls, 0..4),
        any::<bool>(),
        prop::collection::vec(0_u8..4, 0..8),
        prop::option::of(0_usize..40),
        prop::option::of(0_usize..40),
        0_u8..3,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(steps, breaks, answers, stop_after, type_after, trust, unattended)| Plot {
            steps,
            breaks,
            answers,
            stop_after,
            type_after,
            trust,
            unattended,
        })
}

fn piece(kind: u8, number: usize) -> Piece {
    let n = number.to_string();
    match kind {
        0 => call(&n, "Read", json!({ "path": "a" })),
        1 => call(&n, "Edit", edit("a", "1", "1 1")),
        2 => call(&n, "Edit", edit("./a", "1", "2")),
        3 => call("same", "Write", write(&format!("new{n}"), "x")),
        4 => call(&n, "Delete", json!({ "path": format!("new{}", number.saturating_sub(1)) })),
        5 => call(&n, "Bash", bash("panic")),
        6 => call("", "Bash", bash(&format!("run {n}"))),
        7 => call(&n, "Nosuch", json!({})),
        8 => call(&n, "Edit", json!("{\"path\": \"a")),
        9 => call(&n, "AskUser", json!({ "question": "which?" })),
        10 => call(&n, "Write", write("../outside", "x")),
        _ => call("same", "Think", json!({ "thought": n })),
    }
}

fn answer(kind: u8) -> Answer {
    match kind {
        0 => Answer::accept(),
        1 => accepting(Scope::Session, Some("this")),
        2 => Answer::Reject { reason: Some("no".to_owned()) },
        _ => Answer::Reject { reason: None },
    }
}

/// Plays a turn to its end and checks what must hold.
async fn play(plot: Plot) {
    let mut rig = Setup::default().rig();
    rig.editor.put(rig.root().join("a"), "1\n");
    let mut number = 0;
    for (index, step) in plot.steps.iter().enumerate() {
        let mut pieces = vec![text("I work.")];
        for kind in step {
            pieces.push(piece(*kind, number));
            number += 1;
        }
        if plot.breaks && index + 1 == plot.steps.len() {
            pieces.push(Err(error(ModelErrorKind::Cut, "cut off")));
        }
        rig.model.says(pieces);
    }
    (0..3).for_each(|_| rig.model.says([text("Done.")]));
    let trust = [Trust::Plan, Trust::Safe, Trust::Auto][usize::from(plot.trust)];
    let open = OpenSession { trust: Some(trust), unattended: plot.unattended, ..rig.opening() };
    let session = rig.engine.open(open).unwrap();
    session.prompt("go".to_owned(), "a:1".to_owned());
    let mut answers: VecDeque<u8> = plot.answers.into();
    loop {
        let event = rig.next().await;
        let so_far = rig.seen.len();
        if plot.type_after == Some(so_far) && session.snapshot().running {
            session.prompt("and this".to_owned(), String::new());
        }
        if plot.stop_after == Some(so_far) {
            session.cancel();
        }
        match event {
            // Already withdrawn after a stop, and by a grant that an earlier answer made.
            Event::Approval { id, .. } => {
                drop(rig.desk.answer(&id, answer(answers.pop_front().unwrap_or(0))))
            }
            Event::TurnEnd { .. } if !session.snapshot().running => break drain(&mut rig, &session).await,
            _ => {}
        }
    }
    finish(rig, session).await;
}

/// Takes in what is still on its way: a second turn, begun by a queued message, may be over before the end of
/// the first is heard.
async fn drain(rig: &mut Rig, session: &koda_agent::Session) {
    session.set(koda_agent::Change::default());
    while !matches!(rig.next().await, Event::Settings { .. }) {}
}

async fn finish(mut rig: Rig, session: Arc<koda_agent::Session>) {
    let queued = session.snapshot().queued;
    let stored = Arc::new(MemoryStore::default());
    rig.store.events(session.id()).unwrap().iter().for_each(|event| stored.append(event).unwrap());
    // The play may not be over: what is left of it would answer the probe.
    rig.model.forgets();
    let live = rig.probe(&session).await;
    rig.check();
    if queued > 0 {
        return;
    }
    let mut other = Setup { store: stored, ..Setup::default() }.rig();
    let resume = OpenSession { resume: Some(session.id().clone()), ..other.opening() };
    let resumed = other.engine.open(resume).unwrap();
    assert_eq!(other.probe(&resumed).await, live);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_call_has_one_result_and_the_history_is_valid(plot in plot()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(play(plot));
    }
}
