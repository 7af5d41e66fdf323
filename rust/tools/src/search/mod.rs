//! Walking the project and searching its files, in process and on all cores, with ripgrep's crates.
//!
//! What is seen is what `rg` would see: ignore files count (also outside of a repository), hidden files
//! are left out. Koda's own ignore files count too. Where a buffer has unsaved changes, its text is
//! searched instead of the file's.

mod grep;
mod nearby;
mod sink;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;

use globset::{Glob, GlobMatcher};
use ignore::{WalkBuilder, WalkParallel, WalkState};
use koda_trust::ignored::IGNORE_FILES;
use tokio_util::sync::CancellationToken;

pub use grep::{Found, Grep, Show, grep};
pub use nearby::nearby;

/// Builds a walk over what a user's tools would see below `base`.
fn walk(base: &Path) -> WalkParallel {
    builder(base).threads(threads()).build_parallel()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).min(12)
}

fn builder(base: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(base);
    builder.require_git(false);
    for name in IGNORE_FILES {
        builder.add_custom_ignore_filename(name);
    }
    builder
}

/// Compiles a glob as tools take it: without a slash it matches names at any depth.
///
/// # Errors
///
/// What is wrong with the pattern.
pub fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let built = globset::GlobBuilder::new(&anywhere).literal_separator(true).build();
    built.map(|glob: Glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// Finds the files below `base` that `matcher` takes, by their path relative to `base`; sorted. Blocks.
pub fn files(base: &Path, matcher: &GlobMatcher, cancel: &CancellationToken) -> Vec<PathBuf> {
    let found = Mutex::new(Vec::new());
    walk(base).run(|| {
        let mut batch = Batch { found: &found, paths: Vec::new() };
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| !kind.is_dir())
                && let Ok(relative) = entry.path().strip_prefix(base)
                && matcher.is_match(relative)
            {
                batch.paths.push(relative.to_owned());
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    found
}

/// Paths of one thread, handed over when it is done.
struct Batch<'a> {
    found: &'a Mutex<Vec<PathBuf>>,
    paths: Vec<PathBuf>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.paths);
    }
}

/// Lists a folder: folders first, each name with a `/`; hidden ones too, ignored ones not. Blocks.
///
/// # Errors
///
/// What the system said.
pub fn list(folder: &Path) -> std::io::Result<Vec<String>> {
    std::fs::read_dir(folder)?;
    let mut folders = Vec::new();
    let mut files = Vec::new();
    let walk = builder(folder).hidden(false).max_depth(Some(1)).build();
    for entry in walk.flatten().filter(|entry| entry.depth() == 1) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == ".git" {
            continue;
        }
        match entry.file_type() {
            Some(kind) if kind.is_dir() => folders.push(format!("{name}/")),
            Some(kind) if kind.is_symlink() => files.push(format!("{name}@")),
            _ => files.push(name),
        }
    }
    folders.sort_unstable();
    files.sort_unstable();
    folders.append(&mut files);
    Ok(folders)
}
