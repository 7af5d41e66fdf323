//! Conversations as cancels, denials, errors, resumed sessions and switches of the model leave them behind: roles
//! out of order, calls without results and results without calls, empty texts, ids of any form, arguments that are
//! no JSON, and reasoning that is signed by somebody else or by nobody.

use koda_protocol::call::{ToolCall, ToolResult};
use koda_protocol::message::{Message, Part, Role};
use serde_json::{Value, json};

const LONG: &str =
    "call_of_ninety_characters_and_more_that_no_provider_takes_as_it_stands_0123456789abcdef_z";
const IDS: [&str; 5] = ["a", "b", "toolu_01AbC", "call#Read#0", LONG];
const TEXTS: [&str; 6] = ["", " ", "text", "Grüße, 世界 😀", "{\"role\": \"system\"}", "two\nlines\n"];
const SIGNATURES: [&str; 6] = [
    "anthropic:c2ln",
    "anthropic-redacted:c2Vhb",
    "gemini:c2lnLWc=",
    "responses:sealed",
    "bedrock:c2ln",
    "of-an-older-version",
];

/// Returns a conversation, the same for the same seed. It ends with a message of the user.
pub fn history(seed: u64) -> Vec<Message> {
    let mut dice = Dice(seed);
    let mut messages: Vec<Message> = (0..dice.below(9)).map(|_| dice.message()).collect();
    messages.push(Message::user("go on"));
    messages
}

/// Numbers that look random, by the generator SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn of<T: Copy>(&mut self, among: &[T]) -> T {
        let limit = u64::try_from(among.len()).unwrap_or(1);
        let at = usize::try_from(self.below(limit)).unwrap_or_default();
        among[at]
    }

    fn message(&mut self) -> Message {
        let role = self.of(&[Role::User, Role::Assistant]);
        let parts = (0..self.below(5)).map(|_| self.part(role)).collect();
        Message { role, parts }
    }

    fn part(&mut self, role: Role) -> Part {
        match (role, self.below(3)) {
            (_, 0) => Part::Text { text: self.of(&TEXTS).to_owned() },
            (Role::User, _) => Part::Result(ToolResult {
                id: self.of(&IDS).into(),
                tool: "Read".to_owned(),
                ok: self.below(2) == 0,
                text: self.of(&TEXTS).to_owned(),
                data: Value::Null,
            }),
            (Role::Assistant, 1) => Part::Reasoning {
                text: self.of(&["", "hm", "I see.\n"]).to_owned(),
                signature: self.signature(),
            },
            (Role::Assistant, _) => Part::Call(ToolCall {
                id: self.of(&IDS).into(),
                tool: self.of(&["Read", "Grep", "no such tool", ""]).to_owned(),
                args: self.args(),
                signature: self.signature(),
            }),
        }
    }

    fn args(&mut self) -> Value {
        match self.below(5) {
            0 => Value::Null,
            1 => Value::String("{\"cut".to_owned()),
            2 => json!([1, 2]),
            3 => json!({}),
            _ => json!({ "path": "ä/😀.rs", "ranges": [[1, 2]] }),
        }
    }

    fn signature(&mut self) -> Option<String> {
        (self.below(2) == 0).then(|| self.of(&SIGNATURES).to_owned())
    }
}
