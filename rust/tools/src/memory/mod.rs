//! Memory: notes that outlast a turn, as Markdown files of the project and of the user, and those of a session.
//!
//! The files belong to the user, who may write them too: they are read and changed through the editor, so that
//! unsaved lines count. Their names are flat. A session's notes live in its state and its events.

mod secret;

use std::path::{Path, PathBuf};

use koda_protocol::port::{Editor, EditorError};
use koda_trust::{ResolvedPath, Resolver};
use serde::{Deserialize, Serialize};

use crate::context::Workplace;

pub use secret::secret_in;

/// The folder of a project's notes, below its root.
const PROJECT_DIR: &str = ".koda/memories";

/// The folder of the user's notes, below their configuration.
const GLOBAL_DIR: &str = "memories";

/// Bytes of one file of notes.
pub const MAX_FILE: usize = 16 * 1024;

/// Files of one scope.
pub const MAX_FILES: usize = 50;

/// Lines of one scope that are told in the prompt.
const MAX_LINES: usize = 200;

/// Bytes of one scope that are told in the prompt: long lines are as dear as many.
const MAX_BYTES: usize = 8 * 1024;

/// Characters of a file's name.
const MAX_NAME: usize = 64;

/// For whom notes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// Everybody who works on the project.
    #[default]
    #[serde(alias = "workspace")]
    Project,
    /// The user, in every project.
    #[serde(alias = "user")]
    Global,
    /// This conversation.
    #[serde(alias = "task")]
    Session,
}

impl MemoryScope {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
            Self::Session => "session",
        }
    }
}

/// A file of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    /// For whom they are.
    pub scope: MemoryScope,
    /// The file's name, with its ending.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Makes the name of a file of notes from what a call says.
///
/// # Errors
///
/// If it is no flat name.
pub fn file_name(given: Option<&str>) -> Result<String, String> {
    let given = given.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("memory");
    let stem = given.strip_suffix(".md").unwrap_or(given);
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    let flat = stem.chars().all(plain) && !stem.starts_with('.') && !stem.contains("..");
    if stem.is_empty() || !flat || stem.chars().count() > MAX_NAME {
        return Err(format!(
            "`path`: {given:?} is no flat file name: letters, digits, `-`, `_` and `.`, {MAX_NAME} characters at most"
        ));
    }
    Ok(format!("{stem}.md"))
}

/// Returns the folder of a scope and whoever resolves paths in it; none if the scope has no files here.
fn folder(place: &Workplace, scope: MemoryScope) -> Option<(PathBuf, Resolver)> {
    match scope {
        MemoryScope::Project => Some((place.resolver.root().join(PROJECT_DIR), place.resolver.clone())),
        MemoryScope::Global => {
            let dir = place.config.as_ref()?.join(GLOBAL_DIR);
            Some((dir.clone(), Resolver::new(&dir)))
        }
        MemoryScope::Session => None,
    }
}

/// Returns where a file of notes lies.
///
/// # Errors
///
/// If there is no such place.
pub fn path(place: &Workplace, scope: MemoryScope, name: &str) -> Result<ResolvedPath, String> {
    let (dir, resolver) = folder(place, scope)
        .ok_or_else(|| format!("`scope`: there is no place for {} notes here", scope.name()))?;
    let path = resolver.resolve_path(&dir.join(name)).map_err(|error| error.to_string())?;
    if !path.inside() {
        return Err(format!("{} leads out of {}: nothing is written there", name, dir.display()));
    }
    Ok(path)
}

/// Lists the names of a scope's files, sorted.
pub async fn names(place: &Workplace, scope: MemoryScope) -> Vec<String> {
    let Some((dir, _)) = folder(place, scope) else { return Vec::new() };
    tokio::task::spawn_blocking(move || names_in(&dir)).await.unwrap_or_default()
}

fn names_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md") && !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

/// Reads the files of a scope, in the order of their names; what hidden files and links from outside say is left out.
pub async fn read(editor: &dyn Editor, place: &Workplace, scope: MemoryScope) -> Vec<Notes> {
    let mut found = Vec::new();
    for name in names(place, scope).await.into_iter().take(MAX_FILES) {
        let Ok(path) = path(place, scope, &name) else { continue };
        if path.hidden_by().is_some() {
            continue;
        }
        match editor.read(path.as_path()).await {
            Ok(document) => found.push(Notes { scope, name, text: document.text.trim_end().to_owned() }),
            Err(EditorError::NotFound(_)) => {}
            Err(error) => found.push(Notes { scope, name, text: format!("[it can't be read: {error}]") }),
        }
    }
    found
}

/// Returns what the prompt says of the project's and the user's notes; empty if there are none.
pub async fn for_prompt(editor: &dyn Editor, place: &Workplace) -> String {
    let mut parts = Vec::new();
    for scope in [MemoryScope::Global, MemoryScope::Project] {
        let mut left = (MAX_LINES, MAX_BYTES);
        for Notes { name, text, .. } in read(editor, place, scope).await {
            if text.trim().is_empty() {
                continue;
            }
            let kept = within(&text, &mut left);
            let cut = if kept.len() < text.len() { "\n[cut: MemoryRead has the rest]" } else { "" };
            parts.push(format!("{} ({}):\n{kept}{cut}", name, scope.name()));
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("<memory>\nNotes from earlier sessions:\n{}\n</memory>", parts.join("\n"))
}

/// Takes whole lines as long as there is room for them.
fn within<'a>(text: &'a str, left: &mut (usize, usize)) -> &'a str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if left.0 == 0 || line.len() > left.1 {
            left.0 = 0;
            break;
        }
        *left = (left.0 - 1, left.1 - line.len());
        end += line.len();
    }
    text.get(..end).unwrap_or_default().trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_flat() {
        assert_eq!(file_name(None), Ok("memory.md".to_owned()));
        assert_eq!(file_name(Some("build steps")), Ok("build steps.md".to_owned()));
        assert_eq!(file_name(Some("заметки.md")), Ok("заметки.md".to_owned()));
        for wrong in ["../x", "/etc/x", "a/b", "a\\b", ".hidden", "a..b", "x\0"] {
            assert!(file_name(Some(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_prompt_takes_whole_lines_within_its_caps() {
        let mut left = (2, 100);
        assert_eq!(within("a\nb\nc\n", &mut left), "a\nb");
        let mut left = (10, 5);
        assert_eq!(within("äb\näöü\nc\n", &mut left), "äb");
        assert_eq!(left.0, 0, "nothing follows what was cut");
    }
}
