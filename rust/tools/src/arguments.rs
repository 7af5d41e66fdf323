//! Arguments as models write them: repaired where there is one meaning only, else refused by name.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads arguments as `T`; an error names the field.
pub fn read<T: DeserializeOwned>(args: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(args).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner().to_string();
        if path == "." { inner } else { format!("`{path}`: {inner}") }
    })
}

/// Turns what came as arguments into an object.
///
/// Nothing is an empty object. Text is parsed: a model that can't call tools well writes JSON in a
/// string, or several objects glued together, or one that is cut short.
pub fn object(args: Value) -> Result<Map<String, Value>, String> {
    match args {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields),
        Value::String(text) => parse(&text),
        other => Err(format!("the arguments must be an object, not {}", kind(&other))),
    }
}

fn parse(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) if error.is_eof() => {
            return Err(
                "the arguments are cut short: send the whole call again, shorter if it was long".to_owned()
            );
        }
        Some(Err(error)) => {
            return Err(format!("the arguments are not valid JSON ({error}): send the call again"));
        }
        None => Value::Null,
    };
    match values.next() {
        None => match first {
            Value::Object(fields) => Ok(fields),
            other => Err(format!("the arguments must be an object, not {}", kind(&other))),
        },
        Some(Ok(second)) if second == first => object(first),
        Some(_) => Err("the arguments hold more than one object: send one call for each".to_owned()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Gives fields the names that the tool knows: `(other name, known name)`, unless that is there too.
pub fn rename(fields: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (other, known) in names {
        if !fields.contains_key(*known)
            && let Some(value) = fields.shift_remove(*other)
        {
            fields.insert((*known).to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_one_meaning_is_understood() {
        assert!(object(Value::Null).unwrap().is_empty());
        assert!(object(json!("")).unwrap().is_empty());
        assert_eq!(object(json!("{\"a\":1}")).unwrap(), *json!({ "a": 1 }).as_object().unwrap());
        assert_eq!(object(json!("{\"a\":1}{\"a\":1}")).unwrap().len(), 1);
    }

    #[test]
    fn what_has_none_or_two_is_refused() {
        let refused = |args: Value| object(args).unwrap_err();
        assert!(refused(json!("{\"a\":\"x")).contains("cut short"));
        assert!(refused(json!("{\"a\":1}{\"b\":2}")).contains("more than one"));
        assert!(refused(json!("{a}")).contains("not valid JSON"));
        assert!(refused(json!([1])).contains("an array"));
    }
}
