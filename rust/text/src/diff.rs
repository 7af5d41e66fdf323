//! What changed between two texts: as the least edits that turn one into the other, and for reading.

use std::ops::Range;

use koda_protocol::TextEdit;
use similar::{Algorithm, DiffOp, TextDiff};

/// Returns edits that turn `old` into `new`: sorted, apart from each other, each trimmed to what differs.
///
/// Lines are compared first. Where as many lines come as go, each is trimmed against its successor, so
/// that marks between two changed words of two lines stay.
pub fn minimal(old: &str, new: &str) -> Vec<TextEdit> {
    let (before, after) = (split(old), split(new));
    let (from, to) = (offsets(&before), offsets(&after));
    let mut edits = Vec::new();
    for op in similar::capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (lines, successors) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        if lines.len() == successors.len() {
            let pairs = lines.zip(successors);
            edits.extend(
                pairs.filter_map(|(a, b)| trimmed(old, span(&from, a..a + 1), new, span(&to, b..b + 1))),
            );
        } else {
            edits.extend(trimmed(old, span(&from, lines), new, span(&to, successors)));
        }
    }
    edits
}

/// Returns the change as a unified diff with `context` lines around each hunk; empty where none changed.
///
/// `path` names the file on both sides, after `a/` and `b/`.
pub fn unified(old: &str, new: &str, path: &str, context: usize) -> String {
    let (before, after) = (split(old), split(new));
    TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&before, &after)
        .unified_diff()
        .context_radius(context)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

/// Tells how alike two short texts are, from 0 (nothing in common) to 1 (equal), by characters.
pub fn likeness(a: &str, b: &str) -> f32 {
    TextDiff::from_chars(a, b).ratio()
}

/// Lines with their `\n`; a `\r` alone ends none.
pub(crate) fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Where each line starts, and where the last ends.
fn offsets(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut offsets = Vec::with_capacity(lines.len() + 1);
    offsets.push(0);
    for line in lines {
        at += line.len();
        offsets.push(at);
    }
    offsets
}

fn span(offsets: &[usize], lines: Range<usize>) -> Range<usize> {
    let at = |line: usize| offsets.get(line).copied().unwrap_or_default();
    at(lines.start)..at(lines.end)
}

/// The edit of `old[from]` to `new[to]` without what both begin and end with; none where they are equal.
fn trimmed(old: &str, from: Range<usize>, new: &str, to: Range<usize>) -> Option<TextEdit> {
    let (a, b) = (old.get(from.clone())?, new.get(to)?);
    if a == b {
        return None;
    }
    let head = common_prefix(a, b);
    let (a, b) = (a.get(head..)?, b.get(head..)?);
    let tail = common_suffix(a, b);
    let range = from.start + head..from.end - tail;
    Some(TextEdit { range, new: b.get(..b.len() - tail)?.to_owned() })
}

/// Bytes of whole characters that both begin with.
fn common_prefix(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    (0..=same).rev().find(|&at| a.is_char_boundary(at) && b.is_char_boundary(at)).unwrap_or(0)
}

/// Bytes of whole characters that both end with.
fn common_suffix(a: &str, b: &str) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev()).take_while(|(x, y)| x == y).count();
    let borders = |&len: &usize| a.is_char_boundary(a.len() - len) && b.is_char_boundary(b.len() - len);
    (0..=same).rev().find(borders).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn apply(text: &str, edits: &[TextEdit]) -> String {
        let mut result = text.to_owned();
        for edit in edits.iter().rev() {
            result.replace_range(edit.range.clone(), &edit.new);
        }
        result
    }

    fn pairs(edits: &[TextEdit]) -> Vec<(Range<usize>, &str)> {
        edits.iter().map(|edit| (edit.range.clone(), edit.new.as_str())).collect()
    }

    #[test]
    fn changes_only_what_differs() {
        assert_eq!(pairs(&minimal("a\nfoo(1)\nb\n", "a\nfoo(2)\nb\n")), [(6..7, "2")]);
        assert_eq!(pairs(&minimal("x=1\ny=1\n", "x=2\ny=2\n")), [(2..3, "2"), (6..7, "2")]);
        assert_eq!(pairs(&minimal("a\nb\n", "a\nnew\nb\n")), [(2..2, "new\n")]);
        assert_eq!(pairs(&minimal("a\nb", "a\nb\n")), [(3..3, "\n")]);
        assert!(minimal("same", "same").is_empty());
    }

    #[test]
    fn stays_on_character_borders() {
        // The two letters share their first byte, the two signs their last.
        assert_eq!(pairs(&minimal("\u{e9}", "\u{e8}")), [(0..2, "\u{e8}")]);
        assert_eq!(pairs(&minimal("\u{a9}", "\u{e9}")), [(0..2, "\u{e9}")]);
    }

    #[test]
    fn a_large_file_rewritten_as_a_whole_comes_out() {
        let old: String = (0..50_000).map(|n| format!("old {n}\n")).collect();
        let new: String = (0..50_000).map(|n| format!("new {n}\n")).collect();
        assert_eq!(apply(&old, &minimal(&old, &new)), new);
    }

    #[test]
    fn tells_how_alike_names_are() {
        assert!(likeness("settings.rs", "setings.rs") > 0.9);
        assert!(likeness("settings.rs", "main.py") < 0.5);
    }

    #[test]
    fn reads_as_a_patch() {
        assert_eq!(
            unified("a\nb\nc", "a\nB\nc", "src/x.rs", 1),
            "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("a\n", "a\n", "x", 3), "");
    }

    proptest! {
        #[test]
        fn edits_turn_one_into_the_other(old in "[ab\u{e9}\u{e8}\r\n]{0,40}", new in "[ab\u{e9}\u{e8}\r\n]{0,40}") {
            let edits = minimal(&old, &new);
            prop_assert!(edits.is_sorted_by(|a, b| a.range.end <= b.range.start));
            prop_assert_eq!(apply(&old, &edits), new);
        }
    }
}
