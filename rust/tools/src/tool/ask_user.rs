//! AskUser: a question to the person, with options if there are any.

use koda_protocol::event::{Answer, AskKind};
use koda_protocol::port::Ask;
use koda_protocol::{AskId, Decision, Effect, ToolCall, Verdict};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};

#[derive(Deserialize)]
struct Args {
    question: String,
    #[serde(default, alias = "choices")]
    options: Vec<Choice>,
    #[serde(default, alias = "multi_select", alias = "multiSelect", alias = "allow_multiple")]
    multiple: bool,
}

/// An option as models write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Choice {
    Text(String),
    Fields {
        #[serde(alias = "text", alias = "value", alias = "title")]
        label: String,
        #[serde(default)]
        description: String,
    },
}

impl Choice {
    fn shown(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Fields { label, description } if description.is_empty() => label,
            Self::Fields { label, description } => format!("{label} — {description}"),
        }
    }
}

/// A question that is understood.
struct Asked {
    question: String,
    options: Vec<String>,
    multiple: bool,
}

/// Options of a question: more are no choice but a list to read.
const MAX_OPTIONS: usize = 9;

pub fn entry() -> Entry {
    Entry {
        name: "AskUser",
        aliases: &["ask_questions", "ask_user", "ask_question"],
        description: "Ask the user one question when the answer changes what you do and can't be found out. Give options where you can, multiple where several may hold; the user may also answer freely.",
        effect: Effect::Interactive,
        schema: json!({
            "type": "object",
            "properties": {
                "question": { "type": "string" },
                "options": { "type": "array", "items": { "type": "string" } },
                "multiple": { "type": "boolean" }
            },
            "required": ["question"]
        }),
        prepare: |args, _| {
            let asked = understand(object(args)?)?;
            Ok(Job::new(move |context| run(context, asked)))
        },
    }
}

fn understand(mut fields: Map<String, Value>) -> Result<Asked, String> {
    // Some ask in a list; one question a call is what a person answers well.
    if let Some(Value::Array(questions)) = fields.get("questions") {
        fields = match questions.as_slice() {
            [Value::Object(one)] => one.clone(),
            [Value::String(one)] => Map::from_iter([("question".to_owned(), Value::String(one.clone()))]),
            some => return Err(format!("`questions`: {} at once; ask one question a call", some.len())),
        };
    }
    rename(&mut fields, &[("prompt", "question"), ("text", "question")]);
    let Args { question, options, multiple } = read(fields.into())?;
    if question.trim().is_empty() {
        return Err("`question`: it is empty".to_owned());
    }
    let options: Vec<String> = options.into_iter().map(Choice::shown).collect();
    if let Some(at) = options.iter().position(|option| option.trim().is_empty() || option.contains('\n')) {
        return Err(format!("`options[{at}]`: one line of text"));
    }
    if options.len() > MAX_OPTIONS {
        return Err(format!("`options`: {} of them, {MAX_OPTIONS} at most", options.len()));
    }
    Ok(Asked { question, options, multiple })
}

/// What was chosen: options by their text, a line each; anything else is an answer of the user's own.
fn chosen(asked: &Asked, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let known = |line: &&str| asked.options.iter().any(|option| option == line);
    let fits = !lines.is_empty() && lines.iter().all(known) && (asked.multiple || lines.len() == 1);
    if fits { lines.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

async fn run(context: ToolContext, asked: Asked) -> Output {
    let Asked { question, options, multiple } = &asked;
    let args = json!({ "question": question, "options": options, "multiple": multiple });
    let call = ToolCall { id: context.call.clone(), tool: "AskUser".to_owned(), args, signature: None };
    let verdict = Verdict {
        decision: Decision::Ask,
        class: None,
        reasons: vec!["it is a question to you".to_owned()],
        parts: Vec::new(),
        rule: None,
        always: None,
    };
    let ask = Ask {
        id: AskId(format!("ask:{}", context.call)),
        session: context.session.clone(),
        kind: AskKind::Question,
        call,
        verdict,
        proposal: None,
    };
    match context.ports.approver.ask(ask).await {
        Answer::Accept { text, .. } => {
            let text = text.or_else(|| asked.options.first().cloned()).unwrap_or_default();
            let choices = chosen(&asked, &text);
            let said = if choices.len() > 1 { choices.join("; ") } else { text.clone() };
            Output::ok(format!("The user answered: {said}"), json!({ "answer": text, "choices": choices }))
        }
        Answer::Reject { reason } => {
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            Output::failed(format!("The user did not want to answer{reason}. Decide yourself or stop."))
        }
        Answer::Nobody => Output {
            data: json!({ "needs_user": true }),
            ..Output::failed("Nobody is there to answer. The run ends here.")
        },
        Answer::Cancelled => Output::failed("The user stopped the turn before answering."),
    }
}
