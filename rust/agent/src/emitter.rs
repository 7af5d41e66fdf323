//! Where a session's events go: to the store and to everyone who listens, in one order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use koda_protocol::port::{Clock, EventSink, Store};
use koda_protocol::{Envelope, Event, SessionId};

/// Emits the events of one session.
pub struct Emitter {
    session: SessionId,
    clock: Arc<dyn Clock>,
    /// None for calls outside of a conversation, which nobody resumes.
    store: Option<Arc<dyn Store>>,
    sinks: Vec<Arc<dyn EventSink>>,
    /// Held while an event goes out, so that all readers see one order.
    order: Mutex<()>,
    store_failed: AtomicBool,
}

impl Emitter {
    /// Builds the emitter of a session.
    pub fn new(
        session: SessionId,
        clock: Arc<dyn Clock>,
        store: Option<Arc<dyn Store>>,
        sinks: Vec<Arc<dyn EventSink>>,
    ) -> Self {
        Self { session, clock, store, sinks, order: Mutex::default(), store_failed: AtomicBool::new(false) }
    }

    /// Sends an event out.
    pub fn emit(&self, event: Event) {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let envelope = self.envelope(event);
        if let Some(store) = &self.store
            && let Err(error) = store.append(&envelope)
        {
            tracing::error!(%error, "an event could not be stored");
            if !self.store_failed.swap(true, Ordering::SeqCst) {
                let text = format!("This session is not being saved: {error}");
                self.deliver(&self.envelope(Event::Notice { text }));
            }
        }
        self.deliver(&envelope);
    }

    fn envelope(&self, event: Event) -> Envelope {
        Envelope { time: self.clock.now(), session: self.session.clone(), event }
    }

    fn deliver(&self, envelope: &Envelope) {
        for sink in &self.sinks {
            sink.emit(envelope);
        }
    }
}
