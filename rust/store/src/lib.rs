//! What outlives a turn: sessions with their events, and long results that were cut for the model.
//!
//! Sessions are rows of one SQLite database in WAL mode, so that several Neovims may write at once and
//! nothing that was acknowledged is lost when one is killed. This crate knows no model and no tool.

mod sessions;
mod spill;

use std::path::{Path, PathBuf};

use koda_protocol::port::store::SessionInfo;
use koda_protocol::port::{SpillRef, Store, StoreError};
use koda_protocol::{Envelope, SessionId};

use sessions::Sessions;

/// Keeps sessions in `koda.db` and spilled texts in `spill/` below one directory.
pub struct SqliteStore {
    sessions: Sessions,
    spill: PathBuf,
}

impl SqliteStore {
    /// Opens the store in `dir`, creating both where they are missing.
    ///
    /// A database that is damaged or of a newer version is kept aside under another name, and a new one
    /// begun; [`SqliteStore::kept_aside`] tells where it is.
    ///
    /// # Errors
    ///
    /// If the directory or the database can't be made.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let spill = dir.join("spill");
        std::fs::create_dir_all(&spill).map_err(|error| failed(&spill, &error))?;
        Ok(Self { sessions: Sessions::open(&dir.join("koda.db"))?, spill })
    }

    /// Returns where a database that could not be read was put, if one was.
    pub fn kept_aside(&self) -> Option<&Path> {
        self.sessions.kept_aside.as_deref()
    }
}

impl Store for SqliteStore {
    fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        self.sessions.append(envelope)
    }

    fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError> {
        self.sessions.events(session)
    }

    fn sessions(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        self.sessions.list(cwd)
    }

    fn spill(&self, name: &str, text: &str) -> Result<SpillRef, StoreError> {
        spill::write(&self.spill, name, text)
    }
}

fn failed(path: &Path, error: &impl std::fmt::Display) -> StoreError {
    StoreError { path: path.to_owned(), reason: error.to_string() }
}
