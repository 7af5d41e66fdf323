//! The log file, and panics on their way into it.

use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use std::{io, panic};

use tracing::Level;
use tracing_subscriber::filter::LevelFilter;

/// Rotate at this size: one old file is kept.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// The log's name within the state folder.
const NAME: &str = "koda.log";

/// Begins to log into `state_dir/koda.log`, panics included. A second call changes nothing.
///
/// # Errors
///
/// If the file can't be opened. Koda then runs without a log.
pub fn start(state_dir: &Path, level: Option<&str>) -> io::Result<()> {
    fs::create_dir_all(state_dir)?;
    let level = level.and_then(|name| Level::from_str(name).ok()).unwrap_or(Level::INFO);
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(LevelFilter::from_level(level))
        .with_writer(Mutex::new(open(state_dir)?))
        .finish();
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        log_panics();
    }
    Ok(())
}

fn open(state_dir: &Path) -> io::Result<File> {
    let path = state_dir.join(NAME);
    if fs::metadata(&path).is_ok_and(|meta| meta.len() > MAX_BYTES) {
        fs::rename(&path, state_dir.join(format!("{NAME}.old")))?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

/// Sends panics to the log. The default hook writes to stderr, over the editor's screen.
fn log_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = info.payload_as_str().unwrap_or("no message");
        tracing::error!(place, "panic: {text}");
    }));
}
