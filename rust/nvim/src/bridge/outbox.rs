//! The outbox: events on their way to Lua, in order, text deltas merged, at most one delivery a frame.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use koda_protocol::port::EventSink;
use koda_protocol::{Envelope, Event};
use mlua::prelude::{Lua, LuaFunction, LuaResult};
use mlua::{LuaSerdeExt, RegistryKey};
use tokio::runtime::Handle;

use super::Bridge;
use crate::api::convert;

/// The least time between two deliveries. Each one costs Neovim a redraw; twenty a second still read as a
/// steady flow and leave the main thread idle most of the time.
const FRAME: Duration = Duration::from_millis(50);

/// Hand over no more events at once than are sure to fit a tick; the rest follows in the next.
const BATCH_EVENTS: usize = 64;

/// Hand over no more text at once; drawing it must fit a tick as well.
const BATCH_BYTES: usize = 32 * 1024;

#[derive(Default)]
struct State {
    waiting: VecDeque<Envelope>,
    armed: bool,
    last: Option<Instant>,
}

struct Shared {
    bridge: Bridge,
    runtime: Handle,
    deliver: RegistryKey,
    state: Mutex<State>,
}

/// Collects events from any thread and delivers them to one Lua function.
#[derive(Clone)]
pub struct Outbox(Arc<Shared>);

impl Outbox {
    /// Builds an outbox that delivers to `deliver`, a Lua function of an array of event tables.
    pub fn new(bridge: Bridge, runtime: Handle, deliver: RegistryKey) -> Self {
        Self(Arc::new(Shared { bridge, runtime, deliver, state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees that a delivery comes, at once or when the frame is over.
    fn arm(&self, state: &mut State) {
        if state.armed {
            return;
        }
        state.armed = true;
        let rest = state.last.map_or(Duration::ZERO, |last| FRAME.saturating_sub(last.elapsed()));
        let outbox = self.clone();
        if rest.is_zero() {
            self.0.bridge.post(move |lua| outbox.hand_over(lua));
        } else {
            self.0.runtime.spawn(async move {
                tokio::time::sleep(rest).await;
                let bridge = outbox.0.bridge.clone();
                bridge.post(move |lua| outbox.hand_over(lua));
            });
        }
    }

    /// Delivers one batch; on the main thread.
    fn hand_over(&self, lua: &Lua) -> LuaResult<()> {
        let batch = {
            let mut state = self.state();
            state.armed = false;
            state.last = Some(Instant::now());
            take_batch(&mut state.waiting)
        };
        let deliver: LuaFunction = lua.registry_value(&self.0.deliver)?;
        let table = lua.create_table_with_capacity(batch.len(), 0)?;
        for envelope in &batch {
            table.push(lua.to_value_with(envelope, convert::OPTIONS)?)?;
        }
        let result = deliver.call::<()>(table);
        let mut state = self.state();
        if !state.waiting.is_empty() && !state.armed {
            // No frame to wait for: this is the rest of a batch that is already late.
            state.armed = true;
            let outbox = self.clone();
            self.0.bridge.post(move |lua| outbox.hand_over(lua));
        }
        result
    }
}

impl EventSink for Outbox {
    fn emit(&self, envelope: &Envelope) {
        let mut state = self.state();
        if !merge(state.waiting.back_mut(), envelope) {
            state.waiting.push_back(envelope.clone());
        }
        self.arm(&mut state);
    }
}

/// Appends a delta to the last waiting one if both are of the same session and kind.
fn merge(last: Option<&mut Envelope>, next: &Envelope) -> bool {
    let Some(last) = last.filter(|last| last.session == next.session) else { return false };
    match (&mut last.event, &next.event) {
        (Event::TextDelta { text }, Event::TextDelta { text: more })
        | (Event::ReasoningDelta { text }, Event::ReasoningDelta { text: more })
            if text.len() + more.len() <= BATCH_BYTES =>
        {
            text.push_str(more);
            true
        }
        (Event::CallForming { id, bytes, .. }, Event::CallForming { id: same, bytes: now, .. })
            if id == same =>
        {
            *bytes = *now;
            true
        }
        _ => false,
    }
}

fn weight(event: &Event) -> usize {
    match event {
        Event::TextDelta { text } | Event::ReasoningDelta { text } | Event::ToolResult { text, .. } => {
            text.len()
        }
        Event::Message { message, .. } => message.text().len(),
        _ => 0,
    }
}

fn take_batch(waiting: &mut VecDeque<Envelope>) -> Vec<Envelope> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while batch.len() < BATCH_EVENTS && bytes < BATCH_BYTES {
        let Some(envelope) = waiting.pop_front() else { break };
        bytes += weight(&envelope.event);
        batch.push(envelope);
    }
    batch
}
