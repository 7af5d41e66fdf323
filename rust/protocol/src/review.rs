//! What a call would change or has changed, in pieces that can be judged one by one.

use serde::{Deserialize, Serialize};

use crate::id::CallId;

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

/// What the user said to a change that was made already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The call that made it.
    pub call: CallId,
    /// The tool that was called.
    pub tool: String,
    /// The path as people read it: relative to the project inside it.
    pub shown: String,
    /// All hunks of the change, by position.
    pub hunks: Vec<JudgedHunk>,
}

/// One hunk of a change that was made already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedHunk {
    /// Its number within the change, from 1.
    pub number: usize,
    /// Its first line, from 1, in the text after the change.
    pub line: usize,
    /// What became of it.
    pub state: HunkState,
    /// The lines that went.
    pub old: String,
    /// The lines that came.
    pub new: String,
    /// What the user said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// What became of a hunk that was made already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    /// Not judged yet; it is in the text.
    Waits,
    /// The user let it stand.
    Stands,
    /// The user put back what was there before.
    TakenBack,
    /// The user rejected it, but the text there had changed and stays as it is.
    Overtaken,
}
