//! What a model is to say, whatever the protocol.

use serde_json::Value;

/// One reply of a model.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub(super) reasoning: Vec<String>,
    pub(super) text: Vec<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<(u64, u64)>,
}

/// A call, its arguments in the pieces in which they are streamed.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub id: String,
    pub tool: String,
    pub args: Vec<String>,
}

impl Turn {
    /// Builds an empty reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a piece of text.
    #[must_use]
    pub fn text(mut self, piece: &str) -> Self {
        self.text.push(piece.to_owned());
        self
    }

    /// Adds a piece of reasoning.
    #[must_use]
    pub fn reasoning(mut self, piece: &str) -> Self {
        self.reasoning.push(piece.to_owned());
        self
    }

    /// Adds a call, its arguments streamed in pieces of about eight characters.
    #[must_use]
    pub fn call(self, id: &str, tool: &str, args: &Value) -> Self {
        let chars: Vec<char> = args.to_string().chars().collect();
        let pieces: Vec<String> = chars.chunks(8).map(|piece| piece.iter().collect()).collect();
        self.raw_call(id, tool, pieces)
    }

    /// Adds a call whose arguments are these pieces, JSON or not.
    #[must_use]
    pub fn raw_call(mut self, id: &str, tool: &str, args: Vec<String>) -> Self {
        self.calls.push(Call { id: id.to_owned(), tool: tool.to_owned(), args });
        self
    }

    /// Sets the tokens sent and received.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }
}
