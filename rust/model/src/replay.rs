//! The replay model: plays a JSON file of turns, streamed like a real model's.
//!
//! `{"turns": [{"text", "reasoning", "calls": [{"tool", "args", "id"?}], "usage", "error"}], "chunk_bytes": 8,
//! "delay_ms": 0}`. The turn is the one after those that the conversation holds already, so a resumed session
//! goes on where it was and two sessions don't disturb each other.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use koda_protocol::call::ToolCall;
use koda_protocol::message::{Message, Role, Usage};
use koda_protocol::port::{ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream, StopReason};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::provider::config;
use crate::wire::arguments;

/// Pieces between two rests, so that a file without delays leaves its thread to others too.
const REST: usize = 256;

/// A file.
#[derive(Debug, Deserialize)]
pub(crate) struct Script {
    turns: Vec<Turn>,
    #[serde(default = "chunk_bytes")]
    chunk_bytes: usize,
    #[serde(default)]
    delay_ms: u64,
}

fn chunk_bytes() -> usize {
    8
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Turn {
    text: Option<String>,
    reasoning: Option<String>,
    calls: Vec<Call>,
    usage: Option<Counts>,
    error: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Call {
    tool: String,
    #[serde(default)]
    args: Value,
    id: Option<String>,
}

/// Tokens, under the names of Koda or of the providers.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(alias = "input_tokens", alias = "prompt_tokens")]
    input: Option<u64>,
    #[serde(alias = "output_tokens", alias = "completion_tokens")]
    output: Option<u64>,
    #[serde(alias = "cached_tokens")]
    cached: Option<u64>,
    cache_write: Option<u64>,
    #[serde(alias = "reasoning_tokens")]
    reasoning: Option<u64>,
}

/// Reads a file. Errors are of the kind `Config` and say where.
pub(crate) fn read(file: &str) -> Result<Script, ModelError> {
    let path = Path::new(file);
    let wrong = |what: String, hint: &str| config(format!("replay file {file}: {what}"), hint.to_owned());
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(error.to_string(), "name a file that is there: replay::PATH"))?;
    let script: Script = serde_json::from_str(&text).map_err(|error| {
        let what = if error.is_data() { "wrong shape" } else { "not JSON" };
        wrong(format!("{what}: {error}"), "it is to be {\"turns\": [{\"text\": \"...\", \"calls\": [...]}]}")
    })?;
    let silent = |turn: &Turn| {
        let said =
            [&turn.text, &turn.reasoning, &turn.error].into_iter().flatten().any(|text| !text.is_empty());
        !said && turn.calls.is_empty()
    };
    match script.turns.iter().position(silent) {
        Some(index) => Err(wrong(format!("turns[{index}] says nothing"), "give it text, calls or an error")),
        None => Ok(script),
    }
}

/// Opens the stream of the next turn.
pub(crate) fn stream(file: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
    let script = read(file)?;
    let played = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
    let Some(turn) = script.turns.get(played) else {
        let message = format!("replay file {file}: its {} turns are used up", script.turns.len());
        return Err(config(message, format!("add turns[{played}], or begin a new session")));
    };
    let playing = Playing {
        turn: Arc::new(turn.clone()),
        ids: ids(turn, played, &request.messages),
        lengths: turn.calls.iter().map(|call| args_length(&call.args)).collect(),
        chunk: script.chunk_bytes.max(1),
        delay: Duration::from_millis(script.delay_ms),
        cancel: request.cancel.clone(),
        at: Some(Position::Reasoning(0)),
        pieces: 0,
    };
    Ok(futures::stream::unfold(playing, |mut playing| async move {
        let item = playing.next().await?;
        Some((item, playing))
    })
    .boxed())
}

/// Gives each call its id: the file's own where the conversation has none like it.
fn ids(turn: &Turn, played: usize, messages: &[Message]) -> Vec<String> {
    let mut taken: HashSet<String> =
        messages.iter().flat_map(Message::calls).map(|call| call.id.to_string()).collect();
    let mut ids = Vec::new();
    for (index, call) in turn.calls.iter().enumerate() {
        let base = call.id.clone().unwrap_or_else(|| format!("call_{}_{}", played + 1, index + 1));
        let mut id = base.clone();
        let mut count = 2;
        while !taken.insert(id.clone()) {
            id = format!("{base}-{count}");
            count += 1;
        }
        ids.push(id);
    }
    ids
}

/// Where the playing is. Numbers are bytes from 0, and calls from 0.
#[derive(Clone, Copy)]
enum Position {
    Reasoning(usize),
    Text(usize),
    Call(usize, usize),
    Close,
    Stop,
}

struct Playing {
    turn: Arc<Turn>,
    ids: Vec<String>,
    lengths: Vec<usize>,
    chunk: usize,
    delay: Duration,
    cancel: CancellationToken,
    at: Option<Position>,
    pieces: usize,
}

impl Playing {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            let at = self.at?;
            if self.cancel.is_cancelled() {
                return Some(self.fail(ModelErrorKind::Cancelled, "the request was stopped".to_owned()));
            }
            let event = match at {
                Position::Reasoning(from) => self.reasoning(from),
                Position::Text(from) => self.text(from),
                Position::Call(index, from) => self.call(index, from),
                Position::Close => match self.turn.error.clone() {
                    Some(error) => return Some(self.fail(ModelErrorKind::Reply, error)),
                    None => {
                        self.at = Some(Position::Stop);
                        self.turn.usage.map(usage).map(ModelEvent::Usage)
                    }
                },
                Position::Stop => {
                    self.at = None;
                    let calls = !self.turn.calls.is_empty();
                    Some(ModelEvent::Stop(if calls { StopReason::Calls } else { StopReason::End }))
                }
            };
            if let Some(event) = event {
                if self.rest().await {
                    return Some(self.fail(ModelErrorKind::Cancelled, "the request was stopped".to_owned()));
                }
                return Some(Ok(event));
            }
        }
    }

    fn reasoning(&mut self, from: usize) -> Option<ModelEvent> {
        let turn = self.turn.clone();
        let (piece, next) = piece(turn.reasoning.as_deref().unwrap_or_default(), from, self.chunk);
        self.at = Some(if piece.is_empty() { Position::Text(0) } else { Position::Reasoning(next) });
        (!piece.is_empty()).then(|| ModelEvent::Reasoning(piece.to_owned()))
    }

    fn text(&mut self, from: usize) -> Option<ModelEvent> {
        let turn = self.turn.clone();
        let (piece, next) = piece(turn.text.as_deref().unwrap_or_default(), from, self.chunk);
        self.at = Some(if piece.is_empty() { Position::Call(0, 0) } else { Position::Text(next) });
        (!piece.is_empty()).then(|| ModelEvent::Text(piece.to_owned()))
    }

    fn call(&mut self, index: usize, from: usize) -> Option<ModelEvent> {
        let turn = self.turn.clone();
        let (Some(call), Some(id), Some(&length)) =
            (turn.calls.get(index), self.ids.get(index), self.lengths.get(index))
        else {
            self.at = Some(Position::Close);
            return None;
        };
        if from < length || from == 0 {
            let bytes = from.saturating_add(self.chunk).min(length);
            // An empty text of arguments still forms once.
            self.at = Some(Position::Call(index, bytes.max(1)));
            return Some(ModelEvent::CallForming {
                id: id.clone(),
                tool: call.tool.clone(),
                bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            });
        }
        self.at = Some(Position::Call(index + 1, 0));
        let args = match &call.args {
            Value::String(text) => arguments(text),
            Value::Null => Value::Object(serde_json::Map::new()),
            args => args.clone(),
        };
        Some(ModelEvent::Call(ToolCall {
            id: id.as_str().into(),
            tool: call.tool.clone(),
            args,
            signature: None,
        }))
    }

    /// Waits between pieces; returns whether the wait was stopped.
    async fn rest(&mut self) -> bool {
        self.pieces += 1;
        if self.delay.is_zero() {
            if self.pieces.is_multiple_of(REST) {
                tokio::task::yield_now().await;
            }
            return false;
        }
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => true,
            () = tokio::time::sleep(self.delay) => false,
        }
    }

    fn fail(&mut self, kind: ModelErrorKind, message: String) -> Result<ModelEvent, ModelError> {
        self.at = None;
        Err(ModelError { kind, message, hint: None })
    }
}

fn args_length(args: &Value) -> usize {
    match args {
        Value::String(text) => text.len(),
        args => args.to_string().len(),
    }
}

fn usage(counts: Counts) -> Usage {
    let Counts { input, output, cached, cache_write, reasoning } = counts;
    Usage { input, output, cached, cache_write, reasoning }
}

/// Returns at least one character and else at most `bytes` bytes from `from`, and where the next piece begins.
fn piece(text: &str, from: usize, bytes: usize) -> (&str, usize) {
    let rest = text.get(from..).unwrap_or_default();
    let mut end = rest.floor_char_boundary(bytes);
    if end == 0 {
        end = rest.chars().next().map_or(0, char::len_utf8);
    }
    (rest.get(..end).unwrap_or_default(), from + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_character_borders_and_lose_nothing() {
        let text = "aé€😀b";
        for bytes in 1..8 {
            let (mut from, mut joined) = (0, String::new());
            loop {
                let (piece, next) = piece(text, from, bytes);
                if piece.is_empty() {
                    break;
                }
                joined.push_str(piece);
                from = next;
            }
            assert_eq!(joined, text);
        }
    }
}
