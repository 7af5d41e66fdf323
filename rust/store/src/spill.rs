//! Long results, kept as files for a while.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use koda_protocol::port::{SpillRef, StoreError};

use crate::failed;

/// Files older than this are removed.
const MAX_AGE: Duration = Duration::from_secs(48 * 60 * 60);

/// The oldest are removed until all are within this. The newest stays whatever its size.
const MAX_BYTES: u64 = 100 * 1024 * 1024;

/// Characters of the given name that a file's name keeps.
const MAX_NAME: usize = 60;

/// Makes names unique within the process.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Writes a text to a new file and removes what has become too old or too much.
pub fn write(dir: &Path, name: &str, text: &str) -> Result<SpillRef, StoreError> {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(safe).take(MAX_NAME).collect();
    let (path, mut file) = new_file(dir, &name).map_err(|error| failed(dir, &error))?;
    if let Err(error) = file.write_all(text.as_bytes()) {
        // Half a text is worse than none; what can't be removed goes with its age.
        let _ = fs::remove_file(&path);
        return Err(failed(&path, &error));
    }
    prune(dir, &path, text.len() as u64);
    Ok(SpillRef { path, bytes: text.len() as u64, lines: text.lines().count() as u64 })
}

/// Makes a file that was not there: process ids come round again, and another's text must stay.
fn new_file(dir: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{}-{number}-{name}.txt", std::process::id()));
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes old files. What can't be read or removed is left to the next time.
fn prune(dir: &Path, newest: &Path, bytes: u64) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let describe = |entry: fs::DirEntry| -> Option<(SystemTime, u64, PathBuf)> {
        let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((meta.modified().ok()?, meta.len(), entry.path()))
    };
    let mut files: Vec<_> = entries.flatten().filter_map(describe).filter(|file| file.2 != newest).collect();
    files.sort();
    let mut total = bytes + files.iter().map(|file| file.1).sum::<u64>();
    for (modified, bytes, path) in files {
        let old = modified.elapsed().is_ok_and(|age| age > MAX_AGE);
        if (old || total > MAX_BYTES) && fs::remove_file(&path).is_ok() {
            total -= bytes;
        }
    }
}
