//! The desk: what waits for the user, and where the answers come in.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use koda_protocol::event::Answer;
use koda_protocol::port::{Approver, Ask};
use koda_protocol::{AskId, UserError};
use tokio::sync::oneshot;

struct Waiting {
    number: u64,
    ask: Ask,
    sender: oneshot::Sender<Answer>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    waiting: BTreeMap<String, Waiting>,
}

/// Everything that waits for the user, over all sessions.
#[derive(Default)]
pub struct Desk(Mutex<Inner>);

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what waits, oldest first.
    pub fn pending(&self) -> Vec<Ask> {
        let inner = self.lock();
        let mut waiting: Vec<&Waiting> = inner.waiting.values().collect();
        waiting.sort_by_key(|waiting| waiting.number);
        waiting.into_iter().map(|waiting| waiting.ask.clone()).collect()
    }

    /// Answers what waits under `id`.
    ///
    /// # Errors
    ///
    /// `unknown_ask` if nothing does: it was answered already, or its turn was stopped.
    pub fn answer(&self, id: &AskId, answer: Answer) -> Result<(), UserError> {
        let waiting = self.lock().waiting.remove(id.as_str());
        let delivered = waiting.is_some_and(|waiting| waiting.sender.send(answer).is_ok());
        if delivered {
            return Ok(());
        }
        Err(UserError::new("unknown_ask", format!("nothing waits under {id}"))
            .hint("it may have been answered or stopped already; koda.pending() lists what waits"))
    }
}

/// Takes a question off the desk when nobody waits for its answer any more.
struct Withdraw<'a>(&'a Desk, String);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting.remove(&self.1);
    }
}

#[async_trait]
impl Approver for Desk {
    async fn ask(&self, ask: Ask) -> Answer {
        let (sender, receiver) = oneshot::channel();
        let id = ask.id.0.clone();
        {
            let mut inner = self.lock();
            inner.next += 1;
            let number = inner.next;
            inner.waiting.insert(id.clone(), Waiting { number, ask, sender });
        }
        let _withdraw = Withdraw(self, id);
        receiver.await.unwrap_or(Answer::Cancelled)
    }
}
