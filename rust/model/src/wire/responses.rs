//! Reads OpenAI Responses. An item is known by its place in the output where frames tell it, else by its id:
//! some servers tell only one of the two, and some give an item another id in each frame.

use std::collections::HashSet;

use koda_protocol::message::Usage;
use koda_protocol::port::{ModelEvent, StopReason};
use serde_json::Value;

use super::calls::{Calls, Piece};
use super::prose::Prose;
use super::{count, parsed, signature, stop_reason};
use crate::failure::{Context, Failure};

/// An item of the output, as far as its pieces must be told apart.
#[derive(Default)]
struct Item {
    place: Option<u64>,
    id: Option<String>,
    /// Pieces of it came, so that the whole at its end is no news.
    came: bool,
    done: bool,
}

/// One stream's state.
pub(crate) struct Reader {
    items: Vec<Item>,
    calls: Calls,
    prose: Prose,
    usage: Option<Usage>,
    stop: Option<String>,
    context: Context,
}

impl Reader {
    pub(super) fn new(taken: HashSet<String>, context: Context) -> Self {
        Self {
            items: Vec::new(),
            calls: Calls::new(taken),
            prose: Prose::default(),
            usage: None,
            stop: None,
            context,
        }
    }

    pub(super) fn frame(&mut self, data: &str, out: &mut Vec<ModelEvent>) -> Result<(), Failure> {
        let Some(frame) = parsed(data, self.complete(), &self.context)? else { return Ok(()) };
        let delta = || frame.get("delta").and_then(Value::as_str).unwrap_or_default();
        match frame.get("type").and_then(Value::as_str).unwrap_or_default() {
            "response.output_item.added" => self.begin(&frame, out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.touch(&frame);
                self.prose.say(delta(), out);
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                self.touch(&frame);
                self.prose.think(delta(), out);
            }
            // Each part of a summary is a paragraph.
            "response.reasoning_summary_part.added" if count(frame.get("summary_index")) > Some(0) => {
                self.prose.think("\n\n", out);
            }
            "response.function_call_arguments.delta" => {
                let at = self.touch(&frame);
                // Without a beginning there is no name; its end tells it whole.
                if self.calls.has(at) {
                    let args = delta();
                    out.extend(self.calls.push(&Piece { index: Some(at), args, ..Piece::default() }));
                }
            }
            "response.output_item.done" => self.end(&frame, out),
            "response.completed" | "response.incomplete" => self.close(&frame, out),
            "response.failed" | "error" => return Err(self.failure(&frame)),
            _ => {}
        }
        Ok(())
    }

    fn failure(&self, frame: &Value) -> Failure {
        let inner = frame.pointer("/response/error").or_else(|| frame.get("error"));
        self.context.object(inner.filter(|error| !error.is_null()).unwrap_or(frame))
    }

    /// Returns the number of the item that a frame is about.
    fn item(&mut self, frame: &Value) -> u64 {
        let place = count(frame.get("output_index"));
        let id = frame.get("item_id").or_else(|| frame.pointer("/item/id")).and_then(Value::as_str);
        let is_it = |item: &Item| match (place, item.place) {
            (Some(place), Some(known)) => place == known,
            _ => id.is_some() && item.id.as_deref() == id,
        };
        let at = self.items.iter().rposition(is_it).unwrap_or_else(|| {
            self.items.push(Item { place, id: id.map(str::to_owned), ..Item::default() });
            self.items.len() - 1
        });
        u64::try_from(at).unwrap_or_default()
    }

    fn known(&mut self, at: u64) -> Option<&mut Item> {
        usize::try_from(at).ok().and_then(|at| self.items.get_mut(at))
    }

    /// Notes that a piece of an item came.
    fn touch(&mut self, frame: &Value) -> u64 {
        let at = self.item(frame);
        if let Some(item) = self.known(at) {
            item.came = true;
        }
        at
    }

    fn begin(&mut self, frame: &Value, out: &mut Vec<ModelEvent>) {
        let at = self.item(frame);
        let item = frame.get("item").unwrap_or(&Value::Null);
        if word(item, "type") == "function_call" {
            self.call(at, item, out);
        }
    }

    fn call(&mut self, at: u64, item: &Value, out: &mut Vec<ModelEvent>) {
        let id = Some(word(item, "call_id")).filter(|id| !id.is_empty());
        let name = Some(word(item, "name")).filter(|name| !name.is_empty());
        out.extend(self.calls.push(&Piece { index: Some(at), id, name, args: "" }));
    }

    /// Takes the whole of an item: of a call it is what counts, of a text only where no pieces came.
    fn end(&mut self, frame: &Value, out: &mut Vec<ModelEvent>) {
        let at = self.item(frame);
        let Some(known) = self.known(at).filter(|known| !known.done) else { return };
        known.done = true;
        let came = known.came;
        let item = frame.get("item").unwrap_or(&Value::Null);
        match word(item, "type") {
            "function_call" => {
                if !self.calls.has(at) {
                    self.call(at, item, out);
                }
                self.calls.settle(at, word(item, "arguments"));
                out.extend(self.calls.complete(at));
            }
            "message" if !came => self.prose.say(&texts(item, "content"), out),
            "reasoning" => {
                if !came {
                    self.prose.think(&[texts(item, "summary"), texts(item, "content")].concat(), out);
                }
                let sealed = word(item, "encrypted_content");
                if !sealed.is_empty() {
                    out.push(ModelEvent::ReasoningSignature(format!("{}{sealed}", signature::RESPONSES)));
                }
            }
            _ => {}
        }
    }

    /// Takes the last frame, which repeats the output. A server that does not stream has it only there.
    fn close(&mut self, frame: &Value, out: &mut Vec<ModelEvent>) {
        let response = frame.get("response").unwrap_or(&Value::Null);
        if self.items.is_empty() {
            let output = response.get("output").and_then(Value::as_array);
            for (place, item) in output.into_iter().flatten().enumerate() {
                self.end(&serde_json::json!({ "output_index": place, "item": item }), out);
            }
        }
        self.usage = response.get("usage").filter(|usage| usage.is_object()).map(usage_of).or(self.usage);
        let why = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        self.stop = Some(match why {
            Some("max_output_tokens") => "length".to_owned(),
            Some(why) => why.to_owned(),
            None if word(response, "status") == "incomplete" => "length".to_owned(),
            None => "completed".to_owned(),
        });
    }

    pub(super) fn complete(&self) -> bool {
        self.stop.is_some()
    }

    pub(super) fn finish(&mut self, out: &mut Vec<ModelEvent>) -> StopReason {
        self.prose.finish(out);
        out.extend(self.calls.drain());
        out.extend(self.usage.take().map(ModelEvent::Usage));
        stop_reason(self.stop.as_deref(), !self.calls.is_empty())
    }
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Joins the texts of an item's parts.
fn texts(item: &Value, name: &str) -> String {
    let parts = item.get(name).and_then(Value::as_array).into_iter().flatten();
    parts.map(|part| [word(part, "text"), word(part, "refusal")].concat()).collect()
}

fn usage_of(usage: &Value) -> Usage {
    Usage {
        input: count(usage.get("input_tokens")),
        output: count(usage.get("output_tokens")),
        cached: count(usage.pointer("/input_tokens_details/cached_tokens")),
        cache_write: count(usage.pointer("/input_tokens_details/cache_write_tokens")),
        reasoning: count(usage.pointer("/output_tokens_details/reasoning_tokens")),
    }
}
