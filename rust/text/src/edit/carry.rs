//! The new text for a loose match: what the sender left as it was stays as the file has it, and what
//! changed is fitted in.

use similar::{Algorithm, DiffOp};

use super::fold::plain;

/// A change of indentation that holds for each line of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// Put this before each line.
    Add(String),
    /// Take this from each line.
    Remove(String),
    /// A tab for each so many spaces.
    ToTabs(usize),
    /// So many spaces for each tab.
    ToSpaces(usize),
}

impl Shift {
    /// Finds the one shift that turns each line of `old` into its line of `was`. Blank lines don't count.
    pub(super) fn between(old: &str, was: &str) -> Option<Self> {
        let pairs: Vec<_> = old
            .lines()
            .zip(was.lines())
            .filter(|(line, _)| !line.trim().is_empty())
            .map(|(a, b)| (indent(a), indent(b)))
            .collect();
        let (first_old, first_was) = *pairs.iter().find(|(a, b)| a != b)?;
        let candidates = [
            first_was.strip_suffix(first_old).map(|more| Self::Add(more.to_owned())),
            first_old.strip_prefix(first_was).map(|less| Self::Remove(less.to_owned())),
            first_old.strip_suffix(first_was).map(|less| Self::Remove(less.to_owned())),
            ratio(first_old, first_was).map(Self::ToTabs),
            ratio(first_was, first_old).map(Self::ToSpaces),
        ];
        let holds = |shift: &Self| pairs.iter().all(|(a, b)| shift.apply(a).as_deref() == Some(*b));
        candidates.into_iter().flatten().find(holds)
    }

    /// Shifts one line; none where the shift does not fit its indentation.
    pub(super) fn apply(&self, line: &str) -> Option<String> {
        let blanks = indent(line);
        let rest = line.strip_prefix(blanks)?;
        match self {
            Self::Add(more) => Some(format!("{more}{line}")),
            Self::Remove(less) => line.strip_prefix(less.as_str()).map(str::to_owned),
            Self::ToTabs(width) => {
                let even = blanks.bytes().all(|byte| byte == b' ') && blanks.len().is_multiple_of(*width);
                even.then(|| format!("{}{rest}", "\t".repeat(blanks.len() / width)))
            }
            Self::ToSpaces(width) => {
                let tabs = blanks.bytes().all(|byte| byte == b'\t');
                tabs.then(|| format!("{}{rest}", " ".repeat(blanks.len() * width)))
            }
        }
    }
}

fn indent(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.strip_suffix(rest).unwrap_or_default()
}

/// Spaces in `spaces` for each tab in `tabs`, where both hold nothing else.
fn ratio(spaces: &str, tabs: &str) -> Option<usize> {
    let pure = !tabs.is_empty() && spaces.bytes().all(|b| b == b' ') && tabs.bytes().all(|b| b == b'\t');
    let width = spaces.len().checked_div(tabs.len())?;
    (pure && matches!(width, 2..=8) && width * tabs.len() == spaces.len()).then_some(width)
}

/// How the changed lines of a replacement are fitted in.
#[derive(Clone, Debug)]
pub(super) enum Fit {
    /// As they were sent.
    Verbatim,
    /// Shifted.
    Shifted(Shift),
    /// With the signs that the file has where the sender changed none.
    Signs,
}

/// Builds the text for a match of `old` on `was`, which have the same lines but for what was folded.
///
/// Changed lines end with `line_end`. None where a line can't be fitted in.
pub(super) fn carry(was: &str, old: &str, new: &str, fit: &Fit, line_end: &str) -> Option<String> {
    let there: Vec<_> = was.split_inclusive('\n').collect();
    let (before, after): (Vec<_>, Vec<_>) = (split(old), split(new));
    let mut result = String::with_capacity(was.len().max(new.len()));
    for op in similar::capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (lines, successors) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            for (stays, sent) in there.get(lines)?.iter().zip(after.get(successors)?) {
                result.push_str(stays.trim_end_matches('\n'));
                result.push_str(if sent.ends_with('\n') { "\n" } else { "" });
            }
            continue;
        }
        let paired = lines.len() == successors.len();
        for (index, line) in after.get(successors)?.iter().enumerate() {
            let at = lines.start + index;
            let pair = paired.then(|| Some((*before.get(at)?, *there.get(at)?))).flatten();
            push_fitted(&mut result, line, pair, fit, line_end)?;
        }
    }
    Some(result)
}

/// Lines with a plain `\n`, so that a change of line ends alone is no change.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push_fitted(
    result: &mut String,
    line: &str,
    pair: Option<(&str, &str)>,
    fit: &Fit,
    line_end: &str,
) -> Option<()> {
    let ended = line.strip_suffix('\n');
    let body = ended.map_or(line, |body| body.strip_suffix('\r').unwrap_or(body));
    match (fit, pair) {
        (Fit::Shifted(_), _) if body.trim().is_empty() => result.push_str(body),
        (Fit::Shifted(shift), _) => result.push_str(&shift.apply(body)?),
        (Fit::Signs, Some((old, was))) => push_signs(result, old, was, body),
        (Fit::Signs, None) | (Fit::Verbatim, _) => result.push_str(body),
    }
    if ended.is_some() {
        result.push_str(line_end);
    }
    Some(())
}

/// Writes `new`, taking the characters of `was` where `new` keeps those of `old`.
fn push_signs(result: &mut String, old: &str, was: &str, new: &str) {
    let (old, was): (Vec<_>, Vec<_>) = (old.chars().collect(), was.chars().collect());
    let new: Vec<_> = new.chars().collect();
    for op in similar::capture_diff_slices(Algorithm::Myers, &old, &new) {
        let kept = matches!(op, DiffOp::Equal { .. });
        for (index, sent) in op.new_range().zip(new.get(op.new_range()).into_iter().flatten()) {
            let at = op.old_range().start + (index - op.new_range().start);
            let there = was.get(at).filter(|there| kept && plain(**there) == plain(*sent));
            result.push(*there.unwrap_or(sent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_shift_only_where_it_holds_for_each_line() {
        assert_eq!(Shift::between("a\n  b", "    a\n      b"), Some(Shift::Add("    ".into())));
        assert_eq!(Shift::between("\ta\n\t\tb", "a\n\tb"), Some(Shift::Remove("\t".into())));
        assert_eq!(Shift::between("    a\n        b", "\ta\n\t\tb"), Some(Shift::ToTabs(4)));
        assert_eq!(Shift::between("\ta", "  a"), Some(Shift::ToSpaces(2)));
        assert_eq!(Shift::between("a\n  b", "  a\n  b"), None);
    }

    #[test]
    fn a_shift_that_does_not_fit_is_refused() {
        assert_eq!(Shift::Remove("    ".into()).apply("  x"), None);
        assert_eq!(Shift::ToTabs(4).apply("   x"), None);
    }

    #[test]
    fn unchanged_lines_stay_as_the_file_has_them() {
        let text = carry("a  \nb\n", "a\nb\n", "a\nc\n", &Fit::Verbatim, "\n");
        assert_eq!(text.as_deref(), Some("a  \nc\n"));
    }

    #[test]
    fn unchanged_signs_stay_as_the_file_has_them() {
        let (was, old) = ("it\u{2019}s \u{2013} old", "it's - old");
        let text = carry(was, old, "it's - new", &Fit::Signs, "\n");
        assert_eq!(text.as_deref(), Some("it\u{2019}s \u{2013} new"));
    }
}
