//! Where the replacements of one call belong in a text.
//!
//! Each `old` is located in the same original text, exactly or by a bounded ladder of looser rungs
//! ([`Rung`]); a looser match must be the only one. What can't be placed is rejected alone and the rest
//! stands, but an `old` that fits in very many places shows that its sender has lost the thread: then
//! nothing is changed.

mod carry;
mod fold;
mod ladder;
mod nearest;
mod placeholder;
mod reason;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use koda_protocol::{LineEnd, TextEdit, TextFormat};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::diff;
use ladder::Ladder;
pub use placeholder::placeholder;
pub use reason::Reason;

/// More places than this for one `old`, and the whole call is refused.
const MOST_PLACES: usize = 10;

/// Lines that one [`Applied`] lists at most.
const MOST_LINES: usize = 20;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// What stands there.
    pub old: String,
    /// What shall stand there.
    pub new: String,
    /// Whether every exact match is replaced; otherwise there must be only one.
    #[serde(default)]
    pub all: bool,
}

impl Replacement {
    /// Drops the `\r` of line ends where the file's format has them, so that none is written twice.
    #[must_use]
    pub fn for_format(mut self, format: &TextFormat) -> Self {
        if format.line_end == LineEnd::CrLf {
            self.old = self.old.replace("\r\n", "\n");
            self.new = self.new.replace("\r\n", "\n");
        }
        self
    }
}

/// How loosely an `old` was matched. Ordered from strict to loose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// As it was sent.
    Exact,
    /// Apart from `\r` at line ends; new lines get the ends that stand there.
    LineEnds,
    /// Apart from blanks at line ends.
    TrailingBlanks,
    /// After the line numbers of a listing were taken off.
    LineNumbers,
    /// Apart from an indentation that differs in the same way on each line; new lines are shifted likewise.
    Indentation,
    /// Apart from typographic quotes, dashes and spaces; those in unchanged parts stay.
    Typographic,
}

impl Rung {
    /// Returns the name as it is serialised.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineEnds => "line_ends",
            Self::TrailingBlanks => "trailing_blanks",
            Self::LineNumbers => "line_numbers",
            Self::Indentation => "indentation",
            Self::Typographic => "typographic",
        }
    }
}

/// A replacement that was placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Its position in the call, from 1.
    pub position: usize,
    /// How it was matched.
    pub rung: Rung,
    /// How many matches it replaces.
    pub count: usize,
    /// The first line of each, from 1, in the text as it is after the call; at most 20.
    pub lines: Vec<usize>,
}

/// A replacement that was not. Serialises to `position`, `code` and `reason`, the last for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its position in the call, from 1.
    pub position: usize,
    /// Why.
    pub reason: Reason,
}

impl Serialize for Rejected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Rejected", 3)?;
        fields.serialize_field("position", &self.position)?;
        fields.serialize_field("code", self.reason.code())?;
        fields.serialize_field("reason", &self.reason.to_string())?;
        fields.end()
    }
}

/// What a call does to a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The least changes, sorted and apart from each other.
    pub edits: Vec<TextEdit>,
    /// What they carry out, by position.
    pub applied: Vec<Applied>,
    /// What they don't, by position.
    pub rejected: Vec<Rejected>,
}

/// One place of a replacement: the bytes that go and the text that comes.
#[derive(Clone, Debug)]
struct Match<'r> {
    range: Range<usize>,
    new: Cow<'r, str>,
}

struct Placed<'r> {
    position: usize,
    rung: Rung,
    matches: Vec<Match<'r>>,
}

/// Plans `replacements` in `text`. Takes time about linear in the text, whatever it holds.
pub fn plan(text: &str, replacements: &[Replacement]) -> Plan {
    let ladder = Ladder::new(text);
    let mut placed = Vec::new();
    let mut rejected = Vec::new();
    for (index, replacement) in replacements.iter().enumerate() {
        let position = index + 1;
        match check(replacement).and_then(|()| ladder.locate(replacement)) {
            Ok((rung, matches)) => placed.push(Placed { position, rung, matches }),
            Err(reason) => rejected.push(Rejected { position, reason }),
        }
    }
    if let Some(by) = rejected.iter().find(|one| one.reason.spoils_the_call()).map(|one| one.position) {
        let spoiled = |one: Placed<'_>| Rejected { position: one.position, reason: Reason::Spoiled { by } };
        rejected.extend(placed.drain(..).map(spoiled));
    }
    let placed = without_overlaps(placed, &mut rejected);
    rejected.sort_by_key(|one| one.position);
    Plan { edits: edits(text, &placed), applied: applied(&ladder, &placed), rejected }
}

fn check(replacement: &Replacement) -> Result<(), Reason> {
    if replacement.old.is_empty() {
        return Err(Reason::EmptyOld);
    }
    if replacement.old == replacement.new {
        return Err(Reason::SameText);
    }
    match placeholder(&replacement.old, &replacement.new) {
        Some(line) => Err(Reason::Placeholder { line }),
        None => Ok(()),
    }
}

/// Keeps the earlier of two replacements, by position, that touch the same bytes.
fn without_overlaps<'r>(placed: Vec<Placed<'r>>, rejected: &mut Vec<Rejected>) -> Vec<Placed<'r>> {
    let mut taken: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut kept = Vec::with_capacity(placed.len());
    for one in placed {
        let clash = one.matches.iter().find_map(|found| {
            let (_, &(end, by)) = taken.range(..found.range.end).next_back()?;
            (end > found.range.start).then_some(by)
        });
        if let Some(with) = clash {
            rejected.push(Rejected { position: one.position, reason: Reason::Overlap { with } });
            continue;
        }
        taken.extend(one.matches.iter().map(|found| (found.range.start, (found.range.end, one.position))));
        kept.push(one);
    }
    kept
}

fn edits(text: &str, placed: &[Placed<'_>]) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    for found in placed.iter().flat_map(|one| &one.matches) {
        let was = text.get(found.range.clone()).unwrap_or_default();
        let at = found.range.start;
        edits.extend(
            diff::minimal(was, &found.new)
                .into_iter()
                .map(|edit| TextEdit { range: edit.range.start + at..edit.range.end + at, new: edit.new }),
        );
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// Tells where each replacement's text stands after all are done.
fn applied(ladder: &Ladder<'_>, placed: &[Placed<'_>]) -> Vec<Applied> {
    let mut result: Vec<Applied> = placed
        .iter()
        .map(|one| Applied {
            position: one.position,
            rung: one.rung,
            count: one.matches.len(),
            lines: Vec::new(),
        })
        .collect();
    let all = placed.iter().enumerate().flat_map(|(index, one)| one.matches.iter().map(move |m| (index, m)));
    let mut sorted: Vec<_> = all.collect();
    sorted.sort_by_key(|(_, found)| found.range.start);
    // Lines that the changes before this one have added and taken away.
    let (mut added, mut removed) = (0, 0);
    for (index, found) in sorted {
        let start = ladder.lines().number(found.range.start) + added - removed;
        if let Some(one) = result.get_mut(index)
            && one.lines.len() < MOST_LINES
        {
            one.lines.push(start);
        }
        added += newlines(&found.new);
        removed += newlines(ladder.text().get(found.range.clone()).unwrap_or_default());
    }
    result
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

#[cfg(test)]
mod tests;
