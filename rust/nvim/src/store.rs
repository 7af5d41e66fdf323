//! The store, opened in the background: making a database waits for the disk, which the main thread must not.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;

use koda_protocol::port::store::SessionInfo;
use koda_protocol::port::{SpillRef, Store, StoreError};
use koda_protocol::{Envelope, RecallQuery, Recalled, Recollection, SessionId, UnixMillis};
use koda_store::SqliteStore;
use mlua::prelude::{LuaFunction, LuaTable};

use crate::bridge::Bridge;

type Opened = Result<SqliteStore, StoreError>;

/// A store that opens itself; whoever uses it before it is open waits.
pub struct LazyStore {
    dir: PathBuf,
    opened: Arc<OnceLock<Opened>>,
}

impl LazyStore {
    /// Begins to open the store in `dir`. A database that can't be used is told to the user; what goes wrong
    /// otherwise, by the first use.
    pub fn open(dir: PathBuf, bridge: &Bridge) -> Self {
        let opened = Arc::new(OnceLock::new());
        let (cell, at, bridge) = (opened.clone(), dir.clone(), bridge.clone());
        thread::spawn(move || {
            if let Ok(store) = cell.get_or_init(|| open(&at)) {
                warn(&bridge, store);
                if let Err(error) = store.catch_up() {
                    tracing::warn!(%error, "the index of what was said is not up to date");
                }
            }
        });
        Self { dir, opened }
    }

    fn get(&self) -> Result<&SqliteStore, StoreError> {
        self.opened.get_or_init(|| open(&self.dir)).as_ref().map_err(Clone::clone)
    }
}

fn open(dir: &Path) -> Opened {
    let store = SqliteStore::open(dir)?;
    if let Some(aside) = store.kept_aside() {
        tracing::warn!(path = %aside.display(), "the session database could not be read and was kept aside");
    }
    Ok(store)
}

/// Tells the user why stored sessions are not there.
fn warn(bridge: &Bridge, store: &SqliteStore) {
    let Some(notice) = store.notice().map(str::to_owned) else { return };
    bridge.post(move |lua| {
        let require: LuaFunction = lua.globals().get("require")?;
        require.call::<LuaTable>("koda.notify")?.get::<LuaFunction>("warn")?.call(notice)
    });
}

impl Store for LazyStore {
    fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        self.get()?.append(envelope)
    }

    fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError> {
        self.get()?.events(session)
    }

    fn has(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.get()?.has(session)
    }

    fn sessions(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        self.get()?.sessions(cwd)
    }

    fn usage_since(&self, since: UnixMillis) -> Result<Vec<Envelope>, StoreError> {
        self.get()?.usage_since(since)
    }

    fn recall(&self, query: &RecallQuery) -> Result<Recalled, StoreError> {
        self.get()?.recall(query)
    }

    fn recollect(
        &self,
        cwd: &str,
        session: &SessionId,
        number: u64,
    ) -> Result<Option<Recollection>, StoreError> {
        self.get()?.recollect(cwd, session, number)
    }

    fn spill(&self, name: &str, text: &str) -> Result<SpillRef, StoreError> {
        self.get()?.spill(name, text)
    }
}
