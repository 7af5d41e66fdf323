//! Classes of shell commands.
//!
//! The text is parsed by the shell's [grammar](syntax), each simple command in the tree is judged by its
//! program and arguments (the tables in [rules], and [programs] for what no table can say), through the
//! programs that run others, and the worst part wins. What can't be parsed, and what would be known only
//! when it runs (a program named by a variable), is never safe.

mod doubtful;
mod environment;
mod hosts;
mod programs;
mod reach;
mod redirect;
mod rules;
mod syntax;
mod vars;
mod walk;
mod words;

use koda_protocol::{CommandClass, VerdictPart};

/// Longer texts are not parsed: judging must stay cheap, and nobody reads them before accepting.
const MAX_BYTES: usize = 200 * 1024;

/// Signs of commands that go on with the names that others tell.
const FEEDING: &[&str] = &["xargs", "parallel", "read", "mapfile", "$(", "`", "-from", "-T"];

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The class of its worst part.
    pub class: CommandClass,
    /// Its simple commands and redirections in the order of the text; never empty.
    pub parts: Vec<VerdictPart>,
    /// For each simple command that is not safe: program and subcommand, for rules. Empty where a rule
    /// could not tell what it allows.
    pub heads: Vec<String>,
    /// The paths that it names, as far as they are known before it runs.
    pub paths: Vec<Named>,
    /// The hosts that it names.
    pub hosts: Vec<String>,
    /// Words that may be names of files, wherever they stand, like paths.
    pub mentions: Vec<String>,
    /// Patterns of names, of which the shell makes the paths that fit.
    pub globs: Vec<String>,
    /// Folders that it goes through.
    pub descents: Vec<Descent>,
    /// Paths in a revision of the repository, from the repository's root or, with `./`, like paths.
    pub revisions: Vec<String>,
}

/// A folder, or a file, of which a command reads all that is below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descent {
    /// Where, like paths; empty where the command begins.
    pub folder: String,
    /// Whether only names are told, and not what is in the files.
    pub lists: bool,
    /// Whether what Git ignores and hidden files are left out.
    pub tidy: bool,
    /// Patterns of names that files must have, if there are any.
    pub include: Vec<String>,
    /// Patterns of names that are left out.
    pub exclude: Vec<String>,
}

/// A path in a command: relative to the folder where the command begins, absolute, or below `~`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The path.
    pub text: String,
    /// Whether it is written, created or removed.
    pub write: bool,
}

/// Judges a command by its text.
pub fn classify(text: &str) -> Classified {
    let mut judge = walk::Judge::new();
    if text.len() > MAX_BYTES {
        judge.opaque(&start(text), CommandClass::Mutating, "it can't be parsed: it is too long to be judged");
    } else if text.contains('\0') {
        judge.opaque(&start(text), CommandClass::Mutating, "it can't be parsed: it has a NUL character");
    } else {
        judge.text(text);
    }
    let mut classified = judge.finish();
    if FEEDING.iter().any(|sign| text.contains(sign)) {
        classified.descents.iter_mut().for_each(|descent| descent.lists = false);
    }
    classified
}

fn start(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Joins a path to the folder that it is relative to; none if that folder is not known.
fn joined(folder: Option<&str>, path: &str) -> Option<String> {
    match folder {
        _ if path.starts_with(['/', '~']) => Some(path.to_owned()),
        Some("") => Some(path.to_owned()),
        Some(folder) => Some(format!("{}/{path}", folder.trim_end_matches('/'))),
        None => None,
    }
}
