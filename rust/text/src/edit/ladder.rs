//! The rungs by which one `old` is located.
//!
//! Every rung scans the text once, forward; a folded text is built at most once for all replacements
//! of a call. A rung's match must be the only one, and the first rung that finds something decides.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Range;

use memchr::memmem;

use super::carry::{Fit, Shift, carry};
use super::fold::{Fold, Folded};
use super::{MOST_PLACES, Match, Reason, Replacement, Rung, nearest};
use crate::lines::Lines;

/// Places that are looked at for a common shift of indentation, before the search gives up.
const MOST_SHIFT_CANDIDATES: usize = 1_000;

/// Bytes of text that the search for nearest lines may read in one call.
const NEAREST_BUDGET: usize = 16 * 1024 * 1024;

/// Bytes by which a loose match may be longer than twice what was sent.
const MOST_SURPLUS: usize = 200;

/// A `new` shorter than this, in bytes, is no sign that an edit was already made.
const LEAST_TELLING: usize = 8;

/// The places that one rung found, or none; an error where it found too many.
type Found<'r> = Result<Option<Vec<Match<'r>>>, Reason>;

/// A text with what the rungs need of it, built when first asked for.
pub(super) struct Ladder<'t> {
    text: &'t str,
    lines: OnceCell<Lines<'t>>,
    folds: [OnceCell<Folded>; 4],
    nearest_budget: Cell<usize>,
}

impl<'t> Ladder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            lines: OnceCell::new(),
            folds: Default::default(),
            nearest_budget: Cell::new(NEAREST_BUDGET),
        }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn lines(&self) -> &Lines<'t> {
        self.lines.get_or_init(|| Lines::new(self.text))
    }

    fn folded(&self, fold: Fold) -> &Folded {
        let [ends, trailing, indentation, typographic] = &self.folds;
        let cell = match fold {
            Fold::LineEnds => ends,
            Fold::Trailing => trailing,
            Fold::Indentation => indentation,
            Fold::Typographic => typographic,
        };
        cell.get_or_init(|| Folded::new(self.text, fold))
    }

    /// Finds the place of `replacement`, or every place if it asks for all.
    pub(super) fn locate<'r>(&self, replacement: &'r Replacement) -> Result<(Rung, Vec<Match<'r>>), Reason> {
        if let Some(found) = self.exact(replacement)? {
            return Ok((Rung::Exact, found));
        }
        let (old, new) = (replacement.old.as_str(), replacement.new.as_str());
        let mut tried = vec![Rung::Exact];
        // Blanks alone are everywhere, once blanks are left aside.
        if !old.trim().is_empty() {
            if let Some(found) = self.loosely(old, new)? {
                return Ok(found);
            }
            tried.extend([Rung::LineEnds, Rung::TrailingBlanks, Rung::Indentation, Rung::Typographic]);
        }
        let bare_new = without_numbers(old).and_then(|_| without_numbers(new));
        match self.already(new).or_else(|| self.already(bare_new.as_deref()?)) {
            Some(line) => Err(Reason::AlreadyApplied { line }),
            None => Err(self.not_found(replacement, tried)),
        }
    }

    fn loosely(&self, old: &str, new: &str) -> Result<Option<(Rung, Vec<Match<'static>>)>, Reason> {
        if let Some(found) = self.line_ends_or_blanks(old, new)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.without_numbers(old, new)? {
            return Ok(Some((Rung::LineNumbers, found)));
        }
        if let Some(found) = self.indentation(old, new)? {
            return Ok(Some((Rung::Indentation, found)));
        }
        let found = self.folded_match(Rung::Typographic, Fold::Typographic, &Fit::Signs, old, new)?;
        Ok(found.map(|found| (Rung::Typographic, found)))
    }

    fn exact<'r>(&self, replacement: &'r Replacement) -> Found<'r> {
        let (old, new) = (replacement.old.as_str(), replacement.new.as_str());
        if replacement.all {
            let starts = memmem::find_iter(self.text.as_bytes(), old);
            let found: Vec<_> =
                starts.map(|at| Match { range: at..at + old.len(), new: Cow::Borrowed(new) }).collect();
            return Ok((!found.is_empty()).then_some(found));
        }
        let starts = places(self.text, old, MOST_PLACES + 1);
        let [start] = starts.as_slice() else {
            return if starts.is_empty() { Ok(None) } else { Err(self.ambiguous(Rung::Exact, &starts)) };
        };
        if let Some(line) = self.already_around(*start, old, new) {
            return Err(Reason::AlreadyApplied { line });
        }
        Ok(Some(vec![Match { range: *start..*start + old.len(), new: Cow::Borrowed(new) }]))
    }

    fn line_ends_or_blanks(
        &self,
        old: &str,
        new: &str,
    ) -> Result<Option<(Rung, Vec<Match<'static>>)>, Reason> {
        for (rung, fold) in [(Rung::LineEnds, Fold::LineEnds), (Rung::TrailingBlanks, Fold::Trailing)] {
            if let Some(found) = self.folded_match(rung, fold, &Fit::Verbatim, old, new)? {
                return Ok(Some((rung, found)));
            }
        }
        Ok(None)
    }

    /// Matches `old` in a folded text.
    fn folded_match(&self, rung: Rung, fold: Fold, fit: &Fit, old: &str, new: &str) -> Found<'static> {
        let (hay, needle) = (self.folded(fold), Folded::new(old, fold));
        let ends_line = |at: &usize| {
            let next = hay.text.as_bytes().get(at + needle.text.len());
            !needle.trimmed_end || matches!(next, None | Some(b'\n'))
        };
        let mut starts = places(&hay.text, &needle.text, MOST_PLACES + 1);
        starts.retain(ends_line);
        let ranges: Vec<_> = starts.iter().map(|at| hay.original(&(*at..at + needle.text.len()))).collect();
        match ranges.as_slice() {
            [] => Ok(None),
            [range] => self.fitted(range.clone(), old, new, fit),
            many => Err(self.ambiguous(rung, &many.iter().map(|range| range.start).collect::<Vec<_>>())),
        }
    }

    /// Matches after taking off the line numbers that a listing puts before each line.
    fn without_numbers(&self, old: &str, new: &str) -> Found<'static> {
        let Some(bare_old) = without_numbers(old) else { return Ok(None) };
        let bare_new = without_numbers(new).unwrap_or_else(|| new.to_owned());
        let starts = places(self.text, &bare_old, MOST_PLACES + 1);
        match starts.as_slice() {
            [] => Ok(self.line_ends_or_blanks(&bare_old, &bare_new)?.map(|(_, found)| found)),
            [start] => {
                let range = *start..*start + bare_old.len();
                Ok(Some(vec![Match { range, new: Cow::Owned(bare_new) }]))
            }
            many => Err(self.ambiguous(Rung::LineNumbers, many)),
        }
    }

    /// Matches whole lines whose indentation differs by one and the same shift.
    fn indentation(&self, old: &str, new: &str) -> Found<'static> {
        let (hay, needle) = (self.folded(Fold::Indentation), Folded::new(old, Fold::Indentation));
        let starts = places(&hay.text, &needle.text, MOST_SHIFT_CANDIDATES + 1);
        if starts.len() > MOST_SHIFT_CANDIDATES {
            return Ok(None);
        }
        let border = |at: usize| hay.text.as_bytes().get(at).is_none_or(|byte| *byte == b'\n');
        let mut found = Vec::new();
        for start in starts {
            let end = start + needle.text.len();
            let whole =
                start.checked_sub(1).is_none_or(border) && (needle.text.ends_with('\n') || border(end));
            let range = hay.original(&(start..end));
            let line = self.lines().range(self.lines().number(range.start)).start;
            let was = self.text.get(line..range.end).unwrap_or_default();
            if whole && let Some(shift) = Shift::between(old, was) {
                found.push((line..range.end, shift));
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(range, shift)] => self.fitted(range.clone(), old, new, &Fit::Shifted(shift.clone())),
            many => {
                let starts: Vec<_> = many.iter().map(|(range, _)| range.start).collect();
                Err(self.ambiguous(Rung::Indentation, &starts))
            }
        }
    }

    /// Builds the one loose match; none where it spans much more than was sent, or can't be fitted in.
    fn fitted(&self, range: Range<usize>, old: &str, new: &str, fit: &Fit) -> Found<'static> {
        let was = self.text.get(range.clone()).unwrap_or_default();
        if was.len() > 2 * old.len() + MOST_SURPLUS {
            return Ok(None);
        }
        let number = self.lines().number(range.start);
        let line = self.text.get(self.lines().range(number)).unwrap_or_default();
        let line_end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let Some(new) = carry(was, old, new, fit, line_end) else { return Ok(None) };
        if new == was {
            return Ok(None);
        }
        if let Some(line) = self.already_around(range.start, was, &new) {
            return Err(Reason::AlreadyApplied { line });
        }
        Ok(Some(vec![Match { range, new: Cow::Owned(new) }]))
    }

    fn ambiguous(&self, rung: Rung, starts: &[usize]) -> Reason {
        let lines = starts.iter().take(MOST_PLACES).map(|&at| self.lines().number(at)).collect();
        Reason::Ambiguous { rung, count: starts.len(), lines }
    }

    /// The line of `new` where it is long enough to tell and stands in one place.
    fn already(&self, new: &str) -> Option<usize> {
        if new.trim().len() < LEAST_TELLING {
            return None;
        }
        match places(self.text, new, 2).as_slice() {
            [only] => Some(self.lines().number(*only)),
            _ => None,
        }
    }

    /// The line of the match, where the text around it is what `new` would make of it.
    fn already_around(&self, start: usize, old: &str, new: &str) -> Option<usize> {
        let stands = |within: usize| {
            let from = start.checked_sub(within)?;
            self.text.get(from..)?.starts_with(new).then(|| self.lines().number(from))
        };
        new.match_indices(old).find_map(|(within, _)| stands(within))
    }

    fn not_found(&self, replacement: &Replacement, tried: Vec<Rung>) -> Reason {
        let budget = self.nearest_budget.get();
        let affordable = self.text.len() <= budget;
        self.nearest_budget.set(budget.saturating_sub(self.text.len()));
        let new_at = (!replacement.new.trim().is_empty())
            .then(|| memmem::find(self.text.as_bytes(), replacement.new.as_bytes()))
            .flatten();
        Reason::NotFound {
            tried,
            new_at: new_at.map(|at| self.lines().number(at)),
            nearest: if affordable { nearest::show(self.lines(), &replacement.old) } else { None },
        }
    }
}

/// Offsets of `needle`, overlapping ones too, at most `most`.
fn places(hay: &str, needle: &str, most: usize) -> Vec<usize> {
    let finder = memmem::Finder::new(needle);
    let step = needle.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(rest) = hay.as_bytes().get(from..)
        && let Some(at) = finder.find(rest)
    {
        found.push(from + at);
        from += at + step;
    }
    found
}

/// Takes a number and its separator off each line; none where a line lacks it or the numbers don't count on.
fn without_numbers(text: &str) -> Option<String> {
    let mut bare = String::with_capacity(text.len());
    let mut last: Option<u64> = None;
    for line in text.split_inclusive('\n') {
        let digits_on = line.trim_start_matches(' ');
        let rest = digits_on.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: u64 = digits_on.get(..digits_on.len() - rest.len())?.parse().ok()?;
        if last.is_some_and(|last| last.checked_add(1) != Some(number)) {
            return None;
        }
        last = Some(number);
        let separators = ["\t", ": ", ":", "| ", "|", "\u{2192}", "\u{2502} ", "\u{2502}"];
        let body = separators.iter().find_map(|separator| rest.strip_prefix(separator));
        let empty = rest.trim().is_empty().then_some(rest);
        bare.push_str(body.or(empty)?);
    }
    last.map(|_| bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_line_numbers_off_only_where_they_count_on() {
        assert_eq!(without_numbers("9\t\ta\n10\tb\n").as_deref(), Some("\ta\nb\n"));
        assert_eq!(without_numbers("   1: a\n   2:\n").as_deref(), Some("a\n\n"));
        assert_eq!(without_numbers("1\ta\n3\tb\n"), None);
        assert_eq!(without_numbers("1\ta\nb\n"), None);
        assert_eq!(without_numbers("x = 1"), None);
    }

    #[test]
    fn counts_overlapping_places() {
        assert_eq!(places("aaa", "aa", 5), [0, 1]);
        assert_eq!(places("\u{e9}\u{e9}\u{e9}", "\u{e9}", 2), [0, 2]);
    }
}
