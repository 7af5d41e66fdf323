//! Sessions and their events in SQLite.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use koda_protocol::port::StoreError;
use koda_protocol::port::store::SessionInfo;
use koda_protocol::{Envelope, Event, SessionId, UnixMillis};
use rusqlite::{Connection, OptionalExtension, params};

use crate::failed;

/// The version of the tables.
const SCHEMA: i64 = 1;

/// Characters of a title.
const TITLE: usize = 80;

/// Sessions that a list has at most.
const LISTED: usize = 500;

/// How long to wait for another Neovim's write.
const BUSY: Duration = Duration::from_secs(5);

/// The database.
pub struct Sessions {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Where a database that could not be read was put.
    pub kept_aside: Option<PathBuf>,
}

impl Sessions {
    /// Opens the database at `path`; one that can't be read is kept aside.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let (connection, kept_aside) = match connect(path) {
            Ok(connection) => (connection, None),
            Err(Problem::Unreadable) => {
                let aside = keep_aside(path).map_err(|error| failed(path, &error))?;
                let connection = connect(path).map_err(|problem| failed(path, &problem.text()))?;
                (connection, Some(aside))
            }
            Err(problem) => return Err(failed(path, &problem.text())),
        };
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection), kept_aside })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends an event, unless it is a glimpse that a later event repeats whole.
    pub fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        if is_glimpse(&envelope.event) {
            return Ok(());
        }
        let json = serde_json::to_string(envelope).map_err(|error| failed(&self.path, &error))?;
        self.insert(envelope, &json).map_err(|error| failed(&self.path, &error))
    }

    fn insert(&self, envelope: &Envelope, json: &str) -> rusqlite::Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let (id, time) = (envelope.session.as_str(), millis(envelope.time));
        if let Event::SessionStart { cwd, .. } = &envelope.event {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO sessions (id, cwd, title, created, updated) VALUES (?1, ?2, '', ?3, ?3)")?
                .execute(params![id, cwd, time])?;
        }
        if let Event::UserMessage { text, .. } = &envelope.event {
            transaction
                .prepare_cached("UPDATE sessions SET title = ?2 WHERE id = ?1 AND title = ''")?
                .execute(params![id, title(text)])?;
        }
        transaction
            .prepare_cached("INSERT INTO events (session, time, json) VALUES (?1, ?2, ?3)")?
            .execute(params![id, time, json])?;
        transaction
            .prepare_cached("UPDATE sessions SET updated = ?2 WHERE id = ?1")?
            .execute(params![id, time])?;
        transaction.commit()
    }

    /// Returns a session's events in order. A row that can't be read is passed over.
    pub fn events(&self, session: &SessionId) -> Result<Vec<Envelope>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let connection = self.lock();
            let mut statement =
                connection.prepare_cached("SELECT json FROM events WHERE session = ?1 ORDER BY seq")?;
            statement.query_map(params![session.as_str()], |row| row.get(0))?.collect()
        };
        let rows = read().map_err(|error| failed(&self.path, &error))?;
        Ok(rows.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
    }

    /// Lists sessions, newest first.
    pub fn list(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionInfo>> {
            let connection = self.lock();
            let mut statement = connection.prepare_cached(
                "SELECT id, cwd, title, created, updated FROM sessions
                 WHERE ?1 IS NULL OR cwd = ?1 ORDER BY updated DESC, rowid DESC LIMIT ?2",
            )?;
            statement
                .query_map(params![cwd, i64::try_from(LISTED).unwrap_or(i64::MAX)], |row| {
                    Ok(SessionInfo {
                        id: SessionId(row.get(0)?),
                        cwd: row.get(1)?,
                        title: row.get(2)?,
                        created: UnixMillis(row.get::<_, i64>(3)?.unsigned_abs()),
                        updated: UnixMillis(row.get::<_, i64>(4)?.unsigned_abs()),
                    })
                })?
                .collect()
        };
        read().map_err(|error| failed(&self.path, &error))
    }
}

/// Whether an event is repeated whole by a later one: deltas by the message, output by the result.
fn is_glimpse(event: &Event) -> bool {
    matches!(
        event,
        Event::TextDelta { .. }
            | Event::ReasoningDelta { .. }
            | Event::CallForming { .. }
            | Event::ToolOutput { .. }
    )
}

fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(TITLE).collect()
}

fn millis(time: UnixMillis) -> i64 {
    i64::try_from(time.0).unwrap_or(i64::MAX)
}

enum Problem {
    /// Damaged, no database, or a newer one.
    Unreadable,
    Failed(rusqlite::Error),
}

impl Problem {
    fn text(&self) -> String {
        match self {
            Self::Unreadable => "the database can't be read".to_owned(),
            Self::Failed(error) => error.to_string(),
        }
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Unreadable,
            _ => Self::Failed(error),
        }
    }
}

fn connect(path: &Path) -> Result<Connection, Problem> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // In WAL mode NORMAL survives the death of the process; only a power cut may take the last events.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let version: Option<i64> =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).optional()?;
    if version.unwrap_or(0) > SCHEMA {
        return Err(Problem::Unreadable);
    }
    connection.execute_batch(
        "BEGIN IMMEDIATE;
         CREATE TABLE IF NOT EXISTS sessions (
             id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL,
             created INTEGER NOT NULL, updated INTEGER NOT NULL);
         CREATE TABLE IF NOT EXISTS events (
             seq INTEGER PRIMARY KEY, session TEXT NOT NULL, time INTEGER NOT NULL, json TEXT NOT NULL);
         CREATE INDEX IF NOT EXISTS events_by_session ON events (session, seq);
         PRAGMA user_version = 1;
         COMMIT;",
    )?;
    Ok(connection)
}

/// Gives the database another name, so that nothing in it is lost. Its log goes with it.
fn keep_aside(path: &Path) -> std::io::Result<PathBuf> {
    let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let free = (1..).map(|n| named(&format!(".unreadable-{n}"))).find(|aside| !aside.exists());
    let aside = free.unwrap_or_else(|| named(".unreadable"));
    std::fs::rename(path, &aside)?;
    for suffix in ["-wal", "-shm"] {
        if named(suffix).exists() {
            std::fs::rename(named(suffix), PathBuf::from(format!("{}{suffix}", aside.display())))?;
        }
    }
    Ok(aside)
}
