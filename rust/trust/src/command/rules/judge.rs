//! Judging arguments by a rule.

use koda_protocol::CommandClass::{self, Mutating, Safe};

use super::{Flag, Paths, Rule, Runs, Value};
use crate::command::words::Arg;

/// What a program was found to do.
#[derive(Debug)]
pub struct Found {
    /// Its class, without what it runs.
    pub class: CommandClass,
    /// Why.
    pub reason: String,
    /// Program and subcommands, for rules.
    pub head: String,
    /// Whether it runs what it is given, so that no rule may be offered.
    pub vague: bool,
    /// What it runs.
    pub inner: Vec<Inner>,
    /// Paths, and whether they are written.
    pub paths: Vec<(Arg, bool)>,
    /// Whether it reads all that lies below its operands.
    pub descends: bool,
    /// Its operands, without subcommands.
    pub operands: Vec<Arg>,
}

/// What a program runs.
#[derive(Clone, Debug)]
pub enum Inner {
    /// A command of these words, after these `NAME=value`.
    Words(Vec<Arg>, Vec<Arg>),
    /// A shell text.
    Text(Arg),
    /// Words that may have a command in them.
    Perhaps(Vec<Arg>),
}

impl Found {
    /// Raises the class, with a reason that goes after the program's name.
    pub fn raise(&mut self, class: CommandClass, reason: impl AsRef<str>) {
        if class > self.class {
            self.class = class;
            self.reason = format!("{} {}", self.head, reason.as_ref());
        }
    }
}

/// Judges a program's arguments.
pub fn judge(name: &str, rule: &'static Rule, args: &[Arg]) -> Found {
    let found = Found {
        class: Safe,
        reason: String::new(),
        head: name.to_owned(),
        vague: false,
        inner: Vec::new(),
        paths: Vec::new(),
        descends: false,
        operands: Vec::new(),
    };
    let mut judging = Judging { found, flags: Vec::new(), values: Vec::new(), stray: false };
    if only_asks_for_help(rule, args) {
        judging.settle(Safe, "only prints its help or version");
    } else {
        judging.level(rule, args);
    }
    judging.found
}

fn only_asks_for_help(rule: &Rule, args: &[Arg]) -> bool {
    let asks = |arg: &Arg| arg.is("--help") || arg.is("--version");
    match args {
        [only] => asks(only),
        [sub, last] => asks(last) && sub.fixed() && rule.subs.iter().any(|rule| rule.has(&sub.text)),
        _ => false,
    }
}

impl Rule {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

struct Judging {
    found: Found,
    /// Flags and options with values of the outer levels, which count below them too.
    flags: Vec<&'static Flag>,
    values: Vec<&'static str>,
    /// Whether an option was met that is not known: it may have taken the next word.
    stray: bool,
}

/// One level: a program, or a subcommand.
struct Level {
    rule: &'static Rule,
    base: (CommandClass, &'static str),
    /// Whether operands are harmless.
    asked: bool,
    /// Whether an option replaced the class.
    replaced: bool,
}

impl Judging {
    fn level(&mut self, rule: &'static Rule, args: &[Arg]) {
        self.flags.extend(&rule.global_flags);
        self.values.extend(&rule.global_values);
        self.found.vague |= rule.vague;
        self.found.descends |= rule.descends.as_ref().is_some_and(Vec::is_empty);
        if rule.perhaps {
            self.found.inner.push(Inner::Perhaps(args.to_vec()));
        }
        let mut level = Level { rule, base: (rule.class, rule.reason), asked: false, replaced: false };
        let mut assigned = Vec::new();
        let (mut at, mut ended) = (0, false);
        while let Some(arg) = args.get(at) {
            at += 1;
            if !ended && arg.is("--") {
                ended = !rule.through;
                continue;
            }
            if !ended && arg.looks_like_option() && !arg.may_be_option() {
                at = self.option(&mut level, args, at - 1);
                continue;
            }
            self.unresolved(rule, arg, ended);
            if let Some(runs) =
                rule.runs.filter(|runs| !level.replaced && self.found.operands.len() >= runs.after)
            {
                if runs.assignments && arg.looks_like_assignment() {
                    assigned.push(arg.clone());
                    continue;
                }
                self.runs(runs, args.get(at - 1..).unwrap_or_default(), assigned);
                break;
            }
            if self.found.operands.is_empty()
                && let Some(sub) = self.sub(&level, arg)
            {
                return self.level(sub, args.get(at..).unwrap_or_default());
            }
            self.found.operands.push(arg.clone());
        }
        self.end(&level);
    }

    /// A word that is known only when it runs may be an option, or several words.
    fn unresolved(&mut self, rule: &Rule, arg: &Arg, ended: bool) {
        let has_options = !(rule.flags.is_empty() && rule.executes.is_empty() && self.flags.is_empty());
        let option = !ended && has_options && arg.may_be_option();
        if option || (arg.may_be_several() && rule.operands.is_some()) {
            self.found.raise(Mutating, format!("with {}, which may be an option", arg.source));
        }
    }

    /// Finds the subcommand that an operand names.
    fn sub(&mut self, level: &Level, arg: &Arg) -> Option<&'static Rule> {
        if level.rule.subs.is_empty() {
            return None;
        }
        if !arg.fixed() {
            self.found.raise(Mutating, "runs a subcommand that is known only then");
            return None;
        }
        let sub = level.rule.subs.iter().find(|sub| sub.has(&arg.text));
        if sub.is_some() || level.rule.class > Safe {
            self.found.head = format!("{} {}", self.found.head, arg.text);
        }
        sub
    }

    fn end(&mut self, level: &Level) {
        let rule = level.rule;
        let count = self.found.operands.len();
        if let Some((most, class, reason)) = rule.operands
            && count > most
            && !level.asked
        {
            self.found.raise(class, reason);
        }
        let bare = rule.bare.filter(|_| count == 0 && !level.replaced);
        let (class, reason) = bare.unwrap_or(level.base);
        self.settle(class, reason);
        // A word that may turn out to be none leaves the one before as the last.
        let vague = self.found.operands.last().is_some_and(Arg::may_be_several);
        for (at, operand) in self.found.operands.iter().enumerate() {
            let last = count > 1 && (at == count - 1 || vague && at == count - 2 && at > 0);
            let write = rule.paths == Paths::Write || (rule.paths == Paths::Copy && last);
            self.found.paths.push((operand.clone(), write));
        }
    }

    /// Sets the class of the level that was reached, unless something met on the way is worse.
    fn settle(&mut self, class: CommandClass, reason: &str) {
        if class > self.found.class || self.found.reason.is_empty() {
            self.found.class = class.max(self.found.class);
            self.found.reason = format!("{} {reason}", self.found.head);
        }
    }

    fn runs(&mut self, runs: Runs, rest: &[Arg], assigned: Vec<Arg>) {
        if self.stray {
            self.found.inner.push(Inner::Perhaps(rest.to_vec()));
        }
        if runs.text {
            self.found.inner.push(Inner::Text(Arg::joined(rest)));
            return;
        }
        let mut words = rest.to_vec();
        if runs.more {
            words.push(Arg::unseen());
        }
        self.found.inner.push(Inner::Words(words, assigned));
    }

    /// Judges the option at `at`; returns where to go on.
    fn option(&mut self, level: &mut Level, args: &[Arg], at: usize) -> usize {
        let Some(arg) = args.get(at) else { return at + 1 };
        let text = arg.text.as_str();
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let name = if level.rule.single { name.trim_start_matches('-') } else { name };
        let same = |known: &str| {
            if level.rule.single { known.trim_start_matches('-') == name } else { known == name }
        };
        if level.rule.executes.iter().any(|known| same(known)) {
            let attached = attached.map(|value| arg.after(text.len() - value.len()));
            return self.executes(attached, args, at + 1);
        }
        let long = text.starts_with("--") || level.rule.single;
        let known = level.rule.values.iter().chain(&self.values).any(|known| same(known));
        let plain = level.rule.plain.iter().any(|known| same(known));
        let exact = self.find_flag(level.rule, &same);
        let flag = exact.or_else(|| {
            let begins =
                |known: &str| long && !level.rule.single && name.len() > 2 && known.starts_with(name);
            if known || plain { None } else { self.find_flag(level.rule, &begins) }
        });
        self.ask(level, &same);
        if let Some(flag) = flag {
            let takes_next = known && flag.value == Value::Any && attached.is_none();
            let attached = attached.map(|value| arg.after(text.len() - value.len()));
            return self.flag(flag, arg, attached, args, at + 1) + usize::from(takes_next);
        }
        if known {
            return at + if attached.is_some() { 1 } else { 2 };
        }
        if long {
            self.stray |= !plain;
            return at + 1;
        }
        self.cluster(level, args, at)
    }

    fn ask(&mut self, level: &mut Level, same: &dyn Fn(&str) -> bool) {
        level.ask(same);
        self.found.descends |= level.rule.descends.iter().flatten().any(|known| same(known));
    }

    fn find_flag(&self, rule: &'static Rule, fits: &dyn Fn(&str) -> bool) -> Option<&'static Flag> {
        let all = rule.flags.iter().chain(self.flags.iter().copied());
        all.filter(|flag| flag.names.iter().any(|name| fits(name))).max_by_key(|flag| flag.class)
    }

    /// Short options in one word.
    fn cluster(&mut self, level: &mut Level, args: &[Arg], at: usize) -> usize {
        let Some(arg) = args.get(at) else { return at + 1 };
        let mut letters = arg.text.char_indices().skip(1).peekable();
        let mut flagged = false;
        while let Some((begin, letter)) = letters.next() {
            let short = format!("-{letter}");
            let same = |known: &str| known == short;
            let end = begin + letter.len_utf8();
            self.ask(level, &same);
            if level.rule.executes.iter().any(|known| same(known)) {
                return self.executes(letters.peek().map(|_| arg.after(end)), args, at + 1);
            }
            if level.rule.glued.iter().any(|known| same(known)) {
                return at + 1;
            }
            let known = level.rule.values.iter().chain(&self.values).any(|known| same(known));
            if let Some(flag) = self.find_flag(level.rule, &same) {
                if flag.value != Value::Any {
                    let attached = letters.peek().map(|_| arg.after(end));
                    return self.flag(flag, arg, attached, args, at + 1);
                }
                self.flag(flag, arg, None, args, at + 1);
                if known && letters.peek().is_none() {
                    return at + 2;
                }
                flagged = true;
            } else if flagged {
                // What follows may be the value of the option before.
            } else if known {
                return at + if letters.peek().is_some() { 1 } else { 2 };
            } else {
                self.stray |= !level.rule.plain.iter().any(|known| same(known));
            }
        }
        at + 1
    }

    /// Takes a flag; `attached` is the value in its own word, and `next` the place after it.
    fn flag(&mut self, flag: &Flag, arg: &Arg, attached: Option<Arg>, args: &[Arg], next: usize) -> usize {
        self.found.raise(flag.class, format!("{}: {}", arg.source, flag.reason));
        if flag.value == Value::Any {
            return next;
        }
        let in_next = attached.is_none();
        if let Some(value) = attached.or_else(|| args.get(next).cloned()) {
            if flag.value == Value::Path {
                self.found.paths.push((value, true));
            } else {
                self.found.inner.push(Inner::Text(value));
            }
        }
        next + usize::from(in_next)
    }

    /// The command after `-exec`, up to its end.
    fn executes(&mut self, attached: Option<Arg>, args: &[Arg], begin: usize) -> usize {
        let rest = args.get(begin..).unwrap_or_default();
        let length = rest.iter().position(|arg| arg.is(";") || arg.is("+")).unwrap_or(rest.len());
        let mut words: Vec<Arg> = attached.iter().chain(rest.iter().take(length)).cloned().collect();
        // Some add the path where no `{}` stands.
        if !words.iter().any(|word| word.text.contains("{}")) {
            words.push(Arg::perhaps_path());
        }
        for word in words.iter_mut().filter(|word| word.text.contains("{}")) {
            *word = word.clone().with_path("{}");
        }
        self.found.inner.push(Inner::Words(words, Vec::new()));
        begin + length + 1
    }
}

impl Level {
    /// Notes an option that makes operands harmless, or that replaces the class.
    fn ask(&mut self, same: &dyn Fn(&str) -> bool) {
        self.asked |= self.rule.asks.iter().any(|known| same(known));
        if let Some(when) = self.rule.when.iter().find(|flag| flag.names.iter().any(|name| same(name))) {
            self.base = (when.class, when.reason);
            self.replaced = true;
        }
    }
}
