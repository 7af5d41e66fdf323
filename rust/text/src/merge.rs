//! Three-way merge by lines: a change is carried over to a text that has changed in other places meanwhile.
//!
//! Where both sides changed the same lines, ours stands and the place is told: nothing of ours is ever lost.

use std::ops::Range;

use similar::{Algorithm, DiffOp};

use crate::diff::split;

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Our text, with their changes where they touch none of ours.
    pub text: String,
    /// Where their change could not be made: lines of `text`, from 1, the end not included. An empty range
    /// lies before its line.
    pub conflicts: Vec<Range<usize>>,
}

/// A run of base lines that one side has other lines for.
struct Change<'t> {
    base: Range<usize>,
    lines: Vec<&'t str>,
}

impl Change<'_> {
    /// Whether both change the same place, so that only one of them can stand.
    fn touches(&self, other: &Self) -> bool {
        let (a, b) = (&self.base, &other.base);
        if a.is_empty() && b.is_empty() {
            return a.start == b.start;
        }
        a.start < b.end && b.start < a.end
    }
}

/// Brings the changes from `base` to `theirs` into `ours`, which was `base` before it changed as well.
///
/// Lines end in `\n`; the last one may not. Changes of neighbouring lines don't touch.
pub fn three_way(base: &str, ours: &str, theirs: &str) -> Merged {
    let lines = split(base);
    let (our_lines, their_lines) = (split(ours), split(theirs));
    let (mine, other) = (changes(&lines, &our_lines), changes(&lines, &their_lines));
    let stands = |change: &&Change<'_>| !mine.iter().any(|own| own.touches(change));
    let same =
        |change: &Change<'_>| mine.iter().any(|own| own.base == change.base && own.lines == change.lines);
    let clashes: Vec<&Change<'_>> = other.iter().filter(|change| !stands(change) && !same(change)).collect();

    let mut standing: Vec<&Change<'_>> = mine.iter().chain(other.iter().filter(stands)).collect();
    // An insertion stands before a change that begins in the same place.
    standing.sort_by_key(|change| (change.base.start, change.base.end));
    let mut merged = Building { base: &lines, text: Vec::new(), at: 0, ends: Vec::new() };
    standing.iter().for_each(|change| merged.take(change));
    merged.finish();
    let conflicts = clashes.iter().map(|clash| merged.place(clash, &mine)).collect();
    Merged { text: joined(&merged.text), conflicts }
}

/// Tells where a line of one text, from 1, stands in another; where it was changed, where the change stands.
pub fn carry_line(old: &str, new: &str, line: usize) -> usize {
    let (before, after) = (split(old), split(new));
    let index = line.saturating_sub(1);
    let (mut gone, mut come) = (0, 0);
    for change in changes(&before, &after) {
        if change.base.start > index {
            break;
        }
        if change.base.contains(&index) {
            return change.base.start + come + 1 - gone;
        }
        gone += change.base.len();
        come += change.lines.len();
    }
    index + come + 1 - gone
}

/// Joins lines. One without an end that is not the last any more gets one: two lines never become one.
fn joined(lines: &[&str]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(line);
    }
    text
}

fn changes<'t>(base: &[&'t str], side: &[&'t str]) -> Vec<Change<'t>> {
    let ops = similar::capture_diff_slices(Algorithm::Myers, base, side);
    let mut found: Vec<Change<'t>> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let lines = side.get(op.new_range()).unwrap_or_default().to_vec();
        match found.last_mut() {
            Some(last) if last.base.end == op.old_range().start => {
                last.base.end = op.old_range().end;
                last.lines.extend(lines);
            }
            _ => found.push(Change { base: op.old_range(), lines }),
        }
    }
    found
}

struct Building<'t> {
    base: &'t [&'t str],
    text: Vec<&'t str>,
    /// The next line of the base, from 0.
    at: usize,
    /// Of each change that was taken: its base lines, and where its lines stand in the text.
    ends: Vec<(Range<usize>, Range<usize>)>,
}

impl<'t> Building<'t> {
    fn take(&mut self, change: &Change<'t>) {
        self.copy(change.base.start);
        let from = self.text.len();
        self.text.extend(&change.lines);
        self.ends.push((change.base.clone(), from..self.text.len()));
        self.at = self.at.max(change.base.end);
    }

    fn finish(&mut self) {
        self.copy(self.base.len());
    }

    fn copy(&mut self, upto: usize) {
        self.text.extend(self.base.get(self.at..upto).unwrap_or_default());
        self.at = self.at.max(upto);
    }

    /// Where a change that could not be made belongs: the lines of ours that it touches.
    fn place(&self, clash: &Change<'_>, mine: &[Change<'_>]) -> Range<usize> {
        let own = mine.iter().filter(|own| own.touches(clash)).map(|own| &own.base);
        let at = own.filter_map(|base| self.ends.iter().find(|(taken, _)| taken == base));
        let ranges: Vec<&Range<usize>> = at.map(|(_, lines)| lines).collect();
        let start = ranges.iter().map(|range| range.start).min().unwrap_or_default();
        let end = ranges.iter().map(|range| range.end).max().unwrap_or_default();
        start + 1..end + 1
    }
}

#[cfg(test)]
mod tests;
