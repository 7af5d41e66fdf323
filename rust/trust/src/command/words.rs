//! What a word says before it runs.

use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use super::walk::options;

/// A word as far as it is known before the command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The text, expansions left out.
    pub text: String,
    /// Whether the text is all there is: no variable, substitution or pattern.
    pub fixed: bool,
}

/// Reads a word; hands each command substitution in it to `nested`.
///
/// None if the word can't be parsed.
pub fn read(raw: &str, nested: &mut dyn FnMut(&str)) -> Option<Known> {
    let pieces = word::parse(raw, &options()).ok()?;
    let mut known = Known { text: String::new(), fixed: true };
    add(&pieces, raw, &mut known, nested);
    Some(known)
}

fn add(pieces: &[WordPieceWithSource], raw: &str, known: &mut Known, nested: &mut dyn FnMut(&str)) {
    for piece in pieces {
        match &piece.piece {
            WordPiece::Text(text) => {
                let bracket = text.contains('[') && text.contains(']');
                known.fixed &= !bracket && !text.contains(['*', '?', '{']);
                known.text.push_str(text);
            }
            WordPiece::SingleQuotedText(text) => known.text.push_str(text),
            WordPiece::AnsiCQuotedText(text) => {
                known.fixed &= !text.contains('\\');
                known.text.push_str(text);
            }
            WordPiece::EscapeSequence(text) => known.text.push_str(text.strip_prefix('\\').unwrap_or(text)),
            WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                add(inner, raw, known, nested);
            }
            WordPiece::CommandSubstitution(text) => {
                known.fixed = false;
                nested(text);
            }
            WordPiece::BackquotedCommandSubstitution(text) => {
                known.fixed = false;
                nested(&text.replace("\\`", "`"));
            }
            WordPiece::TildeExpansion(_) => {
                known.fixed = false;
                known.text.push('~');
            }
            WordPiece::ParameterExpansion(_) | WordPiece::ArithmeticExpression(_) => {
                known.fixed = false;
                expansion(raw.get(piece.start_index..piece.end_index).unwrap_or(raw), nested);
            }
        }
    }
}

/// Looks for commands within a parameter expansion or arithmetic (`${x:=$(rm y)}`): they run too.
fn expansion(source: &str, nested: &mut dyn FnMut(&str)) {
    let inner = source.trim_start_matches('$').trim_start_matches(['{', '(']);
    if inner.len() == source.len() || !inner.contains(['$', '`', '<', '>']) {
        return;
    }
    let inner = inner.trim_end_matches(['}', ')']);
    let begins = inner.find(['$', '`', '<', '>']).unwrap_or(0);
    let Some(rest) = inner.get(begins..) else { return };
    // Closing brackets were cut off with the expansion's own; put back what the rest lacks.
    let open = rest.matches('(').count().saturating_sub(rest.matches(')').count());
    let braces = rest.matches('{').count().saturating_sub(rest.matches('}').count());
    let whole = format!("{rest}{}{}", ")".repeat(open), "}".repeat(braces));
    if whole.len() < source.len() {
        match word::parse(&whole, &options()) {
            Ok(pieces) => add(&pieces, &whole, &mut Known::default(), nested),
            // What can't be read is judged as a command: it is then not safe.
            Err(_) => nested(&whole),
        }
    } else {
        nested(&whole);
    }
}
