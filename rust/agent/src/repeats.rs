//! Notices a model that is stuck: the same calls over and over, or nothing but failures.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use koda_protocol::{ToolCall, ToolResult};
use serde_json::Value;

/// As many identical calls in a row are too many. Strong models make many calls at once, and polling makes
/// some alike; more than this in a row has no other reason than being stuck.
const TOO_MANY: usize = 5;

/// As many rounds of the same few calls are too many.
const TOO_MANY_ROUNDS: usize = 4;

/// Calls of a round at most.
const LONGEST_ROUND: usize = 6;

/// Results that differ may be progress (a build that is watched) or a time of day: so much more is allowed.
const IF_RESULTS_DIFFER: usize = 3;

/// Messages in a row without a call that did what it was asked, before the model is told.
const TELL_AFTER: u32 = 4;

/// The same, before the turn ends.
const STOP_AFTER: u32 = 8;

/// What a model that repeats itself is told.
pub const WARNING: &str = "\n[You have made the same calls several times in a row. Their results will not change: step back and try something else.]";

/// What a model is told whose calls all fail.
pub const STRUGGLE: &str = "\n[None of your last calls did what it was asked. Stop and think: read what the results say, look at the files as they are now, and try another way or ask the user.]";

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

#[derive(Debug)]
struct Made {
    tool: String,
    args: Value,
    /// Of its result's text, once that is there.
    result: Option<u64>,
}

impl Made {
    fn is_like(&self, other: &Self, any_result: bool) -> bool {
        let same_result = || match (self.result, other.result) {
            (Some(own), Some(others)) => own == others,
            // What is not there yet can't differ.
            _ => true,
        };
        self.tool == other.tool && self.args == other.args && (any_result || same_result())
    }
}

/// Looks for the same calls in the same order, within one turn.
#[derive(Debug, Default)]
pub struct Repeats {
    made: VecDeque<Made>,
    warned: bool,
}

impl Repeats {
    /// Counts a call.
    pub fn note(&mut self, call: &ToolCall) -> Repeat {
        self.made.push_back(Made { tool: call.tool.clone(), args: call.args.clone(), result: None });
        if self.made.len() > LONGEST_ROUND * TOO_MANY_ROUNDS * IF_RESULTS_DIFFER {
            self.made.pop_front();
        }
        if !(1..=LONGEST_ROUND).any(|length| self.goes_round(length)) {
            return Repeat::Fine;
        }
        self.made.clear();
        if std::mem::replace(&mut self.warned, true) { Repeat::Stop } else { Repeat::Warn }
    }

    /// Takes in the results of the calls that were counted last, in their order.
    pub fn answered(&mut self, results: &[ToolResult]) {
        for (made, result) in self.made.iter_mut().rev().zip(results.iter().rev()) {
            let mut hasher = DefaultHasher::new();
            result.text.hash(&mut hasher);
            made.result = Some(hasher.finish());
        }
    }

    /// Tells whether the last calls are too many rounds of so many calls.
    fn goes_round(&self, length: usize) -> bool {
        let rounds = if length == 1 { TOO_MANY } else { TOO_MANY_ROUNDS };
        self.repeats(length, rounds, false) || self.repeats(length, rounds * IF_RESULTS_DIFFER, true)
    }

    fn repeats(&self, length: usize, rounds: usize, any_result: bool) -> bool {
        let Some(from) = self.made.len().checked_sub(length * rounds) else { return false };
        let later = self.made.iter().skip(from + length);
        self.made.iter().skip(from).zip(later).all(|(earlier, later)| earlier.is_like(later, any_result))
    }
}

/// Counts, within one turn, the messages in a row whose calls all failed.
#[derive(Debug, Default)]
pub struct Struggle(u32);

impl Struggle {
    /// Whether the model must be told with the next failure.
    pub fn is_due(&self) -> bool {
        self.0 + 1 == TELL_AFTER
    }

    /// Counts the results of a message; true if the turn has to end.
    pub fn note(&mut self, results: &[ToolResult]) -> bool {
        let all = !results.is_empty() && results.iter().all(|result| !result.ok);
        self.0 = if all { self.0 + 1 } else { 0 };
        self.0 >= STOP_AFTER
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(n: u32) -> ToolCall {
        ToolCall { id: "c".into(), tool: "Read".to_owned(), args: json!({ "n": n }), signature: None }
    }

    fn result(text: &str) -> ToolResult {
        let (tool, text) = ("Read".to_owned(), text.to_owned());
        ToolResult { id: "c".into(), tool, ok: true, text, data: Value::Null }
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
    fn a_long_list_of_like_calls_is_no_loop() {
        let mut repeats = Repeats::default();
        let list = (0..200).flat_map(|n| [1_000, n]);
        assert!(notes(&mut repeats, list).iter().all(|note| *note == Repeat::Fine));
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

    #[test]
    fn rounds_of_several_calls_count_too() {
        for length in 2..=6 {
            let mut repeats = Repeats::default();
            let round = |rounds: u32| (0..length * rounds).map(move |n| n % length);
            let found = notes(&mut repeats, (100..110).chain(round(4)));
            assert_eq!(found.last(), Some(&Repeat::Warn), "{length}");
            assert_eq!(found.iter().filter(|note| **note != Repeat::Fine).count(), 1);
            assert_eq!(notes(&mut repeats, round(4)).last(), Some(&Repeat::Stop), "{length}");
        }
    }

    #[test]
    fn results_that_change_are_waited_for_longer() {
        let mut repeats = Repeats::default();
        let watch = |repeats: &mut Repeats, n: u32| {
            let note = repeats.note(&call(1));
            repeats.answered(&[result(&format!("{n} % done"))]);
            note
        };
        let found: Vec<Repeat> = (0..15).map(|n| watch(&mut repeats, n)).collect();
        assert!(found[..14].iter().all(|note| *note == Repeat::Fine), "{found:?}");
        assert_eq!(found[14], Repeat::Warn);
    }
}
