//! The conversation as the model gets it, kept valid at every moment.
//!
//! Roles alternate and each call has its one result in the next message, whatever was cancelled, denied or
//! cut off between. A running turn and a stored session are taken in by the same functions, so that a
//! session that is resumed has the history that it had.

use std::collections::HashSet;

use koda_protocol::{CallId, Envelope, Event, Message, Part, Role, ToolResult, Usage};
use serde_json::Value;

/// A call of the last message, with its result or what stands for it.
#[derive(Clone, Debug)]
struct Open {
    result: ToolResult,
    answered: bool,
}

/// The messages of a session.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    ids: HashSet<CallId>,
    open: Vec<Open>,
}

impl History {
    /// Returns the messages. Results of open calls are not among them yet.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the ids that calls have had.
    pub fn ids(&self) -> &HashSet<CallId> {
        &self.ids
    }

    /// Tells whether the model has the word: the last message is not its own.
    pub fn wants_answer(&self) -> bool {
        self.messages.last().is_some_and(|message| message.role == Role::User)
    }

    /// Adds a message of the user. Open calls are closed before it.
    pub fn push_user(&mut self, text: &str, context: &str) {
        self.close();
        let parts = [context, text].into_iter().filter(|text| !text.is_empty());
        self.push_parts(parts.map(|text| Part::Text { text: text.to_owned() }).collect());
    }

    /// Adds a message of the model and opens its calls, whose ids are unique already.
    pub fn push_assistant(&mut self, message: Message) {
        self.close();
        if message.parts.is_empty() {
            return;
        }
        self.ids.extend(message.calls().map(|call| call.id.clone()));
        self.open = message
            .calls()
            .map(|call| Open { result: interrupted(&call.id, &call.tool), answered: false })
            .collect();
        match self.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => last.parts.extend(message.parts),
            _ => self.messages.push(message),
        }
    }

    /// Puts a result in the place that waits for it; a call that is not open keeps the result it has.
    pub fn answer(&mut self, result: ToolResult) {
        let waits = |open: &&mut Open| open.result.id == result.id && !open.answered;
        if let Some(open) = self.open.iter_mut().find(waits) {
            *open = Open { result, answered: true };
        }
    }

    /// Returns what stands for the results of the calls that have none.
    pub fn unanswered(&self) -> Vec<ToolResult> {
        self.open.iter().filter(|open| !open.answered).map(|open| open.result.clone()).collect()
    }

    /// Puts the results of the last message's calls into the conversation, in the order of the calls.
    pub fn close(&mut self) {
        let results = std::mem::take(&mut self.open).into_iter();
        self.push_parts(results.map(|open| Part::Result(open.result)).collect());
    }

    fn push_parts(&mut self, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => last.parts.extend(parts),
            _ => self.messages.push(Message { role: Role::User, parts }),
        }
    }

    /// Puts a stored conversation before this one, which has messages of the user at most.
    pub fn recall<'a>(&mut self, events: impl IntoIterator<Item = &'a Envelope>) {
        let new = std::mem::take(self);
        for envelope in events {
            self.take_in(&envelope.event);
        }
        self.close();
        new.messages.into_iter().for_each(|message| self.push_parts(message.parts));
    }

    fn take_in(&mut self, event: &Event) {
        match event {
            Event::UserMessage { text, context } => self.push_user(text, context),
            Event::Note { text } => self.push_user(text, ""),
            Event::Message { message, .. } => self.push_assistant(message.clone()),
            Event::ToolResult { id, tool, ok, text, data } => self.answer(ToolResult {
                id: id.clone(),
                tool: tool.clone(),
                ok: *ok,
                text: text.clone(),
                data: data.clone(),
            }),
            _ => {}
        }
    }
}

fn interrupted(id: &CallId, tool: &str) -> ToolResult {
    let text = "Interrupted before it ended. What it did is not known: check before you go on.".to_owned();
    ToolResult { id: id.clone(), tool: tool.to_owned(), ok: false, text, data: Value::Null }
}

/// Returns the last count of a session's tokens.
pub fn total(events: &[Envelope]) -> Usage {
    let total = events.iter().rev().find_map(|envelope| match envelope.event {
        Event::Usage { total, .. } => Some(total),
        _ => None,
    });
    total.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use koda_protocol::{ToolCall, UnixMillis};
    use serde_json::json;

    use super::*;

    fn calling(ids: &[&str]) -> Event {
        let call = |id: &&str| {
            let args = json!({});
            Part::Call(ToolCall { id: (*id).into(), tool: "Read".to_owned(), args, signature: None })
        };
        let parts = ids.iter().map(call).collect();
        Event::Message { message: Message { role: Role::Assistant, parts }, cut: false }
    }

    fn said(text: &str) -> Event {
        Event::UserMessage { text: text.to_owned(), context: "at a.rs:1".to_owned() }
    }

    fn result(id: &str, text: &str) -> Event {
        let (tool, text) = ("Read".to_owned(), text.to_owned());
        Event::ToolResult { id: id.into(), tool, ok: true, text, data: Value::Null }
    }

    /// What is in each message: texts, and calls and results by their ids.
    fn shape(history: &History) -> Vec<Vec<String>> {
        let part = |part: &Part| match part {
            Part::Text { text } | Part::Reasoning { text, .. } => text.clone(),
            Part::Call(call) => format!("call {}", call.id),
            Part::Result(result) => format!("{} {}", result.id, result.text.split(' ').next().unwrap()),
        };
        history.messages().iter().map(|message| message.parts.iter().map(part).collect()).collect()
    }

    fn recalled(events: Vec<Event>) -> History {
        let envelope = |event| Envelope { time: UnixMillis(0), session: "s".into(), event };
        let mut history = History::default();
        history.push_user("new", "");
        history.recall(&events.into_iter().map(envelope).collect::<Vec<_>>());
        history
    }

    #[test]
    fn results_stand_in_the_order_of_the_calls() {
        let events = vec![said("go"), calling(&["a", "b"]), result("b", "B"), result("a", "A")];
        assert_eq!(
            shape(&recalled(events)),
            [vec!["at a.rs:1", "go"], vec!["call a", "call b"], vec!["a A", "b B", "new"]]
        );
    }

    #[test]
    fn what_was_open_is_closed_as_interrupted() {
        let events = vec![said("go"), calling(&["a", "b"]), result("b", "B"), result("b", "again")];
        assert_eq!(shape(&recalled(events))[2], ["a Interrupted", "b B", "new"]);
        // The next message closes them too, and a result that comes after that changes nothing.
        let events =
            vec![said("go"), calling(&["a"]), calling(&["b"]), result("a", "late"), result("b", "B")];
        assert_eq!(
            shape(&recalled(events))[2..],
            [vec!["a Interrupted"], vec!["call b"], vec!["b B", "new"]]
        );
    }

    #[test]
    fn two_messages_of_one_side_become_one() {
        let text = |text: &str| Event::Message {
            message: Message { role: Role::Assistant, parts: vec![Part::Text { text: text.to_owned() }] },
            cut: true,
        };
        let events = vec![said("one"), said("two"), text("A"), text("B")];
        assert_eq!(
            shape(&recalled(events)),
            [vec!["at a.rs:1", "one", "at a.rs:1", "two"], vec!["A", "B"], vec!["new"]]
        );
    }
}
