//! Reads OpenAI Chat Completions, as OpenAI and the many servers that follow it stream it.

use std::collections::HashSet;

use koda_protocol::message::Usage;
use koda_protocol::port::{ModelEvent, StopReason};
use serde_json::Value;

use super::calls::{Calls, Piece};
use super::prose::Prose;
use super::{DONE, count, parsed, stop_reason};
use crate::failure::{Context, Failure};

/// One stream's state.
pub(crate) struct Reader {
    calls: Calls,
    prose: Prose,
    usage: Option<Usage>,
    stop: Option<String>,
    done: bool,
    context: Context,
}

impl Reader {
    pub(super) fn new(taken: HashSet<String>, context: Context) -> Self {
        Self {
            calls: Calls::new(taken),
            prose: Prose::default(),
            usage: None,
            stop: None,
            done: false,
            context,
        }
    }

    pub(super) fn frame(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<(), Failure> {
        if data.trim() == DONE {
            self.done = true;
            return Ok(());
        }
        let Some(chunk) = parsed(data, self.complete(), &self.context)? else { return Ok(()) };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(self.context.object(error));
        }
        // Groq counts under a name of its own.
        let usage =
            chunk.get("usage").filter(|usage| usage.is_object()).or_else(|| chunk.pointer("/x_groq/usage"));
        if let Some(usage) = usage {
            self.usage = Some(usage_of(usage));
        }
        if let Some(choice) = chunk.pointer("/choices/0") {
            self.choice(choice, out);
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Value, out: &mut Vec<ModelEvent>) {
        // Servers that don't stream send the whole as a `message` in one frame.
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, out);
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|text| !text.is_empty())
        {
            self.stop = Some(reason.to_owned());
            out.extend(self.calls.drain());
        }
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<ModelEvent>) {
        let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|name| delta.get(*name)?.as_str());
        self.prose.think(reasoning.unwrap_or_default(), out);
        match delta.get("content") {
            Some(Value::String(text)) => self.prose.say(text, out),
            // Mistral's reasoning models send a list of typed pieces.
            Some(Value::Array(pieces)) => pieces.iter().for_each(|piece| self.typed(piece, out)),
            _ => {}
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.prose.say(text, out);
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = piece.get("function").unwrap_or(piece);
            self.call(piece, function, out);
        }
        if let Some(function) = delta.get("function_call").filter(|function| function.is_object()) {
            self.call(&Value::Null, function, out);
        }
    }

    fn typed(&mut self, piece: &Value, out: &mut Vec<ModelEvent>) {
        if let Some(text) = piece.get("text").and_then(Value::as_str) {
            self.prose.say(text, out);
        }
        match piece.get("thinking") {
            Some(Value::String(text)) => self.prose.think(text, out),
            Some(Value::Array(inner)) => {
                for text in inner.iter().filter_map(|part| part.get("text")?.as_str()) {
                    self.prose.think(text, out);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, piece: &Value, function: &Value, out: &mut Vec<ModelEvent>) {
        let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let (id, name) = (filled(word(piece, "id")), filled(word(function, "name")));
        let args = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            // Some servers send the object itself.
            Some(other) => other.to_string(),
        };
        let index = piece.get("index").and_then(Value::as_u64);
        out.extend(self.calls.push(&Piece { index, id: id.as_deref(), name: name.as_deref(), args: &args }));
    }

    pub(super) fn complete(&self) -> bool {
        self.done || self.stop.is_some()
    }

    pub(super) fn ended(&self) -> bool {
        self.done
    }

    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> StopReason {
        self.prose.finish(out);
        out.extend(self.calls.drain());
        out.extend(self.usage.take().map(ModelEvent::Usage));
        stop_reason(self.stop.as_deref(), !self.calls.is_empty())
    }
}

fn usage_of(usage: &Value) -> Usage {
    Usage {
        input: count(usage.get("prompt_tokens")),
        output: count(usage.get("completion_tokens")),
        // DeepSeek counts hits beside the total.
        cached: count(usage.pointer("/prompt_tokens_details/cached_tokens"))
            .or_else(|| count(usage.get("prompt_cache_hit_tokens"))),
        cache_write: count(usage.pointer("/prompt_tokens_details/cache_write_tokens")),
        reasoning: count(usage.pointer("/completion_tokens_details/reasoning_tokens")),
    }
}
