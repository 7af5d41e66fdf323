//! Files in which users and projects tell every agent how to work: `AGENTS.md`, `KODA.md`, `CLAUDE.md`.
//!
//! Those of the user's configuration, of the project and of the folders down to the session's go into the
//! system prompt. Those of deeper folders are told once, with the first result that comes from there.

mod include;
mod nested;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use koda_protocol::port::Editor;
use koda_trust::Resolver;
use koda_trust::path::project_root;

pub use nested::{Nested, attach};

/// In each folder, in this order. One whose text another of the folder has already is left out.
const NAMES: [&str; 3] = ["AGENTS.md", "KODA.md", "CLAUDE.md"];

/// Bytes of one file that are told.
const MAX_FILE: usize = 16 * 1024;

/// Rules of Cursor that are looked at.
const MAX_CURSOR: usize = 50;

/// Settings of instruction files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionSettings {
    /// Bytes that all of them may have in the system prompt; 0 for none, there and at results.
    pub max_bytes: usize,
    /// Whether Cursor's rules are told as well.
    pub cursor: bool,
    /// Absolute path of the user's own folder of instructions.
    pub config: Option<PathBuf>,
}

impl Default for InstructionSettings {
    fn default() -> Self {
        Self { max_bytes: 32 * 1024, cursor: false, config: None }
    }
}

/// What one file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The file, relative to the project's root inside it.
    pub shown: String,
    /// The file that includes it, if it came that way.
    pub included_by: Option<String>,
    /// What it says, perhaps cut with a note.
    pub text: String,
}

/// Reads instruction files: as the user sees them, and none from outside of the project and the user's
/// configuration, whatever links and includes say.
pub struct Reader<'a> {
    editor: &'a dyn Editor,
    project: Resolver,
    config: Option<Resolver>,
    cursor: bool,
    /// Files that were read, so that none is told twice and no circle of includes goes on.
    seen: HashSet<PathBuf>,
    found: Vec<Instruction>,
}

impl<'a> Reader<'a> {
    /// Builds the reader of a session that works in `root`.
    pub fn new(
        editor: &'a dyn Editor,
        root: &Path,
        home: Option<&Path>,
        settings: &InstructionSettings,
    ) -> Self {
        let home = home.map(Path::to_owned);
        let resolver = |root: &Path| Resolver::new(root).with_home(home.clone());
        Self {
            editor,
            project: resolver(&project_root(root)),
            config: settings.config.as_deref().map(resolver),
            cursor: settings.cursor,
            seen: HashSet::new(),
            found: Vec::new(),
        }
    }

    /// Returns what goes into the system prompt of a session in `root`: from the user's own down to the
    /// nearest. All of it has `max_bytes` at most.
    pub async fn of_session(mut self, root: &Path, max_bytes: usize) -> Vec<Instruction> {
        if max_bytes == 0 {
            return Vec::new();
        }
        if let Some(config) = self.config.as_ref().map(|config| config.root().to_owned()) {
            self.folder(&config).await;
        }
        let mut folders: Vec<PathBuf> = root
            .ancestors()
            .take_while(|folder| folder.starts_with(self.project.root()))
            .map(Path::to_owned)
            .collect();
        folders.reverse();
        for folder in folders {
            self.folder(&folder).await;
            if self.cursor {
                self.cursor_rules(&folder).await;
            }
        }
        capped(self.found, max_bytes)
    }

    /// Reads the files of one folder, and what they include.
    async fn folder(&mut self, folder: &Path) {
        let first = self.found.len();
        for name in NAMES {
            let Some((path, shown, text)) = self.read(&folder.join(name)).await else { continue };
            let here = self.found.get(first..).unwrap_or_default();
            if here.iter().any(|other| other.text == text) {
                continue;
            }
            self.take(&path, shown, None, text).await;
        }
    }

    /// Takes in Cursor's rules that hold always; those for single files are Cursor's own business.
    async fn cursor_rules(&mut self, folder: &Path) {
        if let Some((path, shown, text)) = self.read(&folder.join(".cursorrules")).await {
            self.take(&path, shown, None, text).await;
        }
        for file in mdc_files(folder.join(".cursor/rules")).await {
            let Some((path, shown, text)) = self.read(&file).await else { continue };
            if let Some(text) = always(&text) {
                self.take(&path, shown, None, text).await;
            }
        }
    }

    /// Reads a file, unless it was read already, says nothing, or lies where nothing may be read.
    async fn read(&mut self, path: &Path) -> Option<(PathBuf, String, String)> {
        let named = path.to_str()?;
        let resolved =
            [Some(&self.project), self.config.as_ref()].into_iter().flatten().find_map(|resolver| {
                let resolved = resolver.resolve(named, resolver.root()).ok()?;
                (resolved.inside() && resolved.hidden_by().is_none()).then_some(resolved)
            })?;
        if self.seen.contains(resolved.as_path()) {
            return None;
        }
        let text = self.editor.read(resolved.as_path()).await.ok()?.text;
        self.seen.insert(resolved.as_path().to_owned());
        let text = text.trim();
        (!text.is_empty())
            .then(|| (resolved.as_path().to_owned(), resolved.shown().to_owned(), text.to_owned()))
    }
}

/// Cuts each file, and the last ones where all together are too long.
fn capped(found: Vec<Instruction>, max_bytes: usize) -> Vec<Instruction> {
    let mut left = max_bytes;
    let cut = |mut instruction: Instruction| {
        instruction.text = shortened(&instruction.text, left.min(MAX_FILE));
        left = left.saturating_sub(instruction.text.len());
        instruction
    };
    found.into_iter().map(cut).collect()
}

/// Cuts a text at a character border, with a note.
fn shortened(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let kept = text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default();
    format!("{kept}\n[cut: the file is longer; read it for the rest]")
}

async fn mdc_files(folder: PathBuf) -> Vec<PathBuf> {
    let list = move || {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "mdc"))
            .collect();
        files.sort();
        files.truncate(MAX_CURSOR);
        files
    };
    tokio::task::spawn_blocking(list).await.unwrap_or_default()
}

/// Returns a rule of Cursor's without its front matter, if it holds always.
fn always(text: &str) -> Option<String> {
    let Some(rest) = text.strip_prefix("---\n") else { return Some(text.to_owned()) };
    let (front, rule) = rest.split_once("\n---")?;
    let holds = front.lines().any(|line| line.split_whitespace().eq(["alwaysApply:", "true"]));
    holds.then(|| rule.trim_start_matches('-').trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_of_cursor_that_hold_always_are_told() {
        assert_eq!(always("plain"), Some("plain".to_owned()));
        let rule = "---\ndescription: x\nalwaysApply: true\n---\nUse tabs.";
        assert_eq!(always(rule), Some("Use tabs.".to_owned()));
        assert_eq!(always("---\nglobs: *.rs\nalwaysApply: false\n---\nUse tabs."), None);
    }

    #[test]
    fn what_is_too_long_is_cut_from_the_end_on() {
        let file = |text: String| Instruction { shown: "a".to_owned(), included_by: None, text };
        let cut = capped(vec![file("ä".repeat(20)), file("b".repeat(30))], 51);
        assert_eq!(cut[0].text, "ä".repeat(20));
        assert!(cut[1].text.starts_with(&"b".repeat(11)) && cut[1].text.contains("\n[cut"), "{cut:?}");
        assert!(shortened(&"ä".repeat(20), 7).starts_with("äää\n"));
    }
}
