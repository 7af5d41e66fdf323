//! Scripts for the replay model, which plays them through Koda's own turn loop.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Place;

/// A call of a tool, as a turn of a [`Replay`] makes it.
pub fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

/// A script of turns. Each request takes the next.
#[derive(Clone, Default)]
pub struct Replay {
    turns: Vec<Value>,
    chunk_bytes: Option<u64>,
    delay_ms: u64,
}

impl Replay {
    /// Begins an empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a turn that only says something.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.turn(json!({ "text": text }))
    }

    /// Adds a turn that says something and makes calls.
    #[must_use]
    pub fn calls(self, text: &str, calls: &[Value]) -> Self {
        self.turn(json!({ "text": text, "calls": calls }))
    }

    /// Adds a turn as it stands in the file.
    #[must_use]
    pub fn turn(mut self, turn: Value) -> Self {
        self.turns.push(turn);
        self
    }

    /// Streams pieces of this many bytes, with this many milliseconds between them.
    #[must_use]
    pub fn paced(mut self, chunk_bytes: u64, delay_ms: u64) -> Self {
        self.chunk_bytes = Some(chunk_bytes);
        self.delay_ms = delay_ms;
        self
    }

    /// Writes the script and returns the model's name: `replay::FILE`.
    pub fn model(&self, place: &Place) -> String {
        format!("replay::{}", self.write(place, "replay.json").display())
    }

    /// Writes the script to a file of this name and returns its path.
    pub fn write(&self, place: &Place, name: &str) -> PathBuf {
        let script = json!({
            "turns": self.turns,
            "chunk_bytes": self.chunk_bytes.unwrap_or(64),
            "delay_ms": self.delay_ms,
        });
        place.write(name, script.to_string())
    }
}
