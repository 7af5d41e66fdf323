//! Words and their quotes.

use std::rc::Rc;

use super::reader::{Read, Reader, ends_word};
use super::tree::{Piece, Word};

/// What is around the present place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// Nothing: all quotes work.
    Bare,
    /// Double quotes.
    Double,
    /// The text of a here-document: quotes are characters.
    Here,
}

impl Around {
    pub fn quoted(self) -> bool {
        self != Self::Bare
    }
}

impl Reader<'_> {
    /// Reads a word; none if none begins here.
    pub(super) fn word(&mut self) -> Read<Option<Word>> {
        let start = self.at;
        let mut pieces = Vec::new();
        while let Some(byte) = self.byte(0) {
            match byte {
                b'<' | b'>' if self.byte(1) == Some(b'(') => self.process(1, &mut pieces)?,
                b'(' if self.pattern_begins(start) => self.deeper(|reader| reader.pattern(&mut pieces))?,
                // A process substitution of zsh, which other shells refuse.
                b'(' if self.slice(start) == "=" => self.process(0, &mut pieces)?,
                byte if ends_word(byte) => break,
                _ => self.piece(Around::Bare, &mut pieces)?,
            }
        }
        if self.at == start {
            return Ok(None);
        }
        Ok(Some(Word { pieces, text: self.slice(start).to_owned() }))
    }

    fn pattern_begins(&self, start: usize) -> bool {
        self.slice(start).ends_with(['?', '*', '+', '@', '!'])
    }

    /// `@(a|b)`, of which the first character has been read.
    fn pattern(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        let mut inner = Vec::new();
        loop {
            match self.byte(0) {
                None | Some(b'\n') => return self.fault("a pattern is not closed"),
                Some(b')') => break,
                Some(b'(') => self.deeper(|reader| reader.pattern(&mut inner))?,
                Some(b'<' | b'>') if self.byte(1) == Some(b'(') => self.process(1, &mut inner)?,
                Some(byte) if ends_word(byte) => {
                    self.at += 1;
                    push(&mut inner, char::from(byte), false);
                }
                Some(_) => self.piece(Around::Bare, &mut inner)?,
            }
        }
        self.at += 1;
        pieces.push(Piece::Pattern(inner));
        Ok(())
    }

    /// `<(…)`: `sign` bytes, then the parenthesis.
    pub(super) fn process(&mut self, sign: usize, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += sign + 1;
        let list = self.nested_list()?;
        self.expect(")", "a process substitution is not closed")?;
        pieces.push(Piece::Process(Rc::new(list)));
        Ok(())
    }

    /// Reads one piece: a quotation, an expansion, or a run of characters.
    pub(super) fn piece(&mut self, around: Around, pieces: &mut Vec<Piece>) -> Read<()> {
        match self.byte(0) {
            Some(b'\\') => self.escape(around, pieces),
            Some(b'\'') if around == Around::Bare => self.single(pieces),
            Some(b'"') if around == Around::Bare => self.deeper(|reader| reader.double(pieces)),
            Some(b'$') => self.deeper(|reader| reader.dollar(around, pieces)),
            Some(b'`') => self.deeper(|reader| reader.backquotes(around, pieces)),
            _ => {
                let Some(c) = self.rest().chars().next() else { return Ok(()) };
                self.at += c.len_utf8();
                push(pieces, c, around.quoted());
                Ok(())
            }
        }
    }

    fn escape(&mut self, around: Around, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        let Some(c) = self.rest().chars().next() else { return self.fault("a backslash at the end") };
        let escapes = match around {
            Around::Bare => true,
            Around::Double => matches!(c, '$' | '`' | '"' | '\\' | '\n'),
            Around::Here => matches!(c, '$' | '`' | '\\' | '\n'),
        };
        if !escapes {
            push(pieces, '\\', true);
            return Ok(());
        }
        self.at += c.len_utf8();
        if c != '\n' {
            push(pieces, c, true);
        }
        Ok(())
    }

    fn single(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        let Some(length) = self.rest().find('\'') else { return self.fault("a single quote is not closed") };
        let start = self.at;
        self.at += length;
        pieces.push(Piece::Text { text: self.slice(start).to_owned(), quoted: true });
        self.at += 1;
        Ok(())
    }

    fn double(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        // Even an empty quotation makes a word.
        pieces.push(Piece::Text { text: String::new(), quoted: true });
        loop {
            match self.byte(0) {
                None => return self.fault("a double quote is not closed"),
                Some(b'"') => break,
                Some(_) => self.piece(Around::Double, pieces)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the expansions in the text of a here-document.
    pub(super) fn here_pieces(&mut self, text: &str) -> Read<Vec<Piece>> {
        let bodies = std::mem::take(&mut self.bodies);
        let mut inner = Reader::new(text, self.depth, bodies);
        let mut pieces = Vec::new();
        let read = inner.deeper(|inner| {
            while inner.byte(0).is_some() {
                inner.piece(Around::Here, &mut pieces)?;
            }
            Ok(())
        });
        self.take_over(inner);
        match read {
            Ok(()) => Ok(pieces),
            Err(fault) => self.fault(fault.why),
        }
    }

    /// `` `…` ``: backslashes in it are undone once before it is read.
    fn backquotes(&mut self, around: Around, pieces: &mut Vec<Piece>) -> Read<()> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else { return self.fault("a backquote is not closed") };
            self.at += c.len_utf8();
            match c {
                '`' => break,
                '\\' => match self.rest().chars().next() {
                    Some(next @ ('`' | '\\' | '$')) => {
                        self.at += 1;
                        text.push(next);
                    }
                    // Within double quotes shells differ on `\"`, and on a quote without a backslash.
                    Some('"') if around == Around::Double => return self.fault("a quote within backquotes"),
                    _ => text.push('\\'),
                },
                c => text.push(c),
            }
        }
        let bodies = std::mem::take(&mut self.bodies);
        let mut inner = Reader::new(&text, self.depth, bodies);
        let list = inner.nested_list();
        let whole = inner.at == text.len();
        self.take_over(inner);
        match list {
            Ok(list) if whole => {
                pieces.push(Piece::Command { list: Rc::new(list), quoted: around.quoted() });
                Ok(())
            }
            Ok(_) => self.fault("backquotes are not read to their end"),
            Err(fault) => self.fault(fault.why),
        }
    }
}

/// Adds a character, to the last piece where that is alike.
pub(super) fn push(pieces: &mut Vec<Piece>, c: char, is_quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, quoted }) if *quoted == is_quoted => text.push(c),
        _ => pieces.push(Piece::Text { text: c.to_string(), quoted: is_quoted }),
    }
}
