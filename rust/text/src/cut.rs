//! Cutting long texts to what a model is given, with a visible note of what was left out.

use std::fmt::Write as _;

/// How much of a text is kept. The note about the rest comes on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lines.
    pub lines: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Limits {
    /// What one result may bring: enough for a long file, little against a model's context.
    pub const RESULT: Self = Self { lines: 2_000, bytes: 50 * 1024 };

    fn half(self) -> Self {
        Self { lines: (self.lines / 2).max(1), bytes: (self.bytes / 2).max(1) }
    }
}

/// A text within limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The text, with a note where something was left out.
    pub text: String,
    /// Whether something was left out.
    pub cut: bool,
    /// Lines of the whole text.
    pub lines: usize,
    /// Bytes of the whole text.
    pub bytes: usize,
}

/// Keeps the beginning of a text.
pub fn head(text: &str, limits: Limits) -> Cut {
    let end = head_end(text, limits);
    let (kept, rest) = text.split_at(end);
    if rest.is_empty() {
        return whole(text);
    }
    let mut kept = kept.to_owned();
    note(&mut kept, rest);
    Cut { text: kept, cut: true, lines: count(text), bytes: text.len() }
}

/// Keeps the beginning and the end of a text, half of the limits each.
pub fn head_tail(text: &str, limits: Limits) -> Cut {
    if text.len() <= limits.bytes && count(text) <= limits.lines {
        return whole(text);
    }
    let end = head_end(text, limits.half());
    let (kept, rest) = text.split_at(end);
    let start = tail_start(rest, limits.half());
    let (left_out, tail) = rest.split_at(start);
    if left_out.is_empty() {
        return whole(text);
    }
    let mut kept = kept.to_owned();
    note(&mut kept, left_out);
    kept.push_str(tail);
    Cut { text: kept, cut: true, lines: count(text), bytes: text.len() }
}

fn whole(text: &str) -> Cut {
    Cut { text: text.to_owned(), cut: false, lines: count(text), bytes: text.len() }
}

fn count(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
        + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

fn note(kept: &mut String, left_out: &str) {
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    let (lines, bytes) = (count(left_out), left_out.len());
    let s = if lines == 1 { "" } else { "s" };
    let _ = writeln!(kept, "[... {lines} line{s}, {bytes} bytes left out ...]");
}

/// Where the head ends: after a whole line where one fits, else within the first, at a character border.
/// Returns about `chars` characters of a text around the first of some words that is found, whatever its case; from
/// the beginning if none is. What is left out is marked by `…`.
pub fn around(text: &str, words: &[String], chars: usize) -> String {
    let found = words.iter().filter_map(|word| find_fold(text, word)).min().unwrap_or(0);
    let before = text.get(..found).unwrap_or_default();
    let start = before.char_indices().rev().take(chars / 3).last().map_or(0, |(at, _)| at.min(found));
    let start = if found == 0 { 0 } else { start };
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.char_indices().nth(chars).map_or(rest.len(), |(at, _)| at);
    let kept = rest.get(..end).unwrap_or_default();
    let mark = |cut: bool| if cut { "…" } else { "" };
    format!("{}{}{}", mark(start > 0), kept.trim(), mark(end < rest.len()))
}

/// Finds a word whatever its case; the offset is in bytes of the text as it is.
fn find_fold(text: &str, word: &str) -> Option<usize> {
    let wanted: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    let begins = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        let mut chars = rest.chars().flat_map(char::to_lowercase);
        wanted.iter().all(|char| chars.next() == Some(*char))
    };
    text.char_indices().map(|(at, _)| at).find(|at| begins(*at))
}

fn head_end(text: &str, limits: Limits) -> usize {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).nth(limits.lines.saturating_sub(1));
    let end = lines.map_or(text.len(), |at| at + 1);
    if end <= limits.bytes {
        return end;
    }
    let border = text.floor_char_boundary(limits.bytes);
    let line = text.get(..border).and_then(|kept| kept.rfind('\n')).map(|at| at + 1);
    line.unwrap_or(border)
}

/// Where the tail starts: at a line where a whole one fits, else within the last, at a character border.
fn tail_start(text: &str, limits: Limits) -> usize {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines = memchr::memrchr_iter(b'\n', body.as_bytes()).nth(limits.lines.saturating_sub(1));
    let start = lines.map_or(0, |at| at + 1);
    if text.len() - start <= limits.bytes {
        return start;
    }
    let border = text.ceil_char_boundary(text.len() - limits.bytes.min(text.len()));
    let line = body.get(border..).and_then(|kept| kept.find('\n')).map(|at| border + at + 1);
    line.unwrap_or(border)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALL: Limits = Limits { lines: 4, bytes: 20 };

    #[test]
    fn a_short_text_stays() {
        let cut = head("a\nb\n", SMALL);
        assert_eq!(cut, Cut { text: "a\nb\n".into(), cut: false, lines: 2, bytes: 4 });
        assert!(!head_tail("a\nb\nc\nd", SMALL).cut);
    }

    #[test]
    fn a_head_ends_with_a_line() {
        assert_eq!(head("1\n2\n3\n4\n5\n6", SMALL).text, "1\n2\n3\n4\n[... 2 lines, 3 bytes left out ...]\n");
        assert_eq!(
            head("0123456789\n0123456789\n", SMALL).text,
            "0123456789\n[... 1 line, 11 bytes left out ...]\n"
        );
    }

    #[test]
    fn a_line_over_the_limit_is_cut_within() {
        let text = "\u{e9}".repeat(30);
        assert_eq!(
            head(&text, SMALL).text,
            format!("{}\n[... 1 line, 40 bytes left out ...]\n", "\u{e9}".repeat(10))
        );
        let both = head_tail(&text, SMALL).text;
        assert!(both.starts_with("\u{e9}") && both.ends_with("\u{e9}"), "{both}");
    }

    #[test]
    fn a_tail_is_kept_too() {
        let text = "1\n2\n3\n4\n5\n6\n7\n";
        assert_eq!(head_tail(text, SMALL).text, "1\n2\n[... 3 lines, 6 bytes left out ...]\n6\n7\n");
    }

    proptest! {
        #[test]
        fn keeps_to_its_limits(text in "[a\u{e9}\u{1F600}\n]{0,80}") {
            for cut in [head(&text, SMALL), head_tail(&text, SMALL)] {
                let kept = cut.text.lines().filter(|line| !line.starts_with("[...")).collect::<Vec<_>>();
                prop_assert!(kept.len() <= SMALL.lines + 1);
                prop_assert!(kept.iter().map(|line| line.len()).sum::<usize>() <= SMALL.bytes);
                prop_assert!(cut.cut || cut.text == text);
            }
        }
    }

    #[test]
    fn what_is_around_a_word_is_cut_at_characters() {
        let text = format!("{}Größe{}", "ä".repeat(100), "ö".repeat(100));
        let found = around(&text, &["gröSSe".to_owned(), "GRÖ".to_owned()], 30);
        assert_eq!(found, format!("…{}Größe{}…", "ä".repeat(10), "ö".repeat(15)));
        assert_eq!(around("short", &["none".to_owned()], 30), "short");
        assert_eq!(around("Ärger hier", &["ärger".to_owned()], 5), "Ärger…");
    }
}
