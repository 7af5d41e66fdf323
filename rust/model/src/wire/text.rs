//! Text that streams in pieces: JSON whose escapes are halved by the cut, and the joining of the halves.
//!
//! A character beyond the basic plane is two escapes in JSON (`\ud83d\ude00`). Servers that stream by tokens
//! cut between them, and each half alone is no JSON. A half is carried through the parser as a marker.

use serde_json::Value;

/// The first marker: halves `D800..=DFFF` become `U+10E000..=U+10E7FF`, private characters that no text has.
const MARKERS: u32 = 0x10_E000;
const HALVES: u32 = 0xD800;
const HALVES_END: u32 = 0xDFFF;

/// Parses JSON. Halved escapes become markers for [`Joiner`].
pub(crate) fn parse(data: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(data).or_else(|error| {
        if has_halves(data) { serde_json::from_str(&replace_halves(data, marker)) } else { Err(error) }
    })
}

/// Parses a call's arguments. Nothing is an empty object; a halved escape is U+FFFD; what is no JSON stays text.
pub(crate) fn arguments(text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return Value::Object(serde_json::Map::new());
    }
    let mended =
        || serde_json::from_str(&replace_halves(text, |_| '\u{FFFD}')).ok().filter(|_| has_halves(text));
    serde_json::from_str(text).ok().or_else(mended).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Joins halves that came in different pieces. A half that stays alone becomes U+FFFD.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    first: Option<u32>,
}

impl Joiner {
    /// Returns the piece with its markers resolved; a first half at the end is held back.
    pub(crate) fn push(&mut self, piece: String) -> String {
        if self.first.is_none() && !piece.chars().any(|c| half(c).is_some()) {
            return piece;
        }
        let mut text = String::with_capacity(piece.len());
        for c in piece.chars() {
            match (self.first.take(), half(c)) {
                (None, None) => text.push(c),
                (None, Some(unit)) => self.hold(unit, &mut text),
                (Some(first), Some(second)) if (0xDC00..=HALVES_END).contains(&second) => {
                    text.push(pair(first, second));
                }
                (Some(_), Some(unit)) => {
                    text.push('\u{FFFD}');
                    self.hold(unit, &mut text);
                }
                (Some(_), None) => {
                    text.push('\u{FFFD}');
                    text.push(c);
                }
            }
        }
        text
    }

    /// Returns what is still held back at the end.
    pub(crate) fn finish(&mut self) -> Option<String> {
        self.first.take().map(|_| "\u{FFFD}".to_owned())
    }

    fn hold(&mut self, unit: u32, text: &mut String) {
        if unit < 0xDC00 {
            self.first = Some(unit);
        } else {
            text.push('\u{FFFD}');
        }
    }
}

fn pair(first: u32, second: u32) -> char {
    char::from_u32(0x1_0000 + ((first - HALVES) << 10) + (second - 0xDC00)).unwrap_or('\u{FFFD}')
}

fn half(c: char) -> Option<u32> {
    let unit = u32::from(c).checked_sub(MARKERS)? + HALVES;
    (unit <= HALVES_END).then_some(unit)
}

fn marker(unit: u32) -> char {
    char::from_u32(MARKERS + unit - HALVES).unwrap_or('\u{FFFD}')
}

fn has_halves(data: &str) -> bool {
    data.contains("\\ud") || data.contains("\\uD")
}

/// Replaces each escape of a half that has no other half beside it.
fn replace_halves(data: &str, with: impl Fn(u32) -> char) -> String {
    let mut out = String::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let unit = escaped(escape);
        let (taken, replaced) = match unit {
            Some(unit) if (HALVES..0xDC00).contains(&unit) => {
                let next = escape.get(6..).and_then(escaped);
                match next {
                    Some(next) if (0xDC00..=HALVES_END).contains(&next) => (12, None),
                    _ => (6, Some(with(unit))),
                }
            }
            Some(unit) if (0xDC00..=HALVES_END).contains(&unit) => (6, Some(with(unit))),
            Some(_) => (6, None),
            // An escape of one character, which may be a backslash itself.
            None => (1 + escape.chars().nth(1).map_or(0, char::len_utf8), None),
        };
        let (taken, after) = escape.split_at(taken.min(escape.len()));
        match replaced {
            Some(c) => out.push(c),
            None => out.push_str(taken),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn escaped(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn joined(pieces: &[&str]) -> String {
        let mut joiner = Joiner::default();
        let mut text: String = pieces
            .iter()
            .map(|piece| match parse(&format!("\"{piece}\"")).unwrap() {
                Value::String(text) => joiner.push(text),
                other => panic!("{other}"),
            })
            .collect();
        text.extend(joiner.finish());
        text
    }

    #[test]
    fn halves_are_joined_and_lone_ones_replaced() {
        assert_eq!(joined(&["a\\ud83d\\ude00b"]), "a😀b");
        assert_eq!(joined(&["a\\ud83d", "\\ude00b"]), "a😀b");
        assert_eq!(joined(&["a\\uD83D", "\\uDE00b"]), "a😀b");
        assert_eq!(joined(&["\\ud83d", "x"]), "\u{FFFD}x");
        assert_eq!(joined(&["\\ude00x"]), "\u{FFFD}x");
        assert_eq!(joined(&["\\ud83d\\ud83d", "\\ude00"]), "\u{FFFD}😀");
        assert_eq!(joined(&["x\\ud83d"]), "x\u{FFFD}");
        assert_eq!(joined(&["\\\\ud83d"]), "\\ud83d");
    }

    #[test]
    fn arguments_are_json_or_stay_as_they_came() {
        assert_eq!(arguments(""), json!({}));
        assert_eq!(arguments(" null "), json!({}));
        assert_eq!(arguments("{\"a\":1}"), json!({"a": 1}));
        assert_eq!(arguments("{\"a\":\"\\ud83d\"}"), json!({"a": "\u{FFFD}"}));
        for broken in ["{\"a\":", "{\"a\":1}{\"b\":2}", "path: x", "{\"a\": \"\\ud83d"] {
            assert_eq!(arguments(broken), Value::String(broken.to_owned()));
        }
    }
}
