//! Searching for a pattern.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use globset::GlobMatcher;
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::WalkState;
use tokio_util::sync::CancellationToken;

use super::sink::Collect;
use super::{builder, walk};

/// Bytes that all hits may have together; a walk stops when they are reached.
const MAX_BYTES: usize = 48 * 1024;

/// What is shown of the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Matching lines, with context.
    #[default]
    Lines,
    /// Names of files with a match.
    Files,
    /// Number of matching lines for each file.
    Count,
}

/// What to search for, and where.
pub struct Grep {
    /// File or folder.
    pub base: PathBuf,
    /// A regular expression.
    pub pattern: String,
    /// Take the pattern literally.
    pub literal: bool,
    /// Leave case aside.
    pub ignore_case: bool,
    /// Lines shown before and after a match.
    pub context: usize,
    /// Only files that this takes, relative to `base`.
    pub glob: Option<GlobMatcher>,
    /// What is shown.
    pub show: Show,
    /// Matching lines at most.
    pub limit: usize,
    /// Texts of buffers with unsaved changes.
    pub unsaved: Vec<(PathBuf, Arc<str>)>,
}

/// The hits of one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hits {
    /// Relative to the base; the file's name if the base is a file.
    pub path: PathBuf,
    /// What is shown of it, lines ended.
    pub text: String,
    /// Matching lines.
    pub matches: usize,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Found {
    /// By path.
    pub files: Vec<Hits>,
    /// Whether the search stopped at a limit, so that there may be more.
    pub capped: bool,
}

struct Search<'a> {
    grep: &'a Grep,
    matcher: RegexMatcher,
    unsaved: HashMap<&'a Path, &'a Arc<str>>,
    cancel: &'a CancellationToken,
    found: Mutex<Found>,
    matches: AtomicUsize,
    bytes: AtomicUsize,
}

/// Searches. Blocks.
///
/// # Errors
///
/// What is wrong with the pattern.
pub fn grep(grep: &Grep, cancel: &CancellationToken) -> Result<Found, String> {
    let mut builder = RegexMatcherBuilder::new();
    // Anchors are those of a line, whatever piece of a file is searched at once.
    builder.case_insensitive(grep.ignore_case).fixed_strings(grep.literal).multi_line(true);
    // `$` must stand before the `\r\n` of a dos file too: Read shows no `\r`. Other patterns don't pay for it.
    if grep.has_line_end() {
        builder.crlf(true);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    let matcher = builder.build(&grep.pattern).map_err(|error| error.to_string())?;
    let search = Search {
        grep,
        matcher,
        unsaved: grep.unsaved.iter().map(|(path, text)| (path.as_path(), text)).collect(),
        cancel,
        found: Mutex::default(),
        matches: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
    };
    search.walk();
    search.only_in_buffers();
    let mut found = search.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.files.sort_unstable();
    Ok(found)
}

impl Grep {
    fn has_line_end(&self) -> bool {
        !self.literal && self.pattern.contains('$')
    }

    fn searcher(&self) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0));
        if self.has_line_end() {
            builder.line_terminator(LineTerminator::crlf());
        }
        builder.build()
    }
}

impl Search<'_> {
    fn walk(&self) {
        walk(&self.grep.base).run(|| {
            let mut searcher = self.grep.searcher();
            Box::new(move |entry| {
                if self.is_over() {
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                if entry.file_type().is_some_and(|kind| kind.is_file()) {
                    self.file(&mut searcher, entry.path());
                }
                WalkState::Continue
            })
        });
    }

    /// Buffers whose file is not on disk yet, where a walk would have come to it.
    fn only_in_buffers(&self) {
        let mut searcher = self.grep.searcher();
        let mut ignores = builder(&self.grep.base).build_matchers();
        for path in self.unsaved.keys().filter(|path| !path.exists()) {
            let Ok(relative) = path.strip_prefix(&self.grep.base) else { continue };
            if !ignores.iter_mut().any(|ignore| ignore.matched(relative, false).is_ignore()) {
                self.file(&mut searcher, path);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.cancel.is_cancelled()
            || self.matches.load(Ordering::Relaxed) >= self.grep.limit
            || self.bytes.load(Ordering::Relaxed) >= MAX_BYTES
    }

    fn file(&self, searcher: &mut Searcher, path: &Path) {
        let relative = match path.strip_prefix(&self.grep.base) {
            Ok(relative) if relative.as_os_str().is_empty() => {
                Path::new(path.file_name().unwrap_or_default())
            }
            Ok(relative) => relative,
            Err(_) => path,
        };
        if self.grep.glob.as_ref().is_some_and(|glob| !glob.is_match(relative)) {
            return;
        }
        let left = self.grep.limit.saturating_sub(self.matches.load(Ordering::Relaxed));
        let mut sink = Collect::new(self.grep.show, left, MAX_BYTES);
        let searched = match self.unsaved.get(path) {
            Some(text) => searcher.search_slice(&self.matcher, text.as_bytes(), &mut sink),
            None => searcher.search_path(&self.matcher, path, &mut sink),
        };
        // A file that vanished or can't be read is passed over, as rg does after a note.
        if searched.is_err() || sink.matches == 0 || sink.binary {
            return;
        }
        self.matches.fetch_add(sink.matches, Ordering::Relaxed);
        self.bytes.fetch_add(sink.text.len() + relative.as_os_str().len(), Ordering::Relaxed);
        let hits = Hits { path: relative.to_owned(), text: sink.text, matches: sink.matches };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.files.push(hits);
        found.capped |= sink.stopped || self.is_over();
    }
}
