//! RecallContext: what was said before, in this session and in earlier ones of the project.

use koda_protocol::port::StoreError;
use koda_protocol::{Effect, Event, RecallQuery, Recollection, SessionId};
use koda_text::cut::around;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::read;
use crate::context::ToolContext;
use crate::entry::{Entry, Job, Output};

/// Hits of a page.
const PAGE: usize = 10;

/// Characters of a hit around what was found.
const SNIPPET: usize = 240;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Args {
    query: Option<String>,
    turn: Option<usize>,
    id: Option<String>,
    session: Option<String>,
    page: Option<usize>,
}

pub fn entry() -> Entry {
    Entry {
        name: "RecallContext",
        aliases: &["recall_context", "recall"],
        description: "Search what was said and what tools returned, earlier in this session (also what was cleared or summarised) and in past sessions of this project. With query: hits with their ids, by pages. With id, of a hit or a call of this session: its whole text. With turn: all of the turn of that number in this session.",
        effect: Effect::Read,
        schema: json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "words that must all occur" },
                "id": { "type": "string" },
                "turn": { "type": "integer", "description": "number of a message of the user, from 1" },
                "session": { "type": "string", "description": "search this session only; \"this\" is the current one" },
                "page": { "type": "integer" }
            }
        }),
        prepare: |args, _| {
            let args: Args = read(args)?;
            let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
            if blank(&args.query) && blank(&args.id) && args.turn.is_none() {
                return Err("`query`, `id` or `turn`: say what to look for".to_owned());
            }
            Ok(Job::new(move |context| run(context, args)))
        },
    }
}

async fn run(context: ToolContext, args: Args) -> Output {
    // The store may wait for the disk.
    let found = tokio::task::spawn_blocking(move || recall(&context, &args)).await;
    match found {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => Output::failed(format!("The sessions can't be read: {error}")),
        Err(error) => Output::failed(format!("The search failed: {error}")),
    }
}

fn recall(context: &ToolContext, args: &Args) -> Result<Output, StoreError> {
    if let Some(id) = args.id.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
        return by_id(context, id);
    }
    match args.turn {
        Some(turn) => by_turn(context, turn),
        None => by_words(context, args),
    }
}

fn cwd(context: &ToolContext) -> String {
    context.workplace.resolver.root().to_string_lossy().into_owned()
}

fn by_words(context: &ToolContext, args: &Args) -> Result<Output, StoreError> {
    let query = args.query.as_deref().unwrap_or_default();
    let words: Vec<String> = query.split_whitespace().map(str::to_owned).collect();
    let session = args.session.as_deref().map(|name| match name {
        "this" | "current" => context.session.clone(),
        name => SessionId(name.to_owned()),
    });
    let page = args.page.unwrap_or(1).max(1);
    let offset = (page - 1).saturating_mul(PAGE);
    let asked = RecallQuery { words: words.clone(), cwd: cwd(context), session, limit: PAGE, offset };
    let found = context.ports.store.recall(&asked)?;
    if found.hits.is_empty() {
        let text = match found.total {
            0 => format!("Nothing was said with all of: {}. Try fewer or other words.", words.join(", ")),
            total => format!("There are only {total} hits: page {page} is empty."),
        };
        return Ok(Output::ok(text, json!({ "matches": found.total })));
    }
    let mut lines: Vec<String> = found.hits.iter().map(|hit| line(context, hit, &words)).collect();
    let seen = offset + found.hits.len();
    if seen < found.total {
        lines.push(format!("[{} more: page {}]", found.total - seen, page + 1));
    }
    Ok(Output::ok(lines.join("\n"), json!({ "matches": found.total, "page": page })))
}

fn line(context: &ToolContext, hit: &Recollection, words: &[String]) -> String {
    let place = if hit.session == context.session {
        "this session".to_owned()
    } else {
        format!("{} {:?}", hit.time.date(), hit.title)
    };
    let snippet = around(&hit.text, words, SNIPPET).replace('\n', " ");
    format!("{}#{} ({place}, {}): {snippet}", hit.session, hit.number, hit.who)
}

/// Returns the whole text of a hit, or of a call of this session.
fn by_id(context: &ToolContext, id: &str) -> Result<Output, StoreError> {
    let store = &context.ports.store;
    let named = id.rsplit_once('#').and_then(|(session, number)| Some((session, number.parse().ok()?)));
    if let Some((session, number)) = named {
        let found = store.recollect(&cwd(context), &SessionId(session.to_owned()), number)?;
        return Ok(match found {
            Some(hit) => whole(&hit.who, hit.text),
            None => Output::failed(format!("There is no {id:?} in this project's sessions.")),
        });
    }
    let events = store.events(&context.session)?;
    let result = events.iter().rev().find_map(|envelope| match &envelope.event {
        Event::ToolResult { id: of, tool, text, .. } if of.as_str() == id => Some((tool, text)),
        _ => None,
    });
    Ok(match result {
        Some((tool, text)) => whole(tool, text.clone()),
        None => Output::failed(format!("{id:?} is neither the id of a hit nor of a call of this session.")),
    })
}

fn whole(who: &str, text: String) -> Output {
    Output { keep_tail: true, ..Output::ok(text, json!({ "who": who })) }
}

/// Returns all that was said from a message of the user on to the next.
fn by_turn(context: &ToolContext, turn: usize) -> Result<Output, StoreError> {
    let events = context.ports.store.events(&context.session)?;
    let (mut count, mut text) = (0, String::new());
    for envelope in &events {
        count += usize::from(matches!(envelope.event, Event::UserMessage { .. }));
        if count == turn
            && count > 0
            && let Some((who, said)) = envelope.event.recallable()
        {
            text.push_str(&format!("## {who}\n{said}\n\n"));
        }
    }
    if text.is_empty() {
        return Ok(Output::failed(format!("There is no turn {turn}: this session has {count}, from 1.")));
    }
    Ok(Output::ok(text, Value::Null))
}
