//! Writing a file in one step.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Puts bytes where a file is, or is to be: whoever reads it, or is killed meanwhile, finds the old file or the new
/// one, whole. What stands there is replaced, not written through: a link is no link any more. `mode` are its
/// permission bits.
///
/// # Errors
///
/// If its folder is missing or can't be written; nothing is left behind then.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut new = tempfile::Builder::new().prefix(".koda-").tempfile_in(folder)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(Permissions::from_mode(mode))?;
    new.as_file().sync_all()?;
    new.persist(path).map(drop).map_err(|kept| kept.error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_with_its_permissions_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        replace(&file, b"new", 0o640).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::symlink_metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(fs::read(&other).unwrap(), b"other", "a link is not written through");
        assert!(replace(&folder.path().join("none/file"), b"", 0o600).is_err());
        fs::create_dir(folder.path().join("taken")).unwrap();
        assert!(replace(&folder.path().join("taken"), b"", 0o600).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
