//! Writes a reply as OpenAI Chat Completions streams it.

use serde_json::{Value, json};

use super::Turn;

/// Returns the bytes of the whole stream.
pub fn stream(turn: &Turn) -> Vec<u8> {
    let mut frames = vec![delta(json!({ "role": "assistant", "content": "" }), Value::Null)];
    frames
        .extend(turn.reasoning.iter().map(|piece| delta(json!({ "reasoning_content": piece }), Value::Null)));
    frames.extend(turn.text.iter().map(|piece| delta(json!({ "content": piece }), Value::Null)));
    for (index, call) in turn.calls.iter().enumerate() {
        let begin = json!({
            "index": index, "id": call.id, "type": "function",
            "function": { "name": call.tool, "arguments": "" },
        });
        frames.push(delta(json!({ "tool_calls": [begin] }), Value::Null));
        let grow =
            |args: &String| json!({ "tool_calls": [{ "index": index, "function": { "arguments": args } }] });
        frames.extend(call.args.iter().map(|args| delta(grow(args), Value::Null)));
    }
    let reason = if turn.calls.is_empty() { "stop" } else { "tool_calls" };
    frames.push(delta(json!({}), json!(reason)));
    if let Some((input, output)) = turn.usage {
        let usage =
            json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output });
        frames.push(json!({ "object": "chat.completion.chunk", "choices": [], "usage": usage }));
    }
    let mut bytes: Vec<u8> = frames.iter().flat_map(|frame| frame_bytes(&frame.to_string())).collect();
    bytes.extend(frame_bytes("[DONE]"));
    bytes
}

/// Returns one frame.
pub fn frame_bytes(data: &str) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn delta(delta: Value, finish: Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
}
