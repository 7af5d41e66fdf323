//! A store that is a list.

use std::path::PathBuf;
use std::sync::Mutex;

use super::lock;
use crate::event::{Envelope, Event};
use crate::id::SessionId;
use crate::port::store::SessionInfo;
use crate::port::{SpillRef, Store, StoreError};

/// Keeps everything in memory; spilled texts get paths that don't exist.
#[derive(Default)]
pub struct MemoryStore {
    events: Mutex<Vec<Envelope>>,
    spilled: Mutex<Vec<(PathBuf, String)>>,
}

impl MemoryStore {
    /// Returns the spilled texts with their made-up paths.
    pub fn spilled(&self) -> Vec<(PathBuf, String)> {
        lock(&self.spilled).clone()
    }
}

impl Store for MemoryStore {
    fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        lock(&self.events).push(envelope.clone());
        Ok(())
    }

    fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError> {
        Ok(lock(&self.events).iter().filter(|envelope| envelope.session == *session).cloned().collect())
    }

    fn has(&self, session: &SessionId) -> Result<bool, StoreError> {
        Ok(lock(&self.events).iter().any(|envelope| envelope.session == *session))
    }

    fn sessions(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        let events = lock(&self.events);
        let mut found: Vec<SessionInfo> = Vec::new();
        for envelope in events.iter() {
            if let Event::SessionStart { cwd: at, .. } = &envelope.event
                && cwd.is_none_or(|cwd| cwd == at)
            {
                found.push(SessionInfo {
                    id: envelope.session.clone(),
                    cwd: at.clone(),
                    title: String::new(),
                    created: envelope.time,
                    updated: envelope.time,
                });
            }
        }
        found.reverse();
        Ok(found)
    }

    fn spill(&self, name: &str, text: &str) -> Result<SpillRef, StoreError> {
        let mut spilled = lock(&self.spilled);
        let path = PathBuf::from(format!("/spill/{}-{name}.txt", spilled.len() + 1));
        spilled.push((path.clone(), text.to_owned()));
        let lines = text.lines().count() as u64;
        Ok(SpillRef { path, bytes: text.len() as u64, lines })
    }
}
