//! A folder of a test's own outside of those for temporary files, where confined commands may write.

use std::env;
use std::path::PathBuf;

use tempfile::TempDir;

/// Makes the folder: where cargo builds, else in the user's home, else in memory.
///
/// # Panics
/// If all of these are folders for temporary files, or can't be written.
pub fn folder() -> TempDir {
    let home = env::var_os("HOME").map(PathBuf::from);
    let candidates = [Some(env!("CARGO_TARGET_TMPDIR").into()), home, Some("/dev/shm".into())];
    let lasting = |folder: &PathBuf| {
        let folder = folder.canonicalize().unwrap_or_default();
        folder.is_absolute()
            && !["/tmp", "/var/tmp", "/private"].iter().any(|temporary| folder.starts_with(temporary))
    };
    let mut made =
        candidates.into_iter().flatten().filter(lasting).filter_map(|folder| TempDir::new_in(folder).ok());
    made.next().unwrap_or_else(|| panic!("no folder outside of /tmp can be written: set HOME to one"))
}
