//! What a command reads beyond the paths that it spells out: what its patterns fit, and what lies in the folders
//! that it goes through. Only what is hidden from the agent or holds credentials is looked for.

use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobMatcher, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;
use koda_trust::ignored::IGNORE_FILES;
use koda_trust::{Classified, Descent, ResolvedPath, credentials};

use crate::context::Workplace;

/// More entries are not looked at for one command: judging must stay cheap.
const MAX_ENTRIES: usize = 4_000;

/// Found to be reached; more are not needed for a verdict.
const MAX_FOUND: usize = 20;

/// What is looked through, and how much of it may still be.
pub struct Reach<'a> {
    place: &'a Workplace,
    cwd: &'a Path,
    left: usize,
    found: Vec<ResolvedPath>,
}

/// Returns what a command, begun in `cwd`, would read of what it must not read unasked.
pub fn reached(command: &str, classified: &Classified, cwd: &Path, place: &Workplace) -> Vec<ResolvedPath> {
    let mut reach = Reach { place, cwd, left: MAX_ENTRIES, found: Vec::new() };
    // Shells leave out names with a dot unless they are told otherwise.
    let dots = ["dotglob", "globdots", "glob_dots", "GLOBIGNORE", "setopt"]
        .iter()
        .any(|sign| command.contains(sign));
    for glob in &classified.globs {
        reach.glob(glob, dots);
    }
    for descent in classified.descents.iter().filter(|descent| !descent.lists) {
        reach.descent(descent);
    }
    for path in &classified.revisions {
        let from =
            if path.starts_with("./") || path.starts_with("../") { cwd } else { place.resolver.root() };
        if let Ok(path) = place.resolver.resolve(path, from) {
            reach.note(path);
        }
    }
    reach.found
}

impl Reach<'_> {
    fn note(&mut self, path: ResolvedPath) {
        let sealed =
            path.hidden_by().is_some() || (!path.inside() && koda_trust::holds_credentials(path.as_path()));
        if sealed && self.found.len() < MAX_FOUND && !self.found.contains(&path) {
            self.found.push(path);
        }
    }

    fn path(&mut self, path: &Path) {
        if let Ok(path) = self.place.resolver.resolve_path(path) {
            self.note(path);
        }
    }

    /// Looks at all that a pattern fits, folder by folder.
    fn glob(&mut self, glob: &str, dots: bool) {
        let (begin, steps) = split(glob);
        let Ok(begin) = self.place.resolver.resolve(if begin.is_empty() { "." } else { &begin }, self.cwd)
        else {
            return;
        };
        self.note(begin.clone());
        let mut folders = vec![begin.as_path().to_owned()];
        for (at, step) in steps.iter().enumerate() {
            // Some shells take it for all that is below, whatever follows.
            if step == "**" {
                folders
                    .iter()
                    .for_each(|folder| self.walk(folder, false, &GlobSet::empty(), &GlobSet::empty()));
                return;
            }
            let Some(matcher) = matcher(step) else { return };
            let hidden = dots || step.starts_with('.');
            let last = at == steps.len() - 1;
            folders = folders.iter().flat_map(|folder| self.children(folder, &matcher, hidden)).collect();
            if last {
                folders.iter().for_each(|path| self.path(path));
            }
        }
    }

    fn children(&mut self, folder: &Path, matcher: &GlobMatcher, dots: bool) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut fitting = Vec::new();
        for entry in entries.flatten() {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let name = entry.file_name();
            let shown = dots || !name.as_encoded_bytes().starts_with(b".");
            if shown && matcher.is_match(Path::new(&name)) {
                fitting.push(entry.path());
            }
        }
        fitting
    }

    fn descent(&mut self, descent: &Descent) {
        let text = if descent.folder.is_empty() { "." } else { &descent.folder };
        let Ok(begin) = self.place.resolver.resolve(text, self.cwd) else { return };
        if let Some(home) = self.place.resolver.home() {
            let below = credentials(home).into_iter().filter(|path| path.starts_with(begin.as_path()));
            let there: Vec<PathBuf> = below.filter(|path| path.symlink_metadata().is_ok()).collect();
            there.iter().for_each(|path| self.path(path));
        }
        let root = self.place.resolver.root();
        let within = if begin.inside() {
            Some(begin.as_path())
        } else {
            Some(root).filter(|root| root.starts_with(begin.as_path()))
        };
        if let Some(folder) = within {
            self.walk(folder, descent.tidy, &set(&descent.include), &set(&descent.exclude));
        }
    }

    /// Goes through a folder up to the first thing that is hidden.
    fn walk(&mut self, folder: &Path, tidy: bool, include: &GlobSet, exclude: &GlobSet) {
        let mut walk = WalkBuilder::new(folder);
        walk.standard_filters(tidy).require_git(false).follow_links(false);
        let exclude = exclude.clone();
        walk.filter_entry(move |entry| {
            let name = Path::new(entry.file_name());
            name != ".git" && (entry.depth() == 0 || !exclude.is_match(name))
        });
        let before = self.found.len();
        for entry in walk.build().flatten() {
            if self.left == 0 {
                self.unsure(folder);
                return;
            }
            self.left -= 1;
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            if is_file && (include.is_empty() || include.is_match(Path::new(entry.file_name()))) {
                self.path(entry.path());
            }
            if self.found.len() > before {
                return;
            }
        }
    }

    /// Too much to look through: the project's own ignore files stand for what they may hide.
    fn unsure(&mut self, folder: &Path) {
        for above in folder.ancestors().take_while(|above| above.starts_with(self.place.resolver.root())) {
            for name in IGNORE_FILES {
                let file = above.join(name);
                let known = self.found.iter().any(|path| path.as_path() == file);
                if let Some(path) =
                    self.place.resolver.resolve_path(&file).ok().filter(|_| !known && file.is_file())
                {
                    self.found.push(path);
                }
            }
        }
    }
}

/// Splits a pattern into the path before its first pattern, and the names that follow.
fn split(glob: &str) -> (String, Vec<String>) {
    let is_pattern = |step: &str| step.contains(['*', '?', '[']);
    let steps: Vec<&str> = glob.split('/').collect();
    let first = steps.iter().position(|step| is_pattern(step)).unwrap_or(steps.len());
    let begin = steps.get(..first).unwrap_or_default().join("/").replace('\\', "");
    let begin = if first > 0 && begin.is_empty() { "/".to_owned() } else { begin };
    let rest = steps.get(first..).unwrap_or_default();
    (begin, rest.iter().filter(|step| !step.is_empty()).map(|step| (*step).to_owned()).collect())
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    Glob::new(pattern).ok().map(|glob| glob.compile_matcher())
}

fn set(patterns: &[String]) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for glob in patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()) {
        builder.add(glob);
    }
    builder.build().unwrap_or_else(|_| GlobSet::empty())
}
