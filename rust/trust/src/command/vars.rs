//! What the variables of a text may hold.
//!
//! Everything that a text assigns anywhere is collected before any of it is judged, whatever the order and
//! whatever subshell it happens in: a judge must know what a variable *may* hold.

use std::collections::{HashMap, HashSet};

use super::syntax::{Assignment, Command, Kind, List, Piece, Script, Word};

/// Variables of the surroundings that hold a path or a number, one word that is no option.
const PLAIN: &[&str] = &[
    "HOME", "PWD", "OLDPWD", "TMPDIR", "USER", "LOGNAME", "HOSTNAME", "UID", "EUID", "PPID", "RANDOM",
    "SECONDS", "LINENO", "COLUMNS", "LINES", "?", "#", "$", "!",
];

/// Programs that set the variables which they are told the names of.
const SETTERS: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "unset",
    "local",
    "declare",
    "typeset",
    "let",
    "select",
];

/// What a variable is given: words, or something that is not known.
type Value = Option<Vec<String>>;

/// The values of one variable, each once, in the order of the text.
#[derive(Clone, Debug, Default)]
struct Values {
    list: Vec<Value>,
    /// The same: a long text may give a variable thousands.
    known: HashSet<Value>,
}

/// Variables, functions and aliases of a text.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// By name: the values it is given.
    given: HashMap<String, Values>,
    /// Functions and aliases.
    pub defined: Vec<String>,
}

impl Variables {
    /// Adds what a script gives.
    pub fn collect(&mut self, script: &Script) {
        self.list(&script.list);
        for body in &script.bodies {
            self.word(body);
        }
    }

    /// Returns the one value of a variable, if it has only one and that is known.
    pub fn one(&self, name: &str) -> Option<&[String]> {
        match self.given.get(name)?.list.as_slice() {
            [Some(value)] => Some(value),
            _ => None,
        }
    }

    /// Returns all known values of a variable.
    pub fn known(&self, name: &str) -> impl Iterator<Item = &[String]> {
        self.given.get(name).into_iter().flat_map(|values| values.list.iter().flatten()).map(Vec::as_slice)
    }

    /// Whether the text itself sets it.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Whether a variable can't be an option, nor several words when `quoted` is not.
    pub fn is_plain(&self, name: &str, quoted: bool) -> bool {
        let Some(values) = self.given.get(name) else { return PLAIN.contains(&name) };
        values.list.iter().all(|value| {
            let Some([only]) = value.as_deref() else { return false };
            !only.starts_with('-')
                && (quoted || !only.contains(|c: char| c.is_whitespace() || "*?[".contains(c)))
        })
    }

    fn give(&mut self, name: &str, value: Option<Vec<String>>) {
        let values = self.given.entry(name.to_owned()).or_default();
        if values.known.insert(value.clone()) {
            values.list.push(value);
        }
    }

    fn list(&mut self, list: &List) {
        for command in list.iter().flat_map(|pipeline| &pipeline.commands) {
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command) {
        for redirect in &command.redirects {
            self.word(&redirect.target);
        }
        match &command.kind {
            Kind::Simple { assigned, words } => self.simple(assigned, words),
            Kind::Group(lists) => lists.iter().for_each(|list| self.list(list)),
            Kind::Subshell(list) => self.list(list),
            Kind::For { name, values, body } => {
                for value in values {
                    self.word(value);
                    // A pattern gives names of files, which may be anything unless it begins with a letter.
                    self.give(name, self.fixed(value).or_else(|| leading(value)).map(|text| vec![text]));
                }
                self.list(body);
            }
            Kind::Counting { head, body } => {
                self.word(head);
                self.list(body);
            }
            Kind::Case { words, arms } => {
                words.iter().for_each(|word| self.word(word));
                arms.iter().for_each(|list| self.list(list));
            }
            Kind::Function { name, body } => {
                self.defined.push(name.clone());
                self.command(body);
            }
            Kind::Arithmetic(word) => self.word(word),
            Kind::Test(words) => words.iter().for_each(|word| self.word(word)),
        }
    }

    fn simple(&mut self, assigned: &[Assignment], words: &[Word]) {
        for assignment in assigned {
            let values: Option<Vec<String>> =
                assignment.values.iter().map(|value| self.fixed(value)).collect();
            let values = values.filter(|_| !assignment.partial);
            self.give(&assignment.name, values);
        }
        words.iter().for_each(|word| self.word(word));
        let texts: Vec<Option<String>> = words.iter().map(|word| self.fixed(word)).collect();
        let Some(Some(program)) = texts.first() else { return };
        for text in texts.iter().skip(1) {
            match text.as_deref().map(|text| (text, text.split_once('='))) {
                Some((_, Some((name, value)))) => {
                    if program == "alias" {
                        self.defined.push(name.to_owned());
                    }
                    self.give(name, Some(vec![value.to_owned()]));
                }
                Some((name, None)) if SETTERS.contains(&program.as_str()) => self.give(name, None),
                _ => {}
            }
        }
        if program == "set" {
            let known: Option<Vec<String>> = texts.iter().skip(1).cloned().collect();
            let known =
                known.map(|words| words.into_iter().skip_while(|word| word.starts_with('-')).collect());
            self.give("@", known);
        }
    }

    /// Looks into a word for what its substitutions give.
    fn word(&mut self, word: &Word) {
        word.pieces.iter().for_each(|piece| self.piece(piece));
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text { .. } => {}
            Piece::Pattern(inner) | Piece::Arithmetic(inner) => {
                inner.iter().for_each(|piece| self.piece(piece))
            }
            Piece::Variable { name, rest, .. } => {
                let Some(rest) = rest else { return };
                if rest.text.trim_start_matches(':').starts_with('=') {
                    self.give(name, None);
                }
                self.word(rest);
            }
            Piece::Command { list, .. } | Piece::Process(list) => self.list(list),
        }
    }

    /// The text of a word that is known whatever happens.
    fn fixed(&self, word: &Word) -> Option<String> {
        let texts = word.pieces.iter().map(|piece| match piece {
            Piece::Text { text, quoted } if *quoted || !text.contains(['*', '?', '[', '{']) => {
                Some(text.clone())
            }
            Piece::Variable { name, rest: None, indirect: false, .. } => self.one(name)?.first().cloned(),
            _ => None,
        });
        texts.collect()
    }
}

/// How a word with a pattern begins, as the value that stands for all that it may match.
fn leading(word: &Word) -> Option<String> {
    let Some(Piece::Text { text, .. }) = word.pieces.first() else { return None };
    let plain = |piece: &Piece| matches!(piece, Piece::Text { .. });
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/'));
    (begins && word.pieces.iter().all(plain)).then(|| text.clone())
}
