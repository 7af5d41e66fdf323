//! Matching, edits, hunks, line ends and encodings: pure functions over text.
//!
//! Nothing here opens a file or knows an editor. Offsets are bytes from 0 and lie on character
//! borders; line numbers and positions of edits count from 1, because people and models read them.

pub mod cut;
pub mod diff;
pub mod edit;
mod format;
pub mod hunk;
mod lines;
pub mod merge;

pub use format::{DecodeError, EncodeError, decode, encode};
pub use lines::Lines;
