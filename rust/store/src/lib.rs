//! What outlives a turn: sessions with their events, what files were before a turn changed them, and long results
//! that were cut for the model.
//!
//! Sessions are rows of one SQLite database in WAL mode, so that several Neovims may write at once and
//! nothing that was acknowledged is lost when one is killed. This crate knows no model and no tool.

mod checkpoints;
mod database;
mod recall;
mod replace;
mod rules;
mod sessions;
mod spill;

use std::path::{Path, PathBuf};

use koda_protocol::port::store::SessionInfo;
use koda_protocol::port::{SpillRef, Store, StoreError};
use koda_protocol::{Envelope, RecallQuery, Recalled, Recollection, SessionId, UnixMillis};

pub use checkpoints::{CheckpointLimits, SqliteCheckpoints};
pub use rules::RuleFile;

use recall::Recall;
use sessions::Sessions;

/// Keeps sessions in `koda.db` and spilled texts in `spill/` below one directory.
pub struct SqliteStore {
    sessions: Sessions,
    recall: Recall,
    spill: PathBuf,
}

impl SqliteStore {
    /// Opens the store in `dir`, creating both where they are missing.
    ///
    /// A database that is damaged is kept aside under another name; one of a newer version stays as it is.
    /// In both cases a new one is begun, and [`SqliteStore::notice`] says so.
    ///
    /// # Errors
    ///
    /// If the directory or the database can't be made.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let spill = dir.join("spill");
        private_dir(&spill).map_err(|error| failed(&spill, &error))?;
        let sessions = Sessions::open(dir)?;
        let recall = Recall::new(&sessions.path);
        Ok(Self { sessions, recall, spill })
    }

    /// Returns where the database is that was there and could not be used, if there was one.
    pub fn kept_aside(&self) -> Option<&Path> {
        self.sessions.aside.as_ref().map(|aside| aside.path.as_path())
    }

    /// Brings the index of what was said up to date, so that the first search need not. Takes a while after many
    /// sessions of a Koda without it.
    ///
    /// # Errors
    ///
    /// If the database can't be read or written.
    pub fn catch_up(&self) -> Result<(), StoreError> {
        self.recall.catch_up()
    }

    /// Returns what the user should know: why a database could not be used, and where it is.
    pub fn notice(&self) -> Option<&str> {
        self.sessions.aside.as_ref().map(|aside| aside.notice.as_str())
    }
}

impl Store for SqliteStore {
    fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        self.sessions.append(envelope)
    }

    fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError> {
        self.sessions.events(session)
    }

    fn has(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.sessions.has(session)
    }

    fn sessions(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        self.sessions.list(cwd)
    }

    fn usage_since(&self, since: UnixMillis) -> Result<Vec<Envelope>, StoreError> {
        self.sessions.usage_since(since)
    }

    fn recall(&self, query: &RecallQuery) -> Result<Recalled, StoreError> {
        self.recall.search(query)
    }

    fn recollect(
        &self,
        cwd: &str,
        session: &SessionId,
        number: u64,
    ) -> Result<Option<Recollection>, StoreError> {
        self.recall.one(cwd, session, number)
    }

    fn spill(&self, name: &str, text: &str) -> Result<SpillRef, StoreError> {
        spill::write(&self.spill, name, text)
    }
}

/// Makes a directory and its parents, for the user's eyes only where they are new.
fn private_dir(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn failed(path: &Path, error: &impl std::fmt::Display) -> StoreError {
    StoreError { path: path.to_owned(), reason: error.to_string() }
}
