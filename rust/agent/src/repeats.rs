//! Notices a model that makes the same call over and over.

use koda_protocol::ToolCall;

/// As many identical calls in a row draw a warning to the model.
const WARN: u32 = 5;

/// As many stop the turn.
const STOP: u32 = 8;

/// What to do about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing.
    Fine,
    /// Tell the model.
    Warn,
    /// End the turn.
    Stop,
}

/// Counts identical calls in a row.
#[derive(Default)]
pub struct Repeats {
    last: Option<(String, serde_json::Value)>,
    count: u32,
}

impl Repeats {
    /// Counts a call.
    pub fn note(&mut self, call: &ToolCall) -> Repeat {
        let this = (call.tool.clone(), call.args.clone());
        if self.last.as_ref() == Some(&this) {
            self.count += 1;
        } else {
            self.count = 1;
            self.last = Some(this);
        }
        match self.count {
            STOP.. => Repeat::Stop,
            WARN => Repeat::Warn,
            _ => Repeat::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(n: u32) -> ToolCall {
        ToolCall { id: "c".into(), tool: "Read".to_owned(), args: json!({ "n": n }), signature: None }
    }

    #[test]
    fn only_identical_calls_in_a_row_count() {
        let mut repeats = Repeats::default();
        assert!((0..100).all(|n| repeats.note(&call(n)) == Repeat::Fine));
        let seen: Vec<Repeat> = (0..8).map(|_| repeats.note(&call(7))).collect();
        assert_eq!(
            (seen[3], seen[4], seen[6], seen[7]),
            (Repeat::Fine, Repeat::Warn, Repeat::Fine, Repeat::Stop)
        );
        assert_eq!(repeats.note(&call(8)), Repeat::Fine);
    }
}
