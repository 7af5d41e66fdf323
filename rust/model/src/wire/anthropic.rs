//! Reads Anthropic Messages. The kind of a frame is taken from its data, since gateways lose event names.

use std::collections::{HashMap, HashSet};

use koda_protocol::message::Usage;
use koda_protocol::port::{ModelEvent, StopReason};
use serde_json::Value;

use super::calls::{Calls, Piece};
use super::prose::Prose;
use super::{count, parsed, signature, stop_reason};
use crate::failure::{Context, Failure};

/// What a content block is.
enum Block {
    Text,
    Thinking { signature: String },
    // `input` is what came whole with the start; deltas replace it.
    Call { input: Option<String> },
    // A block of a kind that has no place in a message here.
    Ignored,
}

/// One stream's state.
pub(crate) struct Reader {
    blocks: HashMap<u64, Block>,
    calls: Calls,
    prose: Prose,
    usage: Usage,
    counted: bool,
    stop: Option<String>,
    done: bool,
    context: Context,
}

impl Reader {
    pub(super) fn new(taken: HashSet<String>, context: Context) -> Self {
        Self {
            blocks: HashMap::new(),
            calls: Calls::new(taken),
            prose: Prose::default(),
            usage: Usage::default(),
            counted: false,
            stop: None,
            done: false,
            context,
        }
    }

    pub(super) fn frame(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<(), Failure> {
        let Some(frame) = parsed(data, self.complete(), &self.context)? else { return Ok(()) };
        let index = frame.get("index").and_then(Value::as_u64).unwrap_or_default();
        match frame.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => self.count(frame.pointer("/message/usage")),
            "content_block_start" => {
                self.start(index, frame.get("content_block").unwrap_or(&Value::Null), out)
            }
            "content_block_delta" => self.delta(index, frame.get("delta").unwrap_or(&Value::Null), out),
            "content_block_stop" => self.close(index, out),
            "message_delta" => {
                self.count(frame.get("usage"));
                let reason = frame.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop = reason.map(str::to_owned).or(self.stop.take());
            }
            "message_stop" => self.done = true,
            _ => {
                if let Some(error) = frame.get("error").filter(|error| !error.is_null()) {
                    return Err(self.context.object(error));
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, index: u64, block: &Value, out: &mut Vec<ModelEvent>) {
        let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let kind = match word("type") {
            "text" => {
                self.prose.say(word("text"), out);
                Block::Text
            }
            "thinking" => {
                self.prose.think(word("thinking"), out);
                Block::Thinking { signature: word("signature").to_owned() }
            }
            "redacted_thinking" => {
                out.push(ModelEvent::ReasoningSignature(format!("{}{}", signature::REDACTED, word("data"))));
                Block::Ignored
            }
            "tool_use" => {
                let id = Some(word("id")).filter(|id| !id.is_empty());
                let piece = Piece { index: Some(index), id, name: Some(word("name")), args: "" };
                out.extend(self.calls.push(&piece));
                let input =
                    block.get("input").filter(|input| input.as_object().is_some_and(|map| !map.is_empty()));
                Block::Call { input: input.map(Value::to_string) }
            }
            _ => Block::Ignored,
        };
        self.blocks.insert(index, kind);
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<ModelEvent>) {
        let word = |name: &str| delta.get(name).and_then(Value::as_str);
        if let Some(text) = word("text") {
            self.prose.say(text, out);
        }
        if let Some(text) = word("thinking") {
            self.prose.think(text, out);
        }
        match self.blocks.get_mut(&index) {
            Some(Block::Thinking { signature }) => signature.push_str(word("signature").unwrap_or_default()),
            Some(Block::Call { input }) => {
                if let Some(args) = word("partial_json").filter(|args| !args.is_empty()) {
                    *input = None;
                    out.extend(self.calls.push(&Piece { index: Some(index), args, ..Piece::default() }));
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        match self.blocks.remove(&index) {
            Some(Block::Thinking { signature }) if !signature.is_empty() => {
                out.push(ModelEvent::ReasoningSignature(format!("{}{signature}", signature::ANTHROPIC)));
            }
            Some(Block::Call { input }) => {
                if let Some(args) = input {
                    out.extend(self.calls.push(&Piece {
                        index: Some(index),
                        args: &args,
                        ..Piece::default()
                    }));
                }
                out.extend(self.calls.complete(index));
            }
            _ => {}
        }
    }

    /// Takes the counts over. The first frame has the input's, the last the output's; gateways mix them.
    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let (cached, written) =
            (count(usage.get("cache_read_input_tokens")), count(usage.get("cache_creation_input_tokens")));
        if let Some(fresh) = count(usage.get("input_tokens")) {
            // Anthropic counts what the cache held beside the rest; here the input is all that was sent.
            self.usage.input = Some(fresh + cached.unwrap_or(0) + written.unwrap_or(0));
        }
        let thinking = count(usage.pointer("/output_tokens_details/thinking_tokens"));
        self.usage.output = count(usage.get("output_tokens")).or(self.usage.output);
        self.usage.cached = cached.or(self.usage.cached);
        self.usage.cache_write = written.or(self.usage.cache_write);
        self.usage.reasoning = thinking.or(self.usage.reasoning);
        self.counted = true;
    }

    pub(super) fn complete(&self) -> bool {
        self.done || self.stop.is_some()
    }

    pub(super) fn ended(&self) -> bool {
        self.done
    }

    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> StopReason {
        let mut open: Vec<u64> = self.blocks.keys().copied().collect();
        open.sort_unstable();
        for index in open {
            self.close(index, out);
        }
        self.prose.finish(out);
        out.extend(self.calls.drain());
        if std::mem::take(&mut self.counted) {
            out.push(ModelEvent::Usage(self.usage));
        }
        stop_reason(self.stop.as_deref(), !self.calls.is_empty())
    }
}
