//! From a tool's output to the one result of a call: cut to what a model takes, the whole kept aside.

use koda_protocol::port::Store;
use koda_protocol::{CallId, ToolResult};
use koda_text::cut::{self, Limits};
use serde_json::{Value, json};

use crate::entry::Output;

/// Makes the result of a call. A text over the limits is cut, its whole spilled to a file.
pub fn finish(id: &CallId, tool: &str, output: Output, store: &dyn Store) -> ToolResult {
    let Output { ok, text, mut data, keep_tail } = output;
    let cut =
        if keep_tail { cut::head_tail(&text, Limits::RESULT) } else { cut::head(&text, Limits::RESULT) };
    let mut shown = cut.text;
    if cut.cut {
        match store.spill(&format!("{tool}-{id}"), &text) {
            Ok(spill) => {
                shown.push_str(&format!(
                    "\nThe whole text ({} lines, {} bytes) is in {}: Read it by ranges.",
                    cut.lines,
                    cut.bytes,
                    spill.path.display()
                ));
                set(&mut data, "spill", json!(spill.path.to_string_lossy()));
            }
            Err(error) => shown.push_str(&format!("\nThe whole text could not be kept: {error}.")),
        }
    }
    ToolResult { id: id.clone(), tool: tool.to_owned(), ok, text: shown, data }
}

fn set(data: &mut Value, name: &str, value: Value) {
    match data {
        Value::Object(fields) => {
            fields.insert(name.to_owned(), value);
        }
        _ => *data = json!({ name: value }),
    }
}

#[cfg(test)]
mod tests {
    use koda_protocol::double::MemoryStore;

    use super::*;

    #[test]
    fn a_long_text_is_cut_and_kept_whole() {
        let store = MemoryStore::default();
        let text: String = (0..5000).map(|n| format!("line {n}\n")).collect();
        let output = Output { keep_tail: true, ..Output::ok(text.clone(), json!({ "exit_code": 0 })) };
        let result = finish(&"c1".into(), "Bash", output, &store);
        assert!(result.text.starts_with("line 0\n") && result.text.contains("line 4999\n"));
        assert_eq!(store.spilled()[0].1, text);
        assert_eq!(result.data["spill"], store.spilled()[0].0.to_string_lossy().as_ref());
        assert_eq!(result.data["exit_code"], 0);
    }
}
