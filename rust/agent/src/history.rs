//! The conversation as the model gets it, kept valid at every moment.
//!
//! Roles alternate and each call has its result in the next message, whatever was cancelled, denied or
//! cut off between.

use std::collections::HashSet;

use koda_protocol::{CallId, Envelope, Event, Message, Part, Role, ToolResult};

/// The messages of a session.
#[derive(Clone, Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    ids: HashSet<CallId>,
}

impl History {
    /// Returns the messages.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Adds parts on the user's side: to the last message if that is the user's, else as a new one.
    pub fn push_user(&mut self, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => last.parts.extend(parts),
            _ => self.messages.push(Message { role: Role::User, parts }),
        }
    }

    /// Adds a message of the model, unless it is empty. Its calls have unique ids already.
    pub fn push_assistant(&mut self, message: Message) {
        if !message.parts.is_empty() {
            self.ids.extend(message.calls().map(|call| call.id.clone()));
            self.messages.push(message);
        }
    }

    /// Returns an id that no call has: the given one if it is free.
    pub fn unique(&self, id: &str, taken: &HashSet<CallId>) -> CallId {
        let is_free = |id: &CallId| !id.as_str().is_empty() && !self.ids.contains(id) && !taken.contains(id);
        let given = CallId(id.to_owned());
        if is_free(&given) {
            return given;
        }
        let mut number = self.ids.len() + taken.len() + 1;
        loop {
            let made = CallId(format!("call_{number}"));
            if is_free(&made) {
                return made;
            }
            number += 1;
        }
    }

    /// Rebuilds the history from stored events. Calls without a result are closed as interrupted.
    pub fn from_events(events: &[Envelope]) -> Self {
        let mut history = Self::default();
        let mut open: Vec<Part> = Vec::new();
        for envelope in events {
            match &envelope.event {
                Event::UserMessage { text, context } => {
                    history.close(&mut open);
                    history.push_user(user_parts(text, context));
                }
                Event::Message { message, .. } => {
                    history.close(&mut open);
                    history.push_assistant(message.clone());
                    open =
                        message.calls().map(|call| Part::Result(interrupted(&call.id, &call.tool))).collect();
                }
                Event::ToolResult { id, tool, ok, text, data } => {
                    let result = ToolResult {
                        id: id.clone(),
                        tool: tool.clone(),
                        ok: *ok,
                        text: text.clone(),
                        data: data.clone(),
                    };
                    settle(&mut open, result);
                }
                _ => {}
            }
        }
        history.close(&mut open);
        history
    }

    fn close(&mut self, open: &mut Vec<Part>) {
        self.push_user(std::mem::take(open));
    }
}

/// Puts a result in the place that waits for it.
fn settle(open: &mut [Part], result: ToolResult) {
    let waits = |part: &&mut Part| matches!(part, Part::Result(waiting) if waiting.id == result.id);
    if let Some(place) = open.iter_mut().find(waits) {
        *place = Part::Result(result);
    }
}

fn interrupted(id: &CallId, tool: &str) -> ToolResult {
    let text = "Interrupted: the editor was closed before this ended. What it did is not known.".to_owned();
    ToolResult { id: id.clone(), tool: tool.to_owned(), ok: false, text, data: serde_json::Value::Null }
}

/// The parts of a message that the user typed.
pub fn user_parts(text: &str, context: &str) -> Vec<Part> {
    let parts = [context, text].into_iter().filter(|text| !text.is_empty());
    parts.map(|text| Part::Text { text: text.to_owned() }).collect()
}
