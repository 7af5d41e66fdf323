//! What stands at a path, and putting something else there.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use koda_protocol::checkpoint::{ContentId, OnDisk};
use koda_protocol::port::StoreError;

use crate::failed;
use crate::replace::replace;

/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;

/// Names a content by its bytes.
pub fn id_of(bytes: &[u8]) -> ContentId {
    ContentId(blake3::hash(bytes).to_hex().to_string())
}

/// Makes a path of its bytes.
pub fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

/// Says why what stands at a path is not kept, to follow the path; none if it is, or if nothing is there.
pub fn unkept(path: &Path, limit: u64) -> Option<String> {
    fs::symlink_metadata(path).ok().and_then(|meta| refusal(&meta, limit))
}

fn refusal(meta: &Metadata, limit: u64) -> Option<String> {
    let kind = meta.file_type();
    if kind.is_dir() || kind.is_symlink() {
        return None;
    }
    if !kind.is_file() {
        return Some("is no regular file".to_owned());
    }
    (meta.len() > limit).then(|| format!("is over {}", size(limit)))
}

fn size(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes >= MIB { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}

/// Looks at a path; `keep` takes the content of what is there.
pub fn look(
    path: &Path,
    limit: u64,
    keep: impl Fn(&[u8]) -> Result<ContentId, StoreError>,
) -> Result<OnDisk, StoreError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(OnDisk::Absent);
        }
        Err(error) => return Err(failed(path, &error)),
    };
    let mode = meta.permissions().mode() & PERMISSIONS;
    if meta.is_dir() {
        return Ok(OnDisk::Folder { mode });
    }
    if meta.is_symlink() {
        let target = fs::read_link(path).map_err(|error| failed(path, &error))?;
        return Ok(OnDisk::Link { content: keep(target.as_os_str().as_bytes())? });
    }
    if let Some(reason) = refusal(&meta, limit) {
        return Ok(not_kept(&meta, reason));
    }
    match read(path, limit) {
        Ok(Some(bytes)) => Ok(OnDisk::File { content: keep(&bytes)?, mode }),
        Ok(None) => Ok(not_kept(&meta, format!("is over {}", size(limit)))),
        Err(error) => Ok(not_kept(&meta, format!("can't be read: {error}"))),
    }
}

fn not_kept(meta: &Metadata, reason: String) -> OnDisk {
    let modified = meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec());
    OnDisk::Unkept { reason, size: meta.len(), modified }
}

/// Reads a file that may grow meanwhile; none if it is over the limit.
fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Puts `to`, whose content is `bytes`, in the place of `from`, which stands there.
pub fn put(path: &Path, from: &OnDisk, to: &OnDisk, bytes: &[u8]) -> io::Result<()> {
    match (from, to) {
        (_, OnDisk::Unkept { reason, .. }) => {
            return Err(io::Error::other(format!("what was there {reason}")));
        }
        (OnDisk::File { .. } | OnDisk::Link { .. } | OnDisk::Unkept { .. }, OnDisk::File { mode, .. }) => {
            return replace(path, bytes, *mode);
        }
        (OnDisk::Folder { .. }, OnDisk::Folder { mode }) => return permit(path, *mode),
        (OnDisk::Absent, _) => {}
        (OnDisk::Folder { .. }, _) => fs::remove_dir(path)?,
        _ => fs::remove_file(path)?,
    }
    if !matches!(to, OnDisk::Absent)
        && let Some(parent) = path.parent()
    {
        fs::create_dir_all(parent)?;
    }
    match to {
        OnDisk::File { mode, .. } => replace(path, bytes, *mode),
        OnDisk::Link { .. } => symlink(path_of(bytes.to_vec()), path),
        OnDisk::Folder { mode } => {
            fs::create_dir(path)?;
            permit(path, *mode)
        }
        OnDisk::Absent | OnDisk::Unkept { .. } => Ok(()),
    }
}

fn permit(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}
