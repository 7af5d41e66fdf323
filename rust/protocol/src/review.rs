//! What a call would change or has changed, in pieces that can be judged one by one.

use serde::{Deserialize, Serialize};

/// A change of whole lines: what goes and what comes in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Its number within the change, from 1.
    pub number: usize,
    /// The first line that goes, from 1, in the text before; for an insertion the line that it stands before.
    pub line: usize,
    /// The first line that comes, from 1, in the text after; for a deletion the line that follows.
    pub new_line: usize,
    /// The lines that go, with their `\n`; empty for an insertion.
    pub old: String,
    /// The lines that come, with their `\n`; empty for a deletion.
    pub new: String,
    /// The words that go, where lines were changed and not just removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub old_words: Vec<WordMark>,
    /// The words that come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_words: Vec<WordMark>,
}

/// A part of a line within a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordMark {
    /// The line within the hunk's side, from 0.
    pub row: usize,
    /// First byte within the line, from 0.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// What a call would change in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Absolute path.
    pub path: String,
    /// The path as people read it: relative to the project inside it.
    pub shown: String,
    /// Whether the file would be new.
    pub created: bool,
    /// The change, by position.
    pub hunks: Vec<Hunk>,
}

/// A text about one hunk of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkText {
    /// The hunk's number.
    pub hunk: usize,
    /// The text.
    pub text: String,
}
