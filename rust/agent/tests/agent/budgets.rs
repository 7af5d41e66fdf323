//! What turns cost, and the limits on it.

use koda_agent::{Budget, OpenSession};
use koda_protocol::port::ModelEvent;
use koda_protocol::{Costs, Event, Outcome, Trust, Usage};
use serde_json::json;

use crate::rig::{Rig, Setup, rig};
use crate::stage::{Piece, call, text};

fn usage(output: u64) -> Piece {
    Ok(ModelEvent::Usage(Usage { input: Some(0), output: Some(output), ..Usage::default() }))
}

/// The model makes a call in each of `steps` steps, at a dollar each, and is then done at no cost.
fn play(rig: &Rig, steps: u32) {
    for step in 0..steps {
        let id = format!("{}-{step}", rig.model.requests().len());
        rig.model.says([call(&id, "Think", json!({ "thought": id })), usage(1_000_000)]);
    }
    rig.model.says([text("Done."), usage(0)]);
}

/// Waits for the end of the turn and returns what was told of its costs.
async fn run(rig: &mut Rig) -> Vec<Costs> {
    let from = rig.seen.len();
    rig.end().await;
    let costs = rig.seen[from..].iter().filter_map(|event| match event {
        Event::Usage { cost, .. } => *cost,
        _ => None,
    });
    costs.collect()
}

fn ended(rig: &Rig) -> Outcome {
    match rig.seen.last() {
        Some(Event::TurnEnd { outcome, .. }) => *outcome,
        other => panic!("{other:?}"),
    }
}

fn with(budget: Budget) -> Rig {
    let rig = Setup { budget, ..Setup::default() }.rig();
    rig.model.costs(1.0, 1.0);
    rig
}

#[tokio::test]
async fn steps_turns_sessions_and_days_are_added_up() {
    let mut rig = with(Budget::default());
    let session = rig.open(Trust::Safe);
    play(&rig, 2);
    session.prompt("go".to_owned(), String::new());
    run(&mut rig).await;
    play(&rig, 1);
    session.prompt("go".to_owned(), String::new());
    let costs = run(&mut rig).await;
    assert_eq!(costs[0].step, Some(1.0));
    assert_eq!((costs[0].turn.usd, costs[0].session.usd, costs[0].day.usd), (1.0, 3.0, 3.0));
    let Some(Event::TurnEnd { usage: Some(usage), cost: Some(cost), .. }) = rig.seen.last() else {
        panic!("{:?}", rig.seen.last())
    };
    assert_eq!((usage.output, cost.usd, cost.partial), (Some(1_000_000), 1.0, false));

    // Another engine over the same store, as another Neovim is: it knows the day, and the resumed session's own.
    let mut after = Setup { store: rig.store.clone(), ..Setup::default() }.rig();
    after.model.costs(1.0, 1.0);
    let resume = Some(session.id().clone());
    let session = after.engine.open(OpenSession { resume, ..after.opening() }).unwrap();
    play(&after, 1);
    session.prompt("go".to_owned(), String::new());
    let costs = run(&mut after).await;
    assert_eq!((costs[0].turn.usd, costs[0].session.usd, costs[0].day.usd), (1.0, 4.0, 4.0));
}

#[tokio::test]
async fn a_price_that_is_not_known_is_told_as_unknown() {
    let mut rig = rig();
    let session = rig.open(Trust::Safe);
    play(&rig, 1);
    session.prompt("go".to_owned(), String::new());
    let costs = run(&mut rig).await;
    assert!(costs[0].step.is_none() && costs[0].turn.partial && costs[0].session.partial);
    let told = serde_json::to_value(costs[0]).unwrap();
    assert_eq!(told["turn"], json!({ "usd": 0.0, "partial": true }));
}

#[tokio::test]
async fn a_budget_warns_and_then_stops() {
    let some = Some(5.0);
    for (name, budget) in [
        ("turn", Budget { turn: some, ..Budget::default() }),
        ("session", Budget { session: some, ..Budget::default() }),
        ("day", Budget { day: some, ..Budget::default() }),
    ] {
        let mut rig = with(budget);
        let session = rig.open(Trust::Safe);
        play(&rig, 9);
        session.prompt("go".to_owned(), String::new());
        run(&mut rig).await;
        assert_eq!(ended(&rig), Outcome::Budget, "{name}");
        assert_eq!((rig.model.requests().len(), rig.errors()), (5, vec!["budget".to_owned()]), "{name}");
        assert_eq!(rig.notices(), [format!("$4.00 of the {name}'s budget of $5.00 are spent.")]);
        rig.check();
        // A turn's budget is new with each turn, the others are used up.
        rig.model.forgets();
        play(&rig, 0);
        session.prompt("more".to_owned(), String::new());
        run(&mut rig).await;
        let expected = if name == "turn" { Outcome::Done } else { Outcome::Budget };
        assert_eq!(ended(&rig), expected, "{name}");
    }
}

#[tokio::test]
async fn who_opens_a_session_may_limit_it() {
    let mut rig = with(Budget::default());
    let opening = OpenSession { max_cost: Some(2.0), trust: Some(Trust::Safe), ..rig.opening() };
    let session = rig.engine.open(opening).unwrap();
    play(&rig, 5);
    session.prompt("go".to_owned(), String::new());
    run(&mut rig).await;
    assert_eq!((ended(&rig), rig.model.requests().len()), (Outcome::Budget, 2));
}

#[tokio::test]
async fn a_limit_that_can_not_be_kept_is_refused() {
    let rig = rig();
    let opening = OpenSession { max_cost: Some(2.0), ..rig.opening() };
    let error = rig.engine.open(opening.clone()).err().expect("no price is known");
    assert!(error.code == "usage" && error.message.contains("m::m"), "{error:?}");
    // A free model costs nothing, whatever the limit.
    let mut rig = rig;
    rig.model.costs(0.0, 0.0);
    let session = rig.engine.open(OpenSession { max_cost: Some(0.0), ..opening }).unwrap();
    play(&rig, 1);
    session.prompt("go".to_owned(), String::new());
    run(&mut rig).await;
    assert_eq!(ended(&rig), Outcome::Done);
}

#[tokio::test]
async fn tokens_that_nobody_counts_end_a_limited_run() {
    let mut rig = with(Budget::default());
    let opening = OpenSession { max_cost: Some(2.0), trust: Some(Trust::Safe), ..rig.opening() };
    let session = rig.engine.open(opening).unwrap();
    rig.model.says([call("1", "Think", json!({ "thought": "so" }))]);
    session.prompt("go".to_owned(), String::new());
    run(&mut rig).await;
    assert_eq!((ended(&rig), rig.model.requests().len()), (Outcome::Budget, 1));
}

#[tokio::test]
async fn budgets_of_the_settings_that_can_not_be_kept_are_told_once() {
    let mut rig = Setup { budget: Budget { day: Some(1.0), ..Budget::default() }, ..Setup::default() }.rig();
    let session = rig.open(Trust::Safe);
    rig.probe(&session).await;
    rig.probe(&session).await;
    assert_eq!(rig.notices().len(), 1, "{:?}", rig.notices());
    assert!(rig.notices()[0].contains("No price is known of m::m"));
}

#[tokio::test]
async fn what_fills_the_window_is_told_by_its_parts() {
    let mut rig = rig();
    rig.editor.put(rig.root().join("AGENTS.md"), "Use tabs.");
    let session = rig.open(Trust::Safe);
    let before = session.context().await;
    assert_eq!((before.window, before.counted, before.conversation), (Some(1000), None, 0));
    rig.model.says([text("A reply that is long enough."), usage(5)]);
    session.prompt("go".to_owned(), String::new());
    rig.end().await;
    let after = session.context().await;
    assert!(after.counted == Some(5) && after.conversation > 0);
    for (kind, name) in [("prompt", "koda"), ("instructions", "AGENTS.md"), ("tool", "Read")] {
        let share = after.fixed.iter().find(|share| (share.kind, share.name.as_str()) == (kind, name));
        assert!(share.is_some_and(|share| share.tokens > 0), "{name}: {:?}", after.fixed);
    }
}
