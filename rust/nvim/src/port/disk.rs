//! Files that no buffer holds.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use koda_protocol::port::EditorError;
use koda_protocol::{Document, Revision};
use koda_text::DecodeError;

/// Names a state of a text by its content: equal revisions mean equal text, wherever it was read.
pub fn revision(text: &str) -> Revision {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    Revision(format!("{}:{:016x}", text.len(), hasher.finish()))
}

/// Turns what the system said into an error that names the file.
pub fn io_error(path: &Path, error: &io::Error) -> EditorError {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::NotFound => EditorError::NotFound(path),
        ErrorKind::IsADirectory => EditorError::IsDirectory(path),
        ErrorKind::AlreadyExists => EditorError::Exists(path),
        _ => EditorError::Io { path, reason: error.to_string() },
    }
}

/// Reads and decodes a file. Blocks.
pub fn read(path: &Path) -> Result<Document, EditorError> {
    let kind = fs::metadata(path).map_err(|error| io_error(path, &error))?.file_type();
    if kind.is_dir() {
        return Err(EditorError::IsDirectory(path.to_owned()));
    }
    if !kind.is_file() {
        let reason = "not a regular file".to_owned();
        return Err(EditorError::Io { path: path.to_owned(), reason });
    }
    let bytes = fs::read(path).map_err(|error| io_error(path, &error))?;
    let (text, format) = koda_text::decode(&bytes).map_err(|error| decode_error(path, error))?;
    let revision = revision(&text);
    Ok(Document { path: path.to_owned(), text: text.into(), format, unsaved: false, revision })
}

fn decode_error(path: &Path, error: DecodeError) -> EditorError {
    let path = path.to_owned();
    match error {
        DecodeError::Binary { .. } => EditorError::Binary(path),
        DecodeError::Encoding { encoding, offset } => {
            EditorError::Encoding { path, encoding: encoding.to_owned(), offset: offset as u64 }
        }
    }
}

/// Creates a file and its parent directories. Blocks.
pub fn create(path: &Path, text: &str) -> Result<(), EditorError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| io_error(parent, &error))?;
    }
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(|error| io_error(path, &error))?;
    file.write_all(text.as_bytes()).map_err(|error| io_error(path, &error))
}

/// Removes a file or an empty directory; a symlink itself, not what it points to. Blocks.
pub fn delete(path: &Path) -> Result<(), EditorError> {
    let kind = fs::symlink_metadata(path).map_err(|error| io_error(path, &error))?.file_type();
    let removed = if kind.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
    removed.map_err(|error| io_error(path, &error))
}

/// Runs blocking file work off the runtime's threads.
pub async fn blocking<R: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(&Path) -> Result<R, EditorError> + Send + 'static,
) -> Result<R, EditorError> {
    let joined = tokio::task::spawn_blocking(move || work(&path)).await;
    joined.unwrap_or_else(|error| Err(EditorError::Editor(error.to_string())))
}
