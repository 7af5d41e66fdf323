//! The one path function, used for validation, approval and execution alike.
//!
//! A [`ResolvedPath`] can be had only from a [`Resolver`]: absolute, without `..`, and with the
//! symlinks of everything that exists followed, so that what is judged is what is opened.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::ignored::Ignored;

/// Follow this many symlinks in one path, as Linux does, before calling it circular.
const MAX_LINKS: usize = 40;

/// Why a path could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing was given.
    #[error("the path is empty")]
    Empty,
    /// It has a NUL character.
    #[error("the path {0:?} has a NUL character")]
    Nul(String),
    /// Its symlinks lead round in a circle.
    #[error("{0}: too many symbolic links, they lead in a circle")]
    Circular(PathBuf),
    /// A link or folder on the way can't be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// A `file:` URL that names another machine, or `~user`.
    #[error("{0}: {1}")]
    Unsupported(String, &'static str),
}

/// A path as it will be opened: absolute, symlinks followed, `..` gone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResolvedPath {
    path: PathBuf,
    shown: String,
    inside: bool,
    hidden: Option<PathBuf>,
}

impl ResolvedPath {
    /// Returns the absolute path.
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// Tells whether it lies in the project.
    pub fn inside(&self) -> bool {
        self.inside
    }

    /// Returns the ignore file that hides it from the agent, if one does.
    pub fn hidden_by(&self) -> Option<&Path> {
        self.hidden.as_deref()
    }

    /// Returns it as people and models read it: relative to the root inside the project, else absolute.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

/// Resolves paths against one project.
#[derive(Clone, Debug)]
pub struct Resolver {
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    ignored: Ignored,
}

impl Resolver {
    /// Builds a resolver for the project at `root`, an absolute path. Its own symlinks are followed.
    pub fn new(root: &Path) -> Self {
        Self { roots: vec![real(root)], home: None, ignored: Ignored::default() }
    }

    /// Sets what `~` stands for.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// Adds a further root that counts as inside (a workspace of several).
    #[must_use]
    pub fn with_root(mut self, root: &Path) -> Self {
        self.roots.push(real(root));
        self
    }

    /// Returns the project's root, symlinks followed.
    pub fn root(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Returns what `~` stands for, if that is known.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Resolves `text`, relative to `cwd` (absolute). `~` is the home; `%` and `$` are themselves.
    ///
    /// The path need not exist; what exists of it is followed through symlinks, also dangling ones.
    ///
    /// # Errors
    ///
    /// See [`PathError`].
    pub fn resolve(&self, text: &str, cwd: &Path) -> Result<ResolvedPath, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.contains('\0') {
            return Err(PathError::Nul(text.to_owned()));
        }
        let named = cwd.join(self.expand(text)?);
        let hidden = self.hider(&plain(&named));
        let placed = self.placed(follow(&named)?);
        // A link to a file that is not hidden may have a name that is, and the other way round.
        Ok(ResolvedPath { hidden: placed.hidden.or(hidden), ..placed })
    }

    /// Resolves a path that is already a path: of a buffer, or found by a walk.
    ///
    /// # Errors
    ///
    /// See [`PathError`].
    pub fn resolve_path(&self, path: &Path) -> Result<ResolvedPath, PathError> {
        Ok(self.placed(follow(path)?))
    }

    fn placed(&self, path: PathBuf) -> ResolvedPath {
        let inside = self.roots.iter().any(|root| path.starts_with(root));
        let relative = path.strip_prefix(self.root()).ok().map(|rest| match rest.as_os_str() {
            name if name.is_empty() => ".".to_owned(),
            name => name.to_string_lossy().into_owned(),
        });
        let shown = relative.unwrap_or_else(|| path.to_string_lossy().into_owned());
        let hidden = self.hider(&path);
        ResolvedPath { path, shown, inside, hidden }
    }

    fn hider(&self, path: &Path) -> Option<PathBuf> {
        self.roots.iter().find_map(|root| self.ignored.hider(root, path))
    }

    fn expand(&self, text: &str) -> Result<PathBuf, PathError> {
        if let Some(rest) = text.strip_prefix("file://") {
            let rest = rest.strip_prefix("localhost").unwrap_or(rest);
            if !rest.starts_with('/') {
                return Err(PathError::Unsupported(text.to_owned(), "a file: URL of another machine"));
            }
            return Ok(PathBuf::from(percent_decoded(rest)));
        }
        let Some(rest) = text.strip_prefix('~') else { return Ok(PathBuf::from(text)) };
        match (&self.home, rest.strip_prefix('/')) {
            (Some(home), Some(rest)) => Ok(home.join(rest.trim_start_matches('/'))),
            (Some(home), None) if rest.is_empty() => Ok(home.clone()),
            // `~backup` is a file's name as well as a user's home: taken as a name, as tools do.
            (_, None) if !rest.is_empty() => Ok(PathBuf::from(text)),
            _ => Err(PathError::Unsupported(text.to_owned(), "the home folder is not known")),
        }
    }
}

/// Takes `.` and `..` out of an absolute path by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for step in steps(path) {
        match step {
            Step::Up => drop(plain.pop()),
            Step::Into(name) => plain.push(name),
        }
    }
    plain
}

/// Finds the project of a folder: the nearest folder above it with a `.git` (a file in worktrees and
/// submodules), else the folder itself.
pub fn project_root(start: &Path) -> PathBuf {
    let found = start.ancestors().find(|folder| folder.join(".git").exists());
    found.unwrap_or(start).to_owned()
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Decodes `%20` and the like in a URL's path; what is no such escape stays.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (byte == b'%').then(|| (hex(ahead.next()), hex(ahead.next())));
        if let Some((Some(high), Some(low))) = digits {
            bytes.push(high * 16 + low);
            rest = ahead;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn hex(byte: Option<u8>) -> Option<u8> {
    char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// One step of a path that is still to be walked.
enum Step {
    Up,
    Into(OsString),
}

fn steps(path: &Path) -> Vec<Step> {
    let steps = path.components().filter_map(|component| match component {
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Into(name.to_owned())),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    steps.collect()
}

/// Walks an absolute path as the kernel would, following every link that is there.
fn follow(path: &Path) -> Result<PathBuf, PathError> {
    let mut todo: VecDeque<Step> = steps(path).into();
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(step) = todo.pop_front() {
        let name = match step {
            Step::Up => {
                at.pop();
                continue;
            }
            Step::Into(name) => name,
        };
        let next = at.join(&name);
        let Some(target) = link_target(&next)? else {
            at = next;
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(PathError::Circular(path.to_owned()));
        }
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for step in steps(&target).into_iter().rev() {
            todo.push_front(step);
        }
    }
    Ok(at)
}

/// Where a symlink points; none for anything else, missing things included.
fn link_target(path: &Path) -> Result<Option<PathBuf>, PathError> {
    use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    let unreadable =
        |error: std::io::Error| PathError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => fs::read_link(path).map(Some).map_err(unreadable),
        Ok(_) => Ok(None),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidFilename) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Fixture {
        _dir: tempfile::TempDir,
        root: PathBuf,
        outside: PathBuf,
        resolver: Resolver,
    }

    fn fixture() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        let (root, outside) = (base.join("project"), base.join("outside"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let resolver = Resolver::new(&root).with_home(Some(base.join("home")));
        Fixture { _dir: dir, root, outside, resolver }
    }

    #[test]
    fn names_are_taken_literally() {
        let f = fixture();
        for name in ["routes/$id.tsx", "50%20off/x", "a b", "~backup", "{x}", "ä/ö"] {
            let path = f.resolver.resolve(name, &f.root).unwrap();
            assert_eq!(path.as_path(), f.root.join(name));
            assert_eq!(path.shown(), name);
            assert!(path.inside());
        }
    }

    #[test]
    fn dots_lead_where_the_kernel_goes() {
        let f = fixture();
        let resolve = |text: &str| f.resolver.resolve(text, &f.root.join("src")).unwrap();
        assert_eq!(resolve("../x").as_path(), f.root.join("x"));
        assert_eq!(resolve("..").shown(), ".");
        assert!(!resolve("../../outside/x").inside());
        // A sibling whose name begins like the root's is outside.
        assert!(!resolve("../../project2/x").inside());
    }

    #[test]
    fn home_and_urls_are_understood() {
        let f = fixture();
        let resolve = |text: &str| f.resolver.resolve(text, &f.root);
        assert!(resolve("~/x").unwrap().as_path().ends_with("home/x"));
        let url = format!("file://{}/a%20b", f.root.display());
        assert_eq!(resolve(&url).unwrap().as_path(), f.root.join("a b"));
        assert!(matches!(resolve("file://host/x"), Err(PathError::Unsupported(..))));
        assert_eq!(resolve(""), Err(PathError::Empty));
        assert!(matches!(resolve("a\0b"), Err(PathError::Nul(_))));
    }

    #[test]
    fn links_are_followed_also_for_files_that_do_not_exist_yet() {
        let f = fixture();
        symlink(&f.outside, f.root.join("out")).unwrap();
        symlink("src", f.root.join("in")).unwrap();
        symlink(f.outside.join("missing"), f.root.join("dangling")).unwrap();
        let resolve = |text: &str| f.resolver.resolve(text, &f.root).unwrap();
        assert!(!resolve("out/new/file").inside());
        assert!(!resolve("dangling").inside());
        assert!(!resolve("dangling/x").inside());
        assert_eq!(resolve("in/new").shown(), "src/new");
        // `..` after a link leaves what the link points to.
        assert_eq!(resolve("out/../project/x").as_path(), f.root.join("x"));
    }

    #[test]
    fn circular_links_are_an_error() {
        let f = fixture();
        symlink("b", f.root.join("a")).unwrap();
        symlink("a", f.root.join("b")).unwrap();
        assert!(matches!(f.resolver.resolve("a/x", &f.root), Err(PathError::Circular(_))));
    }

    #[test]
    fn the_project_is_the_nearest_git_folder() {
        let f = fixture();
        assert_eq!(project_root(&f.root.join("src")), f.root.join("src"));
        fs::write(f.root.join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(project_root(&f.root.join("src")), f.root);
    }
}
