//! A text with some differences taken out, and the way back to the original's bytes.

use std::ops::Range;

/// What is taken out. Line breaks never are, so both texts have the same lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// `\r` before a line break.
    LineEnds,
    /// Blanks (and `\r`) before a line break or the end.
    Trailing,
    /// Blanks at both ends of each line.
    Indentation,
    /// Blanks at line ends, and the difference between typographic and plain signs.
    Typographic,
}

/// At byte `folded`, the original is read up to `before` and goes on at `after`.
#[derive(Clone, Copy, Debug)]
struct Step {
    folded: usize,
    before: usize,
    after: usize,
}

/// A folded text.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) text: String,
    steps: Vec<Step>,
    /// Whether blanks were taken from an end without a line break.
    pub(super) trimmed_end: bool,
}

impl Folded {
    pub(super) fn new(original: &str, fold: Fold) -> Self {
        let mut folded =
            Self { text: String::with_capacity(original.len()), steps: Vec::new(), trimmed_end: false };
        let mut at = 0;
        for line in original.split_inclusive('\n') {
            folded.push(line, at, fold);
            at += line.len();
        }
        folded
    }

    fn push(&mut self, line: &str, at: usize, fold: Fold) {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let kept = match fold {
            Fold::LineEnds if end.is_empty() => body,
            Fold::LineEnds => body.strip_suffix('\r').unwrap_or(body),
            Fold::Trailing | Fold::Indentation | Fold::Typographic => body.trim_end_matches(is_blank),
        };
        let lead = match fold {
            Fold::Indentation => kept.len() - kept.trim_start_matches(is_blank).len(),
            Fold::LineEnds | Fold::Trailing | Fold::Typographic => 0,
        };
        self.step(at, at + lead);
        if fold == Fold::Typographic {
            self.push_plain(kept, at);
        } else {
            self.text.push_str(kept.get(lead..).unwrap_or_default());
        }
        self.step(at + kept.len(), at + body.len());
        self.trimmed_end = end.is_empty() && kept.len() < body.len();
        self.text.push_str(end);
    }

    fn push_plain(&mut self, body: &str, at: usize) {
        if body.is_ascii() {
            self.text.push_str(body);
            return;
        }
        for (offset, character) in body.char_indices() {
            let plain = plain(character);
            self.text.push(plain);
            if plain != character {
                let after = at + offset + character.len_utf8();
                self.steps.push(Step { folded: self.text.len(), before: after, after });
            }
        }
    }

    fn step(&mut self, before: usize, after: usize) {
        if before != after {
            self.steps.push(Step { folded: self.text.len(), before, after });
        }
    }

    /// Returns the original's bytes that became `range`, without what was taken out around them.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let next = self.steps.partition_point(|step| step.folded <= range.start);
        let start = self.after(next, range.start);
        let first = self.steps.partition_point(|step| step.folded < range.end);
        let end = match self.steps.get(first) {
            Some(step) if step.folded == range.end => step.before,
            _ => self.after(first, range.end),
        };
        start..end
    }

    /// The original's offset for `at`, by the step before index `next`.
    fn after(&self, next: usize, at: usize) -> usize {
        let step = next.checked_sub(1).and_then(|index| self.steps.get(index));
        step.map_or(at, |step| step.after + (at - step.folded))
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r')
}

/// The plain sign for a typographic one, character for character.
pub(super) fn plain(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{02BC}' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{00A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(original: &str, fold: Fold, needle: &str) -> Option<String> {
        let folded = Folded::new(original, fold);
        let at = folded.text.find(needle)?;
        original.get(folded.original(&(at..at + needle.len()))).map(str::to_owned)
    }

    #[test]
    fn finds_the_way_back() {
        assert_eq!(found("x\r\na\r\nb\r\n", Fold::LineEnds, "a\nb\n").as_deref(), Some("a\r\nb\r\n"));
        assert_eq!(found("a  \nb\t\nc", Fold::Trailing, "a\nb").as_deref(), Some("a  \nb"));
        assert_eq!(found("  a\n\tb  \n", Fold::Indentation, "a\nb\n").as_deref(), Some("a\n\tb  \n"));
        let typographic = "say \u{201c}it\u{2019}s\u{201d}  \nnow";
        assert_eq!(
            found(typographic, Fold::Typographic, "\"it's\"").as_deref(),
            Some("\u{201c}it\u{2019}s\u{201d}")
        );
        assert_eq!(found(typographic, Fold::Typographic, "s\"\nnow").as_deref(), Some("s\u{201d}  \nnow"));
    }

    #[test]
    fn tells_of_blanks_taken_from_the_end() {
        assert!(Folded::new("a\nb ", Fold::Trailing).trimmed_end);
        assert!(!Folded::new("a \nb\n", Fold::Trailing).trimmed_end);
    }
}
