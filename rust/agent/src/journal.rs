//! Where events go: through one thread to the store and to everyone who listens, in one order.
//!
//! Emitting never waits: Neovim's main thread emits too, and a store may have to wait for another Neovim.
//! What a listener hears was stored before.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use koda_protocol::port::{Clock, EventSink, Store, StoreError};
use koda_protocol::{Envelope, Event, SessionId};
use tokio::sync::oneshot;

/// The stored events of a session, once they are read.
pub type Stored = oneshot::Receiver<Result<Vec<Envelope>, StoreError>>;

enum Job {
    Tell { envelope: Box<Envelope>, keep: bool },
    Read { session: SessionId, reply: oneshot::Sender<Result<Vec<Envelope>, StoreError>> },
    Flush(oneshot::Sender<()>),
}

impl Job {
    /// Whether it is a piece of a stream, after which more are to be expected.
    fn is_delta(&self) -> bool {
        let Self::Tell { envelope, .. } = self else { return false };
        matches!(
            envelope.event,
            Event::TextDelta { .. } | Event::ReasoningDelta { .. } | Event::CallForming { .. }
        )
    }
}

/// How long pieces of a stream are gathered: too short to be seen, and a fast model sends several meanwhile.
const GATHER: Duration = Duration::from_millis(5);

/// The way to the thread that stores and tells events. The thread ends with the last clone.
#[derive(Clone)]
pub struct Journal(Sender<Job>);

impl Journal {
    /// Starts the thread.
    #[expect(clippy::expect_used, reason = "without this thread nothing could be told, this error neither")]
    pub fn start(store: Arc<dyn Store>, clock: Arc<dyn Clock>, sinks: Vec<Arc<dyn EventSink>>) -> Self {
        let (sender, jobs) = mpsc::channel();
        let writer = Writer { store, clock, sinks, failed: HashSet::new() };
        let thread = thread::Builder::new().name("koda-journal".to_owned());
        thread.spawn(move || writer.run(&jobs)).expect("the system starts a thread");
        Self(sender)
    }

    /// Reads what is stored of a session, after everything that was emitted before and before anything
    /// that is emitted later.
    pub fn read(&self, session: &SessionId) -> Stored {
        let (reply, stored) = oneshot::channel();
        self.send(Job::Read { session: session.clone(), reply });
        stored
    }

    /// Returns when everything that was emitted before is stored and told.
    pub async fn flush(&self) {
        let (reply, flushed) = oneshot::channel();
        self.send(Job::Flush(reply));
        // An error means that the thread is gone, with nothing left to wait for.
        let _ = flushed.await;
    }

    fn send(&self, job: Job) {
        if self.0.send(job).is_err() {
            tracing::error!("the journal's thread is gone");
        }
    }
}

struct Writer {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    sinks: Vec<Arc<dyn EventSink>>,
    /// Sessions of which an event could not be stored: they are told once.
    failed: HashSet<SessionId>,
}

impl Writer {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(mut job) = jobs.recv() {
            let was_delta = loop {
                let is_delta = job.is_delta();
                self.guarded(job);
                match jobs.try_recv() {
                    Ok(next) => job = next,
                    Err(_) => break is_delta,
                }
            };
            if was_delta {
                // Those that come meanwhile wake no thread each.
                thread::sleep(GATHER);
            }
        }
    }

    fn guarded(&mut self, job: Job) {
        // A listener's fault must not keep later events from the others.
        if catch_unwind(AssertUnwindSafe(|| self.work(job))).is_err() {
            tracing::error!("storing or telling an event panicked");
        }
    }

    fn work(&mut self, job: Job) {
        match job {
            Job::Tell { envelope, keep } => {
                if keep {
                    self.keep(&envelope);
                }
                self.tell(&envelope);
            }
            // Whoever asked may be gone.
            Job::Read { session, reply } => drop(reply.send(self.store.events(&session))),
            Job::Flush(reply) => drop(reply.send(())),
        }
    }

    fn keep(&mut self, envelope: &Envelope) {
        let Err(error) = self.store.append(envelope) else { return };
        tracing::error!(%error, "an event could not be stored");
        if self.failed.insert(envelope.session.clone()) {
            let event = Event::Notice { text: format!("This session is not being saved: {error}") };
            self.tell(&Envelope { time: self.clock.now(), session: envelope.session.clone(), event });
        }
    }

    fn tell(&self, envelope: &Envelope) {
        for sink in &self.sinks {
            sink.emit(envelope);
        }
    }
}

/// Emits the events of one session.
pub struct Emitter {
    session: SessionId,
    clock: Arc<dyn Clock>,
    journal: Journal,
    /// False for calls outside of a conversation, which nobody resumes.
    keep: bool,
    /// Held while an event gets its time and its place, so that both have one order.
    order: Mutex<()>,
}

impl Emitter {
    /// Builds the emitter of a session.
    pub fn new(session: SessionId, clock: Arc<dyn Clock>, journal: Journal, keep: bool) -> Self {
        Self { session, clock, journal, keep, order: Mutex::default() }
    }

    /// Sends an event out. Returns at once.
    pub fn emit(&self, event: Event) {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let envelope = Envelope { time: self.clock.now(), session: self.session.clone(), event };
        self.journal.send(Job::Tell { envelope: Box::new(envelope), keep: self.keep });
    }
}
