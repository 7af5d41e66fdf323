//! What a dollar sign begins.

use std::rc::Rc;

use super::reader::{Read, Reader};
use super::tree::{Piece, Word};
use super::word::{Around, push};

impl Reader<'_> {
    /// Reads an expansion, or the dollar sign as a character.
    pub(super) fn dollar(&mut self, around: Around, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        match self.byte(0) {
            Some(b'(') if self.byte(1) == Some(b'(') => {
                self.at += 2;
                self.number(b"))", pieces)
            }
            Some(b'(') => {
                self.at += 1;
                let list = self.nested_list()?;
                self.expect(")", "a command substitution is not closed")?;
                pieces.push(Piece::Command { list: Rc::new(list), quoted: around.quoted() });
                Ok(())
            }
            Some(b'[') => {
                self.at += 1;
                self.number(b"]", pieces)
            }
            Some(b'{') => {
                self.at += 1;
                self.parameter(around, pieces)
            }
            Some(b'\'') if around == Around::Bare => self.ansi_c(pieces),
            // A translated string; the quotation itself is read next.
            Some(b'"') if around == Around::Bare => Ok(()),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.name();
                self.variable(name, around, pieces)
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.at += 1;
                if byte == b'$' && self.byte(0) == Some(b'\'') {
                    return self.fault("`$$'`, which shells read in different ways");
                }
                self.variable(char::from(byte).to_string(), around, pieces)
            }
            _ => {
                push(pieces, '$', true);
                Ok(())
            }
        }
    }

    fn variable(&self, name: String, around: Around, pieces: &mut Vec<Piece>) -> Read<()> {
        pieces.push(Piece::Variable { name, rest: None, indirect: false, quoted: around.quoted() });
        Ok(())
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while self.byte(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        self.slice(start).to_owned()
    }

    fn number(&mut self, end: &'static [u8], pieces: &mut Vec<Piece>) -> Read<()> {
        let mut inner = Vec::new();
        self.arithmetic(end, &mut inner)?;
        pieces.push(Piece::Arithmetic(inner));
        Ok(())
    }

    /// Reads an expression and its `end`. What is no arithmetic is a fault: it might be two subshells.
    pub(super) fn arithmetic(&mut self, end: &'static [u8], pieces: &mut Vec<Piece>) -> Read<()> {
        let (mut round, mut square) = (0_usize, 0_usize);
        loop {
            let Some(byte) = self.byte(0) else { return self.fault("an arithmetic is not closed") };
            if round == 0 && square == 0 && self.rest().as_bytes().starts_with(end) {
                self.at += end.len();
                return Ok(());
            }
            match byte {
                b'(' => round += 1,
                b'[' => square += 1,
                b')' if round > 0 => round -= 1,
                b']' if square > 0 => square -= 1,
                b'$' | b'`' => {
                    self.piece(Around::Double, pieces)?;
                    continue;
                }
                b' ' | b'\t' | b'\n' | b';' => {}
                byte if byte.is_ascii_alphanumeric() || b"_+-*/%<>=!&|^~?:,.#@{}".contains(&byte) => {}
                _ => return self.fault("something that is no arithmetic"),
            }
            self.at += 1;
            push(pieces, char::from(byte), true);
        }
    }

    /// `${…}`, of which the opening has been read.
    fn parameter(&mut self, around: Around, pieces: &mut Vec<Piece>) -> Read<()> {
        let indirect = self.byte(0) == Some(b'!') && self.byte(1) != Some(b'}');
        let length = self.byte(0) == Some(b'#') && self.byte(1) != Some(b'}');
        self.at += usize::from(indirect || length);
        let mut name = self.name();
        if name.is_empty() {
            let special = self.byte(0).filter(|byte| b"@*#?-$!".contains(byte));
            name = special.map(|byte| char::from(byte).to_string()).unwrap_or_default();
            self.at += name.len();
        }
        if name.is_empty() {
            return self.fault("`${` without a name");
        }
        let start = self.at;
        let mut inner = Vec::new();
        while self.byte(0) != Some(b'}') {
            self.parameter_piece(around, &mut inner)?;
        }
        let text = self.slice(start).to_owned();
        self.at += 1;
        let rest = (!text.is_empty()).then(|| Box::new(Word { pieces: inner, text }));
        pieces.push(Piece::Variable { name, rest, indirect, quoted: around.quoted() });
        Ok(())
    }

    fn parameter_piece(&mut self, around: Around, inner: &mut Vec<Piece>) -> Read<()> {
        match self.byte(0) {
            None => self.fault("`${` is not closed"),
            Some(b'\'' | b'"') if around.quoted() => {
                self.fault("a quote within `${` and double quotes, which shells read in different ways")
            }
            Some(b'<' | b'>') if around == Around::Bare && self.byte(1) == Some(b'(') => {
                self.process(1, inner)
            }
            Some(b'\\') if around.quoted() && matches!(self.byte(1), Some(b'}')) => {
                self.at += 2;
                push(inner, '}', true);
                Ok(())
            }
            Some(_) => self.piece(around, inner),
        }
    }

    /// `$'…'`, with its escapes undone.
    fn ansi_c(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else { return self.fault("`$'` is not closed") };
            self.at += c.len_utf8();
            match c {
                '\'' => break,
                '\\' => match self.ansi_c_escape()? {
                    '\0' => return self.fault("a NUL character"),
                    c => text.push(c),
                },
                c => text.push(c),
            }
        }
        pieces.push(Piece::Text { text, quoted: true });
        Ok(())
    }

    fn ansi_c_escape(&mut self) -> Read<char> {
        let Some(c) = self.rest().chars().next() else { return self.fault("`$'` is not closed") };
        if matches!(c, '0'..='7') {
            return self.code(8, 3);
        }
        self.at += c.len_utf8();
        Ok(match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '"' | '?' => c,
            'x' => return self.code(16, 2),
            'u' => return self.code(16, 4),
            'U' => return self.code(16, 8),
            _ => return self.fault("an escape that shells read in different ways"),
        })
    }

    fn code(&mut self, radix: u32, most: usize) -> Read<char> {
        let digits = self.rest().chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let start = self.at;
        self.at += digits;
        match u32::from_str_radix(self.slice(start), radix).ok().and_then(char::from_u32) {
            Some(c) => Ok(c),
            None => self.fault("an escape of no character"),
        }
    }
}
