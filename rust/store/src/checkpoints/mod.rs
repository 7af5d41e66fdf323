//! What files were before the agent changed them: contents by their hash, and the changes that name them.
//!
//! One SQLite database of its own, so that it can grow and be thrown away without the sessions. Nothing of a
//! project but its files is looked at: it may be under any version control or none.

mod disk;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use koda_protocol::SessionId;
use koda_protocol::checkpoint::{Change, ChangeId, ChangeSet, Checkpoints, ContentId, FileState, OnDisk};
use koda_protocol::port::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::database::{self, Kind};
use crate::{failed, private_dir};

/// A path is bytes: it need not be UTF-8. `message` counts messages from 1, and undos from -1 downwards.
const DATABASE: Kind = Kind {
    name: "checkpoints",
    holds: "checkpoints",
    schema: 1,
    tables: "
        PRAGMA auto_vacuum = INCREMENTAL;
        BEGIN IMMEDIATE;
        CREATE TABLE IF NOT EXISTS contents (id TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS changes (
            id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, message INTEGER NOT NULL,
            path BLOB NOT NULL, before TEXT NOT NULL, after TEXT, time INTEGER NOT NULL);
        CREATE INDEX IF NOT EXISTS changes_by_set ON changes (session, message, id);
        PRAGMA user_version = 1;
        COMMIT;",
    probes: &[
        "SELECT count(id) FROM (SELECT * FROM contents LIMIT 1)",
        "SELECT count(id), max(session), max(message), max(path), max(before), max(after), max(time)
         FROM (SELECT * FROM changes ORDER BY id DESC LIMIT 1)",
    ],
};

const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1000;

/// What is kept.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointLimits {
    /// Bytes of a file; a larger one is not kept.
    pub file_bytes: u64,
    /// Days that a change can be taken back.
    pub days: u64,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self { file_bytes: 10 * 1024 * 1024, days: 30 }
    }
}

/// Keeps checkpoints in `checkpoints.db` of a directory, which is opened by the first use.
pub struct SqliteCheckpoints {
    dir: PathBuf,
    limits: CheckpointLimits,
    connection: OnceLock<Result<Mutex<Connection>, StoreError>>,
}

impl SqliteCheckpoints {
    /// Names the directory; nothing is made before the first use.
    pub fn new(dir: &Path, limits: CheckpointLimits) -> Self {
        Self { dir: dir.to_owned(), limits, connection: OnceLock::new() }
    }

    fn connection(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        let opened = self.connection.get_or_init(|| self.open_database().map(Mutex::new));
        opened.as_ref().map(|cell| cell.lock().unwrap_or_else(PoisonError::into_inner)).map_err(Clone::clone)
    }

    fn open_database(&self) -> Result<Connection, StoreError> {
        private_dir(&self.dir).map_err(|error| failed(&self.dir, &error))?;
        let database = database::open(&self.dir, &DATABASE)?;
        let oldest = now().saturating_sub(
            i64::try_from(self.limits.days.saturating_mul(MILLIS_PER_DAY)).unwrap_or(i64::MAX),
        );
        forget(&database.writer, oldest).map_err(|error| failed(&database.path, &error))?;
        Ok(database.writer)
    }

    fn failed(&self, error: impl std::fmt::Display) -> StoreError {
        failed(&self.dir.join("checkpoints.db"), &error)
    }

    fn rows(&self, filter: &str, args: impl rusqlite::Params) -> Result<Vec<Change>, StoreError> {
        let connection = self.connection()?;
        let read = || -> rusqlite::Result<Vec<Change>> {
            let sql = format!("SELECT id, path, before, after FROM changes WHERE {filter} ORDER BY id");
            connection.prepare_cached(&sql)?.query_map(args, change)?.collect()
        };
        read().map_err(|error| self.failed(error))
    }
}

/// Removes changes from before a time, and the contents that no change names any more.
fn forget(connection: &Connection, oldest: i64) -> rusqlite::Result<()> {
    if connection.execute("DELETE FROM changes WHERE time < ?1", params![oldest])? == 0 {
        return Ok(());
    }
    connection.execute_batch(
        "DELETE FROM contents WHERE id NOT IN (
            SELECT before ->> '$.content' FROM changes WHERE before ->> '$.content' IS NOT NULL
            UNION SELECT before ->> '$.unsaved' FROM changes WHERE before ->> '$.unsaved' IS NOT NULL
            UNION SELECT after ->> '$.content' FROM changes WHERE after ->> '$.content' IS NOT NULL
            UNION SELECT after ->> '$.unsaved' FROM changes WHERE after ->> '$.unsaved' IS NOT NULL);
        PRAGMA incremental_vacuum;",
    )
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn number(set: ChangeSet) -> i64 {
    match set {
        ChangeSet::Message(number) => i64::try_from(number).unwrap_or(i64::MAX),
        ChangeSet::Undo(number) => i64::try_from(number).map_or(i64::MIN, |number| -number),
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        id: ChangeId(row.get(0)?),
        path: disk::path_of(row.get(1)?),
        before: state(row, 2)?,
        after: row.get::<_, Option<String>>(3)?.map(|_| state(row, 3)).transpose()?,
    })
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<FileState> {
    let json: String = row.get(column)?;
    serde_json::from_str(&json).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn last_of_set(
    connection: &Connection,
    session: &SessionId,
    set: ChangeSet,
    path: &[u8],
) -> rusqlite::Result<Option<(i64, Option<String>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, after FROM changes WHERE session = ?1 AND message = ?2 AND path = ?3 ORDER BY id DESC LIMIT 1",
    )?;
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    statement.query_row(params![session.as_str(), number(set), path], row).optional()
}

impl Checkpoints for SqliteCheckpoints {
    fn capture(&self, path: &Path) -> Result<OnDisk, StoreError> {
        let keep = |bytes: &[u8]| self.keep(bytes);
        disk::look(path, self.limits.file_bytes, keep)
    }

    fn unkept(&self, path: &Path) -> Option<String> {
        disk::unkept(path, self.limits.file_bytes)
    }

    fn keep(&self, bytes: &[u8]) -> Result<ContentId, StoreError> {
        let id = disk::id_of(bytes);
        let connection = self.connection()?;
        let add = || -> rusqlite::Result<usize> {
            connection
                .prepare_cached("INSERT OR IGNORE INTO contents (id, bytes) VALUES (?1, ?2)")?
                .execute(params![id.0, bytes])
        };
        add().map_err(|error| self.failed(error))?;
        Ok(id)
    }

    fn content(&self, id: &ContentId) -> Result<Vec<u8>, StoreError> {
        let connection = self.connection()?;
        let read = || -> rusqlite::Result<Vec<u8>> {
            connection
                .prepare_cached("SELECT bytes FROM contents WHERE id = ?1")?
                .query_row(params![id.0], |row| row.get(0))
        };
        read().map_err(|error| self.failed(format!("content {}: {error}", id.0)))
    }

    fn replace(&self, path: &Path, from: &OnDisk, to: &OnDisk) -> Result<(), StoreError> {
        let bytes = match to {
            OnDisk::File { content, .. } | OnDisk::Link { content } => self.content(content)?,
            _ => Vec::new(),
        };
        // Nothing needs to be kept of what is only compared.
        let stands = disk::look(path, self.limits.file_bytes, |bytes| Ok(disk::id_of(bytes)))?;
        if stands != *from {
            return Err(failed(path, &"it has changed meanwhile"));
        }
        disk::put(path, from, to, &bytes).map_err(|error| failed(path, &error))
    }

    fn begin(
        &self,
        session: &SessionId,
        set: ChangeSet,
        path: &Path,
        before: &FileState,
    ) -> Result<ChangeId, StoreError> {
        let json = serde_json::to_string(before).map_err(|error| self.failed(error))?;
        let bytes = path.as_os_str().as_encoded_bytes();
        let mut connection = self.connection()?;
        let mut begin = || -> rusqlite::Result<i64> {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let last = last_of_set(&transaction, session, set, bytes)?;
            let id = match last {
                Some((id, after)) if after.as_deref() == Some(&json) => {
                    transaction.execute("UPDATE changes SET after = NULL WHERE id = ?1", params![id])?;
                    id
                }
                _ => {
                    transaction.execute(
                        "INSERT INTO changes (session, message, path, before, time) VALUES (?1, ?2, ?3, ?4, ?5)",
                        params![session.as_str(), number(set), bytes, json, now()],
                    )?;
                    transaction.last_insert_rowid()
                }
            };
            transaction.commit()?;
            Ok(id)
        };
        begin().map(ChangeId).map_err(|error| self.failed(error))
    }

    fn end(&self, change: ChangeId, after: &FileState) -> Result<(), StoreError> {
        let json = serde_json::to_string(after).map_err(|error| self.failed(error))?;
        let connection = self.connection()?;
        let end = || -> rusqlite::Result<()> {
            connection.execute("UPDATE changes SET after = ?2 WHERE id = ?1", params![change.0, json])?;
            connection.execute("DELETE FROM changes WHERE id = ?1 AND before = after", params![change.0])?;
            Ok(())
        };
        end().map_err(|error| self.failed(error))
    }

    fn changes(&self, session: &SessionId, set: ChangeSet) -> Result<Vec<Change>, StoreError> {
        self.rows("session = ?1 AND message = ?2", params![session.as_str(), number(set)])
    }

    fn open(&self, session: &SessionId) -> Result<Vec<Change>, StoreError> {
        self.rows("session = ?1 AND after IS NULL", params![session.as_str()])
    }
}
