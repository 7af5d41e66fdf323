//! Sessions and their events in SQLite.
//!
//! Stored is every event but the glimpses: `text_delta` and `reasoning_delta` (the `message` has the whole
//! text), `call_forming` (the `tool_call` has the call) and `tool_output` (the `tool_result` has the output).
//! So a session that is replayed from the store ends up looking as it did live.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use koda_protocol::port::StoreError;
use koda_protocol::port::store::SessionInfo;
use koda_protocol::{Envelope, Event, SessionId, UnixMillis};
use rusqlite::{Connection, Row, TransactionBehavior, params};

use crate::database::{self, Aside, Kind};
use crate::failed;

/// Characters of a title.
const TITLE: usize = 80;

/// Sessions that a list has at most.
const LISTED: i64 = 500;

/// `type` is there for queries by hand and later readers; generated, so that an append pays nothing for it.
const DATABASE: Kind = Kind {
    name: "koda",
    holds: "sessions",
    schema: 1,
    tables: "
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS sessions (
        id TEXT PRIMARY KEY, cwd TEXT NOT NULL, title TEXT NOT NULL,
        created INTEGER NOT NULL, updated INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS events (
        seq INTEGER PRIMARY KEY, session TEXT NOT NULL, time INTEGER NOT NULL, json TEXT NOT NULL,
        type TEXT GENERATED ALWAYS AS (json ->> 'type') VIRTUAL);
    CREATE INDEX IF NOT EXISTS events_by_session ON events (session, seq);
    PRAGMA user_version = 1;
    COMMIT;",
    probes: &[
        "SELECT count(id), max(cwd), max(title), max(created), max(updated) FROM (SELECT * FROM sessions LIMIT 1)",
        "SELECT count(seq), max(session), max(time), max(json), max(type)
     FROM (SELECT * FROM events ORDER BY seq DESC LIMIT 1)",
    ],
};

/// The sessions.
pub struct Sessions {
    /// The database.
    pub path: PathBuf,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
    /// A database that was there and could not be used.
    pub aside: Option<Aside>,
}

impl Sessions {
    /// Opens the sessions in `dir`.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let database::Database { path, writer, reader, aside } = database::open(dir, &DATABASE)?;
        Ok(Self { path, writer: Mutex::new(writer), reader: Mutex::new(reader), aside })
    }

    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: impl std::fmt::Display) -> StoreError {
        failed(&self.path, &error)
    }

    /// Appends an event, unless it is a glimpse that a later event repeats whole.
    pub fn append(&self, envelope: &Envelope) -> Result<(), StoreError> {
        if is_glimpse(&envelope.event) {
            return Ok(());
        }
        let json = serde_json::to_string(envelope).map_err(|error| self.failed(error))?;
        self.insert(envelope, &json).map_err(|error| self.failed(error))
    }

    fn insert(&self, envelope: &Envelope, json: &str) -> rusqlite::Result<()> {
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Immediate: waiting for another Neovim's write then happens in one place, before anything is done.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (id, time) = (envelope.session.as_str(), millis(envelope.time));
        if let Event::SessionStart { cwd, .. } = &envelope.event {
            transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO sessions (id, cwd, title, created, updated) VALUES (?1, ?2, '', ?3, ?3)",
                )?
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
        let rows = self.rows(session).map_err(|error| self.failed(error))?;
        Ok(rows.iter().filter_map(|json| serde_json::from_str(json).ok()).collect())
    }

    fn rows(&self, session: &SessionId) -> rusqlite::Result<Vec<String>> {
        let connection = self.reader();
        let mut statement =
            connection.prepare_cached("SELECT json FROM events WHERE session = ?1 ORDER BY seq")?;
        statement.query_map(params![session.as_str()], |row| row.get(0))?.collect()
    }

    /// Returns the `usage` events since a time. Reads back from the newest, so that it takes as long as there
    /// is something to find.
    pub fn usage_since(&self, since: UnixMillis) -> Result<Vec<Envelope>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Envelope>> {
            let connection = self.reader();
            let mut statement = connection.prepare_cached(
                "SELECT time, CASE type WHEN 'usage' THEN json END FROM events ORDER BY seq DESC",
            )?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                if row.get::<_, i64>(0)? < millis(since) {
                    break;
                }
                let json: Option<String> = row.get(1)?;
                found.extend(json.and_then(|json| serde_json::from_str(&json).ok()));
            }
            found.reverse();
            Ok(found)
        };
        read().map_err(|error| self.failed(error))
    }

    /// Tells whether anything is stored of a session.
    pub fn has(&self, session: &SessionId) -> Result<bool, StoreError> {
        let found = || {
            let connection = self.reader();
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM events WHERE session = ?1 LIMIT 1")?;
            statement.exists(params![session.as_str()])
        };
        found().map_err(|error| self.failed(error))
    }

    /// Lists sessions, newest first.
    pub fn list(&self, cwd: Option<&str>) -> Result<Vec<SessionInfo>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionInfo>> {
            let connection = self.reader();
            let mut statement = connection.prepare_cached(
                "SELECT id, cwd, title, created, updated FROM sessions
                 WHERE ?1 IS NULL OR cwd = ?1 ORDER BY updated DESC, rowid DESC LIMIT ?2",
            )?;
            statement.query_map(params![cwd, LISTED], info)?.collect()
        };
        read().map_err(|error| self.failed(error))
    }
}

fn info(row: &Row<'_>) -> rusqlite::Result<SessionInfo> {
    Ok(SessionInfo {
        id: SessionId(row.get(0)?),
        cwd: row.get(1)?,
        title: row.get(2)?,
        created: UnixMillis(row.get::<_, i64>(3)?.unsigned_abs()),
        updated: UnixMillis(row.get::<_, i64>(4)?.unsigned_abs()),
    })
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
