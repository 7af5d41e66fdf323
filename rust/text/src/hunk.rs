//! The hunks between two texts: whole lines that go and come, each of which can be judged by itself.

use std::ops::Range;

use koda_protocol::{Hunk, TextEdit, WordMark};
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};

use crate::lines::Lines;

/// Sides longer than this get no marks of words: nobody would read them.
const MOST_WORDS_BYTES: usize = 4096;

/// How much of all words must be alike, from 0 to 1, for marks of words to say more than whole lines do.
const ALIKE: f32 = 0.3;

/// Returns the hunks that turn `old` into `new`, by position, with at least one unchanged line between two.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let (before, after) = (split(old), split(new));
    let ops = similar::capture_diff_slices(Algorithm::Myers, &before, &after);
    let mut found: Vec<Hunk> = Vec::new();
    let mut open: Option<(Range<usize>, Range<usize>)> = None;
    for op in ops {
        let (gone, come) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            found.extend(open.take().map(|(a, b)| hunk(&before, a, &after, b)));
            continue;
        }
        open = Some(match open.take() {
            Some((a, b)) => (a.start..gone.end.max(a.end), b.start..come.end.max(b.end)),
            None => (gone, come),
        });
    }
    found.extend(open.take().map(|(a, b)| hunk(&before, a, &after, b)));
    for (index, hunk) in found.iter_mut().enumerate() {
        hunk.number = index + 1;
    }
    found
}

/// Returns the edits of `text` that carry out `hunks`, which are some of the hunks from it to another text.
///
/// None if one of them does not stand where it says: then it is no hunk of this text.
pub fn edits<'h>(text: &str, hunks: impl IntoIterator<Item = &'h Hunk>) -> Option<Vec<TextEdit>> {
    let lines = Lines::new(text);
    let mut edits = Vec::new();
    for hunk in hunks {
        let start = lines.range(hunk.line).start;
        let range = start..start + hunk.old.len();
        if text.get(range.clone()) != Some(&hunk.old) {
            return None;
        }
        edits.push(TextEdit { range, new: hunk.new.clone() });
    }
    edits.sort_by_key(|edit| edit.range.start);
    Some(edits)
}

/// Returns `text` after some of the hunks from it to another text; none as [`edits`].
pub fn apply<'h>(text: &str, hunks: impl IntoIterator<Item = &'h Hunk>) -> Option<String> {
    let mut result = text.to_owned();
    for edit in edits(text, hunks)?.iter().rev() {
        result.replace_range(edit.range.clone(), &edit.new);
    }
    Some(result)
}

/// Finds the hunks of an earlier diff among those of a later one, by what goes and comes, in the order of
/// both: for each of `earlier` its index in `later`. Each of `later` is found once at most.
pub fn find(earlier: &[Hunk], later: &[Hunk]) -> Vec<Option<usize>> {
    let keys = |hunks: &'_ [Hunk]| -> Vec<(String, String)> {
        hunks.iter().map(|hunk| (hunk.old.clone(), hunk.new.clone())).collect()
    };
    let mut found = vec![None; earlier.len()];
    for op in similar::capture_diff_slices(Algorithm::Myers, &keys(earlier), &keys(later)) {
        if matches!(op, DiffOp::Equal { .. }) {
            for (a, b) in op.old_range().zip(op.new_range()) {
                if let Some(slot) = found.get_mut(a) {
                    *slot = Some(b);
                }
            }
        }
    }
    found
}

/// Lines with their `\n`; a `\r` alone ends none.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn hunk(before: &[&str], gone: Range<usize>, after: &[&str], come: Range<usize>) -> Hunk {
    let text = |lines: &[&str], range: Range<usize>| lines.get(range).unwrap_or_default().concat();
    let (line, new_line) = (gone.start + 1, come.start + 1);
    let (old, new) = (text(before, gone), text(after, come));
    let (old_words, new_words) = words(&old, &new);
    Hunk { number: 0, line, new_line, old, new, old_words, new_words }
}

/// Marks the words that differ; nothing where the sides have too little in common for that to help.
fn words(old: &str, new: &str) -> (Vec<WordMark>, Vec<WordMark>) {
    if old.is_empty() || new.is_empty() || old.len().max(new.len()) > MOST_WORDS_BYTES {
        return Default::default();
    }
    let (before, after) = (tokens(old), tokens(new));
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&before, &after);
    if diff.ratio() < ALIKE {
        return Default::default();
    }
    let (mut gone, mut come) = (Marks::default(), Marks::default());
    for change in diff.iter_all_changes() {
        let text = change.value();
        gone.step(text, change.tag() == ChangeTag::Delete, change.tag() != ChangeTag::Insert);
        come.step(text, change.tag() == ChangeTag::Insert, change.tag() != ChangeTag::Delete);
    }
    (gone.found, come.found)
}

/// Collects the marks of one side, walking through its words.
#[derive(Default)]
struct Marks {
    row: usize,
    column: usize,
    found: Vec<WordMark>,
}

impl Marks {
    /// Goes past `text` if this side has it, marking it if it differs.
    fn step(&mut self, text: &str, differs: bool, is_here: bool) {
        if !is_here {
            return;
        }
        if text == "\n" {
            (self.row, self.column) = (self.row + 1, 0);
            return;
        }
        let (row, start, end) = (self.row, self.column, self.column + text.len());
        self.column = end;
        match self.found.last_mut() {
            _ if !differs => {}
            Some(last) if last.row == row && last.end == start => last.end = end,
            _ => self.found.push(WordMark { row, start, end }),
        }
    }
}

/// Cuts a text into words, runs of blanks, line ends and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |character: char| match character {
        '\n' => 0,
        _ if character.is_alphanumeric() || character == '_' => 1,
        ' ' | '\t' => 2,
        _ => 3,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let of = kind(first);
        let end = match of {
            1 | 2 => rest.find(|next| kind(next) != of).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests;
