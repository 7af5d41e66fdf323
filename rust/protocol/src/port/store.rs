//! What outlives a turn.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::event::{Envelope, Event};
use crate::id::SessionId;
use crate::recall::{self, RecallQuery, Recalled, Recollection};
use crate::time::UnixMillis;

/// A store failed. The event or text is not kept; the session goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// What the system or the database said.
    pub reason: String,
}

/// Where a text was spilled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpillRef {
    /// Absolute path, readable with the Read tool.
    pub path: PathBuf,
    /// Bytes of the whole text.
    pub bytes: u64,
    /// Lines of the whole text.
    pub lines: u64,
}

/// A session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Names it.
    pub id: SessionId,
    /// The project root.
    pub cwd: String,
    /// The first line of the first message, cut at 80 characters; empty before one was sent.
    pub title: String,
    /// When it began.
    pub created: UnixMillis,
    /// When something last happened in it.
    pub updated: UnixMillis,
}

/// Keeps sessions and spilled texts. All methods are fast enough for a background thread and may block it.
pub trait Store: Send + Sync {
    /// Appends an event to its session, beginning the session if it is new. Durable when it returns.
    fn append(&self, envelope: &Envelope) -> Result<(), StoreError>;
    /// Returns a session's events in order; empty if there is none.
    fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError>;
    /// Tells whether anything is stored of a session. Quick, whatever the session's length.
    fn has(&self, session: &SessionId) -> Result<bool, StoreError>;
    /// Returns the sessions of a project (or all), newest first.
    fn sessions(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError>;
    /// Returns the `usage` events of all sessions since then.
    fn usage_since(&self, since: UnixMillis) -> Result<Vec<Envelope>, StoreError> {
        let mut found = Vec::new();
        let sessions: BTreeSet<String> =
            self.sessions(None)?.into_iter().map(|session| session.id.0).collect();
        for session in sessions {
            let recent = |envelope: &Envelope| {
                envelope.time.0 >= since.0 && matches!(envelope.event, Event::Usage { .. })
            };
            found.extend(self.events(&SessionId(session))?.into_iter().filter(recent));
        }
        Ok(found)
    }
    /// Searches what was said in the sessions of a project. Implementors with an index bring it up to date first.
    fn recall(&self, query: &RecallQuery) -> Result<Recalled, StoreError> {
        let mut sessions = Vec::new();
        for info in self.sessions(Some(&query.cwd))? {
            if query.session.as_ref().is_none_or(|session| *session == info.id) {
                sessions.push((info.title, self.events(&info.id)?));
            }
        }
        Ok(recall::search(&sessions, query))
    }
    /// Returns what was said under a number in a session of a project, none if nothing was.
    fn recollect(
        &self,
        cwd: &str,
        session: &SessionId,
        number: u64,
    ) -> Result<Option<Recollection>, StoreError> {
        let (session, limit) = (Some(session.clone()), usize::MAX);
        let query = RecallQuery { cwd: cwd.to_owned(), session, limit, ..RecallQuery::default() };
        let mut all = self.recall(&query)?.hits.into_iter();
        Ok(all.find(|one| one.number == number))
    }
    /// Keeps a text that was cut for the model, for 48 hours and within 100 MiB.
    fn spill(&self, name: &str, text: &str) -> Result<SpillRef, StoreError>;
}

/// Someone who hears every event, in order. Must return at once and must not block.
pub trait EventSink: Send + Sync {
    /// Takes an event.
    fn emit(&self, envelope: &Envelope);
}
