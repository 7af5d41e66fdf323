//! The full-text index over what was said, beside the events in their database.
//!
//! It is brought up to date before a search, and in the background after opening, so that an append pays nothing
//! for it. It holds no text of its own, only where which words are.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use koda_protocol::port::StoreError;
use koda_protocol::{Envelope, RecallQuery, Recalled, Recollection, SessionId, UnixMillis};
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::failed;

/// Events that are indexed in one transaction: another Neovim's append waits for no more.
const BATCH: i64 = 400;

/// How long to wait for another Neovim's write.
const BUSY: Duration = Duration::from_secs(5);

/// An event that is gone goes from the index. What has its number later is another, which must be indexed anew.
const TABLES: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS recall USING fts5(
        body, content='', contentless_delete=1, tokenize=\"unicode61 tokenchars '_'\");
    CREATE TABLE IF NOT EXISTS recall_state (one INTEGER PRIMARY KEY CHECK (one = 1), upto INTEGER NOT NULL);
    INSERT OR IGNORE INTO recall_state (one, upto) VALUES (1, 0);
    CREATE TRIGGER IF NOT EXISTS recall_gone AFTER DELETE ON events BEGIN
        DELETE FROM recall WHERE rowid = old.seq;
        UPDATE recall_state SET upto = min(upto, old.seq - 1)
            WHERE old.seq > (SELECT coalesce(max(seq), 0) FROM events);
    END;";

const HITS: &str = "
    FROM recall JOIN events ON events.seq = recall.rowid JOIN sessions ON sessions.id = events.session
    WHERE recall MATCH ?1 AND sessions.cwd = ?2 AND (?3 IS NULL OR events.session = ?3)";

/// The index.
pub struct Recall {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Recall {
    /// Names the database; nothing is opened before the first use.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), connection: Mutex::new(None) }
    }

    fn failed(&self, error: impl std::fmt::Display) -> StoreError {
        failed(&self.path, &error)
    }

    /// Works with the index once it is up to date.
    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut cell: MutexGuard<'_, Option<Connection>> =
            self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let run = || -> rusqlite::Result<T> {
            if cell.is_none() {
                let connection = Connection::open(&self.path)?;
                connection.busy_timeout(BUSY)?;
                connection.execute_batch(TABLES)?;
                *cell = Some(connection);
            }
            let Some(connection) = cell.as_mut() else { return Err(rusqlite::Error::InvalidQuery) };
            while index(connection)? {}
            work(connection)
        };
        run().map_err(|error| self.failed(error))
    }

    /// Takes in what is not indexed yet.
    pub fn catch_up(&self) -> Result<(), StoreError> {
        self.with(|_| Ok(()))
    }

    /// Searches the sessions of a project, the best hit first.
    pub fn search(&self, query: &RecallQuery) -> Result<Recalled, StoreError> {
        let words = query.words.iter().filter(|word| word.chars().any(char::is_alphanumeric));
        let terms: Vec<String> = words.map(|word| format!("\"{}\"*", word.replace('"', "\"\""))).collect();
        if terms.is_empty() {
            return Ok(Recalled::default());
        }
        let terms = terms.join(" ");
        let session = query.session.as_ref().map(SessionId::as_str);
        let (limit, offset) = (number(query.limit), number(query.offset));
        self.with(|connection| {
            let total: i64 = connection
                .prepare_cached(&format!("SELECT count(*) {HITS}"))?
                .query_row(params![terms, query.cwd, session], |row| row.get(0))?;
            let select = format!(
                "SELECT events.seq, events.json, sessions.title {HITS} ORDER BY recall.rank, events.seq DESC LIMIT ?4 OFFSET ?5"
            );
            let mut statement = connection.prepare_cached(&select)?;
            let hits = statement.query_map(params![terms, query.cwd, session, limit, offset], recollection)?;
            let hits = hits.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect();
            Ok(Recalled { hits, total: usize::try_from(total).unwrap_or_default() })
        })
    }

    /// Returns what was said under a number in a session of a project.
    pub fn one(
        &self,
        cwd: &str,
        session: &SessionId,
        number: u64,
    ) -> Result<Option<Recollection>, StoreError> {
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        self.with(|connection| {
            let select = "SELECT events.seq, events.json, sessions.title
                FROM events JOIN sessions ON sessions.id = events.session
                WHERE events.seq = ?1 AND events.session = ?2 AND sessions.cwd = ?3";
            let mut statement = connection.prepare_cached(select)?;
            let found =
                statement.query_row(params![number, session.as_str(), cwd], recollection).optional()?;
            Ok(found.flatten())
        })
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn recollection(row: &Row<'_>) -> rusqlite::Result<Option<Recollection>> {
    let (number, json, title): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let Ok(Envelope { session, time, event }) = serde_json::from_str::<Envelope>(&json) else {
        return Ok(None);
    };
    Ok(event.recallable().map(|(who, text)| Recollection {
        session,
        title,
        number: number.unsigned_abs(),
        time: UnixMillis(time.0),
        who: who.to_owned(),
        text,
    }))
}

/// Indexes the next events; false if there are none.
fn index(connection: &mut Connection) -> rusqlite::Result<bool> {
    let behind = "SELECT (SELECT upto FROM recall_state) < (SELECT coalesce(max(seq), 0) FROM events)";
    // Asked before a lock is taken: mostly there is nothing to do.
    if !connection.prepare_cached(behind)?.query_row([], |row| row.get::<_, bool>(0))? {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let upto: i64 = transaction.query_row("SELECT upto FROM recall_state", [], |row| row.get(0))?;
    let mut last = upto;
    {
        let mut events = transaction
            .prepare_cached("SELECT seq, json FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2")?;
        let mut insert =
            transaction.prepare_cached("INSERT OR REPLACE INTO recall (rowid, body) VALUES (?1, ?2)")?;
        let mut rows = events.query(params![upto, BATCH])?;
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            let envelope = serde_json::from_str::<Envelope>(&row.get::<_, String>(1)?);
            if let Some((_, text)) = envelope.as_ref().ok().and_then(|envelope| envelope.event.recallable()) {
                insert.execute(params![last, text])?;
            }
        }
    }
    transaction.execute("UPDATE recall_state SET upto = ?1", params![last])?;
    transaction.commit()?;
    Ok(last > upto)
}
