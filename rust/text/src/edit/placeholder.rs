//! Lines that stand for text that their writer left out.

/// What such a line says between its comment sign and its dots.
const PHRASES: [&str; 22] = [
    "rest",
    "rest of code",
    "rest of file",
    "rest of function",
    "rest of implementation",
    "rest of method",
    "rest of methods",
    "rest remains unchanged",
    "rest is unchanged",
    "rest unchanged",
    "existing code",
    "existing code here",
    "existing implementation",
    "remaining code",
    "remaining code unchanged",
    "remaining implementation",
    "remains unchanged",
    "unchanged",
    "unchanged code",
    "unchanged method",
    "same as before",
    "other code",
];

const COMMENT_SIGNS: [&str; 9] = ["//", "#", "--", "/*", "<!--", ";", "%", "\"", "{/*"];

/// Returns the first line of `new` that stands for text left out (`// ... existing code ...`), unless `old`
/// has that line too.
pub fn placeholder(old: &str, new: &str) -> Option<String> {
    let line = new.lines().find(|line| stands_for_rest(line))?.trim();
    let in_old = old.lines().any(|other| other.trim() == line);
    (!in_old).then(|| line.to_owned())
}

/// Whether a line is a comment of a known phrase with dots, and nothing else.
fn stands_for_rest(line: &str) -> bool {
    let line = line.trim();
    let Some(body) = COMMENT_SIGNS.iter().find_map(|sign| line.strip_prefix(sign)) else {
        return false;
    };
    let bare = body
        .trim_end_matches(['*', '/', '-', '>', '}', ' '])
        .trim_matches(['(', ')', '[', ']', ' ', '/', '#']);
    if !bare.contains("...") && !bare.contains('\u{2026}') {
        return false;
    }
    let words: Vec<_> = bare
        .split(|c: char| c == '.' || c == '\u{2026}' || c.is_whitespace())
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("the"))
        .map(str::to_lowercase)
        .collect();
    words.is_empty() || PHRASES.contains(&words.join(" ").as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_lines_that_stand_for_text() {
        for line in [
            "// ... existing code ...",
            "    # ... rest of the file ...",
            "# (rest of code...)",
            "/* ... */",
            "<!-- rest unchanged ... -->",
            "-- \u{2026} remaining code \u{2026}",
            "{/* ... rest of implementation ... */}",
        ] {
            assert_eq!(placeholder("a", &format!("x\n{line}\ny")), Some(line.trim().to_owned()), "{line}");
        }
    }

    #[test]
    fn lets_ordinary_lines_be() {
        for line in
            ["...", "// wait for it ...", "# the rest of code is below", "x = y...", "// existing code"]
        {
            assert_eq!(placeholder("a", line), None, "{line}");
        }
        assert_eq!(placeholder("// ... rest of code\nx", "// ... rest of code\ny"), None);
    }
}
