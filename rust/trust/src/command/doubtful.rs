//! What one shell reads as an expression, and another as commands.
//!
//! Dash has neither `((…))` nor `[[ … ]]`: to it the first is a subshell in a subshell, the second a program
//! whose `||` and `;` separate commands as everywhere. So both are judged as commands too.

use koda_protocol::CommandClass::{Destructive, Mutating, Safe};
use koda_protocol::VerdictPart;

use super::syntax::{self, Piece, Word};
use super::walk::Judge;

impl Judge {
    /// Judges the inside of `((…))`.
    pub(super) fn arithmetic(&mut self, word: &Word) {
        self.word(word);
        let text = word.text.trim();
        let whole = is_expression(text);
        if !whole {
            self.opaque(text, Mutating, "is no arithmetic: some shells take it for subshells");
        }
        let parts = self.as_commands(text);
        let counts = |judge: &Self, part: &VerdictPart| {
            part.class == Destructive || !whole || judge.is_doubtful(&part.text)
        };
        let parts: Vec<VerdictPart> =
            parts.into_iter().filter(|part| part.class > Safe && counts(self, part)).collect();
        self.doubt(parts);
    }

    /// Judges `[[ … ]]`; `text` is the whole of it.
    pub(super) fn test(&mut self, words: &[Word], text: &str) {
        for word in words {
            self.word(word);
            self.evaluated(word);
        }
        // As words of some program, which ends with the first separator.
        let inside = text.strip_prefix("[[").unwrap_or(text);
        let parts = self.as_commands(&format!(": {inside}"));
        self.doubt(parts.into_iter().filter(|part| part.class == Destructive).collect());
    }

    /// A text in quotes that the shell evaluates once more, as in `[[ … -eq … ]]` and `let`.
    pub(super) fn evaluated(&mut self, word: &Word) {
        for piece in &word.pieces {
            if let Piece::Text { text, quoted: true } = piece {
                self.hidden(text);
            }
        }
    }

    /// Judges the substitutions in a text that is only data, but may be evaluated later.
    fn hidden(&mut self, text: &str) {
        if text.contains("$(") || text.contains('`') {
            self.vague = true;
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            self.text(&format!(": \"{text}\""));
            self.opaque(&text, Mutating, "a text with a command in it");
        }
    }

    /// Takes parts that only some shells would run.
    fn doubt(&mut self, parts: Vec<VerdictPart>) {
        for part in parts {
            self.opaque(
                &part.text,
                part.class,
                format!("in shells that take it for a command: {}", part.reason),
            );
        }
    }

    /// Whether a part of an expression is likelier a command: its first word may be a program's name, is no
    /// variable of the text, and no operator follows it.
    fn is_doubtful(&self, text: &str) -> bool {
        let text = text.trim_start_matches(['>', ' ', '\t']);
        let mut words = text.split_whitespace();
        let first = words.next().unwrap_or_default();
        let name = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
        let operand = |c: char| c.is_ascii_alphanumeric() || "_./-$'\"".contains(c);
        let variable =
            first.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        first.starts_with(|c: char| c.is_ascii_alphabetic() || "_./".contains(c))
            && first.chars().all(name)
            && !self.is_given(variable)
            && words.next().is_none_or(|next| next.len() > 1 && next.starts_with(operand))
    }
}

/// Whether a text may be arithmetic: between two operands there is an operator.
fn is_expression(text: &str) -> bool {
    let operand = |c: char| c.is_ascii_alphanumeric() || "_$`'\"".contains(c);
    let (mut ended, mut gap) = (false, false);
    for c in text.chars() {
        match c {
            ';' => return false,
            c if c.is_whitespace() => gap = true,
            c => {
                if ended && gap && operand(c) {
                    return false;
                }
                (ended, gap) = (operand(c) || ")]}".contains(c), false);
            }
        }
    }
    true
}

impl Judge {
    /// Judges a text as commands and returns the parts, without taking them. Nothing after a fault is looked at:
    /// no shell that reads it so gets there.
    fn as_commands(&mut self, text: &str) -> Vec<VerdictPart> {
        if self.is_deep() {
            self.opaque(text, Destructive, "nested too deep to be judged");
            return Vec::new();
        }
        let script = syntax::parse(text);
        self.aside(|judge| judge.list(&script.list))
    }
}
