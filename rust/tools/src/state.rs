//! What a session remembers between calls: what was read, and the task list.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use koda_protocol::event::TodoItem;
use koda_protocol::{Event, Plan, Revision};
use serde_json::Value;

use crate::memory::{MemoryScope, Notes};

#[derive(Default)]
struct Inner {
    read: HashMap<PathBuf, Revision>,
    todos: Vec<TodoItem>,
    plan: Option<Plan>,
    /// By the name of the file that they would be in.
    notes: BTreeMap<String, String>,
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

    /// Forgets everything: the conversation that it came from was taken back.
    pub fn reset(&self) {
        *self.lock() = Inner::default();
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

    /// Returns the task list.
    pub fn todos(&self) -> Vec<TodoItem> {
        self.lock().todos.clone()
    }

    /// Replaces the plan; false if it is the same.
    pub fn set_plan(&self, plan: &Plan) -> bool {
        let mut inner = self.lock();
        let changed = inner.plan.as_ref() != Some(plan);
        inner.plan = Some(plan.clone());
        changed
    }

    /// Returns the plan.
    pub fn plan(&self) -> Option<Plan> {
        self.lock().plan.clone()
    }

    /// Returns a note of the session's.
    pub fn note(&self, name: &str) -> Option<String> {
        self.lock().notes.get(name).cloned()
    }

    /// Replaces a note of the session's; an empty one is gone.
    pub fn set_note(&self, name: &str, text: &str) {
        let notes = &mut self.lock().notes;
        if text.is_empty() {
            notes.remove(name);
        } else {
            notes.insert(name.to_owned(), text.to_owned());
        }
    }

    /// Returns the session's notes, by name.
    pub fn notes(&self) -> Vec<Notes> {
        let inner = self.lock();
        let notes = |(name, text): (&String, &String)| Notes {
            scope: MemoryScope::Session,
            name: name.clone(),
            text: text.trim_end().to_owned(),
        };
        inner.notes.iter().map(notes).collect()
    }

    /// Takes in what is stored of a session that is resumed.
    pub fn restore(&self, event: &Event) {
        match event {
            Event::Todo { items } => drop(self.set_todos(items)),
            Event::Plan { plan, .. } => drop(self.set_plan(plan)),
            Event::ToolResult { tool, ok: true, data, .. } if tool == "MemoryWrite" => {
                let text = |name: &str| data.get(name).and_then(Value::as_str);
                if let (Some("session"), Some(name), Some(note)) = (text("scope"), text("path"), text("text"))
                {
                    self.set_note(name, note);
                }
            }
            _ => {}
        }
    }
}
