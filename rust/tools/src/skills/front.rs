//! The front matter of a skill: flat `key: value` lines between two lines of `---`.
//!
//! Many skills in the wild are no valid YAML (a description with a colon), though everybody reads them. So this
//! takes a line for what it plainly says, and refuses what is no such line.

use std::collections::BTreeMap;

/// Splits a text into its front matter and what follows. Keys have `-` for `_`.
///
/// # Errors
///
/// What is wrong, with the line counted from 1.
pub fn split(text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = text;
    let mut next = || {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let ended = rest.is_empty();
        rest = after;
        (!ended).then_some(line.trim_end())
    };
    if next() != Some("---") {
        return Err("it begins with no front matter (`---`, `name:`, `description:`, `---`)".to_owned());
    }
    let mut lines = Vec::new();
    loop {
        match next() {
            Some("---") => break,
            Some(line) => lines.push(line),
            None => return Err("the front matter has no end (`---`)".to_owned()),
        }
    }
    Ok((fields(&lines)?, rest))
}

fn fields(lines: &[&str]) -> Result<BTreeMap<String, String>, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<String> = None;
    for (index, line) in lines.iter().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let goes_on = line.starts_with([' ', '\t', '-']);
        match (goes_on, line.split_once(':')) {
            (true, _) => {
                let value = last.as_ref().and_then(|key| found.get_mut(key));
                let value = value.ok_or_else(|| format!("line {}: it belongs to nothing", index + 2))?;
                if !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(line.trim());
            }
            (false, Some((key, value))) => {
                let key = key.trim().to_lowercase().replace('_', "-");
                found.insert(key.clone(), scalar(value.trim()));
                last = Some(key);
            }
            (false, None) => return Err(format!("line {}: {line:?} is no `key: value`", index + 2)),
        }
    }
    Ok(found)
}

/// Takes a value out of its quotes; the mark of a block, whose lines follow, is none of it.
fn scalar(value: &str) -> String {
    if matches!(value, ">" | "|" | ">-" | "|-" | ">+" | "|+") {
        return String::new();
    }
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(inner) = quoted('"') {
        return inner.replace("\\\"", "\"").replace("\\n", "\n").replace("\\\\", "\\");
    }
    quoted('\'').map_or_else(|| value.to_owned(), |inner| inner.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(front: &str, key: &str) -> Option<String> {
        split(&format!("---\n{front}\n---\nbody")).unwrap().0.get(key).cloned()
    }

    #[test]
    fn values_are_what_the_lines_say() {
        assert_eq!(field("description: Use when: it rains", "description").unwrap(), "Use when: it rains");
        assert_eq!(field("description: \"a \\\"b\\\"\"", "description").unwrap(), "a \"b\"");
        assert_eq!(field("description: >-\n  one\n  two\nname: x", "description").unwrap(), "one two");
        assert_eq!(field("allowed_tools:\n- Read\n- Bash", "allowed-tools").unwrap(), "- Read - Bash");
        assert_eq!(field("# a comment\n\nname: 'it''s'", "name").unwrap(), "it's");
    }

    #[test]
    fn the_body_is_what_follows_and_faults_name_their_line() {
        assert_eq!(split("---\r\nname: x\r\n---\r\nbody\r\n").unwrap().1, "body\r\n");
        assert!(split("# Skill").unwrap_err().contains("no front matter"));
        assert!(split("---\nname: x\n").unwrap_err().contains("no end"));
        assert!(split("---\nname: x\njust words\n---\n").unwrap_err().contains("line 3"));
        assert!(split("---\n  x\n---\n").unwrap_err().contains("line 2"));
    }
}
