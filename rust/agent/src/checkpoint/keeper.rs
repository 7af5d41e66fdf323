//! Keeps what files are before a call changes them, and what they are afterwards.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use koda_protocol::SessionId;
use koda_protocol::checkpoint::{ChangeId, ChangeSet, Checkpoints, FileState, OnDisk};
use koda_protocol::port::{Editor, StoreError};

/// Keeps the checkpoints of one session.
pub struct Keeper {
    pub(super) session: SessionId,
    pub(super) kept: Arc<dyn Checkpoints>,
    pub(super) editor: Arc<dyn Editor>,
    /// What the user was told already, so that they are told once.
    told: Mutex<HashSet<PathBuf>>,
}

/// Changes that are being made: their files, and what names them.
#[derive(Debug, Default)]
pub struct Opened(Vec<(PathBuf, ChangeId)>);

impl Keeper {
    /// Builds the keeper of a session.
    pub fn new(session: SessionId, kept: Arc<dyn Checkpoints>, editor: Arc<dyn Editor>) -> Self {
        Self { session, kept, editor, told: Mutex::default() }
    }

    /// Runs what waits for the disk off the runtime's threads.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Checkpoints) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let kept = self.kept.clone();
        let joined = tokio::task::spawn_blocking(move || work(kept.as_ref())).await;
        joined.unwrap_or_else(|error| {
            Err(StoreError { path: PathBuf::from("checkpoints"), reason: error.to_string() })
        })
    }

    /// Tells which of these files can't be given back, each once in the session.
    pub async fn unkept(&self, paths: Vec<PathBuf>) -> Vec<(PathBuf, String)> {
        let look = move |kept: &dyn Checkpoints| {
            Ok(paths.into_iter().filter_map(|path| kept.unkept(&path).map(|why| (path, why))).collect())
        };
        let found: Vec<(PathBuf, String)> = self.blocking(look).await.unwrap_or_default();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().filter(|(path, _)| told.insert(path.clone())).collect()
    }

    /// Returns the texts of buffers with unsaved changes, by the files that they are of.
    async fn unsaved(&self) -> Vec<(PathBuf, Arc<str>)> {
        // An editor that can't tell is going away: what is on disk is kept in any case.
        let texts = self.editor.unsaved().await.unwrap_or_default();
        texts.into_iter().map(|(path, text)| (path.canonicalize().unwrap_or(path), text)).collect()
    }

    /// Looks at files as the user sees them, and keeps their contents.
    ///
    /// # Errors
    ///
    /// If one can't be looked at or kept.
    pub async fn states(&self, paths: Vec<PathBuf>) -> Result<Vec<(PathBuf, FileState)>, StoreError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let unsaved = self.unsaved().await;
        self.blocking(move |kept| {
            paths.into_iter().map(|path| Ok((path.clone(), state(kept, &path, &unsaved)?))).collect()
        })
        .await
    }

    /// Notes what files are before a call that writes `paths`, and which of their folders are not there yet.
    ///
    /// # Errors
    ///
    /// If one can't be kept.
    pub async fn begin(&self, set: ChangeSet, paths: Vec<PathBuf>) -> Result<Opened, StoreError> {
        let paths = self.blocking(move |kept| Ok(with_missing_folders(kept, paths))).await?;
        let states = self.states(paths).await?;
        let session = self.session.clone();
        self.blocking(move |kept| {
            let begin = |(path, before): (PathBuf, FileState)| {
                let id = kept.begin(&session, set, &path, &before)?;
                Ok((path, id))
            };
            states.into_iter().map(begin).collect::<Result<_, _>>().map(Opened)
        })
        .await
    }

    /// Notes what came of it.
    ///
    /// # Errors
    ///
    /// If that can't be kept; the changes then stay open.
    pub async fn end(&self, opened: Opened) -> Result<(), StoreError> {
        let paths = opened.0.iter().map(|(path, _)| path.clone()).collect();
        let states = self.states(paths).await?;
        self.blocking(move |kept| {
            opened.0.iter().zip(states).try_for_each(|((_, id), (_, after))| kept.end(*id, &after))
        })
        .await
    }

    /// Ends the changes that were being made when a Neovim ended: what is there now counts as their outcome.
    ///
    /// # Errors
    ///
    /// If that can't be kept.
    pub async fn seal(&self) -> Result<(), StoreError> {
        let session = self.session.clone();
        let open = self.blocking(move |kept| kept.open(&session)).await?;
        self.end(Opened(open.into_iter().map(|change| (change.path, change.id)).collect())).await
    }
}

fn state(
    kept: &dyn Checkpoints,
    path: &Path,
    unsaved: &[(PathBuf, Arc<str>)],
) -> Result<FileState, StoreError> {
    let text = unsaved.iter().find(|(of, _)| of == path);
    let unsaved = text.map(|(_, text)| kept.keep(text.as_bytes())).transpose()?;
    Ok(FileState { disk: kept.capture(path)?, unsaved })
}

/// The paths, and before each its folders that are not there, outermost first.
fn with_missing_folders(kept: &dyn Checkpoints, paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths {
        let missing = |folder: &&Path| matches!(kept.capture(folder), Ok(OnDisk::Absent));
        let folders: Vec<&Path> = path.ancestors().skip(1).take_while(missing).collect();
        for folder in folders.into_iter().rev().map(Path::to_owned).chain([path.clone()]) {
            if !all.contains(&folder) {
                all.push(folder);
            }
        }
    }
    all
}
