//! The harness for tests of the whole editor.
