//! Finds what a provider would refuse in a request. Each finding is a sentence.

use std::collections::HashSet;

use serde_json::Value;

/// Checks a request for OpenAI Chat Completions.
pub fn openai(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut last = String::new();
    for (index, message) in list(body, "messages").iter().enumerate() {
        let role = word(message, "role").to_owned();
        if role == "tool" {
            let id = word(message, "tool_call_id");
            match open.iter().position(|asked| asked == id) {
                Some(at) => drop(open.remove(at)),
                None => found.push(format!("message {index}: the result {id} answers no open call")),
            }
        } else {
            if !open.is_empty() {
                found.push(format!("message {index}: the calls {open:?} have no result"));
                open.clear();
            }
            if role == last || role == "system" && index > 0 {
                found.push(format!("message {index}: the role {role} is out of order"));
            }
        }
        openai_message(index, message, &mut open, &mut found);
        last = role;
    }
    if !matches!(last.as_str(), "user" | "tool") {
        found.push(format!("the last message is of the role {last:?}"));
    }
    if !open.is_empty() {
        found.push(format!("the calls {open:?} have no result"));
    }
    for tool in list(body, "tools") {
        let function = tool.get("function").unwrap_or(&Value::Null);
        schema(word(function, "name"), function.get("parameters"), &mut found);
    }
    named(body, "messages", &mut found);
    found
}

fn openai_message(index: usize, message: &Value, open: &mut Vec<String>, found: &mut Vec<String>) {
    let calls = list(message, "tool_calls");
    if word(message, "content").trim().is_empty() && calls.is_empty() {
        found.push(format!("message {index}: it has no content"));
    }
    for call in calls {
        let id = word(call, "id").to_owned();
        if id.is_empty() || id.len() > 40 || open.contains(&id) {
            found.push(format!("message {index}: the call id {id:?} is empty, long or used twice"));
        }
        name(call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default(), found);
        let args = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        if !serde_json::from_str::<Value>(args).is_ok_and(|args| args.is_object()) {
            found.push(format!("message {index}: the arguments of {id} are no object: {args}"));
        }
        open.push(id);
    }
}

/// Checks a request for Anthropic Messages.
pub fn anthropic(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut asked: HashSet<String> = HashSet::new();
    for (index, message) in list(body, "messages").iter().enumerate() {
        let role = word(message, "role");
        let wanted = if index % 2 == 0 { "user" } else { "assistant" };
        if role != wanted {
            found.push(format!("message {index}: the role is {role}, not {wanted}"));
        }
        let text = [serde_json::json!({ "type": "text", "text": word(message, "content") })];
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            _ => text.as_slice(),
        };
        if blocks.is_empty() {
            found.push(format!("message {index}: it has no content"));
        }
        let answered = anthropic_results(index, blocks, &asked, &mut found);
        if answered.len() != asked.len() {
            found.push(format!("message {index}: of the calls {asked:?} only {answered:?} have a result"));
        }
        asked = anthropic_blocks(index, blocks, &mut found);
    }
    if list(body, "messages").len().is_multiple_of(2) {
        found.push("the last message is not the user's".to_owned());
    }
    for tool in list(body, "tools") {
        schema(word(tool, "name"), tool.get("input_schema"), &mut found);
    }
    if body.get("max_tokens").and_then(Value::as_u64).unwrap_or(0) == 0 {
        found.push("max_tokens is missing".to_owned());
    }
    named(body, "messages", &mut found);
    found
}

fn anthropic_results(
    index: usize,
    blocks: &[Value],
    asked: &HashSet<String>,
    found: &mut Vec<String>,
) -> HashSet<String> {
    let mut answered = HashSet::new();
    let mut other = false;
    for block in blocks {
        if word(block, "type") != "tool_result" {
            other = true;
            continue;
        }
        let id = word(block, "tool_use_id").to_owned();
        if other {
            found.push(format!("message {index}: the result {id} stands after other content"));
        }
        if !asked.contains(&id) || !answered.insert(id.clone()) {
            found.push(format!("message {index}: the result {id} answers no open call"));
        }
    }
    answered
}

/// Checks blocks and returns the ids of the calls among them.
fn anthropic_blocks(index: usize, blocks: &[Value], found: &mut Vec<String>) -> HashSet<String> {
    let mut ids = HashSet::new();
    for block in blocks {
        match word(block, "type") {
            "text" if word(block, "text").trim().is_empty() => {
                found.push(format!("message {index}: a text block is empty"));
            }
            "thinking" if word(block, "signature").is_empty() => {
                found.push(format!("message {index}: a thinking block is not signed"));
            }
            "tool_use" => {
                name(word(block, "name"), found);
                let id = word(block, "id").to_owned();
                let plain =
                    id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
                if id.is_empty() || !plain || !block.get("input").is_some_and(Value::is_object) {
                    found.push(format!("message {index}: the call {id:?} has a wrong id or input"));
                }
                if !ids.insert(id.clone()) {
                    found.push(format!("message {index}: the call id {id} is used twice"));
                }
            }
            _ => {}
        }
    }
    ids
}

/// Checks a request for OpenAI Responses.
pub fn responses(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for (index, item) in list(body, "input").iter().enumerate() {
        match word(item, "type") {
            "function_call" => {
                let id = word(item, "call_id").to_owned();
                let args = word(item, "arguments");
                name(word(item, "name"), &mut found);
                if !serde_json::from_str::<Value>(args).is_ok_and(|args| args.is_object()) {
                    found.push(format!("item {index}: the arguments of {id} are no object: {args}"));
                }
                if id.is_empty() || id.len() > 64 || open.contains(&id) {
                    found.push(format!("item {index}: the call id {id:?} is empty, long or used twice"));
                }
                open.push(id);
            }
            "function_call_output" => {
                let id = word(item, "call_id");
                match open.iter().position(|asked| asked == id) {
                    Some(at) => drop(open.remove(at)),
                    None => found.push(format!("item {index}: the result {id} answers no open call")),
                }
            }
            "reasoning" if word(item, "encrypted_content").is_empty() => {
                found.push(format!("item {index}: reasoning without its seal"));
            }
            "reasoning" => {}
            _ if item.get("role").is_none() => found.push(format!("item {index}: it is nothing known")),
            _ if item.get("content").is_none_or(is_blank) => {
                found.push(format!("item {index}: it has no content"));
            }
            _ => {}
        }
    }
    if !open.is_empty() {
        found.push(format!("the calls {open:?} have no result"));
    }
    for tool in list(body, "tools") {
        schema(word(tool, "name"), tool.get("parameters"), &mut found);
    }
    if body.get("store") != Some(&Value::Bool(false)) {
        found.push("the conversation would be stored".to_owned());
    }
    named(body, "input", &mut found);
    found
}

fn is_blank(content: &Value) -> bool {
    match content {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(parts) => parts.iter().all(|part| word(part, "text").trim().is_empty()),
        _ => true,
    }
}

/// Checks a request for Gemini.
pub fn gemini(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut asked: Vec<String> = Vec::new();
    for (index, content) in list(body, "contents").iter().enumerate() {
        let wanted = if index % 2 == 0 { "user" } else { "model" };
        if word(content, "role") != wanted {
            found.push(format!("content {index}: the role is {}, not {wanted}", word(content, "role")));
        }
        let parts = list(content, "parts");
        if parts.is_empty() || parts.iter().any(|part| part.get("text").is_some_and(is_blank)) {
            found.push(format!("content {index}: it is empty or has an empty text"));
        }
        let names = |field: &str| -> Vec<String> {
            parts
                .iter()
                .filter_map(|part| part.get(field))
                .map(|call| word(call, "name").to_owned())
                .collect()
        };
        let answered = names("functionResponse");
        if answered != asked {
            found.push(format!("content {index}: {answered:?} are no answers to the calls {asked:?}"));
        }
        asked = names("functionCall");
        asked.iter().for_each(|called| name(called, &mut found));
    }
    if !list(body, "contents").len().is_multiple_of(2) {
        return found;
    }
    found.push("the last content is not the user's".to_owned());
    found
}

fn name(name: &str, found: &mut Vec<String>) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
        found.push(format!("the tool name {name:?} is not legal"));
    }
}

fn schema(tool: &str, schema: Option<&Value>, found: &mut Vec<String>) {
    name(tool, found);
    let object = schema.is_some_and(|schema| schema.get("type").and_then(Value::as_str) == Some("object"));
    let properties = schema.and_then(|schema| schema.get("properties")).is_none_or(Value::is_object);
    let required = schema.map(|schema| list(schema, "required")).unwrap_or_default();
    let declared = |field: &Value| {
        let field = field.as_str().unwrap_or_default();
        schema.and_then(|schema| schema.get("properties")?.get(field)).is_some()
    };
    if !object || !properties || !required.iter().all(declared) {
        found.push(format!("the schema of {tool} is no object schema"));
    }
}

fn named(body: &Value, messages: &str, found: &mut Vec<String>) {
    if word(body, "model").is_empty() || word(body, "model").contains("::") {
        found.push(format!("the model is {:?}", word(body, "model")));
    }
    if list(body, messages).is_empty() {
        found.push("there are no messages".to_owned());
    }
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
