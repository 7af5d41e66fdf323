//! Checkpoints in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::lock;
use crate::checkpoint::{Change, ChangeId, ChangeSet, Checkpoints, ContentId, FileState, OnDisk};
use crate::id::SessionId;
use crate::port::StoreError;

#[derive(Default)]
struct Inner {
    disk: HashMap<PathBuf, OnDisk>,
    contents: HashMap<ContentId, Vec<u8>>,
    changes: Vec<(SessionId, ChangeSet, Change)>,
}

/// Keeps everything in memory, the disk as well: it is empty before something is put there.
#[derive(Default)]
pub struct MemoryCheckpoints(Mutex<Inner>);

impl MemoryCheckpoints {
    /// Puts a file on its disk.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut inner = lock(&self.0);
        let content = keep(&mut inner, bytes);
        inner.disk.insert(path.to_owned(), OnDisk::File { content, mode: 0o644 });
    }

    /// Returns what is on its disk.
    pub fn on_disk(&self, path: &Path) -> OnDisk {
        lock(&self.0).disk.get(path).cloned().unwrap_or(OnDisk::Absent)
    }
}

/// Contents are their own names here.
fn keep(inner: &mut Inner, bytes: &[u8]) -> ContentId {
    let id = ContentId(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
    inner.contents.insert(id.clone(), bytes.to_owned());
    id
}

fn lost(path: &Path, reason: &str) -> StoreError {
    StoreError { path: path.to_owned(), reason: reason.to_owned() }
}

impl Checkpoints for MemoryCheckpoints {
    fn capture(&self, path: &Path) -> Result<OnDisk, StoreError> {
        Ok(self.on_disk(path))
    }

    fn unkept(&self, path: &Path) -> Option<String> {
        match self.on_disk(path) {
            OnDisk::Unkept { reason, .. } => Some(reason),
            _ => None,
        }
    }

    fn keep(&self, bytes: &[u8]) -> Result<ContentId, StoreError> {
        Ok(keep(&mut lock(&self.0), bytes))
    }

    fn content(&self, id: &ContentId) -> Result<Vec<u8>, StoreError> {
        let found = lock(&self.0).contents.get(id).cloned();
        found.ok_or_else(|| lost(Path::new(&id.0), "no such content"))
    }

    fn replace(&self, path: &Path, from: &OnDisk, to: &OnDisk) -> Result<(), StoreError> {
        if self.on_disk(path) != *from {
            return Err(lost(path, "it has changed"));
        }
        lock(&self.0).disk.insert(path.to_owned(), to.clone());
        Ok(())
    }

    fn begin(
        &self,
        session: &SessionId,
        set: ChangeSet,
        path: &Path,
        before: &FileState,
    ) -> Result<ChangeId, StoreError> {
        let mut inner = lock(&self.0);
        let last = inner
            .changes
            .iter_mut()
            .rfind(|(of, among, change)| of == session && *among == set && change.path == path);
        if let Some((.., change)) = last
            && change.after.as_ref() == Some(before)
        {
            change.after = None;
            return Ok(change.id);
        }
        let id = ChangeId(inner.changes.last().map_or(1, |(.., last)| last.id.0 + 1));
        let change = Change { id, path: path.to_owned(), before: before.clone(), after: None };
        inner.changes.push((session.clone(), set, change));
        Ok(id)
    }

    fn end(&self, change: ChangeId, after: &FileState) -> Result<(), StoreError> {
        let mut inner = lock(&self.0);
        for (.., open) in inner.changes.iter_mut().filter(|(.., open)| open.id == change) {
            open.after = Some(after.clone());
        }
        inner.changes.retain(|(.., open)| open.id != change || open.before != *after);
        Ok(())
    }

    fn changes(&self, session: &SessionId, set: ChangeSet) -> Result<Vec<Change>, StoreError> {
        let inner = lock(&self.0);
        let of = inner.changes.iter().filter(|(of, among, _)| of == session && *among == set);
        Ok(of.map(|(.., change)| change.clone()).collect())
    }

    fn open(&self, session: &SessionId) -> Result<Vec<Change>, StoreError> {
        let inner = lock(&self.0);
        let open = inner.changes.iter().filter(|(of, _, change)| of == session && change.after.is_none());
        Ok(open.map(|(.., change)| change.clone()).collect())
    }
}
