//! The rules that every provider has for a conversation, a check of them, and a mending of what broke them.
//!
//! Pure: messages in, messages out. Conversations break by cancels, crashes and resumed sessions.

use std::collections::HashSet;

use koda_protocol::call::{ToolCall, ToolResult};
use koda_protocol::message::{Message, Part, Role};
use serde_json::Value;

/// A rule that a conversation breaks. Messages and parts count from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// There are no messages.
    #[error("the conversation is empty")]
    Empty,
    /// The first message is not the user's.
    #[error("the conversation begins with a message of the model")]
    BeginsWithModel,
    /// The last message is not the user's.
    #[error("the conversation ends with a message of the model")]
    EndsWithModel,
    /// Two neighbours have one role.
    #[error("messages {0} and the one before have the same role")]
    SameRole(usize),
    /// A message without parts, or a part without text.
    #[error("message {0} is empty or has an empty part")]
    EmptyPart(usize),
    /// A call or reasoning of the user, or a result of the model.
    #[error("message {0} has a part that its role can't have")]
    WrongRole(usize),
    /// Two calls of a message share an id.
    #[error("message {0} has two calls with the id {1}")]
    SameId(usize, String),
    /// A call without its one result in the next message.
    #[error("the call {1} of message {0} has not exactly one result in the next")]
    NotAnswered(usize, String),
    /// A result without a call in the message before.
    #[error("the result {1} of message {0} answers no call of the message before")]
    NotAsked(usize, String),
}

/// Checks that roles alternate from user to user, nothing is empty, and each call has one result in the next
/// message.
pub fn check(messages: &[Message]) -> Result<(), HistoryError> {
    let (Some(first), Some(last)) = (messages.first(), messages.last()) else {
        return Err(HistoryError::Empty);
    };
    if first.role != Role::User {
        return Err(HistoryError::BeginsWithModel);
    }
    let mut before: Option<&Message> = None;
    for (index, message) in messages.iter().enumerate() {
        if before.is_some_and(|before| before.role == message.role) {
            return Err(HistoryError::SameRole(index));
        }
        check_parts(index, message)?;
        check_calls(index, before, message)?;
        before = Some(message);
    }
    if last.role != Role::User {
        return Err(HistoryError::EndsWithModel);
    }
    Ok(())
}

fn check_parts(index: usize, message: &Message) -> Result<(), HistoryError> {
    if message.parts.is_empty() || message.parts.iter().any(is_empty) {
        return Err(HistoryError::EmptyPart(index));
    }
    if message.parts.iter().any(|part| !may_say(message.role, part)) {
        return Err(HistoryError::WrongRole(index));
    }
    let mut ids = HashSet::new();
    match message.calls().find(|call| !ids.insert(call.id.as_str())) {
        Some(call) => Err(HistoryError::SameId(index, call.id.to_string())),
        None => Ok(()),
    }
}

fn check_calls(index: usize, before: Option<&Message>, message: &Message) -> Result<(), HistoryError> {
    let asked: Vec<&str> = before.iter().flat_map(|m| m.calls()).map(|call| call.id.as_str()).collect();
    let answered: Vec<&str> = results(message).map(|result| result.id.as_str()).collect();
    for id in &asked {
        if answered.iter().filter(|answer| *answer == id).count() != 1 {
            return Err(HistoryError::NotAnswered(index.saturating_sub(1), (*id).to_owned()));
        }
    }
    match answered.iter().find(|id| !asked.contains(id)) {
        Some(id) => Err(HistoryError::NotAsked(index, (*id).to_owned())),
        None => Ok(()),
    }
}

/// Mends a conversation: joins neighbours of one role, drops what is empty, out of place or answers nothing,
/// and answers calls that were left without a result.
///
/// A valid conversation comes back as it was. What can't be mended (nothing at all, or the model has the last
/// word) is left for [`check`] to name.
pub fn mend(messages: &[Message]) -> Vec<Message> {
    if check(messages).is_ok() {
        return messages.to_vec();
    }
    let mut joined: Vec<Message> = Vec::new();
    for message in messages {
        let keep = message.parts.iter().filter(|part| !is_empty(part) && may_say(message.role, part));
        let parts: Vec<Part> = keep.cloned().collect();
        match joined.last_mut() {
            _ if parts.is_empty() => {}
            Some(last) if last.role == message.role => last.parts.extend(parts),
            _ => joined.push(Message { role: message.role, parts }),
        }
    }
    let mut mended: Vec<Message> = Vec::new();
    for message in joined {
        match message.role {
            Role::Assistant => push_reply(&mut mended, message),
            Role::User => push_user(&mut mended, message),
        }
    }
    if mended.last().is_some_and(|last| last.calls().next().is_some()) {
        push_user(&mut mended, Message { role: Role::User, parts: Vec::new() });
    }
    mended
}

fn push_reply(mended: &mut Vec<Message>, mut message: Message) {
    if mended.is_empty() {
        mended.push(Message::user("(The beginning of the conversation was left out.)"));
    }
    match mended.last_mut() {
        // A user's message between the two held nothing.
        Some(last) if last.role == Role::Assistant => {
            last.parts.extend(message.parts);
            dedup_calls(last);
        }
        _ => {
            dedup_calls(&mut message);
            mended.push(message);
        }
    }
}

fn dedup_calls(message: &mut Message) {
    let mut ids = HashSet::new();
    message.parts.retain(|part| match part {
        Part::Call(call) => ids.insert(call.id.clone()),
        _ => true,
    });
}

/// Adds a message of the user, with one result for each call before it, results first.
fn push_user(mended: &mut Vec<Message>, message: Message) {
    let calls: Vec<&ToolCall> = mended.last().iter().flat_map(|m| m.calls()).collect();
    let answer = |call: &ToolCall| {
        let found = results(&message).find(|result| result.id == call.id);
        Part::Result(found.cloned().unwrap_or_else(|| lost(call)))
    };
    let mut parts: Vec<Part> = calls.into_iter().map(answer).collect();
    parts.extend(message.parts.iter().filter(|part| matches!(part, Part::Text { .. })).cloned());
    match mended.last_mut() {
        _ if parts.is_empty() => {}
        Some(last) if last.role == Role::User => last.parts.extend(parts),
        _ => mended.push(Message { role: Role::User, parts }),
    }
}

fn lost(call: &ToolCall) -> ToolResult {
    ToolResult {
        id: call.id.clone(),
        tool: call.tool.clone(),
        ok: false,
        text: "The call was interrupted and its result is lost. Whether it ran is not known.".to_owned(),
        data: Value::Null,
    }
}

fn results(message: &Message) -> impl Iterator<Item = &ToolResult> {
    message.parts.iter().filter_map(|part| match part {
        Part::Result(result) => Some(result),
        _ => None,
    })
}

fn is_empty(part: &Part) -> bool {
    match part {
        Part::Text { text } => text.trim().is_empty(),
        // A signature alone is what a provider hides its reasoning in.
        Part::Reasoning { text, signature } => text.trim().is_empty() && signature.is_none(),
        Part::Call(_) | Part::Result(_) => false,
    }
}

fn may_say(role: Role, part: &Part) -> bool {
    match part {
        Part::Text { .. } => true,
        Part::Reasoning { .. } | Part::Call(_) => role == Role::Assistant,
        Part::Result(_) => role == Role::User,
    }
}
