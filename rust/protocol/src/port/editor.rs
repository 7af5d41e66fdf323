//! The editor: text as the user sees it, and changes to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::text::{Document, Revision, TextEdit};

/// Why the editor could not do what was asked. Paths are as they were given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditorError {
    /// No such file, on disk or in a buffer.
    #[error("{0}: no such file")]
    NotFound(PathBuf),
    /// A directory stands there.
    #[error("{0} is a directory")]
    IsDirectory(PathBuf),
    /// The file has NUL bytes: not text.
    #[error("{0} is a binary file")]
    Binary(PathBuf),
    /// The bytes are no text in an encoding that can be written back unchanged.
    #[error("{path}: not valid {encoding} text (first bad byte at offset {offset}, from 0)")]
    Encoding {
        /// The file.
        path: PathBuf,
        /// The encoding that was tried.
        encoding: String,
        /// Offset in bytes from 0.
        offset: u64,
    },
    /// The operating system refused.
    #[error("{path}: {reason}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The text is no longer the one that the change was made for.
    #[error("{0} has changed since it was read")]
    Stale(PathBuf),
    /// The buffer or file can't be changed: `'readonly'`, `'nomodifiable'`, a special buffer.
    #[error("{path} can't be changed: {reason}")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file stands there already.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// The editor failed or is going away.
    #[error("the editor failed: {0}")]
    Editor(String),
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Names the state after.
    pub revision: Revision,
    /// Whether the file on disk has it. False where the user had unsaved changes in the buffer.
    pub saved: bool,
    /// The text after saving where autocommands (a formatter) changed it; absent where they did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reformatted: Option<Arc<str>>,
}

/// A file that is open in the editor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Whether it has unsaved changes.
    pub unsaved: bool,
    /// Whether a window shows it.
    pub visible: bool,
    /// Whether it is the one being edited.
    pub current: bool,
    /// Cursor line from 1, where a window shows it.
    pub line: Option<u64>,
}

/// How bad a diagnostic is, as the language server protocol has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// Information.
    Info,
    /// A hint.
    Hint,
}

/// Something a language server or linter found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Absolute path.
    pub path: PathBuf,
    /// Line from 1.
    pub line: u64,
    /// Column in bytes from 1.
    pub column: u64,
    /// How bad.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// Who says so (`ruff`), if told.
    pub source: Option<String>,
}

/// The editor. Paths are absolute and already resolved and judged; implementors check neither.
#[async_trait]
pub trait Editor: Send + Sync {
    /// Returns a file's text: the buffer's where it is loaded (unsaved lines included), else the disk's.
    async fn read(&self, path: &Path) -> Result<Document, EditorError>;

    /// Applies `edits` as one undo block, and saves if the buffer had no unsaved changes before.
    ///
    /// `edits` are sorted by position and don't overlap. If the document is not in the state `revision`,
    /// nothing is done and the error is [`EditorError::Stale`]. A file that is not loaded is loaded
    /// hidden and unlisted. Format, windows, cursor, marks and jump list stay.
    async fn edit(
        &self,
        path: &Path,
        revision: &Revision,
        edits: &[TextEdit],
    ) -> Result<Written, EditorError>;

    /// Creates a file with `text`, and its parent directories. [`EditorError::Exists`] if one stands there.
    async fn create(&self, path: &Path, text: &str) -> Result<Written, EditorError>;

    /// Removes a file or an empty directory, and unloads its buffer if that has no unsaved changes.
    async fn delete(&self, path: &Path) -> Result<(), EditorError>;

    /// Returns the paths of the files that buffers hold, as the buffers are called.
    async fn loaded(&self) -> Result<Vec<PathBuf>, EditorError> {
        Ok(Vec::new())
    }

    /// Shows what somebody else wrote to a file, or that it is gone, in its buffer, where one holds it and would
    /// lose nothing.
    async fn reload(&self, _path: &Path) -> Result<(), EditorError> {
        Ok(())
    }

    /// Returns path and text of each loaded buffer with unsaved changes.
    async fn unsaved(&self) -> Result<Vec<(PathBuf, Arc<str>)>, EditorError>;

    /// Returns the files that are open.
    async fn open_files(&self) -> Result<Vec<OpenFile>, EditorError>;

    /// Returns what is known to be wrong in `paths`, or anywhere if empty.
    async fn diagnostics(&self, paths: &[PathBuf]) -> Result<Vec<Diagnostic>, EditorError>;
}
