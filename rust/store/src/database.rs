//! Opening the database: its version, its damage, and several Neovims that open it at once.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use koda_protocol::port::StoreError;
use rusqlite::Connection;

use crate::failed;

/// A database of Koda's.
pub struct Kind {
    /// Its file's name, without `.db`.
    pub name: &'static str,
    /// What it holds, for messages.
    pub holds: &'static str,
    /// The version of its tables.
    pub schema: i64,
    /// Makes the tables, and sets the version.
    pub tables: &'static str,
    /// Queries that touch every column and the last page, where a file that was cut short ends.
    pub probes: &'static [&'static str],
}

/// How long to wait for another Neovim's write.
const BUSY: Duration = Duration::from_secs(5);

/// How often to look whether another Neovim is done with opening. Its holder may have been suspended,
/// so that waiting ends after `LOCK_TRIES`.
const LOCK_PAUSE: Duration = Duration::from_millis(20);
const LOCK_TRIES: u32 = 50;

/// An open database.
pub struct Database {
    /// Where it is.
    pub path: PathBuf,
    /// For appending.
    pub writer: Connection,
    /// For reading, which then never waits for a write.
    pub reader: Connection,
    /// A database that was there and could not be used.
    pub aside: Option<Aside>,
}

/// A database that could not be used. It was not changed.
pub struct Aside {
    /// Where it is now.
    pub path: PathBuf,
    /// What is to be said about it.
    pub notice: String,
}

enum Problem {
    /// Damaged, or no database of ours.
    Unreadable(String),
    /// Written by a Koda with later tables: their version, and the one known here.
    Newer(i64, i64),
    /// Anything else: no rights, no space.
    Failed(String),
}

impl Problem {
    fn text(self) -> String {
        match self {
            Self::Unreadable(reason) | Self::Failed(reason) => reason,
            Self::Newer(version, known) => {
                format!("its tables have version {version}, this Koda knows {known}")
            }
        }
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match (error.sqlite_error_code(), &error) {
            (Some(DatabaseCorrupt | NotADatabase), _) => Self::Unreadable(error.to_string()),
            // A table or column that a probe names is not there.
            (_, rusqlite::Error::SqlInputError { error: inner, .. }) => Self::Unreadable(inner.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// Opens the database `NAME.db` in `dir`, which exists.
///
/// A damaged one is given another name and a new one begun. A newer one stays where it is, since another
/// Neovim may be using it, and `NAME-v1.db` is used instead.
pub fn open(dir: &Path, kind: &Kind) -> Result<Database, StoreError> {
    // Whoever looks at the file, renames it or makes its tables does so alone.
    let _alone = lock(&dir.join(format!("{}.lock", kind.name)));
    let path = dir.join(format!("{}.db", kind.name));
    match usable(&path, kind) {
        Ok((writer, aside)) => finish(path, writer, aside),
        Err(Problem::Newer(version, known)) => {
            let own = dir.join(format!("{}-v{known}.db", kind.name));
            let (writer, _) = usable(&own, kind).map_err(|problem| failed(&own, &problem.text()))?;
            let notice = format!(
                "The {} in {} are a newer Koda's (version {version}, this one knows {known}); they stay \
                 as they are, and this Koda keeps its own in {}. Update Koda to see them.",
                kind.holds,
                path.display(),
                own.display()
            );
            finish(own, writer, Some(Aside { path, notice }))
        }
        Err(problem) => Err(failed(&path, &problem.text())),
    }
}

fn finish(path: PathBuf, writer: Connection, aside: Option<Aside>) -> Result<Database, StoreError> {
    let reader = Connection::open(&path).and_then(|reader| {
        reader.busy_timeout(BUSY)?;
        Ok(reader)
    });
    let reader = reader.map_err(|error| failed(&path, &error))?;
    Ok(Database { path, writer, reader, aside })
}

/// Connects, and keeps what can't be read aside.
fn usable(path: &Path, kind: &Kind) -> Result<(Connection, Option<Aside>), Problem> {
    match connect(path, kind) {
        Ok(connection) => Ok((connection, None)),
        Err(Problem::Unreadable(reason)) => {
            let aside = keep_aside(path).map_err(|error| Problem::Failed(error.to_string()))?;
            let notice = format!(
                "The {} in {} can't be read ({reason}); they are kept in {}, and a new file was begun.",
                kind.holds,
                path.display(),
                aside.display()
            );
            Ok((connect(path, kind)?, Some(Aside { path: aside, notice })))
        }
        Err(problem) => Err(problem),
    }
}

fn connect(path: &Path, kind: &Kind) -> Result<Connection, Problem> {
    private(path).map_err(|error| Problem::Failed(error.to_string()))?;
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version > kind.schema {
        return Err(Problem::Newer(version, kind.schema));
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version == 0 && tables > 0 {
        return Err(Problem::Unreadable("it has another program's tables".to_owned()));
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // In WAL mode NORMAL survives the death of the process; only a power cut may take the last events.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    if version < kind.schema {
        connection.execute_batch(kind.tables)?;
    }
    for probe in kind.probes {
        connection.query_row(probe, [], |_| Ok(()))?;
    }
    Ok(connection)
}

/// Makes the file if it is missing, for the user's eyes only: conversations hold what they hold.
fn private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Takes the lock, which its file's closing gives back. Where locks don't work (some network file systems)
/// there is none, and opening goes on without.
fn lock(path: &Path) -> Option<File> {
    let file = OpenOptions::new().create(true).append(true).open(path).ok()?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(std::fs::TryLockError::WouldBlock) => thread::sleep(LOCK_PAUSE),
            Err(std::fs::TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// Gives the database another name. Its log goes first, so that no new database can ever find it.
fn keep_aside(path: &Path) -> std::io::Result<PathBuf> {
    let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let free = (1..1000).map(|n| format!(".unreadable-{n}")).find(|suffix| !named(suffix).exists());
    let suffix = free.ok_or_else(|| std::io::Error::other("too many unreadable databases beside it"))?;
    for log in ["-wal", "-shm"] {
        if named(log).exists() {
            std::fs::rename(named(log), named(&format!("{suffix}{log}")))?;
        }
    }
    std::fs::rename(path, named(&suffix))?;
    Ok(named(&suffix))
}
