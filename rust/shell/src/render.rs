//! Output as the screen would show it: carriage returns, erasures and cursor moves carried out, colours
//! and titles left out. Long lines stay whole, and of a flood the head and the tail are kept.

use std::collections::VecDeque;

use vte::{Params, Parser, Perform};

/// Lines that programs may still go back to and change.
const WINDOW: usize = 100;

/// Cells of a line; more are dropped, so that a flood without line ends stays bounded.
const MAX_LINE: usize = 1024 * 1024;

/// Bytes of finished lines kept from the beginning.
const HEAD: usize = 256 * 1024;

/// Bytes of finished lines kept from the end.
const TAIL: usize = 512 * 1024;

/// What of a text was told already.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Lines told whole.
    lines: u64,
    /// What was told of the line after them.
    begun: String,
}

/// Renders bytes as they come.
#[derive(Default)]
pub struct Renderer {
    parser: Parser,
    screen: Screen,
    bytes: u64,
}

impl Renderer {
    /// Takes in what a program printed.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.parser.advance(&mut self.screen, bytes);
    }

    /// Returns the bytes taken in so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the line that the cursor is in.
    pub fn last_line(&self) -> String {
        self.screen.window.get(self.screen.row).map(|line| line.iter().collect()).unwrap_or_default()
    }

    /// Returns what came since it was last told. A line that was told in part is told on, or anew if it changed.
    pub fn news(&self, told: &mut Told) -> String {
        let screen = &self.screen;
        let shown = screen.window.iter().map(|line| line.iter().collect::<String>());
        let shown: Vec<String> = shown.map(|line| line.trim_end_matches(' ').to_owned()).collect();
        let (last, whole) = shown.split_last().map_or(("", &[][..]), |(last, whole)| (last.as_str(), whole));
        let above = screen.head_lines + screen.dropped + screen.tail.len() as u64;
        let mut lines: Vec<&str> = Vec::new();
        let mut skip = told.lines;
        let mut note = None;
        lines.extend(screen.head.lines().skip(usize::try_from(skip).unwrap_or(usize::MAX)));
        skip = skip.saturating_sub(screen.head_lines);
        if skip < screen.dropped {
            note = Some(lines.len());
        }
        skip = skip.saturating_sub(screen.dropped);
        let from = usize::try_from(skip).unwrap_or(usize::MAX);
        lines.extend(screen.tail.iter().skip(from).map(|line| line.trim_end_matches('\n')));
        let from = usize::try_from(told.lines.saturating_sub(above)).unwrap_or(usize::MAX);
        lines.extend(whole.iter().skip(from).map(String::as_str));
        let mut text = String::new();
        for (at, line) in lines.iter().enumerate() {
            if note == Some(at) {
                text.push_str("[... lines dropped ...]\n");
            }
            let rest = if at == 0 { line.strip_prefix(told.begun.as_str()).unwrap_or(line) } else { line };
            text.push_str(rest);
            text.push('\n');
        }
        let rest = match lines.is_empty() {
            true => last.strip_prefix(told.begun.as_str()).unwrap_or(last),
            false => last,
        };
        text.push_str(rest);
        *told = Told { lines: above + whole.len() as u64, begun: last.to_owned() };
        text
    }

    /// Returns the text so far; a note stands where lines of a flood were dropped.
    pub fn text(&self) -> String {
        let screen = &self.screen;
        let mut text = screen.head.clone();
        if screen.dropped > 0 {
            text.push_str(&format!("[... {} lines dropped ...]\n", screen.dropped));
        }
        screen.tail.iter().for_each(|line| text.push_str(line));
        let last = screen.window.len().saturating_sub(1);
        for (row, line) in screen.window.iter().enumerate() {
            let shown: String = line.iter().collect();
            text.push_str(shown.trim_end_matches(' '));
            if row < last {
                text.push('\n');
            }
        }
        text
    }
}

struct Screen {
    head: String,
    head_lines: u64,
    tail: VecDeque<String>,
    tail_bytes: usize,
    dropped: u64,
    window: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            head: String::new(),
            head_lines: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            dropped: 0,
            window: vec![Vec::new()],
            row: 0,
            column: 0,
        }
    }
}

impl Screen {
    fn line(&mut self) -> &mut Vec<char> {
        while self.window.len() <= self.row {
            self.window.push(Vec::new());
        }
        // The row exists by the loop above.
        let row = self.row;
        &mut self.window[row]
    }

    fn down(&mut self) {
        self.row += 1;
        self.line();
        while self.window.len() > WINDOW {
            let line: String = self.window.remove(0).into_iter().collect();
            self.row = self.row.saturating_sub(1);
            self.finish(format!("{}\n", line.trim_end_matches(' ')));
        }
    }

    fn finish(&mut self, line: String) {
        if self.tail.is_empty() && self.head.len() + line.len() <= HEAD {
            self.head_lines += 1;
            return self.head.push_str(&line);
        }
        self.tail_bytes += line.len();
        self.tail.push_back(line);
        while self.tail_bytes > TAIL {
            let Some(oldest) = self.tail.pop_front() else { break };
            self.tail_bytes -= oldest.len();
            self.dropped += 1;
        }
    }

    fn erase_line(&mut self, mode: u16) {
        let column = self.column;
        let line = self.line();
        match mode {
            0 => line.truncate(column),
            1 => line.iter_mut().take(column + 1).for_each(|cell| *cell = ' '),
            _ => line.clear(),
        }
    }

    fn erase_screen(&mut self, mode: u16) {
        match mode {
            0 => {
                self.erase_line(0);
                self.window.truncate(self.row + 1);
            }
            1 => self.window.iter_mut().take(self.row).for_each(Vec::clear),
            _ => {
                self.window = vec![Vec::new()];
                (self.row, self.column) = (0, 0);
            }
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        let column = self.column;
        if column >= MAX_LINE {
            return;
        }
        let line = self.line();
        if line.len() <= column {
            line.resize(column + 1, ' ');
        }
        line[column] = c;
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.down();
                // A terminal's `\n` comes as `\r\n`; one alone keeps the column, as a screen does.
            }
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => self.column = (self.column / 8 + 1) * 8,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        if !intermediates.is_empty() {
            return;
        }
        let param = |at: usize| params.iter().nth(at).and_then(|p| p.first()).copied().unwrap_or(0);
        let count = usize::from(param(0).max(1));
        match action {
            'A' | 'F' => self.row = self.row.saturating_sub(count),
            'B' | 'E' => self.row = (self.row + count).min(self.window.len().saturating_sub(1)),
            'C' => self.column = (self.column + count).min(MAX_LINE),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = count - 1,
            'H' | 'f' => {
                self.row = (count - 1).min(WINDOW - 1);
                self.column = usize::from(param(1).max(1)) - 1;
                self.line();
            }
            'J' => self.erase_screen(param(0)),
            'K' => self.erase_line(param(0)),
            'P' => {
                let column = self.column;
                let line = self.line();
                let end = (column + count).min(line.len());
                line.drain(column.min(end)..end);
            }
            _ => {}
        }
        if matches!(action, 'E' | 'F') {
            self.column = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let mut renderer = Renderer::default();
        // Byte by byte: no sequence and no character may break.
        bytes.iter().for_each(|byte| renderer.feed(&[*byte]));
        renderer.text()
    }

    #[test]
    fn the_last_state_is_shown() {
        assert_eq!(shown(b"10%\r50%\r100%\r\n"), "100%\n");
        assert_eq!(shown(b"long line\r\x1b[Kx\r\n"), "x\n");
        assert_eq!(shown(b"a\r\nb\r\n\x1b[2Aone\r\ntwo\r\n"), "one\ntwo\n");
        assert_eq!(shown(b"abc\x08\x08X\r\n"), "aXc\n");
    }

    #[test]
    fn colours_and_titles_are_left_out() {
        assert_eq!(shown(b"\x1b[31mred\x1b[0m \x1b]0;title\x07plain\r\n"), "red plain\n");
        assert_eq!(shown("gr\u{fc}n \u{1F600}\u{FFFD}\r\n".as_bytes()), "gr\u{fc}n \u{1F600}\u{FFFD}\n");
    }

    #[test]
    fn news_are_told_once() {
        let (mut renderer, mut told) = (Renderer::default(), Told::default());
        let mut news = |bytes: &[u8]| {
            renderer.feed(bytes);
            renderer.news(&mut told)
        };
        assert_eq!(news(b"one\r\ntw"), "one\ntw");
        assert_eq!(news(b""), "");
        assert_eq!(news(b"o\r\nthree"), "o\nthree");
        assert_eq!(news(b"\r\x1b[Kfour\r\n"), "four\n");
        let many: String = (0..300).map(|n| format!("line {n}\r\n")).collect();
        assert!(news(many.as_bytes()).starts_with("line 0\nline 1\n"));
        assert_eq!(news(b"end\r\n"), "end\n");
        let flood: String = (0..200_000).map(|n| format!("flood {n}\r\n")).collect();
        let told_of_flood = news(flood.as_bytes());
        assert!(told_of_flood.starts_with("flood 0\n") && told_of_flood.ends_with("flood 199999\n"));
        assert!(told_of_flood.contains("\n[... lines dropped ...]\n"));
    }

    #[test]
    fn a_flood_keeps_its_head_and_tail() {
        let mut renderer = Renderer::default();
        for n in 0..1_000_000 {
            renderer.feed(format!("line {n}\r\n").as_bytes());
        }
        let text = renderer.text();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 999999\n"));
        assert!(text.contains("lines dropped") && text.len() < HEAD + TAIL + 64 * 1024);
    }
}
