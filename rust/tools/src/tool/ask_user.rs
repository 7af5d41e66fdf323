//! AskUser: a question to the person, with options if there are any.

use koda_protocol::event::{Answer, AskKind};
use koda_protocol::port::Ask;
use koda_protocol::{AskId, Decision, Effect, ToolCall, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read;
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};

#[derive(Deserialize)]
struct Args {
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

pub fn entry() -> Entry {
    Entry {
        name: "AskUser",
        aliases: &["ask_questions", "ask_user", "ask_question"],
        description: "Ask the user one question when the answer changes what you do and can't be found out. Give options where you can; the user may answer freely.",
        effect: Effect::Interactive,
        schema: json!({
            "type": "object",
            "properties": {
                "question": { "type": "string" },
                "options": { "type": "array", "items": { "type": "string" } }
            },
            "required": ["question"]
        }),
        prepare: |args, _| {
            let asked: Args = read(args.clone())?;
            if asked.question.trim().is_empty() {
                return Err("`question`: it is empty".to_owned());
            }
            Ok(Job::new(move |context| run(context, args, asked)))
        },
    }
}

async fn run(context: ToolContext, args: Value, asked: Args) -> Output {
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
            Output::ok(format!("The user answered: {text}"), json!({ "answer": text }))
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
