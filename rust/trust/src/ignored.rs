//! Koda's ignore files: what in a project is hidden from the agent.
//!
//! `.kodaignore` and `.kodikignore` have gitignore's syntax and may lie in any folder, where they count for
//! what is below. They are read anew at each question, so that a change counts at once.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, fs};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The names of ignore files; the later one counts where both say something.
pub const IGNORE_FILES: [&str; 2] = [".kodikignore", ".kodaignore"];

/// The ignore files that were read, with what was in them.
#[derive(Clone, Default)]
pub struct Ignored(Arc<Mutex<HashMap<PathBuf, Compiled>>>);

/// An ignore file's bytes, and the matcher that was made of them.
type Compiled = (Vec<u8>, Arc<Gitignore>);

impl fmt::Debug for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ignored")
    }
}

/// What an ignore file says of paths.
enum Said {
    Nothing,
    Matches(Arc<Gitignore>),
    /// It is there and can't be read, so nobody knows what it hides.
    Unreadable,
}

impl Ignored {
    /// Returns the ignore file that hides `path`, if one does. `root` is the project, above `path`; both are
    /// absolute. What lies in a hidden folder is hidden, whatever is said of it.
    pub fn hider(&self, root: &Path, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(root).ok()?;
        let mut folders: Vec<(PathBuf, Said)> = Vec::new();
        let mut at = root.to_owned();
        for component in below.components() {
            folders.extend(IGNORE_FILES.iter().map(|name| {
                let file = at.join(name);
                let said = self.read(&file);
                (file, said)
            }));
            at.push(component);
            let is_folder = at != path || path.is_dir();
            if let Some(file) = hides(&folders, &at, is_folder) {
                return Some(file.to_owned());
            }
        }
        None
    }

    fn read(&self, file: &Path) -> Said {
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(error.kind()) => return Said::Nothing,
            Err(_) => return Said::Unreadable,
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = known.get(file).filter(|(old, _)| *old == bytes) {
            return Said::Matches(compiled.clone());
        }
        let compiled = Arc::new(compile(file, &bytes));
        known.insert(file.to_owned(), (bytes, compiled.clone()));
        Said::Matches(compiled)
    }
}

fn is_absent(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound};
    matches!(kind, NotFound | NotADirectory | IsADirectory | InvalidFilename)
}

/// A line that is no pattern hides nothing; the others count.
fn compile(file: &Path, bytes: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(file.parent().unwrap_or(file));
    // Where the file system takes both for one name, so must the rules.
    let _ = builder.case_insensitive(cfg!(any(target_os = "macos", windows)));
    // A name that is not UTF-8 can't be a pattern's, but the lines around it are.
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Err(error) = builder.add_line(None, line) {
            tracing::debug!(%error, file = %file.display(), "a line of an ignore file is no pattern");
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// The last word on one path: of the deepest folder, there of the last file.
fn hides<'a>(folders: &'a [(PathBuf, Said)], path: &Path, is_folder: bool) -> Option<&'a Path> {
    for (file, said) in folders.iter().rev() {
        match said {
            Said::Nothing => {}
            Said::Unreadable => return Some(file),
            Said::Matches(matcher) => match matcher.matched(path, is_folder) {
                Match::None => {}
                Match::Ignore(_) => return Some(file),
                Match::Whitelist(_) => return None,
            },
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        dir: tempfile::TempDir,
        ignored: Ignored,
    }

    impl Fixture {
        fn new(files: &[(&str, &str)]) -> Self {
            let fixture = Self { dir: tempfile::tempdir().unwrap(), ignored: Ignored::default() };
            files.iter().for_each(|(name, text)| fixture.write(name, text));
            fixture
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn hidden(&self, name: &str) -> bool {
            self.ignored.hider(self.dir.path(), &self.dir.path().join(name)).is_some()
        }
    }

    #[test]
    fn patterns_match_names_and_not_parts_of_them() {
        let f = Fixture::new(&[
            (".kodaignore", "env\n*.pem\n/top\nlogs/\n# note\n!keep.pem\n"),
            ("logs/x", ""),
            ("a", ""),
        ]);
        for name in ["env", "a/env", "a/env/x", "k.pem", "a/b/k.pem", "top", "logs/x"] {
            assert!(f.hidden(name), "{name}");
        }
        for name in ["environment.ts", "my.env", "keep.pem", "a/top", "logs", "# note", "a"] {
            assert_eq!(f.hidden(name), name == "logs", "{name}");
        }
    }

    #[test]
    fn line_ends_of_windows_count_too() {
        let f = Fixture::new(&[(".kodikignore", "secret\r\n*.key\r\n")]);
        assert!(f.hidden("secret") && f.hidden("a.key"));
        assert!(!f.hidden("other"));
    }

    #[test]
    fn nested_files_count_below_them_only_and_may_take_back() {
        let f = Fixture::new(&[(".kodaignore", "*.log\n"), ("a/b/.kodaignore", "secret\n!x.log\n")]);
        assert!(f.hidden("a/b/secret") && f.hidden("a/b/c/secret"));
        assert!(!f.hidden("secret") && !f.hidden("a/secret"));
        assert!(f.hidden("a/x.log"));
        assert!(!f.hidden("a/b/x.log"));
    }

    #[test]
    fn what_lies_in_a_hidden_folder_can_not_be_taken_back() {
        let f = Fixture::new(&[
            (".kodaignore", "private/\n!private/x\n"),
            ("private/x", ""),
            ("private/.kodaignore", "!x\n"),
        ]);
        assert!(f.hidden("private/x"));
    }

    #[test]
    fn a_change_counts_at_once() {
        let f = Fixture::new(&[]);
        assert!(!f.hidden("a"));
        f.write(".kodaignore", "a\n");
        assert!(f.hidden("a"));
        f.write(".kodaignore", "b\n");
        assert!(!f.hidden("a") && f.hidden("b"));
    }
}
