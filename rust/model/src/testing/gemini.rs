//! Writes a reply as Gemini streams it: each frame a whole answer of its own, calls in one piece.

use serde_json::{Value, json};

use super::Turn;
use super::openai::frame_bytes;

/// Returns the bytes of the whole stream. Calls are signed with `sig-1`.
pub fn stream(turn: &Turn) -> Vec<u8> {
    let reasoning = turn.reasoning.iter().map(|piece| json!({ "text": piece, "thought": true }));
    let text = turn.text.iter().map(|piece| json!({ "text": piece }));
    let calls = turn.calls.iter().map(|call| {
        let args = call.args.concat();
        let args = serde_json::from_str(&args).unwrap_or(Value::String(args));
        let call = json!({ "id": call.id, "name": call.tool, "args": args });
        json!({ "functionCall": call, "thoughtSignature": "sig-1" })
    });
    let mut frames: Vec<Value> = reasoning.chain(text).chain(calls).map(|part| answer(&[part])).collect();
    let mut last = answer(&[json!({ "text": "" })]);
    last["candidates"][0]["finishReason"] = json!("STOP");
    if let Some((input, output)) = turn.usage {
        last["usageMetadata"] = json!({
            "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output,
        });
    }
    frames.push(last);
    frames.iter().flat_map(|frame| frame_bytes(&frame.to_string())).collect()
}

fn answer(parts: &[Value]) -> Value {
    json!({
        "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }],
        "modelVersion": "scripted",
    })
}
