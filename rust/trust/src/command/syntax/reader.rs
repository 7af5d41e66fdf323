//! The place in the text, and lists of commands.

use super::tree::{Command, Fault, List, Pipeline, Script, Word};

/// Deeper nesting is a fault. People stay under ten; each level costs the stack a few kilobytes.
const MAX_DEPTH: usize = 40;

/// Words that mean something where a command may begin.
const RESERVED: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "select", "then", "time", "until", "while", "{", "}",
];

/// The reserved words that end a list.
const CLOSING: &[&str] = &["do", "done", "elif", "else", "esac", "fi", "then", "}"];

pub(super) type Read<T> = Result<T, Fault>;

/// A here-document whose body begins after the next line break.
pub(super) struct Pending {
    pub id: usize,
    pub delimiter: String,
    /// `<<-`: tabs at the beginning of lines don't count.
    pub tabs: bool,
    /// The delimiter was quoted: nothing in the body is expanded.
    pub raw: bool,
}

/// Reads a text from its beginning to its end.
pub(super) struct Reader<'a> {
    pub source: &'a str,
    /// In bytes, always at a character's border.
    pub at: usize,
    pub depth: usize,
    pub pending: Vec<Pending>,
    /// Here-documents before this one belong to a command around the present substitution.
    pub floor: usize,
    pub bodies: Vec<Word>,
    /// What was understood of lists and pipelines in which a fault was met.
    broken: List,
}

/// Reads a shell text. What was understood before a fault is kept: shells may run it.
pub fn parse(source: &str) -> Script {
    let mut reader = Reader::new(source, 0, Vec::new());
    let mut list = List::new();
    let fault = reader.list_into(&mut list).and_then(|()| reader.finished()).err();
    list.append(&mut reader.broken);
    Script { list, bodies: reader.bodies, fault }
}

impl<'a> Reader<'a> {
    pub fn new(source: &'a str, depth: usize, bodies: Vec<Word>) -> Self {
        Self { source, at: 0, depth, pending: Vec::new(), floor: 0, bodies, broken: List::new() }
    }

    /// Takes over what a reader of a part has gathered besides its result.
    pub fn take_over(&mut self, inner: Reader<'_>) {
        self.bodies = inner.bodies;
        self.broken.extend(inner.broken);
    }

    pub fn fault<T>(&self, why: &'static str) -> Read<T> {
        let line = self.slice(0).matches('\n').count() + 1;
        Err(Fault { line, why })
    }

    /// Runs `inner` one level deeper.
    pub fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return self.fault("nested too deep");
        }
        self.depth += 1;
        let read = inner(self);
        self.depth -= 1;
        read
    }

    /// Returns the byte `ahead` of the present one. Bytes of longer characters are no ASCII.
    pub fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    pub fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Returns the text from `start` to the present place.
    pub fn slice(&self, start: usize) -> &'a str {
        self.source.get(start..self.at).unwrap_or_default()
    }

    /// Takes `text` if it is next.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    pub fn expect(&mut self, text: &str, why: &'static str) -> Read<()> {
        if self.take(text) { Ok(()) } else { self.fault(why) }
    }

    /// Skips blanks, line continuations and, since a word can't be going on, a comment.
    pub fn blanks(&mut self) {
        let begin = self.at;
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.at > begin || self.begins_token() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Whether what was just read can't be part of a word, so that a `#` begins a comment.
    fn begins_token(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.source.as_bytes().get(at));
        before.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')'))
    }

    /// Skips blanks, comments and line breaks, and reads the here-documents that begin at those.
    pub fn breaks(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.line_break()?;
        }
    }

    fn line_break(&mut self) -> Read<()> {
        self.at += 1;
        if self.floor > 0 {
            return self.fault("a here-document begins within a substitution");
        }
        for pending in std::mem::take(&mut self.pending) {
            self.body(&pending)?;
        }
        Ok(())
    }

    fn finished(&self) -> Read<()> {
        if self.at < self.source.len() {
            return self.fault("something closes that was not opened");
        }
        if self.pending.is_empty() { Ok(()) } else { self.fault("a here-document without its text") }
    }

    /// Reads a list in a nested place, such as a substitution, whose here-documents must end in it.
    pub fn nested_list(&mut self) -> Read<List> {
        let floor = std::mem::replace(&mut self.floor, self.pending.len());
        let list = self.deeper(Self::list)?;
        if self.pending.len() > self.floor {
            return self.fault("a here-document without its text");
        }
        self.floor = floor;
        Ok(list)
    }

    pub fn list(&mut self) -> Read<List> {
        let mut list = List::new();
        let read = self.list_into(&mut list);
        if read.is_err() {
            self.broken.append(&mut list);
        }
        read.map(|()| list)
    }

    fn list_into(&mut self, list: &mut List) -> Read<()> {
        loop {
            self.breaks()?;
            if self.list_ends() {
                return Ok(());
            }
            list.push(self.pipeline()?);
            self.blanks();
            while self.take("&&") || self.take("||") {
                self.breaks()?;
                list.push(self.pipeline()?);
                self.blanks();
            }
            let separated = match (self.byte(0), self.byte(1)) {
                (Some(b';'), Some(b';' | b'&')) => false,
                (Some(b';' | b'&'), _) => {
                    self.at += 1;
                    true
                }
                (Some(b'\n'), _) => true,
                _ => false,
            };
            if !separated {
                return if self.list_ends() { Ok(()) } else { self.fault("a separator is missing") };
            }
        }
    }

    fn list_ends(&self) -> bool {
        match self.byte(0) {
            None | Some(b')') => true,
            Some(b';') => matches!(self.byte(1), Some(b';' | b'&')),
            _ => self.reserved().is_some_and(|word| CLOSING.contains(&word)),
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let prefixed = self.prefixes(true);
        let mut commands: Vec<Command> = Vec::new();
        match self.stages(&mut commands, prefixed) {
            Ok(()) => Ok(Pipeline { commands }),
            Err(fault) => {
                self.broken.push(Pipeline { commands });
                Err(fault)
            }
        }
    }

    fn stages(&mut self, commands: &mut Vec<Command>, prefixed: bool) -> Read<()> {
        loop {
            match self.command()? {
                Some(command) => commands.push(command),
                None if prefixed && commands.is_empty() => return Ok(()),
                None => return self.fault("a command is missing"),
            }
            self.blanks();
            if self.rest().starts_with("||") || !(self.take("|&") || self.take("|")) {
                return Ok(());
            }
            self.breaks()?;
            self.prefixes(false);
        }
    }

    /// Skips `time`, which may stand before each command of a pipeline, and `!`; tells if there was one.
    fn prefixes(&mut self, negated: bool) -> bool {
        let mut found = false;
        loop {
            self.blanks();
            match self.reserved() {
                Some("!") if negated => self.at += 1,
                Some("time") => {
                    self.at += 4;
                    self.blanks();
                    if self.rest().starts_with("-p ") {
                        self.at += 3;
                    }
                }
                _ => return found,
            }
            found = true;
        }
    }

    /// Returns the reserved word that is next, if one is.
    pub fn reserved(&self) -> Option<&'static str> {
        let rest = self.rest();
        let fits = |word: &&&str| {
            let after = rest.strip_prefix(**word).map(|rest| rest.as_bytes().first());
            after.is_some_and(|next| next.is_none_or(|byte| ends_word(*byte)))
        };
        RESERVED.iter().find(fits).copied()
    }
}

/// Whether a byte ends an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}
