//! The lines of a text that are nearest to what was looked for, to show a model where it went wrong.

use std::fmt::Write as _;

use crate::Lines;

/// Candidates shown.
const SHOWN: usize = 3;

/// Bytes of a line shown; and longer lines are not compared.
const LINE_BYTES: usize = 200;

/// Lines compared at most: the cost stays bounded in large files.
const COMPARED: usize = 20_000;

/// How alike a line must be to be shown, from 0 to 1.
const ALIKE: f32 = 0.6;

/// Returns the lines most like the first telling line of `old`, each with its number, best first.
pub fn lines(lines: &Lines<'_>, old: &str) -> String {
    let Some(wanted) = old.lines().map(str::trim).find(|line| line.len() > 2) else { return String::new() };
    if wanted.len() > LINE_BYTES {
        return String::new();
    }
    let mut found: Vec<(f32, usize)> = (1..=lines.count().min(COMPARED))
        .filter_map(|number| Some((alike(lines.get(number).trim(), wanted)?, number)))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut shown = String::new();
    for (_, number) in found.into_iter().take(SHOWN) {
        let _ = writeln!(shown, "{number}: {}", lines.get(number));
    }
    shown
}

/// How alike two lines are, if enough: cheap bounds first, then a comparison of characters.
fn alike(line: &str, wanted: &str) -> Option<f32> {
    if line.is_empty()
        || line.len() > LINE_BYTES
        || line.len() > wanted.len() * 2
        || wanted.len() > line.len() * 2
    {
        return None;
    }
    if line == wanted {
        return Some(1.0);
    }
    let ratio = similar::TextDiff::from_chars(line, wanted).ratio();
    (ratio >= ALIKE).then_some(ratio)
}
