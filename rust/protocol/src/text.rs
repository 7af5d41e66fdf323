//! Text of a file as the user sees it, and changes to it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How a file ends its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineEnd {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n` on every line.
    CrLf,
    /// `\r` on every line (old Macintosh).
    Cr,
}

/// What a file's bytes have besides its text. A change of the text never changes these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFormat {
    /// How lines end. A file with mixed ends is `Lf`, its `\r` kept in the text, as Neovim does.
    pub line_end: LineEnd,
    /// Whether the file starts with a byte-order mark.
    pub bom: bool,
    /// Neovim's name of the encoding: `utf-8`, `latin1`, `utf-16le` ….
    pub encoding: String,
}

impl Default for TextFormat {
    fn default() -> Self {
        Self { line_end: LineEnd::Lf, bom: false, encoding: "utf-8".to_owned() }
    }
}

/// Identifies one state of a document, so that a change to another state can be refused.
///
/// Opaque: equal revisions mean equal text, nothing else follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Revision(pub String);

/// A text file as the user sees it: the buffer's text where the file is loaded, else the disk's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Absolute path.
    pub path: PathBuf,
    /// The text. Lines end in `\n` whatever `format.line_end` says; the last one only if the file's does.
    pub text: Arc<str>,
    /// What the file's bytes have besides.
    pub format: TextFormat,
    /// Whether a buffer holds changes that the file on disk lacks.
    pub unsaved: bool,
    /// Names this state.
    pub revision: Revision,
}

/// Replaces a byte range of a document's text. Ranges lie on character borders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextEdit {
    /// Bytes from 0 in [`Document::text`].
    pub range: Range<usize>,
    /// What stands there after, with `\n` line ends.
    pub new: String,
}
