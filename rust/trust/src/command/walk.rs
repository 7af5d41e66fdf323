//! The walk over the tree of a command.

use brush_parser::ast::{
    AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem as Item, CompoundCommand,
    CompoundList, ExtendedTestExpr, IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect,
    SimpleCommand,
};
use brush_parser::{Parser, ParserOptions};
use koda_protocol::{CommandClass, VerdictPart};

use super::words::{self, Known};
use super::{Classified, MAX_DEPTH, programs, wrappers};

use CommandClass::{Destructive, Mutating, Safe};

/// Programs that run what comes in on their standard input.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "php", "lua",
    "source", ".",
];

/// Programs that fetch text from elsewhere; fed to an interpreter, anything may run.
const FETCHERS: &[&str] = &["curl", "wget", "openssl", "nc", "ncat", "base64", "xxd", "ssh"];

/// Variables that change which program runs, or make another one run.
const LOADED: &[&str] =
    &["PATH", "IFS", "ENV", "BASH_ENV", "SHELL", "PAGER", "EDITOR", "VISUAL", "PROMPT_COMMAND"];

/// The options that the parser is run with.
pub fn options() -> ParserOptions {
    ParserOptions::default()
}

/// Collects the parts of a command while the walk goes over it.
#[derive(Default)]
pub struct Judge {
    parts: Vec<VerdictPart>,
    heads: Vec<String>,
    /// Whether something in it can't be described by a rule.
    vague: bool,
    /// Names that the command itself defines: calling one runs what can't be told from here.
    defined: Vec<String>,
    depth: usize,
}

impl Judge {
    /// Returns what was found.
    pub fn finish(mut self) -> Classified {
        if self.parts.is_empty() {
            self.part("", Safe, "nothing to run");
        }
        let class = self.parts.iter().map(|part| part.class).max().unwrap_or(Mutating);
        if self.vague || class == Destructive {
            self.heads.clear();
        }
        self.heads.dedup();
        Classified { class, parts: self.parts, heads: self.heads }
    }

    /// Notes a part.
    pub fn part(&mut self, text: &str, class: CommandClass, reason: impl Into<String>) {
        self.parts.push(VerdictPart { text: text.to_owned(), class, reason: reason.into() });
    }

    /// Notes a part that no rule can describe.
    pub fn opaque(&mut self, text: &str, class: CommandClass, reason: &str) {
        self.vague = true;
        self.part(text, class, reason);
    }

    /// Judges a text that a shell would run.
    pub fn program(&mut self, text: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return self.opaque(text, Mutating, "too deep to be judged");
        }
        let outer = std::mem::replace(&mut self.depth, depth);
        match Parser::new(text.as_bytes(), &options()).parse_program() {
            Ok(program) => {
                for list in &program.complete_commands {
                    self.list(list);
                }
            }
            Err(error) => {
                let class = if programs::mentions_destroyer(text) { Destructive } else { Mutating };
                self.opaque(text, class, &format!("it can't be parsed: {error}"));
            }
        }
        self.depth = outer;
    }

    fn nested(&mut self, text: &str) {
        self.program(text, self.depth + 1);
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            for (_, pipeline) in item.0.iter() {
                self.pipeline(&pipeline.seq);
            }
        }
    }

    fn pipeline(&mut self, commands: &[Command]) {
        let mut source: Option<String> = None;
        for command in commands {
            let name = self.command(command);
            if let (Some(from), Some(into)) = (&source, &name)
                && INTERPRETERS.contains(&into.as_str())
                && FETCHERS.contains(&from.as_str())
            {
                self.opaque(
                    &format!("{from} | {into}"),
                    Destructive,
                    "runs what comes from elsewhere, unseen",
                );
            }
            source = source.filter(|from| FETCHERS.contains(&from.as_str())).or(name);
        }
    }

    /// Judges a command; returns the name of its program if that is known.
    fn command(&mut self, command: &Command) -> Option<String> {
        match command {
            Command::Simple(simple) => return self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.iter().flat_map(|list| &list.0));
            }
            Command::Function(function) => {
                self.defined.push(function.fname.value.clone());
                self.opaque(&format!("{}()", function.fname.value), Mutating, "defines a function");
                self.compound(&function.body.0);
                if calls_itself(&function.body.0, &function.fname.value) {
                    self.opaque(&function.fname.value, Destructive, "a function that starts itself");
                }
            }
            Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr);
                self.redirects(redirects.iter().flat_map(|list| &list.0));
            }
        }
        None
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(group) => self.list(&group.list),
            CompoundCommand::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    self.word(&value.value);
                }
                self.list(&clause.body.list);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts.into_iter().flatten().for_each(|part| self.arithmetic(&part.value));
                self.list(&clause.body.list);
            }
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr.value),
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                for item in &clause.cases {
                    item.patterns.iter().for_each(|pattern| drop(self.word(&pattern.value)));
                    item.cmd.iter().for_each(|list| self.list(list));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for part in clause.elses.iter().flatten() {
                    part.condition.iter().for_each(|list| self.list(list));
                    self.list(&part.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.command(&coprocess.body);
            }
        }
    }

    fn test(&mut self, expr: &ExtendedTestExpr) {
        match expr {
            ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
                self.test(a);
                self.test(b);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => drop(self.word(&word.value)),
            ExtendedTestExpr::BinaryTest(_, a, b) => {
                self.word(&a.value);
                self.word(&b.value);
            }
        }
    }

    fn arithmetic(&mut self, text: &str) {
        self.word(&format!("\"{}\"", text.replace('"', "\\\"")));
    }

    /// Reads a word and judges the substitutions in it.
    fn word(&mut self, raw: &str) -> Known {
        let mut nested = Vec::new();
        let known = words::read(raw, &mut |text| nested.push(text.to_owned()));
        for text in nested {
            self.nested(&text);
        }
        known.unwrap_or_else(|| {
            self.opaque(raw, Mutating, "a word that can't be parsed");
            Known::default()
        })
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Option<String> {
        let items = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let mut assigned = Vec::new();
        let mut redirects = Vec::new();
        for item in items {
            match item {
                Item::AssignmentWord(assignment, raw) => assigned.push((assignment, raw)),
                Item::IoRedirect(redirect) => redirects.push(redirect),
                Item::Word(_) | Item::ProcessSubstitution(..) => {}
            }
        }
        let mut words = Vec::new();
        let mut raw = Vec::new();
        if let Some(word) = &simple.word_or_name {
            words.push(self.word(&word.value));
            raw.push(word.value.clone());
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::Word(word) | Item::AssignmentWord(_, word) => {
                    words.push(self.word(&word.value));
                    raw.push(word.value.clone());
                }
                Item::IoRedirect(redirect) => redirects.push(redirect),
                Item::ProcessSubstitution(_, shell) => {
                    self.list(&shell.list);
                    words.push(Known::default());
                    raw.push("<(…)".to_owned());
                }
            }
        }
        for (assignment, raw) in assigned {
            self.assignment(&assignment.name, &assignment.value, &raw.value);
        }
        let name = self.words(&words, &raw.join(" "));
        if let Some(name) = &name
            && INTERPRETERS.contains(&name.as_str())
            && redirects
                .iter()
                .any(|redirect| matches!(redirect, IoRedirect::HereDocument(..) | IoRedirect::HereString(..)))
        {
            self.opaque(name, Destructive, "runs a program given on its input");
        }
        self.redirects(redirects);
        name
    }

    /// Judges a simple command by its words; returns the program's name if that is known.
    pub fn words(&mut self, words: &[Known], text: &str) -> Option<String> {
        let first = words.first()?;
        if !first.fixed || first.text.is_empty() {
            self.opaque(text, Mutating, "which program runs is known only when it runs");
            return None;
        }
        let name = first.text.rsplit('/').next().unwrap_or_default().to_owned();
        if self.defined.contains(&name) {
            self.opaque(text, Mutating, "runs a function or alias of the command's own");
            return Some(name);
        }
        if name == "alias" {
            let names = words.iter().skip(1).filter_map(|word| word.text.split_once('='));
            self.defined.extend(names.map(|(name, _)| name.to_owned()).collect::<Vec<_>>());
        }
        if let Some(inner) = wrappers::unwrap(&name, words) {
            self.wrapped(&name, inner, text);
            return Some(name);
        }
        let judged = programs::judge(&name, words.get(1..).unwrap_or_default());
        if judged.class != Safe {
            self.heads.push(judged.head);
        }
        self.part(text, judged.class, judged.reason);
        Some(name)
    }

    fn wrapped(&mut self, name: &str, inner: wrappers::Inner, text: &str) {
        match inner {
            wrappers::Inner::Words(words, least) => {
                if least > Safe {
                    self.opaque(text, least, &format!("runs under {name}"));
                }
                if words.is_empty() {
                    return self.part(text, Safe, format!("{name} alone changes nothing"));
                }
                let inner: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
                self.words(&words, &inner.join(" "));
            }
            wrappers::Inner::Text(script, least) => {
                if least > Safe {
                    self.opaque(text, least, &format!("{name} runs a text as a program"));
                }
                self.nested(&script);
            }
            wrappers::Inner::Unknown(class) => {
                self.opaque(text, class, &format!("what {name} runs is known only when it runs"));
            }
        }
    }

    fn assignment(&mut self, name: &AssignmentName, value: &AssignmentValue, raw: &str) {
        match value {
            AssignmentValue::Scalar(word) => drop(self.word(&word.value)),
            AssignmentValue::Array(items) => items.iter().for_each(|(_, word)| drop(self.word(&word.value))),
        }
        let (AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _)) = name;
        if is_loaded(name) {
            self.opaque(raw, Mutating, &format!("{name} changes which programs run"));
        }
    }

    fn redirects<'a>(&mut self, redirects: impl IntoIterator<Item = &'a IoRedirect>) {
        for redirect in redirects {
            match redirect {
                IoRedirect::File(_, kind, target) => self.file(kind, target),
                IoRedirect::OutputAndError(word, _) => self.output("&>", &word.value),
                IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                    self.word(&format!("\"{}\"", document.doc.value.replace('"', "\\\"")));
                }
                IoRedirect::HereDocument(..) => {}
                IoRedirect::HereString(_, word) => drop(self.word(&word.value)),
            }
        }
    }

    fn file(&mut self, kind: &Kind, target: &Target) {
        match target {
            Target::Filename(word) if matches!(kind, Kind::Read) => drop(self.word(&word.value)),
            Target::Filename(word) => {
                let sign = if matches!(kind, Kind::Append) { ">>" } else { ">" };
                self.output(sign, &word.value);
            }
            Target::Duplicate(word) => {
                let known = self.word(&word.value);
                if known.text.trim_end_matches('-').parse::<u32>().is_err() && known.text != "-" {
                    self.output(">&", &word.value);
                }
            }
            Target::ProcessSubstitution(_, shell) => self.list(&shell.list),
            Target::Fd(_) => {}
        }
    }

    fn output(&mut self, sign: &str, raw: &str) {
        let target = self.word(raw);
        let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
        if target.fixed && harmless.contains(&target.text.as_str()) {
            return;
        }
        let device = target.text.starts_with("/dev/") && !target.text.starts_with("/dev/null");
        let class = if device { Destructive } else { Mutating };
        self.opaque(&format!("{sign} {raw}"), class, "writes a file");
    }
}

fn is_loaded(name: &str) -> bool {
    LOADED.contains(&name)
        || ["LD_", "DYLD_", "GIT_", "PYTHON", "NODE_OPTIONS", "PERL5", "RUBYOPT"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether a function's body calls it: a fork bomb, or a recursion that can't be judged.
fn calls_itself(body: &CompoundCommand, name: &str) -> bool {
    let text = body.to_string();
    text.split(|c: char| c.is_whitespace() || matches!(c, '|' | '&' | ';' | '{' | '}'))
        .any(|word| word == name)
}
