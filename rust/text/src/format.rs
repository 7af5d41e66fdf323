//! Bytes to text and back, as Neovim does it with `fileformats=unix,dos` and
//! `fileencodings=ucs-bom,utf-8,latin1`.
//!
//! What `decode` reads, `encode` writes back byte for byte: line ends, byte-order mark, encoding and a
//! missing last newline all come through.

use koda_protocol::{LineEnd, TextFormat};

/// Why bytes are no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There are NUL characters.
    #[error("binary: a NUL byte at offset {offset}")]
    Binary {
        /// Offset in bytes from 0.
        offset: usize,
    },
    /// The byte-order mark promises an encoding that the bytes don't keep to.
    #[error("not valid {encoding}: first bad byte at offset {offset}")]
    Encoding {
        /// Neovim's name of the encoding.
        encoding: &'static str,
        /// Offset in bytes from 0.
        offset: usize,
    },
}

/// Why a text can't be written in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The encoding lacks a character.
    #[error("line {line}: {character:?} can't be written in {encoding}")]
    Character {
        /// The character.
        character: char,
        /// Line from 1.
        line: usize,
        /// Neovim's name of the encoding.
        encoding: String,
    },
    /// The encoding is not one of those that [`decode`] reads.
    #[error("unknown encoding {0:?}")]
    Encoding(String),
}

#[derive(Clone, Copy)]
enum Unit {
    Utf8,
    Latin1,
    Utf16 { little: bool },
    Ucs4 { little: bool },
}

impl Unit {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "" | "utf-8" | "utf8" => Some(Self::Utf8),
            "latin1" => Some(Self::Latin1),
            "utf-16" | "utf-16be" => Some(Self::Utf16 { little: false }),
            "utf-16le" => Some(Self::Utf16 { little: true }),
            "ucs-4" | "ucs-4be" => Some(Self::Ucs4 { little: false }),
            "ucs-4le" => Some(Self::Ucs4 { little: true }),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Latin1 => "latin1",
            Self::Utf16 { little: false } => "utf-16",
            Self::Utf16 { little: true } => "utf-16le",
            Self::Ucs4 { little: false } => "ucs-4",
            Self::Ucs4 { little: true } => "ucs-4le",
        }
    }

    /// The longer mark of UCS-4 is tried first: it begins as the one of UTF-16 does.
    fn from_mark(bytes: &[u8]) -> Option<(Self, usize)> {
        match bytes {
            [0xEF, 0xBB, 0xBF, ..] => Some((Self::Utf8, 3)),
            [0xFF, 0xFE, 0, 0, ..] => Some((Self::Ucs4 { little: true }, 4)),
            [0, 0, 0xFE, 0xFF, ..] => Some((Self::Ucs4 { little: false }, 4)),
            [0xFF, 0xFE, ..] => Some((Self::Utf16 { little: true }, 2)),
            [0xFE, 0xFF, ..] => Some((Self::Utf16 { little: false }, 2)),
            _ => None,
        }
    }
}

/// Reads a file's bytes.
///
/// Bytes that are no UTF-8 and have no mark are read as `latin1`, which takes every byte. Lines end in
/// `\n` in the text; a file is `dos` only where every line ends in `\r\n`, else its `\r` stay in the text.
///
/// # Errors
/// NUL characters, and bytes that don't keep to the encoding that their mark promises.
pub fn decode(bytes: &[u8]) -> Result<(String, TextFormat), DecodeError> {
    let (text, unit, bom) = match Unit::from_mark(bytes) {
        Some((Unit::Utf8, mark)) => match std::str::from_utf8(bytes.get(mark..).unwrap_or_default()) {
            Ok(text) => (text.to_owned(), Unit::Utf8, true),
            Err(_) => (from_latin1(bytes), Unit::Latin1, false),
        },
        Some((unit, mark)) => (from_wide(bytes, mark, unit)?, unit, true),
        None => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), Unit::Utf8, false),
            Err(_) => (from_latin1(bytes), Unit::Latin1, false),
        },
    };
    if let Some(at) = memchr::memchr(0, text.as_bytes()) {
        let offset = memchr::memchr(0, bytes).unwrap_or(at);
        return Err(DecodeError::Binary { offset });
    }
    let line_end = if is_dos(&text) { LineEnd::CrLf } else { LineEnd::Lf };
    let text = if line_end == LineEnd::CrLf { text.replace("\r\n", "\n") } else { text };
    Ok((text, TextFormat { line_end, bom, encoding: unit.name().to_owned() }))
}

/// Writes a text as bytes in a format, the inverse of [`decode`].
///
/// # Errors
/// A character that the encoding lacks (nothing is ever replaced), or an encoding that [`decode`] doesn't read.
pub fn encode(text: &str, format: &TextFormat) -> Result<Vec<u8>, EncodeError> {
    let unit =
        Unit::from_name(&format.encoding).ok_or_else(|| EncodeError::Encoding(format.encoding.clone()))?;
    let ended = match format.line_end {
        LineEnd::Lf => None,
        LineEnd::CrLf => Some(text.replace('\n', "\r\n")),
        LineEnd::Cr => Some(text.replace('\n', "\r")),
    };
    let body = ended.as_deref().unwrap_or(text);
    let marked = if format.bom { format!("\u{FEFF}{body}") } else { body.to_owned() };
    match unit {
        Unit::Utf8 => Ok(marked.into_bytes()),
        Unit::Latin1 => to_latin1(body, text),
        Unit::Utf16 { little } => {
            let order = if little { u16::to_le_bytes } else { u16::to_be_bytes };
            Ok(marked.encode_utf16().flat_map(order).collect())
        }
        Unit::Ucs4 { little } => {
            let order = if little { u32::to_le_bytes } else { u32::to_be_bytes };
            Ok(marked.chars().map(u32::from).flat_map(order).collect())
        }
    }
}

/// Whether every line that is ended is ended by `\r\n`, and there is one.
fn is_dos(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut ends = memchr::memchr_iter(b'\n', bytes).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'))
}

fn from_latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn to_latin1(body: &str, text: &str) -> Result<Vec<u8>, EncodeError> {
    let byte = |character: char| {
        u8::try_from(u32::from(character)).map_err(|_| EncodeError::Character {
            character,
            line: text.split(character).next().map_or(1, |before| before.matches('\n').count() + 1),
            encoding: Unit::Latin1.name().to_owned(),
        })
    };
    body.chars().map(byte).collect()
}

fn from_wide(bytes: &[u8], mark: usize, unit: Unit) -> Result<String, DecodeError> {
    let body = bytes.get(mark..).unwrap_or_default();
    let invalid = |at: usize| DecodeError::Encoding { encoding: unit.name(), offset: mark + at };
    match unit {
        Unit::Utf16 { little } => {
            let (pairs, rest) = body.as_chunks::<2>();
            let order = if little { u16::from_le_bytes } else { u16::from_be_bytes };
            let mut at = 0;
            let mut text = String::with_capacity(pairs.len());
            for decoded in char::decode_utf16(pairs.iter().map(|pair| order(*pair))) {
                let character = decoded.map_err(|_| invalid(at))?;
                at += 2 * character.len_utf16();
                text.push(character);
            }
            if rest.is_empty() { Ok(text) } else { Err(invalid(at)) }
        }
        Unit::Ucs4 { little } => {
            let (quads, rest) = body.as_chunks::<4>();
            let order = if little { u32::from_le_bytes } else { u32::from_be_bytes };
            let read = |(index, quad): (usize, &[u8; 4])| {
                char::from_u32(order(*quad)).ok_or_else(|| invalid(4 * index))
            };
            let text = quads.iter().enumerate().map(read).collect::<Result<String, _>>()?;
            if rest.is_empty() { Ok(text) } else { Err(invalid(4 * quads.len())) }
        }
        Unit::Utf8 | Unit::Latin1 => Err(invalid(0)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> (String, LineEnd, bool, String) {
        let (text, format) = decode(bytes).expect("text");
        assert_eq!(encode(&text, &format).expect("round trip"), bytes);
        (text, format.line_end, format.bom, format.encoding)
    }

    #[test]
    fn reads_dos_only_where_every_line_is() {
        assert_eq!(read(b"a\r\nb\r\n").0, "a\nb\n");
        assert_eq!(read(b"a\r\nb").1, LineEnd::CrLf);
        assert_eq!(read(b"a\r\nb\n"), ("a\r\nb\n".into(), LineEnd::Lf, false, "utf-8".into()));
        assert_eq!(read(b"a\rb").1, LineEnd::Lf);
        assert_eq!(read(b"\r\r\n").0, "\r\n");
        assert_eq!(read(b"").0, "");
    }

    #[test]
    fn keeps_marks_and_wide_encodings() {
        assert_eq!(read(b"\xEF\xBB\xBFa\r\n"), ("a\n".into(), LineEnd::CrLf, true, "utf-8".into()));
        assert_eq!(read(b"\xFF\xFEa\0\x3D\xD8\x00\xDE").0, "a\u{1F600}");
        assert_eq!(read(b"\xFE\xFF\0a\0\n").3, "utf-16");
        assert_eq!(read(b"\xFF\xFE\0\0a\0\0\0").3, "ucs-4le");
    }

    #[test]
    fn reads_what_is_no_utf8_as_latin1() {
        assert_eq!(read(b"caf\xE9 \x93x\x94\n").0, "caf\u{e9} \u{93}x\u{94}\n");
        assert!(!read(b"\xEF\xBB\xBFcaf\xE9").2);
    }

    #[test]
    fn refuses_what_is_no_text() {
        assert_eq!(decode(b"ab\0c"), Err(DecodeError::Binary { offset: 2 }));
        assert_eq!(decode(b"\xFF\xFEa"), Err(DecodeError::Encoding { encoding: "utf-16le", offset: 2 }));
        assert_eq!(
            decode(b"\xFE\xFF\0a\xDC\0"),
            Err(DecodeError::Encoding { encoding: "utf-16", offset: 4 })
        );
    }

    #[test]
    fn refuses_a_character_that_the_encoding_lacks() {
        let format = TextFormat { encoding: "latin1".into(), ..TextFormat::default() };
        let error = encode("ok\n\u{20ac}", &format).unwrap_err();
        assert_eq!(error.to_string(), "line 2: '\u{20ac}' can't be written in latin1");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in proptest::collection::vec(1u8.., 0..200)) {
            if let Ok((text, format)) = decode(&bytes) {
                prop_assert_eq!(encode(&text, &format).unwrap(), bytes);
            }
        }

        #[test]
        fn any_lines_come_back(text in "([a\r\u{e9}]{0,3}\r?\n){0,6}[a\r]{0,2}") {
            let (read, format) = decode(text.as_bytes()).unwrap();
            prop_assert_eq!(encode(&read, &format).unwrap(), text.as_bytes());
        }
    }
}
