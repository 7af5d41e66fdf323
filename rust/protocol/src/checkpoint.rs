//! What files were before the agent changed them, and how to give it back.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::id::SessionId;
use crate::port::StoreError;

/// Names a content that is kept: the hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentId(pub String);

/// What stands at a path on disk. Modes are the permission bits, 0 where the system has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OnDisk {
    /// Nothing.
    Absent,
    /// A file whose bytes are kept.
    File {
        /// Its bytes.
        content: ContentId,
        /// Its permissions.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// The bytes of what it points to.
        content: ContentId,
    },
    /// A folder; what is in it is not said.
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// Something whose bytes are not kept, so that it can't be given back.
    Unkept {
        /// Why, to follow the path: `is over 10 MiB`.
        reason: String,
        /// Bytes.
        size: u64,
        /// Nanoseconds since the epoch, to see whether it has changed.
        modified: i64,
    },
}

/// A file as the user sees it: what is on disk, and the text of a buffer that differs from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// What is on disk.
    #[serde(flatten)]
    pub disk: OnDisk,
    /// The text of a buffer with unsaved changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<ContentId>,
}

impl From<OnDisk> for FileState {
    fn from(disk: OnDisk) -> Self {
        Self { disk, unsaved: None }
    }
}

/// Which changes belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeSet {
    /// Those that followed a message of the user: its number in the session, from 1.
    Message(u64),
    /// Those that an undo made: its number in the session, from 1.
    Undo(u64),
}

/// Names a change that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeId(pub i64);

/// One change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Names it.
    pub id: ChangeId,
    /// Absolute path.
    pub path: PathBuf,
    /// What was there.
    pub before: FileState,
    /// What was there afterwards; none if Koda ended while it was being made.
    pub after: Option<FileState>,
}

/// Keeps what files were. All methods may block; errors leave the files as they are.
pub trait Checkpoints: Send + Sync {
    /// Looks at what stands at a path and keeps its content.
    fn capture(&self, path: &Path) -> Result<OnDisk, StoreError>;
    /// Tells whether what stands at a path would be kept: why not, to follow the path.
    fn unkept(&self, path: &Path) -> Option<String>;
    /// Keeps bytes.
    fn keep(&self, bytes: &[u8]) -> Result<ContentId, StoreError>;
    /// Returns bytes that are kept.
    fn content(&self, id: &ContentId) -> Result<Vec<u8>, StoreError>;
    /// Puts `to` in the place of `from`, in one step where it is a file. Parent folders are made. An error if
    /// something else than `from` stands there.
    fn replace(&self, path: &Path, from: &OnDisk, to: &OnDisk) -> Result<(), StoreError>;
    /// Notes what was before a change. A change that goes on from where the set's last one of that file ended
    /// is the same one.
    fn begin(
        &self,
        session: &SessionId,
        set: ChangeSet,
        path: &Path,
        before: &FileState,
    ) -> Result<ChangeId, StoreError>;
    /// Notes what came of a change. One that changed nothing is forgotten.
    fn end(&self, change: ChangeId, after: &FileState) -> Result<(), StoreError>;
    /// Returns the changes of a set, oldest first.
    fn changes(&self, session: &SessionId, set: ChangeSet) -> Result<Vec<Change>, StoreError>;
    /// Returns the changes of a session whose end was never noted.
    fn open(&self, session: &SessionId) -> Result<Vec<Change>, StoreError>;
}

/// What became of a file that was to be given back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenBack {
    /// Relative to the project inside it, else absolute.
    pub path: String,
    /// How it went.
    pub how: TakenHow,
    /// Of a conflict within a text: the lines that were left, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<u64>,
    /// Why something was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How it went with a file that was to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakenHow {
    /// It is as it was.
    Restored,
    /// It was not there before and is gone.
    Removed,
    /// The change is taken back, and what the user changed besides stands.
    Merged,
    /// The user has changed the same lines, or the same file in another way: that was left.
    Conflict,
    /// It could not be done.
    Failed,
}
