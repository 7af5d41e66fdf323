//! Notices a model that makes the same call over and over.

use koda_protocol::ToolCall;
use serde_json::Value;

/// As many identical calls in a row are too many. Strong models make many calls at once, and polling makes
/// some alike; more than this in a row has no other reason than being stuck.
const TOO_MANY: u32 = 5;

/// What to do about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing.
    Fine,
    /// Tell the model, the first time.
    Warn,
    /// Don't run it, and end the turn.
    Stop,
}

/// Counts identical calls in a row, within one turn.
#[derive(Default)]
pub struct Repeats {
    last: Option<(String, Value)>,
    count: u32,
    warned: bool,
}

impl Repeats {
    /// Counts a call.
    pub fn note(&mut self, call: &ToolCall) -> Repeat {
        let this = (call.tool.clone(), call.args.clone());
        if self.last.as_ref() != Some(&this) {
            self.last = Some(this);
            self.count = 0;
        }
        self.count += 1;
        if self.count < TOO_MANY {
            return Repeat::Fine;
        }
        self.count = 0;
        if std::mem::replace(&mut self.warned, true) { Repeat::Stop } else { Repeat::Warn }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(n: u32) -> ToolCall {
        ToolCall { id: "c".into(), tool: "Read".to_owned(), args: json!({ "n": n }), signature: None }
    }

    fn notes(repeats: &mut Repeats, calls: impl IntoIterator<Item = u32>) -> Vec<Repeat> {
        calls.into_iter().map(|n| repeats.note(&call(n))).collect()
    }

    #[test]
    fn only_identical_calls_in_a_row_count() {
        let mut repeats = Repeats::default();
        let varied = (0..100).chain([7, 7, 7, 7, 8, 7, 7, 7, 7]);
        assert!(notes(&mut repeats, varied).iter().all(|note| *note == Repeat::Fine));
    }

    #[test]
    fn the_first_row_warns_and_the_second_stops() {
        let mut repeats = Repeats::default();
        let same = notes(&mut repeats, [7; 10]);
        assert_eq!(
            (same[3], same[4], same[5], same[9]),
            (Repeat::Fine, Repeat::Warn, Repeat::Fine, Repeat::Stop)
        );
        let mut repeats = Repeats::default();
        notes(&mut repeats, [7; 5]);
        assert_eq!(notes(&mut repeats, [8; 5])[4], Repeat::Stop);
    }
}
