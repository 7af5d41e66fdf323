//! A request's stream: attempts with waits between them, until one begins to answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use koda_protocol::port::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream};
use tokio::time::Instant;

use crate::attempt::{Attempt, Step};
use crate::catalog;
use crate::failure::Failure;
use crate::models::Inner;
use crate::retry;

/// Opens the stream. Nothing is sent before it is polled.
pub(crate) fn open(inner: Arc<Inner>, request: ModelRequest) -> ModelStream {
    let sending =
        Sending { inner, request, attempts: 0, begun: false, queue: VecDeque::new(), phase: Phase::Start };
    futures::stream::unfold(sending, |mut sending| async move {
        let item = sending.next().await?;
        Some((item, sending))
    })
    .boxed()
}

enum Phase {
    Start,
    Wait(Instant),
    Reading(Box<Attempt>),
    Over(Option<ModelError>),
}

struct Sending {
    inner: Arc<Inner>,
    request: ModelRequest,
    attempts: u32,
    begun: bool,
    queue: VecDeque<ModelEvent>,
    phase: Phase,
}

impl Sending {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(Ok(event));
            }
            if let Phase::Over(error) = &mut self.phase {
                return error.take().map(Err);
            }
            let cancel = self.request.cancel.clone();
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    // Dropping the attempt closes the connection.
                    self.queue.clear();
                    self.phase = Phase::Over(Some(cancelled()));
                }
                () = self.advance() => {}
            }
        }
    }

    /// Goes one step on. Dropped at any await, it leaves nothing half done.
    async fn advance(&mut self) {
        let result = match &mut self.phase {
            Phase::Start => self.start().await,
            Phase::Wait(until) => {
                tokio::time::sleep_until(*until).await;
                self.phase = Phase::Start;
                return;
            }
            Phase::Reading(attempt) => attempt.step(&mut self.queue).await.map(|step| {
                if step == Step::End {
                    self.phase = Phase::Over(None);
                }
            }),
            Phase::Over(_) => return,
        };
        self.begun |= !self.queue.is_empty();
        if let Err(failure) = result {
            self.fail(failure).await;
        }
    }

    async fn start(&mut self) -> Result<(), Failure> {
        let plan = self.inner.plan(&self.request).await?;
        self.attempts += 1;
        self.phase = Phase::Reading(Box::new(Attempt::start(plan).await?));
        Ok(())
    }

    async fn fail(&mut self, failure: Failure) {
        if failure.error.kind == ModelErrorKind::Auth {
            self.inner.forget_key(&self.request.model).await;
        }
        let wait = if self.begun {
            None
        } else {
            retry::wait(&self.inner.settings.retries, self.attempts, &failure)
        };
        match wait {
            Some(wait) => {
                self.queue.push_back(ModelEvent::Retry {
                    attempt: self.attempts,
                    wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                    reason: failure.error.message,
                });
                self.phase = Phase::Wait(Instant::now() + wait);
            }
            None => {
                let mut error = given_up(failure, self.attempts);
                if error.kind == ModelErrorKind::UnknownModel
                    && let Some(nearest) = catalog::nearest_to(&self.inner, &self.request.model).await
                {
                    error.hint = Some(nearest);
                }
                self.phase = Phase::Over(Some(error));
            }
        }
    }
}

fn given_up(failure: Failure, attempts: u32) -> ModelError {
    let mut error = failure.error;
    if let Some(after) = failure.after.filter(|after| *after > Duration::ZERO) {
        error.hint =
            Some(format!("it asks to wait {} s; send the prompt again then", after.as_secs_f32().ceil()));
    }
    if failure.passes && attempts > 1 {
        error.message = format!("{} (tried {attempts} times)", error.message);
    }
    error
}

fn cancelled() -> ModelError {
    ModelError { kind: ModelErrorKind::Cancelled, message: "the request was stopped".to_owned(), hint: None }
}
