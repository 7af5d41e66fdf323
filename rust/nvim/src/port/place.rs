//! Where a byte range of a document's text lies in the lines of a buffer.
//!
//! A text ends each line with `\n`, the last one only if the file's does; a buffer keeps lines without
//! ends and whether the last one has one (`'endofline'`). Pure functions.

use koda_protocol::TextEdit;
use serde::Serialize;

/// A change to a buffer's lines: rows from 0, columns in bytes from 0, ends exclusive, as
/// `nvim_buf_set_text` takes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// First row.
    pub row: usize,
    /// First column.
    pub col: usize,
    /// Last row.
    pub end_row: usize,
    /// Column after the last.
    pub end_col: usize,
    /// What stands there after.
    pub lines: Vec<String>,
}

/// What to do to a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Change {
    /// Apply these from the last to the first; then the last line has an end or not.
    #[serde(rename = "parts")]
    Parts {
        /// Sorted by position.
        parts: Vec<Placed>,
        /// `'endofline'` after.
        end_of_line: bool,
    },
    /// Replace all lines: from nothing to something, or the other way.
    #[serde(rename = "whole")]
    Whole {
        /// All lines; none for an empty file.
        lines: Vec<String>,
        /// `'endofline'` after.
        end_of_line: bool,
    },
}

/// Returns the text after `edits`, which are sorted and don't overlap; none if one lies outside or
/// within a character.
pub fn apply(text: &str, edits: &[TextEdit]) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        result.push_str(text.get(at..edit.range.start)?);
        result.push_str(&edit.new);
        at = edit.range.end;
    }
    result.push_str(text.get(at..)?);
    Some(result)
}

/// Places `edits` to `text` in the lines of its buffer; none if one lies outside or within a character.
pub fn place(text: &str, edits: &[TextEdit]) -> Option<Change> {
    let after = apply(text, edits)?;
    let end_of_line = after.is_empty() || after.ends_with('\n');
    if let Some(parts) = parts(text, &after, edits).filter(|_| !text.is_empty() && !after.is_empty()) {
        return Some(Change::Parts { parts, end_of_line });
    }
    let lines = if after.is_empty() { Vec::new() } else { lines(body(&after)) };
    Some(Change::Whole { lines, end_of_line })
}

/// Places each edit; none where two of them share the end of the last line.
fn parts(text: &str, after: &str, edits: &[TextEdit]) -> Option<Vec<Placed>> {
    let starts = line_starts(text);
    let (last, before) = edits.split_last()?;
    let mut parts = Vec::new();
    let (mut at, mut gone, mut come) = (0, 0, 0);
    for edit in before {
        if edit.range.end > body(text).len() {
            return None;
        }
        parts.push(part(&starts, edit.range.start, edit.range.end, &edit.new));
        at = edit.range.end;
        gone += edit.range.len();
        come += edit.new.len();
    }
    if last.range.end < body(text).len() {
        parts.push(part(&starts, last.range.start, last.range.end, &last.new));
        return Some(parts);
    }
    // It reaches the end, which buffers keep apart: from its start on, all is replaced by what is there after.
    let (old, new) = (body(text), body(after));
    let begins = last.range.start + come - gone;
    let over = last.range.start.saturating_sub(old.len()).max(begins.saturating_sub(new.len()));
    let start = last.range.start.checked_sub(over).filter(|start| *start >= at)?;
    parts.push(part(&starts, start, old.len(), new.get(begins - over..)?));
    Some(parts)
}

/// A text without the end of its last line.
fn body(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// Offsets at which the lines of a buffer begin.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = body(text).bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

fn part(starts: &[usize], start: usize, end: usize, new: &str) -> Placed {
    let (row, col) = position(starts, start);
    let (end_row, end_col) = position(starts, end);
    Placed { row, col, end_row, end_col, lines: lines(new) }
}

fn position(starts: &[usize], offset: usize) -> (usize, usize) {
    let row = starts.partition_point(|start| *start <= offset).saturating_sub(1);
    (row, offset - starts.get(row).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies a change to lines as Neovim does and returns the file's text.
    fn through_buffer(text: &str, edits: &[TextEdit]) -> String {
        let mut buffer = lines(body(text));
        let (all, end_of_line) = match place(text, edits).unwrap() {
            Change::Whole { lines, end_of_line } => (lines, end_of_line),
            Change::Parts { parts, end_of_line } => {
                for part in parts.iter().rev() {
                    let head = buffer[part.row].get(..part.col).unwrap().to_owned();
                    let tail = buffer[part.end_row].get(part.end_col..).unwrap().to_owned();
                    let middle = format!("{head}{}{tail}", part.lines.join("\n"));
                    buffer.splice(part.row..=part.end_row, lines(&middle));
                }
                (buffer, end_of_line)
            }
        };
        if all.is_empty() {
            return String::new();
        }
        all.join("\n") + if end_of_line { "\n" } else { "" }
    }

    fn edit(start: usize, end: usize, new: &str) -> TextEdit {
        TextEdit { range: start..end, new: new.to_owned() }
    }

    #[test]
    fn every_range_of_a_small_text_comes_out_as_in_the_text_itself() {
        for text in ["a\nb\n", "a\nb", "\n", "\n\n", "a", "", "äö\n\nx\n"] {
            let borders: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            for &start in &borders {
                for &end in borders.iter().filter(|end| **end >= start) {
                    for new in ["", "x", "x\n", "\n", "x\ny", "\nx"] {
                        let edits = [edit(start, end, new)];
                        let right = apply(text, &edits).unwrap();
                        assert_eq!(through_buffer(text, &edits), right, "{text:?} {start}..{end} {new:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn several_edits_land_where_they_were_meant() {
        let text = "one\ntwo\nthree\n";
        let edits = [edit(0, 3, "1\n1"), edit(4, 8, ""), edit(14, 14, "four\n")];
        assert_eq!(through_buffer(text, &edits), "1\n1\nthree\nfour\n");
    }

    #[test]
    fn an_edit_within_a_character_is_refused() {
        assert_eq!(place("ä", &[edit(1, 2, "x")]), None);
        assert_eq!(place("a", &[edit(0, 9, "x")]), None);
    }
}
