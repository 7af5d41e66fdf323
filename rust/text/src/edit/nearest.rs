//! The lines of a text that are most like a text that is not in it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::lines::Lines;

/// Lines shown at most.
const MOST_LINES: usize = 12;

/// Bytes shown of one line at most.
const MOST_BYTES: usize = 160;

/// Lines of `old` that are looked for at most.
const MOST_OLD_LINES: usize = 200;

/// The least share of a line's pairs of bytes that a similar line must have.
const LEAST_LIKENESS: f64 = 0.5;

/// Shows the nearest lines with their numbers; none where nothing is alike. Reads the text once or twice.
pub(super) fn show(lines: &Lines<'_>, old: &str) -> Option<String> {
    let wanted: Vec<&str> = old.lines().map(str::trim).take(MOST_OLD_LINES).collect();
    let start = by_equal_lines(lines, &wanted).or_else(|| by_likeness(lines, &wanted))?;
    let last = (start + wanted.len().min(MOST_LINES) - 1).min(lines.count());
    let mut shown = String::new();
    for number in start..=last {
        let line = lines.get(number);
        let kept = line.get(..line.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
        let more = if kept.len() < line.len() { "..." } else { "" };
        let _ = writeln!(shown, "{number}\t{kept}{more}");
    }
    Some(shown.trim_end_matches('\n').to_owned())
}

/// The start that most lines equal to one of `wanted` vote for, long lines more than short ones.
fn by_equal_lines(lines: &Lines<'_>, wanted: &[&str]) -> Option<usize> {
    let mut at: HashMap<&str, usize> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        if line.len() > 2 {
            at.entry(line).or_insert(index);
        }
    }
    if at.is_empty() {
        return None;
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for number in 1..=lines.count() {
        let line = lines.get(number).trim();
        if let Some(index) = at.get(line) {
            *votes.entry(number.saturating_sub(*index).max(1)).or_default() += line.len();
        }
    }
    let best = votes.into_iter().max_by_key(|&(start, votes)| (votes, std::cmp::Reverse(start)))?;
    Some(best.0)
}

/// The start at which the longest wanted line stands beside the line that shares most with it.
fn by_likeness(lines: &Lines<'_>, wanted: &[&str]) -> Option<usize> {
    let (index, line) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let pairs: HashSet<[u8; 2]> = pairs(line).collect();
    let likeness = |number: usize| {
        let other: HashSet<[u8; 2]> = self::pairs(lines.get(number).trim()).take(2 * MOST_BYTES).collect();
        let shared = other.intersection(&pairs).count();
        2.0 * shared as f64 / (other.len() + pairs.len()).max(1) as f64
    };
    let mut best = (0.0, 0);
    for number in 1..=lines.count() {
        // A line of another length class can't be alike: cheap to see, and most lines are.
        let length = lines.get(number).trim().len();
        if length * 3 < line.len() || length > line.len() * 3 + 8 {
            continue;
        }
        let score = likeness(number);
        if score > best.0 {
            best = (score, number);
        }
    }
    (best.0 >= LEAST_LIKENESS).then(|| best.1.saturating_sub(index).max(1))
}

fn pairs(line: &str) -> impl Iterator<Item = [u8; 2]> {
    line.as_bytes().array_windows::<2>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(text: &str, old: &str) -> Option<String> {
        show(&Lines::new(text), old)
    }

    #[test]
    fn shows_the_lines_around_equal_ones() {
        let text = "a\nfn one() {\n    body(1);\n}\n";
        assert_eq!(
            near(text, "fn one() {\n    body(2);\n}"),
            Some("2\tfn one() {\n3\t    body(1);\n4\t}".into())
        );
    }

    #[test]
    fn shows_a_line_with_one_wrong_word() {
        let text = "x\nlet total = items.count();\ny\n";
        assert_eq!(near(text, "let total = item.len();"), Some("2\tlet total = items.count();".into()));
        assert_eq!(near(text, "something quite different"), None);
    }

    #[test]
    fn keeps_to_its_size() {
        let text = format!("{}\n", "long ".repeat(1_000)).repeat(50);
        let shown = near(&text, &text.replacen("long", "short", 1)).unwrap();
        assert!(shown.lines().count() <= MOST_LINES && shown.len() < 2_200, "{}", shown.len());
    }
}
