//! Where the lines of a text are.

use std::ops::Range;

/// An index of a text's lines, numbered from 1. A `\n` at the very end opens no further line.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds the lines of `text`. An empty text has none.
    pub fn new(text: &'t str) -> Self {
        let mut starts = Vec::new();
        if !text.is_empty() {
            starts.push(0);
            starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        }
        if starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Self { text, starts }
    }

    /// Returns how many lines there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns the number of the line that holds the byte at `offset`, at least 1.
    pub fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset).max(1)
    }

    /// Returns the bytes of line `number`, its `\n` included; an empty range at the end past the last.
    pub fn range(&self, number: usize) -> Range<usize> {
        let index = number.saturating_sub(1);
        let end = self.text.len();
        let start = self.starts.get(index).copied().unwrap_or(end);
        start..self.starts.get(index + 1).copied().unwrap_or(end)
    }

    /// Returns line `number` without its `\n`; empty past the last.
    pub fn get(&self, number: usize) -> &'t str {
        let line = self.text.get(self.range(number)).unwrap_or_default();
        line.strip_suffix('\n').unwrap_or(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_as_an_editor_does() {
        for (text, count) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\n", 2)] {
            assert_eq!(Lines::new(text).count(), count, "{text:?}");
        }
    }

    #[test]
    fn finds_the_line_of_an_offset() {
        let lines = Lines::new("ab\ncd\n");
        assert_eq!([0, 2, 3, 5, 6].map(|at| lines.number(at)), [1, 1, 2, 2, 2]);
        assert_eq!((lines.get(1), lines.get(2), lines.get(3)), ("ab", "cd", ""));
        assert_eq!(Lines::new("").number(0), 1);
    }
}
