//! What looks like a secret: no note may hold one, since notes are committed and sent to models.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// Forms that only secrets have, with what they are called.
const FORMS: &[(&str, &str)] = &[
    (r"-----BEGIN [A-Z ]*PRIVATE KEY", "a private key"),
    (r"\b(?:sk|rk|pk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}", "an API key"),
    (r"\bgh[pousr]_[A-Za-z0-9]{20,}", "a GitHub token"),
    (r"\bgithub_pat_[A-Za-z0-9_]{20,}", "a GitHub token"),
    (r"\bglpat-[A-Za-z0-9_-]{16,}", "a GitLab token"),
    (r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "a Slack token"),
    (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", "an AWS key"),
    (r"\bAIza[0-9A-Za-z_-]{30,}", "a Google key"),
    (r"\bnpm_[A-Za-z0-9]{30,}", "an npm token"),
    (r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.", "a JSON web token"),
    (r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}", "a bearer token"),
    (r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{3,}@", "a password in a URL"),
];

static SET: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(FORMS.iter().map(|(form, _)| form)).ok());

/// A value behind a name that says what it is. A value that itself names a place to look is none.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "pass(?:word|wd|phrase)?|secret|token|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|пароль";
    Regex::new(&format!(r#"(?i)(?:{names})["'`]?\s*(?:=|:|:=|\bis\b)\s*["'`]?(?P<value>[^\s"'`,;]{{6,}})"#))
        .ok()
});

/// Names what in a text looks like a secret.
pub fn secret_in(text: &str) -> Option<&'static str> {
    // Without the forms nothing can be ruled out.
    let (Some(set), Some(named)) = (SET.as_ref(), NAMED.as_ref()) else { return Some("a secret") };
    if let Some((_, what)) = set.matches(text).into_iter().next().and_then(|index| FORMS.get(index)) {
        return Some(what);
    }
    let mut values = named.captures_iter(text).filter_map(|found| found.name("value"));
    values.any(|value| is_value(value.as_str())).then_some("a password or token")
}

/// Whether a word is a value, and not a word of prose or the name of a variable that holds one.
fn is_value(word: &str) -> bool {
    let refers = word.starts_with(['$', '<', '{', '(', '/', '~', '%']) || word.contains("://");
    let is_name = word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let has = |test: fn(char) -> bool| word.chars().any(test);
    !refers && !is_name && has(|c| c.is_ascii_digit()) && has(|c| c.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_form_or_name() {
        for text in [
            "key sk-ant-api03-abcdefghij0123456789",
            "use ghp_0123456789abcdefghij0123",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "AKIAIOSFODNN7EXAMPLE",
            "db password: hunter2xx",
            "postgres://me:s3cret@db/x",
            "API_KEY=abc123def456",
            "пароль: qwerty123",
        ] {
            assert!(secret_in(text).is_some(), "{text}");
        }
    }

    #[test]
    fn prose_and_places_are_no_secrets() {
        for text in [
            "The token: read it from $API_TOKEN.",
            "The password is in 1Password",
            "token = os.environ",
            "commit 7ba9225f3c0d4b1e9f8a7c6d5e4f3a2b1c0d9e8f fixed it",
            "Tests run by `make test`; the API key is in ANTHROPIC_API_KEY",
            "see https://example.org/a:b@c",
        ] {
            assert_eq!(secret_in(text), None, "{text}");
        }
    }
}
