//! Single commands: simple ones, compound ones, functions.

use super::reader::{Read, Reader, ends_word};
use super::tree::{Assignment, Command, Kind, List, Piece, Word};

impl Reader<'_> {
    /// Reads a command with its redirections; none where no command can begin.
    pub(super) fn command(&mut self) -> Read<Option<Command>> {
        self.blanks();
        let start = self.at;
        let kind = match self.byte(0) {
            None | Some(b'\n' | b';' | b'&' | b'|' | b')') => return Ok(None),
            Some(b'(') => self.deeper(Self::parentheses)?,
            _ => match self.reserved() {
                // Where no pipeline begins, bash and dash take it for the program of that name.
                Some("time") => return self.simple(start).map(Some),
                Some(word) => match self.deeper(|reader| reader.compound(word))? {
                    Some(kind) => kind,
                    None => return Ok(None),
                },
                None => return self.simple(start).map(Some),
            },
        };
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        Ok(Some(Command { text: self.slice(start).trim_end().to_owned(), kind, redirects }))
    }

    fn parentheses(&mut self) -> Read<Kind> {
        self.at += 1;
        if self.take("(") {
            return Ok(Kind::Arithmetic(self.arithmetic_command()?));
        }
        let list = self.nested_list()?;
        self.expect(")", "a subshell is not closed")?;
        Ok(Kind::Subshell(list))
    }

    /// The inside of `((…))`, with its end.
    fn arithmetic_command(&mut self) -> Read<Word> {
        let start = self.at;
        let mut pieces = Vec::new();
        self.arithmetic(b"))", &mut pieces)?;
        let text = self.slice(start);
        Ok(Word { pieces, text: text.strip_suffix("))").unwrap_or(text).to_owned() })
    }

    /// Reads the command that a reserved word begins; none if it ends a list instead.
    fn compound(&mut self, word: &'static str) -> Read<Option<Kind>> {
        let begin = self.at;
        self.at += word.len();
        let kind = match word {
            "{" => {
                let list = self.list()?;
                self.closing("}")?;
                Kind::Group(vec![list])
            }
            "if" => self.branches()?,
            "while" | "until" => {
                let condition = self.list()?;
                Kind::Group(vec![condition, self.repeated()?])
            }
            "for" | "select" => self.iteration()?,
            "case" => self.case()?,
            "function" => {
                self.blanks();
                let name = self.plain_name()?;
                self.blanks();
                if self.take("(") {
                    self.blanks();
                    self.expect(")", "a function's parentheses are not closed")?;
                }
                self.function_body(name)?
            }
            "[[" => self.test()?,
            "coproc" => self.coprocess()?,
            _ => {
                self.at = begin;
                return Ok(None);
            }
        };
        Ok(Some(kind))
    }

    fn closing(&mut self, word: &'static str) -> Read<()> {
        if self.reserved() != Some(word) {
            return self.fault("a compound command is not closed");
        }
        self.at += word.len();
        Ok(())
    }

    fn branches(&mut self) -> Read<Kind> {
        let mut lists = vec![self.list()?];
        self.closing("then")?;
        lists.push(self.list()?);
        loop {
            match self.reserved() {
                Some("elif") => {
                    self.at += "elif".len();
                    lists.push(self.list()?);
                    self.closing("then")?;
                }
                Some("else") => self.at += "else".len(),
                _ => {
                    self.closing("fi")?;
                    return Ok(Kind::Group(lists));
                }
            }
            lists.push(self.list()?);
        }
    }

    /// `do … done`, or the braces that stand for it.
    fn repeated(&mut self) -> Read<List> {
        self.breaks()?;
        let end = if self.reserved() == Some("{") { "}" } else { "done" };
        self.closing(if end == "}" { "{" } else { "do" })?;
        let list = self.list()?;
        self.closing(end)?;
        Ok(list)
    }

    fn iteration(&mut self) -> Read<Kind> {
        self.blanks();
        if self.take("((") {
            let head = self.arithmetic_command()?;
            self.blanks();
            self.take(";");
            return Ok(Kind::Counting { head, body: self.repeated()? });
        }
        let name = self.plain_name()?;
        self.breaks()?;
        let mut values = Vec::new();
        if self.rest().starts_with("in") && self.byte(2).is_none_or(ends_word) {
            self.at += 2;
            self.blanks();
            while let Some(word) = self.word()? {
                values.push(word);
                self.blanks();
            }
        } else {
            let pieces =
                vec![Piece::Variable { name: "@".into(), rest: None, indirect: false, quoted: true }];
            values.push(Word { pieces, text: "\"$@\"".into() });
        }
        self.blanks();
        self.take(";");
        Ok(Kind::For { name, values, body: self.repeated()? })
    }

    fn case(&mut self) -> Read<Kind> {
        self.blanks();
        let Some(subject) = self.word()? else { return self.fault("`case` without a word") };
        let (mut words, mut arms) = (vec![subject], Vec::new());
        self.breaks()?;
        self.expect("in", "`case` without `in`")?;
        if !self.byte(0).is_none_or(ends_word) {
            return self.fault("`case` without `in`");
        }
        loop {
            self.breaks()?;
            if self.reserved() == Some("esac") {
                self.at += "esac".len();
                return Ok(Kind::Case { words, arms });
            }
            self.take("(");
            loop {
                self.blanks();
                let Some(pattern) = self.word()? else { return self.fault("a pattern is missing") };
                words.push(pattern);
                self.blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")", "a pattern is not closed")?;
            arms.push(self.list()?);
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) && self.reserved() != Some("esac") {
                return self.fault("an arm of `case` is not closed");
            }
        }
    }

    /// A name without quotes or expansions.
    fn plain_name(&mut self) -> Read<String> {
        let length = self.rest().find(|c: char| c.is_whitespace() || ";&|<>()$`'\"\\".contains(c));
        let start = self.at;
        self.at += length.unwrap_or(self.rest().len());
        if self.at == start { self.fault("a name is missing") } else { Ok(self.slice(start).to_owned()) }
    }

    fn function_body(&mut self, name: String) -> Read<Kind> {
        self.breaks()?;
        let compound = self.byte(0) == Some(b'(') || self.reserved().is_some();
        match if compound { self.command()? } else { None } {
            Some(body) => Ok(Kind::Function { name, body: Box::new(body) }),
            None => self.fault("a function without a body"),
        }
    }

    fn coprocess(&mut self) -> Read<Kind> {
        self.blanks();
        let start = self.at;
        // A name may stand before a compound command.
        if self.reserved().is_none() && self.plain_name().is_ok() {
            self.blanks();
            if self.byte(0) != Some(b'(') && self.reserved().is_none() {
                self.at = start;
            }
        }
        match self.command()? {
            Some(command) => Ok(Kind::Subshell(vec![super::Pipeline { commands: vec![command] }])),
            None => self.fault("`coproc` without a command"),
        }
    }

    /// All words of `[[ … ]]`; its operators don't matter.
    fn test(&mut self) -> Read<Kind> {
        let mut words = Vec::new();
        loop {
            self.breaks()?;
            if self.rest().starts_with("]]") && self.byte(2).is_none_or(ends_word) {
                self.at += 2;
                return Ok(Kind::Test(words));
            }
            match self.byte(0) {
                None | Some(b';' | b'#') => return self.fault("a test is not closed"),
                Some(b'<' | b'>') if self.byte(1) == Some(b'(') => {}
                Some(b'<' | b'>' | b'(' | b')' | b'&' | b'|') => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            match self.word()? {
                Some(word) => words.push(word),
                None => return self.fault("a test is not closed"),
            }
        }
    }

    fn simple(&mut self, start: usize) -> Read<Command> {
        let (mut assigned, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            let Some(word) = self.word()? else { break };
            match assignment(&word) {
                Some((assignment, is_array)) => {
                    let array = is_array && self.byte(0) == Some(b'(');
                    let assignment = if array { self.array(assignment)? } else { assignment };
                    // After the program it is an argument, which `export` and its like read.
                    if words.is_empty() || array {
                        assigned.push(assignment);
                    } else {
                        words.push(word);
                    }
                }
                None => words.push(word),
            }
        }
        if self.byte(0) == Some(b'(') {
            return self.function(start, &words, assigned.is_empty() && redirects.is_empty());
        }
        let text = self.slice(start).trim_end().to_owned();
        Ok(Command { text, kind: Kind::Simple { assigned, words }, redirects })
    }

    /// `name() …`, of which the name has been read.
    fn function(&mut self, start: usize, words: &[Word], plain: bool) -> Read<Command> {
        let [name] = words else { return self.fault("an unexpected `(`") };
        self.at += 1;
        self.blanks();
        if !plain || !self.take(")") {
            return self.fault("an unexpected `(`");
        }
        let name = name.text.clone();
        let kind = self.deeper(|reader| reader.function_body(name))?;
        Ok(Command { text: self.slice(start).trim_end().to_owned(), kind, redirects: Vec::new() })
    }

    fn array(&mut self, mut assignment: Assignment) -> Read<Assignment> {
        self.at += 1;
        assignment.values.clear();
        loop {
            self.breaks()?;
            if self.take(")") {
                return Ok(assignment);
            }
            match self.word()? {
                Some(word) => assignment.values.push(word),
                None => return self.fault("an array is not closed"),
            }
        }
    }
}

/// Reads a word as an assignment, if it is one; tells whether the value is empty, so that an array may follow.
fn assignment(word: &Word) -> Option<(Assignment, bool)> {
    let Some(Piece::Text { text: first, quoted: false }) = word.pieces.first() else { return None };
    let end = first.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (name, after) = first.split_at_checked(end)?;
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (at, value) = if after.starts_with('[') {
        element(word)?
    } else {
        (0, after.strip_prefix("+=").or_else(|| after.strip_prefix('='))?)
    };
    let mut pieces = word.pieces.get(at + 1..).unwrap_or_default().to_vec();
    let is_array = value.is_empty() && pieces.is_empty();
    if !value.is_empty() {
        pieces.insert(0, Piece::Text { text: value.to_owned(), quoted: false });
    }
    // The index is expanded too, so what it runs is judged with the value.
    pieces.extend(word.pieces.get(1..=at).unwrap_or_default().iter().cloned());
    let value = Word { pieces, text: word.text.clone() };
    let partial = !after.starts_with('=');
    Some((
        Assignment { name: name.to_owned(), values: vec![value], partial, text: word.text.clone() },
        is_array,
    ))
}

/// Finds the value of `name[index]=value`: the piece that it begins in, and its text there.
fn element(word: &Word) -> Option<(usize, &str)> {
    word.pieces.iter().enumerate().find_map(|(at, piece)| {
        let Piece::Text { text, quoted: false } = piece else { return None };
        let (_, value) = text.split_once("]=").or_else(|| text.split_once("]+="))?;
        Some((at, value))
    })
}
