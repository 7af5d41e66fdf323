//! Matching, edits, hunks, line ends and encodings: pure functions over text.
