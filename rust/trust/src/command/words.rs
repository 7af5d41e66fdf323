//! What a word says before it runs.

use super::syntax::{Kind, List, Piece, Word};
use super::vars::Variables;

/// More words than these are not made of one word by its braces.
const MAX_BRACES: usize = 64;

/// A word as the program gets it, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arg {
    /// What is known of the text; what is not is left out.
    pub text: String,
    /// As it was written.
    pub source: String,
    /// As a pattern of names, where nothing else about it is unknown.
    pub glob: Option<String>,
    /// Where in the text something unknown begins.
    unknown: Option<usize>,
    /// Whether what is unknown may be, or bring, an option.
    option: bool,
    /// Whether it may become several words.
    several: bool,
    /// Whether it is a file that a command writes or reads: `<(…)`.
    pub process: bool,
    /// What its beginning was made of.
    pub origin: Origin,
}

/// What a word begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Characters.
    #[default]
    Text,
    /// A variable, by its name.
    Variable(String),
    /// What a command prints.
    Command,
    /// A pattern.
    Pattern,
}

impl Arg {
    /// Builds a word that is known.
    pub fn known(text: &str) -> Self {
        Self { text: text.to_owned(), source: text.to_owned(), ..Self::default() }
    }

    /// Builds a word of which nothing is known.
    pub fn unseen() -> Self {
        Self { source: "…".into(), unknown: Some(0), option: true, several: true, ..Self::default() }
    }

    /// Builds the path that some programs add, and others don't.
    pub fn perhaps_path() -> Self {
        Self { several: true, ..Self::known("{}").with_path("{}") }
    }

    /// Makes it uncertain from the place where something unseen is put in.
    pub fn with_unseen(self, mark: &str) -> Self {
        let at = self.text.find(mark).unwrap_or(0);
        Self { unknown: Some(at), option: at == 0, ..self }
    }

    /// Makes it uncertain from the place where a path is put in, which is no option.
    pub fn with_path(self, mark: &str) -> Self {
        Self { option: false, ..self.with_unseen(mark) }
    }

    /// Joins words as `eval` does.
    pub fn joined(args: &[Self]) -> Self {
        let join = |part: fn(&Self) -> &str| args.iter().map(part).collect::<Vec<_>>().join(" ");
        Self {
            text: join(|arg| &arg.text),
            source: join(|arg| &arg.source),
            unknown: args.iter().any(|arg| !arg.fixed()).then_some(0),
            ..Self::default()
        }
    }

    /// Returns what follows the first `bytes`.
    pub fn after(&self, bytes: usize) -> Self {
        let text = self.text.get(bytes..).unwrap_or_default();
        Self {
            text: text.to_owned(),
            source: text.to_owned(),
            unknown: self.unknown.map(|at| at.saturating_sub(bytes)),
            ..self.clone()
        }
    }

    /// Whether the text is all there is.
    pub fn fixed(&self) -> bool {
        self.unknown.is_none()
    }

    /// Whether the first `bytes` are known.
    pub fn is_known_to(&self, bytes: usize) -> bool {
        self.unknown.is_none_or(|at| at >= bytes)
    }

    /// Returns the text up to what is not known.
    pub fn known_beginning(&self) -> &str {
        self.unknown.and_then(|at| self.text.get(..at)).unwrap_or(&self.text)
    }

    /// Whether it is exactly this.
    pub fn is(&self, text: &str) -> bool {
        self.fixed() && self.text == text
    }

    /// Whether it can't be told if it is an option, or which.
    pub fn may_be_option(&self) -> bool {
        self.option
    }

    /// Whether it may become several words.
    pub fn may_be_several(&self) -> bool {
        self.several
    }

    /// Whether it begins like an option.
    pub fn looks_like_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-') && !self.text.starts_with("- ")
    }

    /// Whether it is `NAME=value`.
    pub fn looks_like_assignment(&self) -> bool {
        let name = self.text.split_once('=').map(|(name, _)| name).filter(|name| !name.is_empty());
        name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    }
}

/// A character of a word, or something unknown.
#[derive(Clone, Copy)]
enum Unit {
    /// A character that may be a brace, a pattern or a tilde.
    Bare(char),
    Quoted(char),
    /// From a variable without quotes: blanks in it separate words.
    Expanded(char),
    Unknown {
        several: bool,
        option: bool,
    },
}

/// Expands a word into the words that the program gets.
pub fn expand(word: &Word, variables: &Variables) -> Vec<Arg> {
    let mut units = Vec::new();
    let mut process = false;
    for piece in &word.pieces {
        process |= matches!(piece, Piece::Process(_));
        add(piece, variables, &mut units);
    }
    let mut alternatives = Vec::new();
    let within = braces(&units, &mut alternatives, 0);
    let fields =
        if within { alternatives } else { vec![vec![Unit::Unknown { several: true, option: true }]] };
    let quoted = word.pieces.iter().any(|piece| matches!(piece, Piece::Text { quoted: true, .. }));
    let mut args: Vec<Arg> = fields.iter().flat_map(|units| split(units, quoted)).collect();
    for arg in &mut args {
        arg.source.clone_from(&word.text);
        arg.process = process;
        arg.origin = origin(word, arg);
    }
    args
}

fn origin(word: &Word, arg: &Arg) -> Origin {
    match word.pieces.first() {
        Some(Piece::Variable { name, .. }) => Origin::Variable(name.clone()),
        Some(Piece::Command { .. }) => Origin::Command,
        Some(Piece::Pattern(_)) => Origin::Pattern,
        _ if arg.fixed() => Origin::Text,
        // The first words may be empty quotations; what is unknown decides.
        _ if word.pieces.iter().any(|piece| matches!(piece, Piece::Command { .. })) => Origin::Command,
        _ if word.pieces.iter().any(|piece| matches!(piece, Piece::Variable { .. })) => {
            Origin::Variable(String::new())
        }
        _ => Origin::Pattern,
    }
}

fn add(piece: &Piece, variables: &Variables, units: &mut Vec<Unit>) {
    match piece {
        Piece::Text { text, quoted: true } => units.extend(text.chars().map(Unit::Quoted)),
        Piece::Text { text, quoted: false } => units.extend(text.chars().map(Unit::Bare)),
        Piece::Pattern(_) => units.push(Unit::Unknown { several: true, option: true }),
        Piece::Variable { name, rest, indirect: false, quoted } => {
            variable(name, rest.as_deref(), *quoted, variables, units);
        }
        Piece::Variable { quoted, .. } => units.push(Unit::Unknown { several: !quoted, option: true }),
        Piece::Command { list, .. } if printed(list).is_some() => {
            units.extend(printed(list).unwrap_or_default().chars().map(Unit::Expanded));
        }
        Piece::Command { list, quoted } => {
            let plain = prints_a_plain_word(list, *quoted);
            units.push(Unit::Unknown { several: !quoted && !plain, option: !plain });
        }
        Piece::Process(_) | Piece::Arithmetic(_) => {
            units.push(Unit::Unknown { several: false, option: false });
        }
    }
}

fn variable(name: &str, rest: Option<&Word>, quoted: bool, variables: &Variables, units: &mut Vec<Unit>) {
    let whole = rest.is_none_or(|rest| matches!(rest.text.as_str(), "[@]" | "[*]"));
    if let Some(values) = variables.one(name).filter(|_| whole) {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                units.push(Unit::Expanded(' '));
            }
            units.extend(value.chars().map(if quoted { Unit::Quoted } else { Unit::Expanded }));
        }
        return;
    }
    // Where the home is, only paths need to know; they read it as the tilde.
    if name == "HOME" && rest.is_none() && units.is_empty() && !variables.is_given(name) {
        units.push(Unit::Quoted('~'));
        return;
    }
    let plain = rest.is_none() && variables.is_plain(name, quoted);
    let many = matches!(name, "@" | "*") || rest.is_some_and(|rest| rest.text.starts_with("[@]"));
    units.push(Unit::Unknown { several: many || !(quoted || plain), option: !plain });
}

/// Expands the braces that are not quoted; false if that makes too many words.
fn braces(units: &[Unit], out: &mut Vec<Vec<Unit>>, depth: usize) -> bool {
    if out.len() >= MAX_BRACES || depth > MAX_BRACES {
        return false;
    }
    let Some((open, close, members)) = first_braces(units) else {
        out.push(units.to_vec());
        return true;
    };
    let (before, after) = (units.get(..open).unwrap_or_default(), units.get(close + 1..).unwrap_or_default());
    members.into_iter().all(|member| {
        let whole: Vec<Unit> = before.iter().chain(&member).chain(after).copied().collect();
        braces(&whole, out, depth + 1)
    })
}

/// Finds the first braces that are an expansion: their places, and what they stand for.
fn first_braces(units: &[Unit]) -> Option<(usize, usize, Vec<Vec<Unit>>)> {
    let opens = units.iter().enumerate().filter(|(_, unit)| matches!(unit, Unit::Bare('{')));
    for (open, _) in opens {
        let mut depth = 0_usize;
        let mut commas = vec![open];
        for (at, unit) in units.iter().enumerate().skip(open) {
            match unit {
                Unit::Bare('{') => depth += 1,
                Unit::Bare(',') if depth == 1 => commas.push(at),
                Unit::Bare('}') => depth -= 1,
                _ => {}
            }
            if depth > 0 {
                continue;
            }
            let inside = units.get(open + 1..at).unwrap_or_default();
            if commas.len() > 1 {
                commas.push(at);
                let members = commas.windows(2).filter_map(|pair| match pair {
                    [from, to] => units.get(from + 1..*to).map(<[Unit]>::to_vec),
                    _ => None,
                });
                return Some((open, at, members.collect()));
            }
            if let Some(ends) = sequence(inside) {
                return Some((open, at, ends));
            }
            break;
        }
    }
    None
}

/// `{1..9}`: its two ends stand for all between them.
fn sequence(inside: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let bare = inside.iter().map(|unit| if let Unit::Bare(c) = unit { Some(*c) } else { None });
    let text: String = bare.collect::<Option<_>>()?;
    let mut parts = text.split("..");
    let ends = [parts.next()?, parts.next()?];
    ends.iter().all(|end| !end.is_empty()).then(|| {
        let between = Unit::Unknown { several: false, option: false };
        ends.iter().map(|end| end.chars().map(Unit::Bare).chain([between]).collect()).collect()
    })
}

/// Makes words of units: blanks that came from a variable separate them.
fn split(units: &[Unit], quoted: bool) -> Vec<Arg> {
    let fields = units.split(|unit| matches!(unit, Unit::Expanded(c) if c.is_ascii_whitespace()));
    let fields: Vec<&[Unit]> = fields.collect();
    let keep = |field: &&[Unit]| !field.is_empty() || (fields.len() == 1 && quoted);
    fields.iter().copied().filter(keep).map(arg).collect()
}

fn arg(units: &[Unit]) -> Arg {
    let mut arg = Arg { glob: glob(units), ..Arg::default() };
    let closes = units.iter().any(|unit| matches!(unit, Unit::Bare(']') | Unit::Expanded(']')));
    for (at, unit) in units.iter().enumerate() {
        let place = arg.text.len();
        let begins = at == 0 || (arg.text.starts_with('-') && !arg.text.contains('='));
        match *unit {
            Unit::Unknown { several, option } => {
                arg.unknown.get_or_insert(place);
                arg.several |= several;
                arg.option |= (begins && (option || place > 0)) || several;
            }
            Unit::Bare(c) | Unit::Expanded(c) if matches!(c, '*' | '?') || (c == '[' && closes) => {
                arg.unknown.get_or_insert(place);
                arg.option |= begins;
                arg.text.push(c);
            }
            Unit::Bare(c) | Unit::Quoted(c) | Unit::Expanded(c) => arg.text.push(c),
        }
    }
    arg
}

/// A pattern as matchers of names read it, if it is one.
fn glob(units: &[Unit]) -> Option<String> {
    let mut pattern = String::new();
    let mut matches = false;
    for unit in units {
        match *unit {
            Unit::Unknown { .. } => return None,
            Unit::Bare(c) | Unit::Expanded(c) if matches!(c, '*' | '?' | '[' | ']') => {
                matches = true;
                pattern.push(c);
            }
            Unit::Bare(c) | Unit::Expanded(c) | Unit::Quoted(c) => {
                if "*?[]{}!\\".contains(c) {
                    pattern.push('\\');
                }
                pattern.push(c);
            }
        }
    }
    matches.then_some(pattern)
}

/// The words of a substitution that is one plain command.
fn only_command(list: &List) -> Option<Vec<String>> {
    let [pipeline] = list.as_slice() else { return None };
    let [command] = pipeline.commands.as_slice() else { return None };
    let Kind::Simple { assigned, words } = &command.kind else { return None };
    let none = Variables::default();
    let args = words.iter().flat_map(|word| expand(word, &none));
    let texts: Option<Vec<String>> = args.map(|arg| arg.fixed().then_some(arg.text)).collect();
    texts.filter(|_| assigned.is_empty() && command.redirects.is_empty())
}

/// What a substitution prints, where that is known: `$(echo rm)`, `$(which python3)`.
fn printed(list: &List) -> Option<String> {
    let texts = only_command(list)?;
    match texts.split_first() {
        Some((program, [only])) if program == "which" => Some(only.clone()),
        Some((program, [option, only])) if program == "command" && option == "-v" => Some(only.clone()),
        Some((program, words)) if program == "echo" || program == "printf" => {
            let text = words.join(" ");
            (!text.starts_with('-') && !text.contains(['\\', '%'])).then_some(text)
        }
        _ => None,
    }
}

/// Whether all that a substitution prints is one word that is no option: a commit, a path, a number.
fn prints_a_plain_word(list: &List, quoted: bool) -> bool {
    let Some(texts) = only_command(list) else { return false };
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match texts.as_slice() {
        ["pwd"] | ["git", "rev-parse", "--show-toplevel"] => quoted,
        ["nproc" | "whoami" | "hostname"] | ["id", "-u" | "-g"] => true,
        ["git", "branch", "--show-current"] | ["git", "merge-base", _, _] => true,
        ["git", "rev-parse", options @ .., revision] => {
            let known = ["--short", "--verify", "--abbrev-ref"];
            options.iter().all(|option| known.contains(option)) && !revision.starts_with('-')
        }
        ["date", format] => format.starts_with("+%") && !format.contains(char::is_whitespace),
        _ => false,
    }
}
