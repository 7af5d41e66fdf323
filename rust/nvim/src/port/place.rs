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
    if text.is_empty() || after.is_empty() {
        let lines = if after.is_empty() { Vec::new() } else { lines(body(&after)) };
        return Some(Change::Whole { lines, end_of_line });
    }
    let starts = line_starts(text);
    let parts = edits.iter().map(|edit| part(text, &starts, edit)).collect::<Option<Vec<_>>>()?;
    Some(Change::Parts { parts, end_of_line })
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

/// Places one edit. The end of the last line is no part of a buffer's lines, so an edit that reaches
/// over it is drawn back before it.
fn part(text: &str, starts: &[usize], edit: &TextEdit) -> Option<Placed> {
    let last = body(text).len();
    let (mut start, mut end) = (edit.range.start, edit.range.end);
    let mut new = edit.new.as_str();
    let added;
    if end > last {
        end = last;
        if start > last {
            // Appended after the last line's end: a new line below it.
            start = last;
            added = format!("\n{}", body(new));
            new = &added;
        } else if new.is_empty() && start > 0 && text.as_bytes().get(start - 1) == Some(&b'\n') {
            // The last lines go whole: the line end before them goes too, theirs stays.
            start -= 1;
        } else {
            new = body(new);
        }
    }
    let (row, col) = position(starts, start);
    let (end_row, end_col) = position(starts, end);
    Some(Placed { row, col, end_row, end_col, lines: lines(new) })
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
