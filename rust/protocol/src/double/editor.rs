//! An editor that is a map.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use super::lock;
use crate::port::{Diagnostic, Editor, EditorError, OpenFile, Written};
use crate::text::{Document, Revision, TextEdit, TextFormat};

#[derive(Clone)]
struct File {
    text: Arc<str>,
    unsaved: bool,
    tick: u64,
}

/// Keeps files in memory. Knows no directories: a path is one if a file lies below it.
#[derive(Default)]
pub struct MemoryEditor {
    files: Mutex<BTreeMap<PathBuf, File>>,
    diagnostics: Mutex<Vec<Diagnostic>>,
}

impl MemoryEditor {
    /// Puts a saved file there.
    pub fn put(&self, path: impl Into<PathBuf>, text: &str) {
        self.set(path.into(), text, false);
    }

    /// Puts a buffer with unsaved changes there.
    pub fn put_unsaved(&self, path: impl Into<PathBuf>, text: &str) {
        self.set(path.into(), text, true);
    }

    /// Sets what `diagnostics` returns.
    pub fn put_diagnostics(&self, diagnostics: Vec<Diagnostic>) {
        *lock(&self.diagnostics) = diagnostics;
    }

    /// Returns a file's text.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<Arc<str>> {
        lock(&self.files).get(path.as_ref()).map(|file| file.text.clone())
    }

    fn set(&self, path: PathBuf, text: &str, unsaved: bool) {
        let mut files = lock(&self.files);
        let tick = files.get(&path).map_or(0, |file| file.tick + 1);
        files.insert(path, File { text: text.into(), unsaved, tick });
    }
}

fn revision(file: &File) -> Revision {
    Revision(format!("memory:{}", file.tick))
}

fn apply(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut result = text.to_owned();
    for edit in edits.iter().rev() {
        result.get(edit.range.clone())?;
        result.replace_range(edit.range.clone(), &edit.new);
    }
    Some(result)
}

#[async_trait]
impl Editor for MemoryEditor {
    async fn read(&self, path: &Path) -> Result<Document, EditorError> {
        let files = lock(&self.files);
        let Some(file) = files.get(path) else {
            let is_dir = files.keys().any(|key| key.starts_with(path));
            let path = path.to_owned();
            return Err(if is_dir { EditorError::IsDirectory(path) } else { EditorError::NotFound(path) });
        };
        Ok(Document {
            path: path.to_owned(),
            text: file.text.clone(),
            format: TextFormat::default(),
            unsaved: file.unsaved,
            revision: revision(file),
        })
    }

    async fn edit(&self, path: &Path, at: &Revision, edits: &[TextEdit]) -> Result<Written, EditorError> {
        let mut files = lock(&self.files);
        let file = files.get_mut(path).ok_or_else(|| EditorError::NotFound(path.to_owned()))?;
        if revision(file) != *at {
            return Err(EditorError::Stale(path.to_owned()));
        }
        let text = apply(&file.text, edits)
            .ok_or_else(|| EditorError::Editor("an edit lies outside the text".to_owned()))?;
        file.text = text.into();
        file.tick += 1;
        Ok(Written { revision: revision(file), saved: !file.unsaved, reformatted: None })
    }

    async fn create(&self, path: &Path, text: &str) -> Result<Written, EditorError> {
        if lock(&self.files).contains_key(path) {
            return Err(EditorError::Exists(path.to_owned()));
        }
        self.put(path, text);
        Ok(Written { revision: Revision("memory:0".to_owned()), saved: true, reformatted: None })
    }

    async fn delete(&self, path: &Path) -> Result<(), EditorError> {
        match lock(&self.files).remove(path) {
            Some(_) => Ok(()),
            None => Err(EditorError::NotFound(path.to_owned())),
        }
    }

    async fn unsaved(&self) -> Result<Vec<(PathBuf, Arc<str>)>, EditorError> {
        let files = lock(&self.files);
        let unsaved = files.iter().filter(|(_, file)| file.unsaved);
        Ok(unsaved.map(|(path, file)| (path.clone(), file.text.clone())).collect())
    }

    async fn open_files(&self) -> Result<Vec<OpenFile>, EditorError> {
        let open = |(path, file): (&PathBuf, &File)| OpenFile {
            path: path.clone(),
            unsaved: file.unsaved,
            visible: false,
            current: false,
            line: None,
        };
        Ok(lock(&self.files).iter().filter(|(_, file)| file.unsaved).map(open).collect())
    }

    async fn diagnostics(&self, paths: &[PathBuf]) -> Result<Vec<Diagnostic>, EditorError> {
        let all = lock(&self.diagnostics);
        Ok(all.iter().filter(|found| paths.is_empty() || paths.contains(&found.path)).cloned().collect())
    }
}
