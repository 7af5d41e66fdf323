//! The readable part of what a provider sends when something is wrong: JSON within JSON, HTML, bare text.

use serde_json::Value;

/// How much of a provider's words is shown, in characters.
const SHOWN: usize = 500;
/// How deep errors are nested in errors at most; more is no longer meant for people.
const DEPTH: usize = 8;

/// Returns the innermost message of an error body, cut to what fits a line or two.
pub(crate) fn message(body: &str) -> String {
    let found = innermost(body.trim(), DEPTH);
    let line = found.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN).chain(['…']).collect()
}

/// Returns whether a body is a page for a browser.
pub(crate) fn is_html(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(200).collect::<String>().to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.contains("<head")
}

fn innermost(text: &str, depth: usize) -> String {
    if is_html(text) {
        return title(text);
    }
    let Some(value) = json(text) else { return text.to_owned() };
    match depth.checked_sub(1).and_then(|depth| in_value(&value, depth)) {
        Some(found) => found,
        None => text.to_owned(),
    }
}

/// Looks where providers put their words, the innermost places first.
fn in_value(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.trim();
            (!text.is_empty()).then(|| innermost(text, depth))
        }
        Value::Array(items) => items.iter().find_map(|item| in_value(item, depth)),
        Value::Object(fields) => {
            let places = ["raw", "error", "metadata", "message", "detail", "details", "errors", "msg"];
            // `metadata` holds the words only as `raw`; other things in it are no message.
            places.iter().filter(|place| **place != "metadata" || raw(fields)).find_map(|place| {
                let inner = fields.get(*place)?;
                match (*place, inner) {
                    ("error", Value::Object(_)) | ("metadata" | "raw", _) => in_value(inner, depth),
                    // `"error": "Bad Request", "message": "the real one"`: the message says more.
                    ("error", Value::String(_)) if fields.get("message").is_some_and(Value::is_string) => {
                        None
                    }
                    _ => in_value(inner, depth),
                }
            })
        }
        _ => None,
    }
}

fn raw(fields: &serde_json::Map<String, Value>) -> bool {
    fields.get("metadata").is_some_and(|inner| inner.get("raw").is_some())
}

/// Parses text that is JSON, or Python's way of showing bytes that are, or words before it.
fn json(text: &str) -> Option<Value> {
    let text = ["b'", "b\""]
        .iter()
        .find_map(|open| text.strip_prefix(open))
        .map_or(text, |inner| inner.strip_suffix(['\'', '"']).unwrap_or(inner));
    let structured = |text: &str| {
        serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object() || value.is_array())
    };
    structured(text).or_else(|| {
        let start = text.find(['{', '['])?;
        let end = text.rfind(['}', ']'])?;
        structured(text.get(start..=end)?)
    })
}

fn title(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let inside = lower.find("<title").and_then(|start| {
        let open = start + lower.get(start..)?.find('>')? + 1;
        let end = open + lower.get(open..)?.find("</title")?;
        page.get(open..end)
    });
    inside.map_or_else(|| "an HTML page".to_owned(), |title| format!("an HTML page, \"{}\"", title.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_message_is_found() {
        let cases = [
            (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
            (r#"{"error":"plain"}"#, "plain"),
            (r#"{"error":"Bad Request","message":"the real one"}"#, "the real one"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded"),
            (r#"{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}"#, "inner"),
            (r#"{"error":{"message":"b'{\"error\": {\"message\": \"as bytes\"}}'"}}"#, "as bytes"),
            (r#"{"error":{"message":"Provider said: {\"message\":\"deep\"}"}}"#, "deep"),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"detail\":\"why\"}"}}}"#,
                "why",
            ),
            (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, "field required"),
            (r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
            ("just words", "just words"),
            ("<html><head><title>502 Bad Gateway</title></head>", "an HTML page, \"502 Bad Gateway\""),
            ("", ""),
            ("{\"cut\": ", "{\"cut\":"),
        ];
        for (body, wanted) in cases {
            assert_eq!(message(body), wanted, "{body}");
        }
    }

    #[test]
    fn long_and_deep_bodies_are_bounded() {
        assert!(message(&"ä".repeat(10_000)).chars().count() <= SHOWN + 1);
        let mut body = "\"end\"".to_owned();
        for _ in 0..40 {
            body = format!("{{\"message\":{}}}", serde_json::to_string(&body).unwrap_or_default());
            if body.len() > 100_000 {
                break;
            }
        }
        assert!(!message(&body).is_empty());
    }
}
