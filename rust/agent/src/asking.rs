//! Asking the user within a session: what is asked and answered are events, and stop ends the wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use koda_protocol::event::Answer;
use koda_protocol::port::{Approver, Ask};
use koda_protocol::{AskId, Event};
use tokio_util::sync::CancellationToken;

use crate::emitter::Emitter;

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

#[async_trait]
impl Approver for Asking {
    async fn ask(&self, mut ask: Ask) -> Answer {
        ask.id = AskId(format!("ask-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let id = ask.id.clone();
        // Registered before it is told, so that whoever hears of it can answer at once.
        let answered = (!self.unattended).then(|| self.approver.ask(ask.clone()));
        let told = Event::Approval { id: id.clone(), kind: ask.kind, call: ask.call, verdict: ask.verdict };
        let answer = match answered {
            None => {
                self.emitter.emit(told);
                Answer::Nobody
            }
            Some(mut answered) => {
                let early = futures::poll!(&mut answered);
                self.emitter.emit(told);
                match early {
                    std::task::Poll::Ready(answer) => answer,
                    std::task::Poll::Pending => tokio::select! {
                        answer = answered => answer,
                        () = self.cancel.cancelled() => Answer::Cancelled,
                    },
                }
            }
        };
        self.emitter.emit(Event::Answer { id, answer: answer.clone() });
        answer
    }
}
