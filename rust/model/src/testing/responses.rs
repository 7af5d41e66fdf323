//! Writes a reply as OpenAI Responses streams it.

use serde_json::{Value, json};

use super::Turn;
use super::anthropic::frame_bytes;

/// Returns the bytes of the whole stream. Reasoning is sealed as `sealed-1`.
pub fn stream(turn: &Turn) -> Vec<u8> {
    let mut frames = vec![json!({ "type": "response.created", "response": { "id": "resp_1" } })];
    let mut output: Vec<Value> = Vec::new();
    let mut item = |mut begin: Value, pieces: Vec<Value>, end: Value| {
        let place = output.len();
        let frame = |kind: &str, item: &Value| json!({ "type": kind, "output_index": place, "item": item });
        frames.push(frame("response.output_item.added", &begin));
        frames.extend(pieces.into_iter().map(|mut piece| {
            merge(&mut piece, json!({ "output_index": place, "item_id": begin["id"] }));
            piece
        }));
        merge(&mut begin, end);
        frames.push(frame("response.output_item.done", &begin));
        output.push(begin);
    };
    if !turn.reasoning.is_empty() {
        let kind = "response.reasoning_summary_text.delta";
        let pieces =
            turn.reasoning.iter().map(|piece| json!({ "type": kind, "summary_index": 0, "delta": piece }));
        let summary = json!([{ "type": "summary_text", "text": turn.reasoning.concat() }]);
        item(
            json!({ "type": "reasoning", "id": "rs_1", "summary": [] }),
            pieces.collect(),
            json!({ "summary": summary, "encrypted_content": "sealed-1" }),
        );
    }
    if !turn.text.is_empty() {
        let kind = "response.output_text.delta";
        let pieces =
            turn.text.iter().map(|piece| json!({ "type": kind, "content_index": 0, "delta": piece }));
        let content = json!([{ "type": "output_text", "text": turn.text.concat(), "annotations": [] }]);
        item(
            json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": [] }),
            pieces.collect(),
            json!({ "content": content }),
        );
    }
    for call in &turn.calls {
        let kind = "response.function_call_arguments.delta";
        let pieces = call.args.iter().map(|piece| json!({ "type": kind, "delta": piece }));
        item(
            json!({ "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
                "name": call.tool, "arguments": "" }),
            pieces.collect(),
            json!({ "arguments": call.args.concat() }),
        );
    }
    let mut response =
        json!({ "id": "resp_1", "model": "scripted", "status": "completed", "output": output });
    if let Some((input, output)) = turn.usage {
        response["usage"] =
            json!({ "input_tokens": input, "output_tokens": output, "total_tokens": input + output });
    }
    frames.push(json!({ "type": "response.completed", "response": response }));
    frames.iter().flat_map(frame_bytes).collect()
}

/// Puts the fields of one object into another.
fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}
