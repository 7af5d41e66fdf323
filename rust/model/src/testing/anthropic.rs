//! Writes a reply as Anthropic Messages streams it.

use serde_json::{Value, json};

use super::Turn;

/// Returns the bytes of the whole stream. Reasoning is signed with `sig-1`.
pub fn stream(turn: &Turn) -> Vec<u8> {
    let (input, output) = turn.usage.unwrap_or((1, 1));
    let mut frames = vec![json!({
        "type": "message_start",
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
            "stop_reason": null, "usage": { "input_tokens": input, "output_tokens": 1 },
        },
    })];
    let mut index = 0;
    let mut block = |start: Value, mut deltas: Vec<Value>| {
        let mut frames =
            vec![json!({ "type": "content_block_start", "index": index, "content_block": start })];
        let delta = |delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        frames.extend(deltas.drain(..).map(delta));
        frames.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
        frames
    };
    if !turn.reasoning.is_empty() {
        let think = |piece: &String| json!({ "type": "thinking_delta", "thinking": piece });
        let mut deltas: Vec<Value> = turn.reasoning.iter().map(think).collect();
        deltas.push(json!({ "type": "signature_delta", "signature": "sig-1" }));
        frames.extend(block(json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas));
        frames.push(json!({ "type": "ping" }));
    }
    if !turn.text.is_empty() {
        let deltas = turn.text.iter().map(|piece| json!({ "type": "text_delta", "text": piece })).collect();
        frames.extend(block(json!({ "type": "text", "text": "" }), deltas));
    }
    for call in &turn.calls {
        let grow = |args: &String| json!({ "type": "input_json_delta", "partial_json": args });
        let start = json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": {} });
        frames.extend(block(start, call.args.iter().map(grow).collect()));
    }
    let reason = if turn.calls.is_empty() { "end_turn" } else { "tool_use" };
    frames.push(json!({
        "type": "message_delta",
        "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": output },
    }));
    frames.push(json!({ "type": "message_stop" }));
    frames.iter().flat_map(frame_bytes).collect()
}

/// Returns one frame, named by its type.
pub fn frame_bytes(frame: &Value) -> Vec<u8> {
    let kind = frame.get("type").and_then(Value::as_str).unwrap_or("message");
    format!("event: {kind}\ndata: {frame}\n\n").into_bytes()
}
