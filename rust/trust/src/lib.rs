//! Shell grammar, path and ignore rules, and the verdict on a call: pure functions.
