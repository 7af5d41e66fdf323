//! Long results, kept as files for a while.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use koda_protocol::port::{SpillRef, StoreError};

use crate::failed;

/// Files older than this are removed.
const MAX_AGE: Duration = Duration::from_secs(48 * 60 * 60);

/// The oldest are removed until all are within this.
const MAX_BYTES: u64 = 100 * 1024 * 1024;

/// Makes names unique within the process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Writes a text to a new file and removes what has become too old or too much.
pub fn write(dir: &Path, name: &str, text: &str) -> Result<SpillRef, StoreError> {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!("{}-{number}-{safe}.txt", std::process::id()));
    fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    prune(dir, &path);
    Ok(SpillRef { path, bytes: text.len() as u64, lines: text.lines().count() as u64 })
}

/// Removes old files. What can't be read or removed is left to the next time.
fn prune(dir: &Path, keep: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let describe = |entry: fs::DirEntry| -> Option<(SystemTime, u64, PathBuf)> {
        let meta = entry.metadata().ok()?;
        Some((meta.modified().ok()?, meta.len(), entry.path()))
    };
    let mut files: Vec<_> = entries.flatten().filter_map(describe).filter(|file| file.2 != keep).collect();
    files.sort();
    let mut total: u64 = files.iter().map(|file| file.1).sum();
    for (modified, bytes, path) in files {
        let old = modified.elapsed().is_ok_and(|age| age > MAX_AGE);
        if (old || total > MAX_BYTES) && fs::remove_file(&path).is_ok() {
            total -= bytes;
        }
    }
}
