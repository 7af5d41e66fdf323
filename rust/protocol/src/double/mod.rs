//! In-memory doubles of the ports, for tests of everything above.

mod approver;
mod checkpoints;
mod clock;
mod editor;
mod model;
mod rules;
mod store;
mod terminals;

pub use approver::ScriptedApprover;
pub use checkpoints::MemoryCheckpoints;
pub use clock::TestClock;
pub use editor::MemoryEditor;
pub use model::ScriptedModel;
pub use rules::MemoryRules;
pub use store::MemoryStore;
pub use terminals::ScriptedTerminals;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after another thread panicked while it held the lock: doubles hold plain data.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
