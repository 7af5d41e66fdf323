//! `sed` and `awk`: programs in an argument, read far enough to see what they write and run.

use koda_protocol::CommandClass::{Destructive, Mutating};

use crate::command::rules::{Found, Inner};
use crate::command::words::Arg;

/// Judges a `sed` by its scripts.
pub fn sed(args: &[Arg], found: &mut Found) {
    let mut scripts: Vec<Arg> = Vec::new();
    let mut rest = args.iter();
    let mut named = false;
    while let Some(arg) = rest.next() {
        match arg.text.as_str() {
            "-e" | "--expression" => {
                named = true;
                scripts.extend(rest.next().cloned());
            }
            "-f" | "--file" => named = true,
            text if text.starts_with('-') && !text.starts_with("--") && text.contains('e') => {
                named = true;
                let at = text.find('e').map_or(0, |at| at + 1);
                let attached = text.len() > at;
                scripts.extend(if attached { Some(arg.after(at)) } else { rest.next().cloned() });
            }
            text if text.starts_with("--expression=") => {
                named = true;
                scripts.push(arg.after("--expression=".len()));
            }
            _ => {}
        }
    }
    if !named {
        scripts.extend(found.operands.first().cloned());
    }
    for script in scripts {
        if !script.fixed() {
            found.raise(Mutating, "has a script that is known only when it runs");
            continue;
        }
        // A delimiter within a set, `[/]`, is one of its characters; a sed that takes it for the end reads
        // another script, which counts as well.
        if (Sed { rest: &script.text, sets: true, found }).script().is_none() {
            found.raise(Mutating, "has a script that is not understood");
        }
        (Sed { rest: &script.text, sets: false, found }).script();
    }
    if found.reason.contains("in place") {
        let files = found.operands.iter().skip(usize::from(!named)).map(|arg| (arg.clone(), true));
        let files: Vec<_> = files.collect();
        found.paths.extend(files);
    }
}

/// Reads a `sed` script.
struct Sed<'a, 'b> {
    rest: &'a str,
    /// Whether the end of a pattern is not looked for within a set of characters.
    sets: bool,
    found: &'b mut Found,
}

impl<'a> Sed<'a, '_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn skip(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        skipped
    }

    /// Up to a delimiter that is not escaped.
    fn until(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                c if c == end => return Some(()),
                _ => {}
            }
        }
    }

    /// Up to the end of a pattern.
    fn pattern(&mut self, end: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                c if c == end => return Some(()),
                '[' if self.sets => self.set()?,
                _ => {}
            }
        }
    }

    /// Up to the end of a set of characters, in which a backslash is one of them.
    fn set(&mut self) -> Option<()> {
        let opened = self.rest.strip_prefix('^').unwrap_or(self.rest);
        self.rest = opened.strip_prefix(']').unwrap_or(opened);
        loop {
            match self.next()? {
                ']' => return Some(()),
                // `[:alpha:]`
                '[' => {
                    let Some(kind) = self.rest.chars().next().filter(|c| matches!(c, ':' | '.' | '=')) else {
                        continue;
                    };
                    self.next();
                    self.rest = self.rest.split_once(&format!("{kind}]"))?.1;
                }
                _ => {}
            }
        }
    }

    /// None where the script is not understood.
    fn script(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c.is_whitespace() || c == ';' || c == '}');
            if self.rest.is_empty() {
                return Some(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            self.skip(|c| {
                c.is_whitespace() || c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | '!')
            });
            let end = match self.rest.chars().next()? {
                '/' => '/',
                '\\' => {
                    self.next();
                    self.rest.chars().next()?
                }
                _ => return Some(()),
            };
            self.next();
            self.pattern(end)?;
            self.skip(|c| matches!(c, 'I' | 'M'));
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {}
            'l' | 'q' | 'Q' | 'L' => drop(self.skip(|c| c.is_ascii_digit() || c == ' ')),
            ':' | 'b' | 't' | 'T' => drop(self.skip(|c| !matches!(c, ';' | '\n' | '}'))),
            '#' | 'a' | 'i' | 'c' => {
                // Text goes to the end of the line, and on where that is escaped.
                while self.skip(|c| c != '\n').ends_with('\\') && self.next().is_some() {}
            }
            'y' => {
                let end = self.next()?;
                self.until(end)?;
                self.until(end)?;
            }
            's' => self.substitution()?,
            'r' | 'R' => drop(self.skip(|c| c != '\n')),
            'w' | 'W' => self.writes(),
            'e' => {
                let text = self.skip(|c| c != '\n').trim();
                self.runs(text);
            }
            _ => return None,
        }
        Some(())
    }

    fn substitution(&mut self) -> Option<()> {
        let end = self.next()?;
        self.pattern(end)?;
        self.until(end)?;
        loop {
            match self.rest.chars().next() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.next()),
                Some('e') => {
                    self.next();
                    self.runs("");
                }
                Some('w') => {
                    self.next();
                    self.writes();
                }
                _ => return Some(()),
            }
        }
    }

    fn writes(&mut self) {
        let file = self.skip(|c| c != '\n').trim();
        if !matches!(file, "/dev/stdout" | "/dev/stderr") {
            self.found.raise(Mutating, "has a script that writes a file");
            self.found.paths.push((Arg::known(file), true));
        }
    }

    fn runs(&mut self, text: &str) {
        if text.is_empty() {
            self.found.raise(Destructive, "has a script that runs its input as commands");
        } else {
            self.found.raise(Mutating, "has a script that runs a command");
            self.found.inner.push(Inner::Text(Arg::known(text)));
        }
    }
}

/// Judges an `awk` by its program.
pub fn awk(args: &[Arg], found: &mut Found) {
    let sources = args.windows(2).filter_map(|pair| match pair {
        [option, source] if option.is("-e") || option.is("--source") => Some(source.clone()),
        _ => None,
    });
    let attached = args.iter().filter_map(|arg| {
        let option = ["--source=", "-e"].into_iter().find(|option| arg.text.starts_with(option))?;
        (arg.text.len() > option.len()).then(|| arg.after(option.len()))
    });
    let mut programs: Vec<Arg> = sources.chain(attached).collect();
    if programs.is_empty() && !found.reason.contains("-f") {
        programs.extend(found.operands.first().cloned());
    }
    for program in programs {
        if !program.fixed() {
            found.raise(Mutating, "has a program that is known only when it runs");
            continue;
        }
        Awk::new(&program.text).judge(found);
    }
}

/// A token of an `awk` program, as far as judging needs it.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
    /// `||`, `>=`, `>>` and others that must not be taken for their first character.
    Double(&'static str),
    Line,
}

struct Awk {
    tokens: Vec<Token>,
}

impl Awk {
    fn new(source: &str) -> Self {
        let mut tokens = Vec::new();
        let mut chars = source.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' => tokens.push(Token::Text(delimited(&mut chars, '"'))),
                '/' if !ends_value(tokens.last()) => {
                    delimited(&mut chars, '/');
                    tokens.push(Token::Text(String::new()));
                }
                '#' => while chars.next_if(|c| *c != '\n').is_some() {},
                '\n' | ';' | '}' => tokens.push(Token::Line),
                c if c.is_whitespace() => {}
                c if c.is_alphanumeric() || matches!(c, '_' | '@') => {
                    let mut word = c.to_string();
                    while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                        word.push(c);
                    }
                    tokens.push(Token::Word(word));
                }
                '|' if chars.next_if_eq(&'|').is_some() => tokens.push(Token::Double("||")),
                '>' if chars.next_if_eq(&'=').is_some() => tokens.push(Token::Double(">=")),
                '>' if chars.next_if_eq(&'>').is_some() => tokens.push(Token::Sign('>')),
                c => tokens.push(Token::Sign(c)),
            }
        }
        Self { tokens }
    }

    fn judge(&self, found: &mut Found) {
        let mut depth = 0_usize;
        // In `print`, a `>` outside of parentheses writes a file.
        let mut prints = false;
        for (at, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Sign('(') => depth += 1,
                Token::Sign(')') => depth = depth.saturating_sub(1),
                Token::Line => prints = false,
                Token::Word(word) if word == "print" || word == "printf" => prints = true,
                Token::Word(word) if word == "system" => self.runs(at + 2, found),
                Token::Word(word) if word.starts_with('@') => found.raise(Mutating, "loads other code"),
                Token::Sign('|') if self.is_getline(at + 1) => self.runs(at.wrapping_sub(1), found),
                Token::Sign('|') => {
                    let at = at + 1 + usize::from(self.tokens.get(at + 1) == Some(&Token::Sign('&')));
                    self.runs(at, found);
                }
                Token::Sign('>') if prints && depth == 0 => {
                    found.raise(Mutating, "has a program that writes a file");
                    if let Some(Token::Text(file)) = self.tokens.get(at + 1) {
                        found.paths.push((Arg::known(file), true));
                    }
                }
                _ => {}
            }
        }
    }

    fn is_getline(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some(Token::Word(word)) if word == "getline")
    }

    /// The program runs a command, whose text may stand at `at`.
    fn runs(&self, at: usize, found: &mut Found) {
        let whole = !matches!(self.tokens.get(at + 1), Some(Token::Text(_)));
        match self.tokens.get(at) {
            Some(Token::Text(text))
                if whole && !matches!(self.tokens.get(at + 1), Some(Token::Word(_) | Token::Sign('$'))) =>
            {
                found.raise(Mutating, "has a program that runs a command");
                found.inner.push(Inner::Text(Arg::known(text)));
            }
            _ => found.raise(Destructive, "has a program that runs commands which are known only then"),
        }
    }
}

fn ends_value(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Word(_) | Token::Text(_) | Token::Sign(')' | ']' | '$')))
}

/// The text up to an end that is not escaped; escapes are kept but for that of the end.
fn delimited(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next) if next == end => text.push(next),
                Some(next) => text.extend(['\\', next]),
                None => {}
            },
            c if c == end => break,
            c => text.push(c),
        }
    }
    text
}
