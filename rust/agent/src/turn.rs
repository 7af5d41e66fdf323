//! The turn: from the user's message, step by step, to the model's last word.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use koda_protocol::port::{ModelError, ModelErrorKind, ModelRequest, StopReason};
use koda_protocol::{Event, Outcome, Part, ToolCall, ToolResult, UserError};
use tokio_util::sync::CancellationToken;

use crate::dispatch::{Dispatcher, ends_turn, needs_user};
use crate::prompt;
use crate::refusals::Denials;
use crate::repeats::{Repeat, Repeats, Struggle};
use crate::session::Session;
use crate::step::{self, Step};

/// Runs a turn, whose message is in the history already.
pub async fn run(session: Arc<Session>, cancel: CancellationToken) {
    let begun = session.now();
    let mut turn = Turn {
        session: session.clone(),
        cancel,
        steps: 0,
        repeats: Repeats::default(),
        denials: Denials::default(),
        struggle: Struggle::default(),
        empty: 0,
    };
    // A panic within must not leave the session busy for ever.
    let outcome = AssertUnwindSafe(turn.run()).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!("a turn panicked");
        let error = UserError::new("panic", "Koda failed within this turn")
            .hint("see :Koda log, and please report it");
        session.emitter().emit(Event::Error { error });
        Outcome::Failed
    });
    session.end_turn(outcome, turn.steps, begun);
}

struct Turn {
    session: Arc<Session>,
    cancel: CancellationToken,
    steps: u32,
    repeats: Repeats,
    denials: Denials,
    struggle: Struggle,
    /// Empty replies in a row.
    empty: u32,
}

impl Turn {
    async fn run(&mut self) -> Outcome {
        let cancel = self.cancel.clone();
        let recalled = tokio::select! {
            biased;
            () = cancel.cancelled() => return Outcome::Cancelled,
            recalled = self.session.recall() => recalled,
        };
        if let Err(error) = recalled {
            return self.fail(error);
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Outcome::Cancelled,
            () = self.session.begin_account() => {}
        }
        loop {
            if let Some(outcome) = self.step().await {
                return outcome;
            }
        }
    }

    /// Takes one step; an outcome ends the turn.
    async fn step(&mut self) -> Option<Outcome> {
        if self.steps >= self.session.parts().settings.max_steps {
            let text = format!("Stopped after {} steps; send a message to go on.", self.steps);
            self.session.emitter().emit(Event::Notice { text });
            return Some(Outcome::StepLimit);
        }
        if let Some(error) = self.session.over_budget() {
            self.session.emitter().emit(Event::Error { error });
            return Some(Outcome::Budget);
        }
        let cancel = self.cancel.clone();
        let system = tokio::select! {
            biased;
            () = cancel.cancelled() => return Some(Outcome::Cancelled),
            system = self.session.system_prompt() => prompt::joined(&system),
        };
        self.session.take_queued();
        self.steps += 1;
        self.session.emitter().emit(Event::StepStart { step: self.steps });
        let step = self.request(system).await;
        self.settle(step).await
    }

    async fn request(&self, system: String) -> Step {
        let session = &self.session;
        let current = session.current();
        let (messages, ids) = session.conversation();
        let request = ModelRequest {
            model: current.model,
            system,
            messages,
            tools: session.offered(current.mode),
            cancel: self.cancel.clone(),
        };
        step::run(session.parts().model.as_ref(), request, ids, session.emitter()).await
    }

    /// Takes a step's message into the history and does what follows from it.
    async fn settle(&mut self, step: Step) -> Option<Outcome> {
        let Step { message, usage, end } = step;
        match usage {
            Some(usage) => self.session.count(usage),
            None if end.is_ok() => self.session.uncounted(),
            None => {}
        }
        // Reasoning alone says nothing, and a conversation can't end with it.
        let empty = message.parts.iter().all(|part| matches!(part, Part::Reasoning { .. }));
        let calls: Vec<ToolCall> = message.calls().cloned().collect();
        if !empty {
            self.session.hear(message, end.is_err());
        }
        match end {
            Err(error) => Some(self.broken(&error)),
            Ok(reason) if empty => self.empty_reply(reason),
            Ok(reason) => {
                self.empty = 0;
                self.remark(reason);
                if calls.is_empty() {
                    // A message that was typed meanwhile begins the next step instead of the end.
                    return (!self.session.take_queued()).then_some(Outcome::Done);
                }
                self.calls(calls).await
            }
        }
    }

    fn broken(&self, error: &ModelError) -> Outcome {
        if error.kind == ModelErrorKind::Cancelled || self.cancel.is_cancelled() {
            return Outcome::Cancelled;
        }
        self.fail(step::user_error(error))
    }

    fn fail(&self, error: UserError) -> Outcome {
        self.session.emitter().emit(Event::Error { error });
        Outcome::Failed
    }

    /// Tells why a message ended earlier than its model meant.
    fn remark(&self, reason: StopReason) {
        let text = match reason {
            StopReason::Length => "The reply was cut at the limit of output tokens (max_output_tokens).",
            StopReason::Refused => "The provider stopped the reply.",
            StopReason::End | StopReason::Calls | StopReason::Unknown => return,
        };
        self.session.emitter().emit(Event::Notice { text: text.to_owned() });
    }

    /// Asks once more after an empty reply, where that may help.
    fn empty_reply(&mut self, reason: StopReason) -> Option<Outcome> {
        self.empty += 1;
        let error = match reason {
            StopReason::Length => {
                UserError::new("model_length", "the model used up its output tokens before it said anything")
                    .hint("raise max_output_tokens, or choose a model that reasons less")
            }
            StopReason::Refused => UserError::new("model_refused", "the provider refused to answer")
                .hint("say it in other words, or choose another model"),
            _ if self.empty < 2 => {
                let text = "The model sent an empty reply; it is asked once more.".to_owned();
                self.session.emitter().emit(Event::Notice { text });
                return None;
            }
            _ => UserError::new("model_reply", "the model sent an empty reply twice")
                .hint("send the prompt again, or choose another model"),
        };
        Some(self.fail(error))
    }

    async fn calls(&mut self, calls: Vec<ToolCall>) -> Option<Outcome> {
        let session = &self.session;
        let noted: Vec<(ToolCall, Repeat)> = calls
            .into_iter()
            .map(|call| {
                let repeat = self.repeats.note(&call);
                (call, repeat)
            })
            .collect();
        let is_stuck = noted.iter().any(|(_, repeat)| *repeat == Repeat::Stop);
        let dispatcher = Dispatcher::new(session, session.current().mode, None, &self.cancel);
        let dispatcher = dispatcher.warning(self.denials.is_due()).struggling(self.struggle.is_due());
        let results = dispatcher.run(noted).await;
        self.repeats.answered(&results);
        if self.cancel.is_cancelled() {
            return Some(Outcome::Cancelled);
        }
        if results.iter().any(needs_user) {
            return Some(Outcome::NeedsApproval);
        }
        if results.iter().any(ends_turn) {
            return Some(Outcome::Done);
        }
        if is_stuck {
            let error = UserError::new("loop", "the model makes the same call over and over")
                .hint("tell it what to do differently");
            return Some(self.fail(error));
        }
        self.stuck(&results)
    }

    /// Ends the turn of a model whose calls are all denied, or all fail.
    fn stuck(&mut self, results: &[ToolResult]) -> Option<Outcome> {
        let struggles = self.struggle.note(results);
        if self.denials.note(results) {
            let error = UserError::new("denied", "the model goes on with calls that are denied")
                .hint("tell it what to do instead, or trust it more");
            return Some(self.fail(error));
        }
        if struggles {
            let error = UserError::new("loop", "none of the model's last calls did what it was asked")
                .hint("tell it what to do differently");
            return Some(self.fail(error));
        }
        None
    }
}
