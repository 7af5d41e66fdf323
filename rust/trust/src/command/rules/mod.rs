//! What each program does with which arguments, as data.
//!
//! The tables are the `.rules` files beside this one, one line a fact, two blanks of indentation a level:
//!
//! ```text
//! sort: safe only prints                           # names, class without anything below, reason
//!   values -k -t --key                             # options that take the next word as their value
//!   plain --check                                  # options that are known and change nothing
//!   glued -I                                       # short options whose value is only in the same word
//!   flag mutating --compress-program: runs …       # an option that changes the class
//!   path mutating -o --output: writes a file       # the same; its value is a path that is written
//!   text mutating -x --exec: runs its value        # the same; its value is a shell text, judged too
//!   executes -exec -ok                             # what follows, up to `;` or `+`, is a command
//!   when safe -l --list: only lists                # an option that replaces the class, before the rest
//!   operands 1 mutating writes its second file     # what more operands than these do
//!   asks -l --list                                 # options with which operands are harmless
//!   paths write | copy                             # operands are written; or all but the last are read
//!   single                                         # long options have one dash
//!   through                                        # options count after `--` too
//!   runs 1 [text] [more] [assignments]             # after one operand, the rest is a command
//!   global …                                       # before flag, path, text, values: also after subcommands
//!   vague                                          # no rule may be offered: it runs what it is given
//!   perhaps                                        # its words may be a command, or texts of one
//!   descends -r --recursive                        # reads all below its operands, if given these options, if any
//!   bare safe prints its help                      # without a subcommand
//!   sub status log: safe only reads                # subcommands, with lines of their own below
//!   try mutating: sort -o out in                   # an example, which the tests hold it to
//! ```
//!
//! A program that is not listed is mutating.

mod judge;
mod parse;

use std::collections::HashMap;
use std::sync::OnceLock;

use koda_protocol::CommandClass;

pub use judge::{Found, Inner, judge};

/// The tables, by what they are about.
const SOURCES: &[&str] = &[
    include_str!("reading.rules"),
    include_str!("files.rules"),
    include_str!("system.rules"),
    include_str!("shell.rules"),
    include_str!("wrappers.rules"),
    include_str!("git.rules"),
    include_str!("forge.rules"),
    include_str!("build.rules"),
    include_str!("checks.rules"),
    include_str!("packages.rules"),
    include_str!("services.rules"),
    include_str!("scripts.rules"),
];

/// Which operands are paths that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// None.
    #[default]
    Read,
    /// All.
    Write,
    /// The last of several.
    Copy,
}

/// What an option's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing to us, or there is none.
    Any,
    /// A path that is written.
    Path,
    /// A shell text that is run.
    Text,
}

/// Options that change a class.
#[derive(Clone, Debug)]
pub struct Flag {
    names: Vec<&'static str>,
    class: CommandClass,
    reason: &'static str,
    value: Value,
}

/// How a wrapper takes the command that it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Runs {
    /// Operands before the command.
    after: usize,
    /// The words are joined and given to a shell.
    text: bool,
    /// Arguments that nobody sees are added.
    more: bool,
    /// `NAME=value` words may stand before it.
    assignments: bool,
}

/// The rule of a program or subcommand.
#[derive(Clone, Debug)]
pub struct Rule {
    names: Vec<&'static str>,
    class: CommandClass,
    reason: &'static str,
    values: Vec<&'static str>,
    plain: Vec<&'static str>,
    glued: Vec<&'static str>,
    flags: Vec<Flag>,
    when: Vec<Flag>,
    executes: Vec<&'static str>,
    operands: Option<(usize, CommandClass, &'static str)>,
    asks: Vec<&'static str>,
    paths: Paths,
    single: bool,
    through: bool,
    runs: Option<Runs>,
    vague: bool,
    perhaps: bool,
    descends: Option<Vec<&'static str>>,
    bare: Option<(CommandClass, &'static str)>,
    subs: Vec<Rule>,
    global_flags: Vec<Flag>,
    global_values: Vec<&'static str>,
}

#[derive(Default)]
struct Table {
    rules: Vec<Rule>,
    by_name: HashMap<&'static str, usize>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table::default();
        for source in SOURCES {
            // A table with a mistake counts as empty: its programs are then mutating. A test holds that none has.
            for rule in parse::parse(source).map(|parsed| parsed.rules).unwrap_or_default() {
                for name in &rule.names {
                    table.by_name.insert(name, table.rules.len());
                }
                table.rules.push(rule);
            }
        }
        table
    })
}

/// Finds the rule of a program.
pub fn find(name: &str) -> Option<&'static Rule> {
    let table = table();
    table.by_name.get(name).and_then(|at| table.rules.get(*at))
}

/// Whether a program destroys whatever its arguments are: for texts that can't be parsed.
pub fn is_destroyer(name: &str) -> bool {
    name.starts_with("mkfs") || find(name).is_some_and(|rule| rule.class == CommandClass::Destructive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_well_formed_and_their_examples_come_out_right() {
        let mut wrong = Vec::new();
        for source in SOURCES {
            let parsed = parse::parse(source).unwrap();
            for (class, text) in parsed.examples {
                let got = crate::command::classify(text);
                if got.class != class {
                    wrong.push(format!("{text}: {:?} instead of {class:?}: {:?}", got.class, got.parts));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn no_program_has_two_rules() {
        let mut seen = HashMap::new();
        for rule in &table().rules {
            for name in &rule.names {
                assert!(seen.insert(name, ()).is_none(), "{name} has two rules");
            }
        }
    }
}
