//! Finding what a model wants replaced, and the least edits that do it.
//!
//! Each edit of a call is found in the same original text, on its own: what can't be applied is
//! rejected by its position, the rest goes. The text that is put in is the model's, byte for byte.

mod nearest;

use std::ops::Range;

use koda_protocol::TextEdit;
use serde::{Deserialize, Serialize};

use crate::{Lines, diff};

/// Line numbers that an ambiguity lists at most.
const LISTED: usize = 10;

/// One wish of a model: put `new` where `old` stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    /// The text as it stands.
    pub old: String,
    /// The text to stand there instead; empty deletes.
    pub new: String,
    /// Replace every occurrence; otherwise there must be exactly one.
    #[serde(default)]
    pub all: bool,
}

/// How an edit's old text was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Byte for byte.
    Exact,
    /// With `\r\n` in it where the file's text has `\n`.
    LineEnds,
}

/// An edit that is in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Which of the call's edits, from 1.
    pub position: usize,
    /// How its old text was found.
    pub rung: Rung,
    /// How often it was replaced.
    pub count: usize,
    /// The first line of each replacement in the text as it was, from 1.
    pub lines: Vec<usize>,
}

/// An edit that is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejected {
    /// Which of the call's edits, from 1.
    pub position: usize,
    /// Why, and what to do, for the model.
    pub reason: String,
}

/// What a call's edits come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The least edits, sorted, apart from each other.
    pub edits: Vec<TextEdit>,
    /// What they do.
    pub applied: Vec<Applied>,
    /// What is left out.
    pub rejected: Vec<Rejected>,
}

/// Plans a call's edits to a text.
pub fn plan(text: &str, wishes: &[Replacement]) -> Plan {
    let lines = Lines::new(text);
    let mut plan = Plan::default();
    let mut taken: Vec<(Range<usize>, usize)> = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        let position = index + 1;
        let found = locate(text, &lines, wish).and_then(|found| apart(&taken, found, &lines));
        match found {
            Ok((rung, places, new)) => {
                let numbers = places.iter().map(|place| lines.number(place.start)).collect();
                plan.applied.push(Applied { position, rung, count: places.len(), lines: numbers });
                for place in places {
                    plan.edits.extend(trimmed(text, &place, &new));
                    taken.push((place, position));
                }
            }
            Err(reason) => plan.rejected.push(Rejected { position, reason }),
        }
    }
    plan.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    plan
}

type Found = (Rung, Vec<Range<usize>>, String);

fn locate(text: &str, lines: &Lines<'_>, wish: &Replacement) -> Result<Found, String> {
    if wish.old.is_empty() {
        return Err("`old` is empty: give the text to be replaced, or use Write for a new file".to_owned());
    }
    if wish.old == wish.new {
        return Err("`old` and `new` are the same: nothing would change".to_owned());
    }
    let exact = occurrences(text, &wish.old);
    if !exact.is_empty() {
        return chosen(lines, wish, Rung::Exact, exact, wish.new.clone());
    }
    if wish.old.contains("\r\n") {
        let unix = |text: &str| text.replace("\r\n", "\n");
        let found = occurrences(text, &unix(&wish.old));
        if !found.is_empty() {
            return chosen(lines, wish, Rung::LineEnds, found, unix(&wish.new));
        }
    }
    Err(missing(text, lines, wish))
}

fn chosen(
    lines: &Lines<'_>,
    wish: &Replacement,
    rung: Rung,
    places: Vec<Range<usize>>,
    new: String,
) -> Result<Found, String> {
    if places.len() == 1 || wish.all {
        return Ok((rung, places, new));
    }
    let mut numbers: Vec<String> =
        places.iter().take(LISTED).map(|place| lines.number(place.start).to_string()).collect();
    if places.len() > LISTED {
        numbers.push("…".to_owned());
    }
    Err(format!(
        "`old` stands {} times (lines {}): add lines around it until it is unique, or set `all`",
        places.len(),
        numbers.join(", ")
    ))
}

fn missing(text: &str, lines: &Lines<'_>, wish: &Replacement) -> String {
    if !wish.new.is_empty() && text.contains(&wish.new) {
        let at = text.find(&wish.new).map_or(1, |at| lines.number(at));
        return format!("`old` is not there, but `new` is already (line {at}): nothing to do?");
    }
    let near = nearest::lines(lines, &wish.old);
    if near.is_empty() {
        return "`old` is not in the file: read it again and copy the text as it stands".to_owned();
    }
    format!("`old` is not in the file as given. The nearest lines are:\n{near}Copy the text as it stands")
}

/// Where `needle` stands, overlaps left out.
fn occurrences(text: &str, needle: &str) -> Vec<Range<usize>> {
    let finder = memchr::memmem::Finder::new(needle);
    finder.find_iter(text.as_bytes()).map(|at| at..at + needle.len()).collect()
}

/// Refuses what overlaps an edit before it.
fn apart(taken: &[(Range<usize>, usize)], found: Found, lines: &Lines<'_>) -> Result<Found, String> {
    for place in &found.1 {
        let clash = taken.iter().find(|(other, _)| place.start < other.end && other.start < place.end);
        if let Some((other, position)) = clash {
            let line = lines.number(other.start);
            return Err(format!("it overlaps edit {position} (line {line}): make one edit of both"));
        }
    }
    Ok(found)
}

/// The least edits within one replaced place.
fn trimmed(text: &str, place: &Range<usize>, new: &str) -> Vec<TextEdit> {
    let old = text.get(place.clone()).unwrap_or_default();
    let mut edits = diff::minimal(old, new);
    for edit in &mut edits {
        edit.range = edit.range.start + place.start..edit.range.end + place.start;
    }
    edits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wish(old: &str, new: &str) -> Replacement {
        Replacement { old: old.to_owned(), new: new.to_owned(), all: false }
    }

    fn apply(text: &str, wishes: &[Replacement]) -> (String, Plan) {
        let plan = plan(text, wishes);
        let mut result = text.to_owned();
        for edit in plan.edits.iter().rev() {
            result.replace_range(edit.range.clone(), &edit.new);
        }
        (result, plan)
    }

    #[test]
    fn edits_are_found_in_the_same_text() {
        let (text, plan) = apply("a = 1\nb = 2\n", &[wish("a = 1", "a = 1\nx = 0"), wish("b = 2", "b = 3")]);
        assert_eq!(text, "a = 1\nx = 0\nb = 3\n");
        assert_eq!(
            plan.applied.iter().map(|edit| edit.lines.clone()).collect::<Vec<_>>(),
            [vec![1], vec![2]]
        );
    }

    #[test]
    fn what_can_not_be_applied_is_rejected_alone() {
        let wishes = [wish("one", "ONE"), wish("nothing like it", "x"), wish("", "x"), wish("two", "two")];
        let (text, plan) = apply("one\ntwo\n", &wishes);
        assert_eq!(text, "ONE\ntwo\n");
        assert_eq!(plan.rejected.iter().map(|edit| edit.position).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn an_ambiguity_names_the_lines() {
        let plan = plan("x\ny\nx\n", &[wish("x", "z")]);
        assert!(plan.rejected[0].reason.contains("2 times (lines 1, 3)"), "{}", plan.rejected[0].reason);
        let all = Replacement { all: true, ..wish("x", "z") };
        assert_eq!(apply("x\ny\nx\n", &[all]).0, "z\ny\nz\n");
    }

    #[test]
    fn overlaps_are_rejected() {
        let (text, plan) = apply("abcdef\n", &[wish("abcd", "ABCD"), wish("cdef", "x")]);
        assert_eq!(text, "ABCDef\n");
        assert!(plan.rejected[0].reason.contains("overlaps edit 1"));
    }

    #[test]
    fn dos_line_ends_in_the_wish_are_understood() {
        let (text, plan) = apply("a\nb\n", &[wish("a\r\nb\r\n", "a\r\nc\r\n")]);
        assert_eq!((text.as_str(), plan.applied[0].rung), ("a\nc\n", Rung::LineEnds));
    }

    #[test]
    fn a_miss_shows_what_is_near_or_done() {
        let near = plan("fn main() {\n    let total = 1;\n}\n", &[wish("    let totl = 1;", "x")]);
        assert!(near.rejected[0].reason.contains("2: "), "{}", near.rejected[0].reason);
        let done = plan("new\n", &[wish("old", "new")]);
        assert!(done.rejected[0].reason.contains("already (line 1)"));
    }

    proptest! {
        #[test]
        fn an_exact_edit_equals_a_plain_replacement(
            before in "[ab\u{e9}\n]{0,20}", after in "[ab\u{e9}\n]{0,20}", new in "[ab\u{e9}\n]{0,8}",
        ) {
            let text = format!("{before}XY{after}");
            let right = format!("{before}{new}{after}");
            prop_assert_eq!(apply(&text, &[wish("XY", &new)]).0, right);
        }
    }
}
