//! What is kept of a file's matches while it is searched.

use std::fmt::Write as _;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::Show;

/// Bytes of a line that are shown.
const MAX_LINE: usize = 400;

/// Collects matches up to a limit.
pub struct Collect {
    show: Show,
    left: usize,
    most_bytes: usize,
    /// Lines so far.
    pub text: String,
    /// Matching lines so far.
    pub matches: usize,
    /// Whether the limit stopped it.
    pub stopped: bool,
    /// Whether the file turned out to be binary.
    pub binary: bool,
}

impl Collect {
    /// Builds a collector of `left` matches at most, shown in `most_bytes` at most.
    pub fn new(show: Show, left: usize, most_bytes: usize) -> Self {
        Self { show, left, most_bytes, text: String::new(), matches: 0, stopped: false, binary: false }
    }

    fn line(&mut self, number: Option<u64>, sign: char, bytes: &[u8]) {
        // What is no UTF-8 is shown with marks: this is a view, nothing is written back.
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let kept = line.get(..line.floor_char_boundary(MAX_LINE)).unwrap_or_default();
        let more = if kept.len() < line.len() { " […]" } else { "" };
        let _ = writeln!(self.text, "{}{sign}{kept}{more}", number.unwrap_or(0));
    }
}

impl Sink for Collect {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.matches >= self.left || self.text.len() >= self.most_bytes {
            self.stopped = true;
            return Ok(false);
        }
        self.matches += 1;
        match self.show {
            Show::Files => return Ok(false),
            Show::Count => {}
            Show::Lines => self.line(found.line_number(), ':', found.bytes()),
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.show == Show::Lines {
            self.line(context.line_number(), '-', context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.show == Show::Lines {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> Result<(), io::Error> {
        Ok(())
    }
}
