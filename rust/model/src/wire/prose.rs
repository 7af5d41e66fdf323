//! What a model says and what it thinks, as they come in pieces.

use koda_protocol::port::ModelEvent;

use super::text::Joiner;

/// Both, with what each holds back of its last piece.
#[derive(Debug, Default)]
pub(super) struct Prose {
    text: Joiner,
    reasoning: Joiner,
}

impl Prose {
    pub(super) fn say(&mut self, piece: &str, out: &mut Vec<ModelEvent>) {
        let text = self.text.push(piece.to_owned());
        if !text.is_empty() {
            out.push(ModelEvent::Text(text));
        }
    }

    pub(super) fn think(&mut self, piece: &str, out: &mut Vec<ModelEvent>) {
        let text = self.reasoning.push(piece.to_owned());
        if !text.is_empty() {
            out.push(ModelEvent::Reasoning(text));
        }
    }

    /// Gives out what is still held back at the end.
    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        out.extend(self.reasoning.finish().map(ModelEvent::Reasoning));
        out.extend(self.text.finish().map(ModelEvent::Text));
    }
}
