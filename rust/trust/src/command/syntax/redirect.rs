//! Redirections and the texts of here-documents.

use super::reader::{Pending, Read, Reader};
use super::tree::{Piece, Redirect, Sign, Word};

/// Longer signs first, so that none is taken for the beginning of another.
const SIGNS: &[(&str, Sign)] = &[
    ("&>>", Sign::Append),
    ("&>", Sign::Write),
    ("<<<", Sign::HereString),
    ("<<-", Sign::Here(0)),
    ("<<", Sign::Here(0)),
    ("<&", Sign::CopyInput),
    ("<>", Sign::ReadWrite),
    ("<", Sign::Read),
    (">>", Sign::Append),
    (">&", Sign::CopyOutput),
    (">|", Sign::Write),
    (">", Sign::Write),
];

impl Reader<'_> {
    /// Reads a redirection, with the descriptor before it; none if none is next.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let named = rest.starts_with('{').then(|| rest.find('}').map(|at| at + 1)).flatten();
        let named = named.filter(|end| {
            let name = rest.get(1..end - 1).unwrap_or_default();
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let before = named.unwrap_or(digits);
        let after = rest.get(before..).unwrap_or_default();
        let found = SIGNS.iter().find(|(sign, _)| after.starts_with(sign));
        let Some((text, sign)) = found.filter(|(sign, _)| before == 0 || !sign.starts_with('&')) else {
            return Ok(None);
        };
        // `<(` and `>(` are words, not redirections.
        if matches!(*text, "<" | ">") && after.as_bytes().get(1) == Some(&b'(') {
            return Ok(None);
        }
        self.at += before + text.len();
        self.blanks();
        let start = self.at;
        let Some(target) = self.word()? else { return self.fault("a redirection without a target") };
        if !matches!(sign, Sign::Here(_)) {
            return Ok(Some(Redirect { sign: *sign, target }));
        }
        let id = self.bodies.len();
        self.bodies.push(Word::default());
        let raw = self.slice(start).contains(['\'', '"', '\\']);
        let delimiter =
            delimiter(&target).map_or_else(|| self.fault("a here-document's end is not plain"), Ok)?;
        self.pending.push(Pending { id, delimiter, tabs: *text == "<<-", raw });
        Ok(Some(Redirect { sign: Sign::Here(id), target }))
    }

    /// Reads the text of a here-document, from the line that is next.
    pub(super) fn body(&mut self, pending: &Pending) -> Read<()> {
        let mut text = String::new();
        let mut joined = false;
        loop {
            let Some(line) = self.rest().split_inclusive('\n').next() else {
                return self.fault("a here-document is not ended");
            };
            self.at += line.len();
            let bare = line.strip_suffix('\n').unwrap_or(line);
            let bare = if pending.tabs && !joined { bare.trim_start_matches('\t') } else { bare };
            if !joined && bare == pending.delimiter {
                break;
            }
            text.push_str(bare);
            text.push('\n');
            // A continued line is no end, even if what follows looks like one.
            let backslashes = bare.bytes().rev().take_while(|byte| *byte == b'\\').count();
            joined = !pending.raw && backslashes % 2 == 1;
        }
        let pieces = if pending.raw {
            vec![Piece::Text { text: text.clone(), quoted: true }]
        } else {
            self.here_pieces(&text)?
        };
        if let Some(body) = self.bodies.get_mut(pending.id) {
            *body = Word { pieces, text };
        }
        Ok(())
    }
}

/// What ends a here-document: the word without quotes. Expansions in it are not done by any shell, but
/// which text they leave differs.
fn delimiter(word: &Word) -> Option<String> {
    let texts = word.pieces.iter().map(|piece| match piece {
        Piece::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
