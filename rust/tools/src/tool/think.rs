//! Think: a place for the model to reason in, with no effect.

use koda_protocol::Effect;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::read;
use crate::entry::{Entry, Job, Output};

#[derive(Deserialize)]
struct Args {
    thought: String,
}

pub fn entry() -> Entry {
    Entry {
        name: "Think",
        aliases: &["sequential_thinking"],
        description: "Think a step through before you act. Nothing happens.",
        effect: Effect::Internal,
        schema: json!({
            "type": "object",
            "properties": { "thought": { "type": "string" } },
            "required": ["thought"]
        }),
        prepare: |args, _| {
            let args: Args = read(args)?;
            Ok(Job::new(move |_| async move {
                Output::ok("Noted.", json!({ "chars": args.thought.chars().count() }))
            }))
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_field_is_named_when_it_is_wrong() {
        let place = crate::Workplace::new(std::path::Path::new("/"), None);
        let problem = |args: Value| (entry().prepare)(args, &place).err().unwrap();
        assert!(problem(json!({ "thought": 5 })).contains("`thought`"));
        assert!(problem(json!({})).contains("`thought`"));
    }
}
