//! What the user refused, and models that go on after being denied.

use koda_protocol::ToolResult;
use serde_json::{Value, json};

/// Messages in a row of which every call was denied, before the model is told to change its ways.
const TELL_AFTER: u32 = 2;

/// The same, before the turn ends.
const STOP_AFTER: u32 = 4;

/// What a model that goes on after being denied is told.
pub const WARNING: &str = "\n[Call after call of yours was denied. Don't look for a way around it: say what you can't do and why you need it, and let the user decide.]";

/// The calls that the user rejected since their last message.
#[derive(Debug, Default)]
pub struct Refusals(Vec<(String, Value)>);

impl Refusals {
    /// Notes a call that the user rejected.
    pub fn note(&mut self, tool: &str, args: &Value) {
        if !self.has(tool, args) {
            self.0.push((tool.to_owned(), args.clone()));
        }
    }

    /// Whether the user rejected this very call.
    pub fn has(&self, tool: &str, args: &Value) -> bool {
        self.0.iter().any(|(other, refused)| other == tool && refused == args)
    }

    /// Forgets all: the user has said something new.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Counts, within one turn, the messages in a row that had nothing but denied calls.
#[derive(Debug, Default)]
pub struct Denials(u32);

impl Denials {
    /// Whether the model must be told with the next denial.
    pub fn is_due(&self) -> bool {
        self.0 >= TELL_AFTER
    }

    /// Counts the results of a message; true if the turn has to end.
    pub fn note(&mut self, results: &[ToolResult]) -> bool {
        let all = !results.is_empty() && results.iter().all(is_denied);
        self.0 = if all { self.0 + 1 } else { 0 };
        self.0 >= STOP_AFTER
    }
}

/// Whether a call did not run because of a verdict or of the user.
pub fn is_denied(result: &ToolResult) -> bool {
    let is = |name: &str, value: Value| result.data.pointer(name) == Some(&value);
    !result.ok && (is("/rejected", json!(true)) || is("/verdict/verdict", json!("deny")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(data: Value) -> ToolResult {
        ToolResult { id: "c".into(), tool: "Bash".to_owned(), ok: false, text: String::new(), data }
    }

    #[test]
    fn only_messages_of_nothing_but_denials_count() {
        let denied = result(json!({ "verdict": { "verdict": "deny" } }));
        let rejected = result(json!({ "rejected": true }));
        let failed = result(json!({ "exit_code": 1 }));
        let mut denials = Denials::default();
        for _ in 0..3 {
            assert!(!denials.note(&[denied.clone(), rejected.clone()]));
        }
        assert!(denials.is_due());
        assert!(!denials.note(&[denied.clone(), failed]), "a call that ran begins anew");
        assert!(!denials.is_due());
        let ends: Vec<bool> = (0..4).map(|_| denials.note(std::slice::from_ref(&rejected))).collect();
        assert_eq!(ends, [false, false, false, true]);
    }

    #[test]
    fn arguments_are_compared_whatever_their_order() {
        let mut refusals = Refusals::default();
        refusals.note("Bash", &json!({ "command": "rm x", "cwd": "a" }));
        assert!(refusals.has("Bash", &json!({ "cwd": "a", "command": "rm x" })));
        assert!(!refusals.has("Bash", &json!({ "command": "rm x" })));
        assert!(!refusals.has("Delete", &json!({ "command": "rm x", "cwd": "a" })));
        refusals.clear();
        assert!(!refusals.has("Bash", &json!({ "cwd": "a", "command": "rm x" })));
    }
}
