//! The turn: from the user's message, step by step, to the model's last word.

use std::sync::Arc;

use koda_protocol::port::{ModelErrorKind, ModelRequest};
use koda_protocol::{Event, Outcome, Part, ToolCall, ToolResult, UserError};
use tokio_util::sync::CancellationToken;

use crate::dispatch::Dispatcher;
use crate::repeats::{Repeat, Repeats};
use crate::session::Session;
use crate::step::{self, Step};

/// What a model that repeats itself is told.
const WARNING: &str = "\n[You have made this very call several times in a row. Its result will not change: step back and try something else.]";

/// Runs turns until no message waits: each begins with a message that is in the history already.
pub async fn run(session: Arc<Session>, cancel: CancellationToken) {
    let begun = session.now();
    let mut turn = Turn { session: session.clone(), cancel, steps: 0, repeats: Repeats::default(), empty: 0 };
    // A panic within must not leave the session busy for ever.
    let inner = tokio::spawn(async move {
        let outcome = turn.run().await;
        (outcome, turn.steps)
    });
    let (outcome, steps) = inner.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a turn panicked");
        let error = UserError::new("panic", "Koda failed within this turn")
            .hint("see :Koda log, and please report it");
        session.emitter().emit(Event::Error { error });
        session.close_open_calls();
        (Outcome::Failed, 0)
    });
    let duration_ms = session.now().0.saturating_sub(begun.0);
    session.end_turn(Event::TurnEnd { outcome, steps, duration_ms });
}

struct Turn {
    session: Arc<Session>,
    cancel: CancellationToken,
    steps: u32,
    repeats: Repeats,
    /// Empty replies in a row.
    empty: u32,
}

impl Turn {
    async fn run(&mut self) -> Outcome {
        let session = self.session.clone();
        let system = session.system_prompt().await;
        loop {
            if self.cancel.is_cancelled() {
                return Outcome::Cancelled;
            }
            if self.steps >= session.parts().settings.max_steps {
                let text = format!("Stopped after {} steps; send a message to go on.", self.steps);
                session.emitter().emit(Event::Notice { text });
                return Outcome::StepLimit;
            }
            self.steps += 1;
            session.emitter().emit(Event::StepStart { step: self.steps });
            let step = self.request(system.clone()).await;
            if let Some(outcome) = self.settle(step).await {
                return outcome;
            }
        }
    }

    async fn request(&self, system: String) -> Step {
        let session = &self.session;
        let current = session.current();
        let history = session.history();
        let request = ModelRequest {
            model: current.model,
            system,
            messages: history.messages().to_vec(),
            tools: session.offered(current.mode),
            cancel: self.cancel.clone(),
        };
        step::run(session.parts().model.as_ref(), request, &history, session.emitter()).await
    }

    /// Takes a step's message into the history and does what follows from it; an outcome ends the turn.
    async fn settle(&mut self, step: Step) -> Option<Outcome> {
        let session = self.session.clone();
        if let Some(usage) = step.usage {
            session.count(usage);
        }
        let Step { message, error, .. } = step;
        let cut = error.is_some();
        let empty = message.parts.iter().all(|part| matches!(part, Part::Reasoning { .. }));
        if !message.parts.is_empty() && !(cut && empty) {
            session.emitter().emit(Event::Message { message: message.clone(), cut });
            session.push_assistant(message.clone());
        }
        if let Some(error) = error {
            if error.kind == ModelErrorKind::Cancelled || self.cancel.is_cancelled() {
                return Some(Outcome::Cancelled);
            }
            session.emitter().emit(Event::Error { error: step::user_error(&error) });
            return Some(Outcome::Failed);
        }
        if empty {
            return self.empty_reply();
        }
        self.empty = 0;
        let calls: Vec<ToolCall> = message.calls().cloned().collect();
        if calls.is_empty() {
            // A message that was typed meanwhile begins the next step instead of the end.
            return (!session.take_queued(Vec::new())).then_some(Outcome::Done);
        }
        self.calls(&calls).await
    }

    fn empty_reply(&mut self) -> Option<Outcome> {
        self.empty += 1;
        if self.empty < 2 {
            return None;
        }
        let error = UserError::new("model_reply", "the model sent an empty reply twice")
            .hint("send the prompt again, or choose another model");
        self.session.emitter().emit(Event::Error { error });
        Some(Outcome::Failed)
    }

    async fn calls(&mut self, calls: &[ToolCall]) -> Option<Outcome> {
        let session = self.session.clone();
        let repeats: Vec<Repeat> = calls.iter().map(|call| self.repeats.note(call)).collect();
        let dispatcher = Dispatcher::new(&session, session.current().mode, &self.cancel);
        let warn = |call: &ToolCall| {
            let at = calls.iter().position(|other| other.id == call.id).and_then(|at| repeats.get(at));
            if at.is_none_or(|repeat| *repeat == Repeat::Fine) { "" } else { WARNING }
        };
        let results = dispatcher.run(calls, &warn, &|| session.policy(None)).await;
        let needs_user = results.iter().any(needs_user);
        session.take_queued(results.into_iter().map(Part::Result).collect());
        if self.cancel.is_cancelled() {
            return Some(Outcome::Cancelled);
        }
        if needs_user {
            return Some(Outcome::NeedsApproval);
        }
        if repeats.contains(&Repeat::Stop) {
            let error = UserError::new("loop", "the model makes the same call over and over")
                .hint("tell it what to do differently");
            session.emitter().emit(Event::Error { error });
            return Some(Outcome::Failed);
        }
        None
    }
}

fn needs_user(result: &ToolResult) -> bool {
    result.data.get("needs_user").and_then(serde_json::Value::as_bool).unwrap_or(false)
}
