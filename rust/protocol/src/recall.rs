//! Recalling what was said before: in earlier sessions, and in this one after its old results were cleared.

use serde::{Deserialize, Serialize};

use crate::event::{Envelope, Event};
use crate::id::SessionId;
use crate::message::Part;
use crate::time::UnixMillis;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecallQuery {
    /// Words that a text must have, in any order and case; each may go on.
    pub words: Vec<String>,
    /// The project whose sessions are searched.
    pub cwd: String,
    /// One session of it only.
    pub session: Option<SessionId>,
    /// How many hits to return at most.
    pub limit: usize,
    /// How many to pass over.
    pub offset: usize,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recollection {
    /// Where.
    pub session: SessionId,
    /// The first line of that session.
    pub title: String,
    /// Names it within its session.
    pub number: u64,
    /// When.
    pub time: UnixMillis,
    /// `user`, `assistant`, `note` or the name of a tool.
    pub who: String,
    /// All of it.
    pub text: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// The best first.
    pub hits: Vec<Recollection>,
    /// How many there are in all.
    pub total: usize,
}

impl Event {
    /// Returns who said something worth recalling, and what: what the user and the model said, what the model
    /// called, and what came of it.
    pub fn recallable(&self) -> Option<(&str, String)> {
        let (who, text) = match self {
            Self::UserMessage { text, context } if context.is_empty() => ("user", text.clone()),
            Self::UserMessage { text, context } => ("user", format!("{text}\n\n{context}")),
            Self::Note { text } => ("note", text.clone()),
            Self::ToolResult { tool, text, .. } => (tool.as_str(), text.clone()),
            Self::Message { message, .. } => {
                let part = |part: &Part| match part {
                    Part::Text { text } => Some(text.clone()),
                    Part::Call(call) => Some(format!("[{} {}]", call.tool, call.args)),
                    Part::Reasoning { .. } | Part::Result(_) => None,
                };
                ("assistant", message.parts.iter().filter_map(part).collect::<Vec<_>>().join("\n"))
            }
            _ => return None,
        };
        (!text.trim().is_empty()).then_some((who, text))
    }
}

/// Searches events one by one: for stores without an index.
pub fn search(sessions: &[(String, Vec<Envelope>)], query: &RecallQuery) -> Recalled {
    let words: Vec<String> = query.words.iter().map(|word| word.to_lowercase()).collect();
    let mut found = Recalled::default();
    for (title, events) in sessions {
        for (number, envelope) in events.iter().enumerate() {
            let Some((who, text)) = envelope.event.recallable() else { continue };
            let lower = text.to_lowercase();
            if !words.iter().all(|word| lower.contains(word)) {
                continue;
            }
            found.total += 1;
            if found.total > query.offset && found.hits.len() < query.limit {
                found.hits.push(Recollection {
                    session: envelope.session.clone(),
                    title: title.clone(),
                    number: number as u64,
                    time: envelope.time,
                    who: who.to_owned(),
                    text,
                });
            }
        }
    }
    found
}
