//! Classes of shell commands, by bash's own grammar.
//!
//! The text is parsed, each simple command in the tree is judged by its program and arguments (see
//! [`programs`]), and the worst part wins. What can't be parsed, and what would be known only when it
//! runs (a program named by a variable), is never safe.

mod programs;
mod walk;
mod words;
mod wrappers;

use koda_protocol::{CommandClass, VerdictPart};

/// Longer texts are not parsed: judging must stay cheap, and nobody reads them before accepting.
const MAX_BYTES: usize = 100 * 1024;

/// Deeper nesting is not followed. The parser recurses, so the nesting is bounded before it runs.
const MAX_DEPTH: usize = 24;

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
}

/// Judges a command by its text.
pub fn classify(text: &str) -> Classified {
    let mut judge = walk::Judge::default();
    if text.trim().is_empty() {
        judge.part(text, CommandClass::Safe, "nothing to run");
    } else if text.len() > MAX_BYTES || nesting(text) > MAX_DEPTH {
        judge.opaque(text, CommandClass::Mutating, "too long or too deep to be judged");
    } else {
        judge.program(text, 0);
    }
    judge.finish()
}

/// How deep brackets and quotes can nest at most, counted without understanding them.
fn nesting(text: &str) -> usize {
    let opening = text.bytes().filter(|byte| matches!(byte, b'(' | b'{' | b'`')).count();
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    opening.min(MAX_DEPTH * 4) / 2 + words.filter(|word| matches!(*word, "if" | "case" | "do")).count() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of commands with their right classes: `a|b` means that either is right.
    const CASES: &str = include_str!("../../tests/commands.tsv");

    fn name(class: CommandClass) -> &'static str {
        match class {
            CommandClass::Safe => "safe",
            CommandClass::Mutating => "mutating",
            CommandClass::Destructive => "destructive",
        }
    }

    #[test]
    fn the_table_comes_out_right() {
        let mut wrong = Vec::new();
        for line in CASES.lines().filter(|line| !line.starts_with("# ")) {
            let (command, right) = line.rsplit_once('\t').unwrap();
            let got = classify(&command.replace("\\n", "\n"));
            if !right.split('|').any(|class| class == name(got.class)) {
                wrong.push(format!("{command}: {} instead of {right}: {:?}", name(got.class), got.parts));
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn parts_say_why() {
        let got = classify("cargo test && rm -rf target > log");
        let parts: Vec<_> = got.parts.iter().map(|part| (part.text.as_str(), part.class)).collect();
        let right = [
            ("cargo test", CommandClass::Safe),
            ("rm -rf target", CommandClass::Destructive),
            ("> log", CommandClass::Mutating),
        ];
        assert_eq!(parts, right);
        assert!(got.parts.iter().all(|part| !part.reason.is_empty()));
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = format!("{}rm x{}", "$(".repeat(5000), ")".repeat(5000));
        assert_eq!(classify(&deep).class, CommandClass::Mutating);
        let long = format!("echo {}", "x".repeat(MAX_BYTES));
        assert_eq!(classify(&long).class, CommandClass::Mutating);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ -~\n]{0,80}") {
            classify(&text);
        }

        #[test]
        fn shell_like_text_neither(text in "(if|then|fi|do|done|case|esac|in|\\$\\(|\\)|\\{|\\}|;|&|\\||<<|>|\"|'|`|\\$\\{|x|rm| |\n){0,40}") {
            classify(&text);
        }
    }
}
