//! Asking the user within a session: what is asked and answered are events, and stop ends the wait.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use async_trait::async_trait;
use koda_protocol::event::Answer;
use koda_protocol::port::{Approver, Ask};
use koda_protocol::{AskId, Event};
use tokio_util::sync::CancellationToken;

use crate::journal::Emitter;

/// Makes ids unique within the process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The user, as one turn of a session sees them.
pub struct Asking {
    /// Who answers.
    pub approver: Arc<dyn Approver>,
    /// Where events go.
    pub emitter: Arc<Emitter>,
    /// Whether nobody is there: each question is then answered so at once.
    pub unattended: bool,
    /// Ends every wait.
    pub cancel: CancellationToken,
}

impl Asking {
    /// Asks, and waits for the answer, for the end of the turn, or for `needless`, which accepts.
    pub async fn ask_unless(&self, mut ask: Ask, needless: impl Future<Output = ()> + Send) -> Answer {
        ask.id = AskId(format!("ask-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let (id, kind) = (ask.id.clone(), ask.kind);
        let told = Event::Approval {
            id: id.clone(),
            kind,
            call: ask.call.clone(),
            verdict: ask.verdict.clone(),
            proposal: ask.proposal.clone(),
        };
        let answer = if self.unattended {
            self.emitter.emit(told);
            Answer::Nobody
        } else {
            let mut answered = self.approver.ask(ask);
            // Begun before it is told, so that whoever hears of it can answer at once.
            let early = futures::poll!(&mut answered);
            self.emitter.emit(told);
            match early {
                Poll::Ready(answer) => answer,
                Poll::Pending => tokio::select! {
                    answer = answered => answer,
                    () = self.cancel.cancelled() => Answer::Cancelled,
                    () = needless => Answer::accept(),
                },
            }
        };
        self.emitter.emit(Event::Answer { id, answer: answer.clone() });
        answer
    }
}

#[async_trait]
impl Approver for Asking {
    async fn ask(&self, ask: Ask) -> Answer {
        self.ask_unless(ask, pending()).await
    }
}
