//! The walk over the tree of a command.

use koda_protocol::CommandClass::{self, Destructive, Mutating, Safe};
use koda_protocol::VerdictPart;

use super::rules::{self, Found, Inner};
use super::syntax::{self, Assignment, Command, Kind, List, Piece, Script, Word};
use super::vars::Variables;
use super::words::{self, Arg, Origin};
use super::{Classified, Descent, Named, environment, hosts, programs};

/// Texts within texts (`sh -c`, `eval`) are not followed deeper.
const MAX_DEPTH: usize = 12;

/// Words that may stand before a command, in programs that are not known well.
const MAX_BEFORE: usize = 4;

/// Where programs of the system lie: only there a path means the program of that name.
const SYSTEM_FOLDERS: &[&str] =
    &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// What a command reads on its standard input.
#[derive(Clone, Debug, Default)]
pub enum Stdin {
    /// What the terminal gives: nobody types there.
    #[default]
    Terminal,
    /// What another command or a file gives.
    Unseen,
    /// This text.
    Text(Arg),
}

/// Collects the parts of a command while the walk goes over it.
#[derive(Default)]
pub struct Judge {
    parts: Vec<VerdictPart>,
    heads: Vec<String>,
    /// Whether something in it can't be described by a rule.
    pub(super) vague: bool,
    pub(super) paths: Vec<Named>,
    pub(super) hosts: Vec<String>,
    pub(super) mentions: Vec<String>,
    pub(super) globs: Vec<String>,
    pub(super) descents: Vec<Descent>,
    pub(super) revisions: Vec<String>,
    variables: Variables,
    /// The bodies of the present script's here-documents.
    bodies: Vec<Word>,
    stdin: Stdin,
    /// The folder that `cd` led to, relative to where it began; none if that is not known.
    pub(super) folder: Option<String>,
    depth: usize,
}

impl Judge {
    /// Builds a judge that stands in the folder where the command begins.
    pub fn new() -> Self {
        Self { folder: Some(String::new()), ..Self::default() }
    }

    /// Returns what was found.
    pub fn finish(mut self) -> Classified {
        if self.parts.is_empty() {
            self.part("", Safe, "nothing to run");
        }
        let class = self.parts.iter().map(|part| part.class).max().unwrap_or(Mutating);
        if self.vague || class == Destructive {
            self.heads.clear();
        }
        self.heads.sort();
        self.heads.dedup();
        let Self { parts, heads, paths, hosts, mentions, globs, descents, revisions, .. } = self;
        Classified { class, parts, heads, paths, hosts, mentions, globs, descents, revisions }
    }

    /// Notes a part.
    pub fn part(&mut self, text: &str, class: CommandClass, reason: impl Into<String>) {
        self.parts.push(VerdictPart { text: text.to_owned(), class, reason: reason.into() });
    }

    /// Notes a part that no rule can describe.
    pub fn opaque(&mut self, text: &str, class: CommandClass, reason: impl Into<String>) {
        self.vague = true;
        self.part(text, class, reason);
    }

    /// Judges a text that a shell would run.
    pub fn text(&mut self, text: &str) {
        if self.is_deep() {
            return self.opaque(text, Destructive, "nested too deep to be judged");
        }
        let mut script = syntax::parse(text);
        self.variables.collect(&script);
        let bodies = std::mem::replace(&mut self.bodies, std::mem::take(&mut script.bodies));
        self.depth += 1;
        self.list(&script.list);
        self.depth -= 1;
        self.bodies = bodies;
        self.fault(text, &script);
    }

    fn fault(&mut self, text: &str, script: &Script) {
        let Some(fault) = script.fault else { return };
        let mut names = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '_'));
        let (class, more) = match names.find(|name| rules::is_destroyer(name)) {
            Some(name) => (Destructive, format!(", and {name} is in it")),
            None => (Mutating, String::new()),
        };
        self.opaque(text, class, format!("it can't be parsed: line {}: {}{more}", fault.line, fault.why));
    }

    pub(super) fn list(&mut self, list: &List) {
        for pipeline in list {
            let alone = pipeline.commands.len() < 2;
            let outer = self.stdin.clone();
            for (at, command) in pipeline.commands.iter().enumerate() {
                if at > 0 {
                    self.stdin = Stdin::Unseen;
                }
                if alone { self.command(command) } else { self.apart(|judge| judge.command(command)) }
            }
            self.stdin = outer;
        }
    }

    /// Judges what runs in a shell of its own: its folder is not ours.
    fn apart(&mut self, inner: impl FnOnce(&mut Self)) {
        let (folder, stdin) = (self.folder.clone(), self.stdin.clone());
        inner(self);
        self.folder = folder;
        self.stdin = stdin;
    }

    fn command(&mut self, command: &Command) {
        let outer = self.stdin.clone();
        for redirect in &command.redirects {
            self.input(redirect);
        }
        match &command.kind {
            Kind::Simple { assigned, words } => self.simple(&command.text, assigned, words),
            Kind::Subshell(list) => self.apart(|judge| judge.list(list)),
            Kind::Group(lists) => self.maybe(|judge| lists.iter().for_each(|list| judge.list(list))),
            Kind::For { name, values, body } => {
                self.variable(name, &Arg::unseen(), &command.text);
                values.iter().for_each(|value| self.word(value));
                let values: Vec<Arg> = values.iter().flat_map(|value| self.expand(value)).collect();
                self.mention(&values);
                self.maybe(|judge| judge.list(body));
            }
            Kind::Counting { head, body } => {
                self.word(head);
                self.maybe(|judge| judge.list(body));
            }
            Kind::Case { words, arms } => {
                words.iter().for_each(|word| self.word(word));
                self.maybe(|judge| arms.iter().for_each(|list| judge.list(list)));
            }
            Kind::Function { name, body } => self.function(name, body),
            Kind::Arithmetic(word) => self.arithmetic(word),
            Kind::Test(words) => self.test(words, &command.text),
        }
        self.redirects(&command.redirects);
        self.stdin = outer;
    }

    /// Judges what may run or not: where it leads to, nobody knows after it.
    fn maybe(&mut self, inner: impl FnOnce(&mut Self)) {
        let folder = self.folder.clone();
        inner(self);
        if self.folder != folder {
            self.folder = None;
        }
    }

    fn function(&mut self, name: &str, body: &Command) {
        let first = self.parts.len();
        self.opaque(&format!("{name}()"), Mutating, "defines a function");
        self.maybe(|judge| judge.command(body));
        let calls = self
            .parts
            .iter()
            .skip(first + 1)
            .filter(|part| part.text.split_whitespace().next() == Some(name));
        if calls.count() > 0 {
            self.opaque(name, Destructive, "a function that starts itself");
        }
    }

    /// Judges the commands in a word.
    pub(super) fn word(&mut self, word: &Word) {
        self.pieces(&word.pieces, &word.text);
    }

    fn pieces(&mut self, pieces: &[Piece], text: &str) {
        for piece in pieces {
            match piece {
                Piece::Text { .. } => {}
                Piece::Pattern(inner) => {
                    self.opaque(text, Mutating, "a pattern that some shells take for a command");
                    self.pieces(inner, text);
                }
                Piece::Arithmetic(inner) => self.pieces(inner, text),
                Piece::Command { list, .. } | Piece::Process(list) => self.apart(|judge| judge.list(list)),
                Piece::Variable { name, rest, .. } => {
                    let Some(rest) = rest else { continue };
                    self.word(rest);
                    if rest.text.trim_start_matches(':').starts_with('=') {
                        self.variable(name, &Arg::unseen(), text);
                    }
                    if rest.text.starts_with("@P") || rest.text.ends_with("@P") {
                        self.opaque(
                            text,
                            Mutating,
                            "expands a variable as a prompt, which runs what is in it",
                        );
                    }
                }
            }
        }
    }

    fn simple(&mut self, text: &str, assigned: &[Assignment], words: &[Word]) {
        for assignment in assigned {
            self.assignment(assignment);
        }
        let args: Vec<Arg> = words.iter().flat_map(|word| words::expand(word, &self.variables)).collect();
        self.run(&args, text);
        for word in words {
            self.word(word);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        for value in &assignment.values {
            let args = words::expand(value, &Variables::default());
            self.variable(&assignment.name, &Arg::joined(&args), &assignment.text);
            self.word(value);
            self.evaluated(value);
        }
    }

    /// Notes a variable that changes what runs.
    pub(super) fn variable(&mut self, name: &str, value: &Arg, text: &str) {
        if environment::changes_what_runs(name, value) {
            self.opaque(text, Mutating, format!("{name} changes which programs run, or what they load"));
        }
    }

    /// Judges a simple command by its words.
    pub fn run(&mut self, args: &[Arg], text: &str) {
        let Some((program, rest)) = args.split_first() else { return };
        if self.is_deep() {
            return self.opaque(text, Destructive, "nested too deep to be judged");
        }
        if !program.fixed() || program.text.is_empty() {
            return self.unknown(program, rest, text);
        }
        if self.variables.defined.contains(&program.text) {
            self.opaque(text, Mutating, "runs a function or alias of the command's own");
            return self.perhaps(rest);
        }
        self.mention(args);
        let (folder, name) = program.text.rsplit_once('/').unwrap_or(("", &program.text));
        // `=rm` is the path of `rm` in zsh.
        let name = name.trim_start_matches('=');
        let mut found = programs::judge(name, rest, &self.stdin);
        self.descents(&found, rest, &self.stdin.clone());
        if program.text.contains('/') && !SYSTEM_FOLDERS.contains(&folder) {
            found.raise(Mutating, format!("lies in {folder}, so it may be any program"));
        }
        if program.origin != Origin::Text {
            found.raise(Mutating, format!("is known only from {}", program.source));
        }
        if let Some(place) = programs::changed_folder(name, rest) {
            self.folder = place.and_then(|place| super::joined(self.folder.as_deref(), &place));
        }
        self.note(found, text);
    }

    fn note(&mut self, found: Found, text: &str) {
        hosts::add(&found, &mut self.hosts);
        let class = self.named(&found).max(found.class);
        if found.vague && class > Safe {
            self.vague = true;
        } else if class > Safe && found.inner.is_empty() {
            self.heads.push(found.head.clone());
        }
        if class > Safe || found.inner.iter().all(|inner| matches!(inner, Inner::Perhaps(_))) {
            let reason = if class > found.class { "writes to a device" } else { found.reason.as_str() };
            self.part(text, class, reason);
        }
        self.depth += 1;
        for inner in found.inner {
            match inner {
                Inner::Words(words, assigned) => self.inner_words(&words, &assigned),
                Inner::Text(script) => self.inner_text(&script, text),
                Inner::Perhaps(words) => self.perhaps(&words),
            }
        }
        self.depth -= 1;
    }

    fn inner_words(&mut self, words: &[Arg], assigned: &[Arg]) {
        for arg in assigned {
            let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
            let value = if arg.fixed() { Arg::known(value) } else { Arg::unseen() };
            self.variable(name, &value, &arg.source);
        }
        let text: Vec<&str> = words.iter().map(|word| word.source.as_str()).collect();
        self.run(words, &text.join(" "));
    }

    fn inner_text(&mut self, script: &Arg, text: &str) {
        if script.fixed() {
            return self.text(&script.text);
        }
        self.opaque(
            text,
            Destructive,
            format!("runs {} as a command, which is known only then", script.source),
        );
    }

    /// Judges words that may be a command: only what destroys counts.
    fn perhaps(&mut self, words: &[Arg]) {
        let parts = self.aside(|judge| {
            let after = words.iter().position(|word| word.is("--")).map(|at| at + 1);
            for begin in (0..words.len().min(MAX_BEFORE)).chain(after.filter(|at| *at >= MAX_BEFORE)) {
                let words = words.get(begin..).unwrap_or_default();
                if words.first().is_some_and(Arg::fixed) {
                    judge.apart(|judge| judge.inner_words(words, &[]));
                }
            }
            for word in words.iter().filter(|word| word.fixed() && word.text.contains(char::is_whitespace)) {
                judge.apart(|judge| judge.text(&word.text));
            }
        });
        self.parts.extend(parts.into_iter().filter(|part| part.class == Destructive));
    }

    /// Judges something that may not run at all: its parts are returned, not taken.
    pub(super) fn aside(&mut self, inner: impl FnOnce(&mut Self)) -> Vec<VerdictPart> {
        let (first, vague, heads) = (self.parts.len(), self.vague, self.heads.len());
        self.depth += 1;
        self.apart(inner);
        self.depth -= 1;
        self.heads.truncate(heads);
        self.vague = vague;
        self.parts.split_off(first)
    }

    /// A program that is known only when it runs.
    fn unknown(&mut self, program: &Arg, rest: &[Arg], text: &str) {
        let class = match program.origin {
            Origin::Command | Origin::Pattern => Destructive,
            Origin::Text | Origin::Variable(_) => Mutating,
        };
        self.opaque(text, class, format!("which program {} is, is known only when it runs", program.source));
        if let Origin::Variable(name) = &program.origin {
            let values: Vec<Vec<String>> = self.variables.known(name).map(<[String]>::to_vec).collect();
            for value in values {
                let fields = value.iter().flat_map(|text| text.split_whitespace()).map(Arg::known);
                let words: Vec<Arg> = fields.chain(rest.iter().cloned()).collect();
                self.depth += 1;
                self.perhaps(&words);
                self.depth -= 1;
            }
            // An empty variable leaves the rest as the command.
            self.depth += 1;
            self.perhaps(rest);
            self.depth -= 1;
        }
    }

    pub(super) fn is_deep(&self) -> bool {
        self.depth >= MAX_DEPTH
    }

    pub(super) fn is_given(&self, name: &str) -> bool {
        self.variables.is_given(name)
    }

    pub(super) fn expand(&self, word: &Word) -> Vec<Arg> {
        words::expand(word, &self.variables)
    }

    pub(super) fn body(&self, at: usize) -> Option<Word> {
        self.bodies.get(at).cloned()
    }

    pub(super) fn set_stdin(&mut self, stdin: Stdin) {
        self.stdin = stdin;
    }
}
