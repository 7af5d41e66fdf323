//! What a session remembers between calls: what was read, and the task list.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use koda_protocol::Revision;
use koda_protocol::event::TodoItem;

#[derive(Default)]
struct Inner {
    read: HashMap<PathBuf, Revision>,
    todos: Vec<TodoItem>,
}

/// A session's memory of its own calls. Shared by calls that run at once.
#[derive(Default)]
pub struct SessionState(Mutex<Inner>);

impl SessionState {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Plain data: a panic elsewhere can't have left it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the model has seen all of a file in this state.
    pub fn saw(&self, path: &Path, revision: &Revision) {
        self.lock().read.insert(path.to_owned(), revision.clone());
    }

    /// Moves what was seen on to the state after an own edit, if the state before it had been seen.
    pub fn edited(&self, path: &Path, before: &Revision, after: &Revision) {
        let mut inner = self.lock();
        if inner.read.get(path) == Some(before) {
            inner.read.insert(path.to_owned(), after.clone());
        }
    }

    /// Forgets a file.
    pub fn forget(&self, path: &Path) {
        self.lock().read.remove(path);
    }

    /// Tells whether the model has seen all of a file in this state.
    pub fn has_seen(&self, path: &Path, revision: &Revision) -> bool {
        self.lock().read.get(path) == Some(revision)
    }

    /// Replaces the task list; false if it is the same.
    pub fn set_todos(&self, items: &[TodoItem]) -> bool {
        let mut inner = self.lock();
        let changed = inner.todos != items;
        inner.todos = items.to_vec();
        changed
    }
}
