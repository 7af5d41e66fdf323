//! The screen as Neovim draws it for a UI: text, and the names of the highlight groups of each cell.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use rmpv::Value;

/// Groups that a snapshot leaves out: what every unremarkable cell has.
const PLAIN: [&str; 5] = ["Normal", "NormalFloat", "NonText", "EndOfBuffer", "MsgArea"];

#[derive(Clone, Default, PartialEq, Eq)]
struct Cell {
    text: String,
    highlight: u64,
}

/// A screen of cells. Rows and columns count from 0.
#[derive(Clone, Default)]
pub struct Grid {
    rows: Vec<Vec<Cell>>,
    names: HashMap<u64, String>,
    cursor: (usize, usize),
}

impl Grid {
    /// Returns a row's text, without the blanks at its end.
    pub fn row(&self, row: usize) -> String {
        let cells = self.rows.get(row).map(Vec::as_slice).unwrap_or_default();
        let text: String = cells.iter().map(|cell| cell.text.as_str()).collect();
        text.trim_end().to_owned()
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        (0..self.rows.len()).map(|row| self.row(row)).collect::<Vec<_>>().join("\n")
    }

    /// Whether the text stands somewhere on the screen, within one row.
    pub fn has(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Returns the row and column (in cells) where the text begins.
    pub fn find(&self, text: &str) -> Option<(usize, usize)> {
        (0..self.rows.len()).find_map(|row| {
            let line = self.row(row);
            let before = line.split_once(text)?.0;
            // Each cell holds one character with its marks, or nothing behind a wide one.
            let mut left = before.len();
            let cells = self.rows.get(row)?;
            let column = cells.iter().position(|cell| {
                let here = left == 0 && !cell.text.is_empty();
                left = left.saturating_sub(cell.text.len());
                here
            })?;
            Some((row, column))
        })
    }

    /// Returns the highlight groups of a cell, the strongest last, joined with `+`; empty for plain text.
    pub fn highlight(&self, row: usize, column: usize) -> &str {
        let cell = self.rows.get(row).and_then(|cells| cells.get(column));
        cell.and_then(|cell| self.names.get(&cell.highlight)).map_or("", String::as_str)
    }

    /// Returns the cursor's row and column.
    pub fn cursor(&self) -> (usize, usize) {
        self.cursor
    }

    /// Returns the text behind bars and, below, the runs of named highlights (`rows: from-to name, ...`).
    ///
    /// `redact` may change a row's text, cell for cell: its result must be as wide as what it got.
    pub fn snapshot(&self, redact: impl Fn(&str) -> String) -> String {
        let mut shown = String::new();
        for row in 0..self.rows.len() {
            let _ = writeln!(shown, "|{}", redact(&self.row(row)).trim_end());
        }
        let _ = writeln!(shown, "cursor {}:{}", self.cursor.0, self.cursor.1);
        let runs: Vec<String> = (0..self.rows.len()).map(|row| self.runs(row).join(", ")).collect();
        let mut first = 0;
        for same in runs.chunk_by(|above, below| above == below) {
            let last = first + same.len() - 1;
            match same.first() {
                Some(runs) if runs.is_empty() => {}
                Some(runs) if first == last => writeln!(shown, "{first}: {runs}").unwrap_or_default(),
                Some(runs) => writeln!(shown, "{first}-{last}: {runs}").unwrap_or_default(),
                None => {}
            }
            first = last + 1;
        }
        shown
    }

    fn runs(&self, row: usize) -> Vec<String> {
        let columns = self.rows.get(row).map_or(0, Vec::len);
        let mut runs = Vec::new();
        let mut start = 0;
        for column in 1..=columns {
            let name = self.highlight(row, start);
            if column < columns && self.highlight(row, column) == name {
                continue;
            }
            if !name.is_empty() {
                runs.push(format!("{start}-{} {name}", column - 1));
            }
            start = column;
        }
        runs
    }

    /// Applies a `redraw` notification. Returns whether it ended with a flush, so that the grid may be shown.
    pub(crate) fn apply(&mut self, batch: &[Value]) -> bool {
        let mut flushed = false;
        for update in batch {
            let Some((name, calls)) = update.as_array().and_then(|parts| parts.split_first()) else {
                continue;
            };
            for arguments in calls.iter().filter_map(Value::as_array) {
                match name.as_str().unwrap_or_default() {
                    "grid_resize" => self.resize(arguments),
                    "grid_line" => self.line(arguments),
                    "grid_clear" => self.clear(),
                    "grid_scroll" => self.scroll(arguments),
                    "grid_cursor_goto" => self.cursor = (number(arguments, 1), number(arguments, 2)),
                    "hl_attr_define" => self.define(arguments),
                    "flush" => flushed = true,
                    _ => {}
                }
            }
        }
        flushed
    }

    fn resize(&mut self, arguments: &[Value]) {
        let (columns, rows) = (number(arguments, 1), number(arguments, 2));
        self.rows.resize_with(rows, Vec::new);
        for cells in &mut self.rows {
            cells.resize_with(columns, blank);
        }
    }

    fn clear(&mut self) {
        for cell in self.rows.iter_mut().flatten() {
            *cell = blank();
        }
    }

    /// `[grid, row, column, [[text, highlight?, repeat?]...]]`: a missing highlight is the last one's.
    fn line(&mut self, arguments: &[Value]) {
        let mut column = number(arguments, 2);
        let Some(row) = self.rows.get_mut(number(arguments, 1)) else { return };
        let mut highlight = 0;
        for cell in arguments.get(3).and_then(Value::as_array).into_iter().flatten() {
            let Some(parts) = cell.as_array() else { continue };
            let text = parts.first().and_then(Value::as_str).unwrap_or_default();
            highlight = parts.get(1).and_then(Value::as_u64).unwrap_or(highlight);
            for _ in 0..parts.get(2).and_then(Value::as_u64).unwrap_or(1) {
                if let Some(target) = row.get_mut(column) {
                    *target = Cell { text: text.to_owned(), highlight };
                }
                column += 1;
            }
        }
    }

    /// `[grid, top, bottom, left, right, rows, columns]`: moves a region up (rows > 0) or down.
    fn scroll(&mut self, arguments: &[Value]) {
        let [top, bottom, left, right] = [1, 2, 3, 4].map(|index| number(arguments, index));
        let by = arguments.get(5).and_then(Value::as_i64).unwrap_or_default();
        let targets: Vec<usize> =
            if by > 0 { (top..bottom).collect() } else { (top..bottom).rev().collect() };
        for target in targets {
            let source = target as i64 + by;
            if source < top as i64 || source >= bottom as i64 {
                continue;
            }
            let moved =
                self.rows.get(source as usize).and_then(|cells| cells.get(left..right)).map(<[_]>::to_vec);
            if let (Some(moved), Some(cells)) =
                (moved, self.rows.get_mut(target).and_then(|c| c.get_mut(left..right)))
            {
                cells.clone_from_slice(&moved);
            }
        }
    }

    /// `[id, rgb, cterm, info]`, where `info` names the groups that the attributes are made of.
    fn define(&mut self, arguments: &[Value]) {
        let info = arguments.get(3).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        for entry in info.iter().map(fields) {
            let name = entry.get("hi_name").or_else(|| entry.get("ui_name"));
            let name = name.and_then(|name| name.as_str()).unwrap_or("terminal").to_owned();
            if !PLAIN.contains(&name.as_str()) && names.last() != Some(&name) {
                names.push(name);
            }
        }
        self.names.insert(number(arguments, 0) as u64, names.join("+"));
    }
}

fn fields(map: &Value) -> BTreeMap<&str, &Value> {
    let pairs = map.as_map().into_iter().flatten();
    pairs.filter_map(|(key, value)| Some((key.as_str()?, value))).collect()
}

fn blank() -> Cell {
    Cell { text: " ".to_owned(), highlight: 0 }
}

fn number(arguments: &[Value], index: usize) -> usize {
    arguments.get(index).and_then(Value::as_u64).unwrap_or_default() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(name: &str, arguments: Vec<Value>) -> Value {
        Value::Array(vec![name.into(), Value::Array(arguments)])
    }

    fn cells(texts: &[(&str, u64)]) -> Value {
        let cell = |(text, highlight): &(&str, u64)| Value::Array(vec![(*text).into(), (*highlight).into()]);
        Value::Array(texts.iter().map(cell).collect())
    }

    fn drawn() -> Grid {
        let mut grid = Grid::default();
        let info = Value::Map(vec![("hi_name".into(), "KodaTool".into()), ("kind".into(), "syntax".into())]);
        let map = || Value::Map(Vec::new());
        let shown = grid.apply(&[
            update("grid_resize", [1, 6, 2].map(Value::from).to_vec()),
            update("hl_attr_define", vec![7.into(), map(), map(), Value::Array(vec![info])]),
            update(
                "grid_line",
                vec![1.into(), 0.into(), 0.into(), cells(&[("é", 0), ("世", 7), ("", 7), ("x", 0)])],
            ),
            update("flush", Vec::new()),
        ]);
        assert!(shown);
        grid
    }

    #[test]
    fn counts_columns_in_cells() {
        assert_eq!(drawn().find("x"), Some((0, 3)));
    }

    #[test]
    fn names_highlights() {
        assert!(drawn().snapshot(str::to_owned).ends_with("\n0: 1-2 KodaTool\n"));
    }

    #[test]
    fn scrolls_a_region() {
        let mut grid = drawn();
        let down = [1, 0, 2, 0, 6].map(Value::from).into_iter().chain([Value::from(-1), Value::from(0)]);
        grid.apply(&[update("grid_scroll", down.collect())]);
        assert_eq!(grid.row(1), "é世x");
    }
}
