//! One step: a request, its stream, and the message that comes of it.

use std::collections::{HashMap, HashSet};

use futures::StreamExt;
use koda_protocol::port::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream, StopReason,
};
use koda_protocol::{CallId, Event, Message, Part, Role, ToolCall, Usage, UserError};
use tokio_util::sync::CancellationToken;

use crate::journal::Emitter;

/// What came of a request.
pub struct Step {
    /// The message: whole, or what had come.
    pub message: Message,
    /// The usage, as far as the provider told it.
    pub usage: Option<Usage>,
    /// Why the model stopped, or what broke the message off.
    pub end: Result<StopReason, ModelError>,
}

/// Sends a request and tells of its answer as it comes. `ids` are those that calls have had.
pub async fn run(model: &dyn Model, request: ModelRequest, ids: HashSet<CallId>, emitter: &Emitter) -> Step {
    let mut building = Building { emitter, parts: Vec::new(), ids, forming: HashMap::new(), usage: None };
    let cancel = request.cancel.clone();
    let opened = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(cancelled()),
        opened = model.stream(request) => opened,
    };
    let end = match opened {
        Ok(stream) => building.follow(stream, &cancel).await,
        Err(error) => Err(error),
    };
    let Building { mut parts, usage, .. } = building;
    if end.is_err() {
        // A call of a broken message was never answered for: it is not run and not kept.
        parts.retain(|part| !matches!(part, Part::Call(_)));
    }
    Step { message: Message { role: Role::Assistant, parts }, usage, end }
}

fn cancelled() -> ModelError {
    ModelError { kind: ModelErrorKind::Cancelled, message: "stopped by the user".to_owned(), hint: None }
}

fn cut() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Cut,
        message: "the model's stream ended before its message did".to_owned(),
        hint: Some("send the prompt again".to_owned()),
    }
}

/// The message while it grows.
struct Building<'a> {
    emitter: &'a Emitter,
    parts: Vec<Part>,
    ids: HashSet<CallId>,
    /// By the provider's id: ours, of the calls that form.
    forming: HashMap<String, CallId>,
    usage: Option<Usage>,
}

impl Building<'_> {
    async fn follow(
        &mut self,
        mut stream: ModelStream,
        cancel: &CancellationToken,
    ) -> Result<StopReason, ModelError> {
        loop {
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(cancelled()),
                next = stream.next() => next,
            };
            match next.ok_or_else(cut)?? {
                ModelEvent::Stop(reason) => return Ok(reason),
                event => self.take(event),
            }
        }
    }

    fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(text) => self.text(text),
            ModelEvent::Reasoning(text) => self.reasoning(text),
            ModelEvent::ReasoningSignature(signature) => self.sign(signature),
            ModelEvent::CallForming { id, tool, bytes } => {
                let id = match self.forming.get(&id) {
                    Some(ours) => ours.clone(),
                    None => {
                        let ours = self.unique(&id);
                        self.forming.insert(id, ours.clone());
                        ours
                    }
                };
                self.emitter.emit(Event::CallForming { id, tool, bytes });
            }
            ModelEvent::Call(call) => {
                let formed = self.forming.remove(call.id.as_str());
                let id = formed.unwrap_or_else(|| self.unique(call.id.as_str()));
                self.parts.push(Part::Call(ToolCall { id, ..call }));
            }
            ModelEvent::Usage(usage) => self.usage.get_or_insert_default().add(&usage),
            ModelEvent::Retry { attempt, wait_ms, reason } => {
                self.emitter.emit(Event::Retry { attempt, wait_ms, reason });
            }
            ModelEvent::Stop(_) => {}
        }
    }

    /// Takes an id that no call of the session has: the given one if it is free.
    fn unique(&mut self, given: &str) -> CallId {
        let given = CallId(given.to_owned());
        let made = (self.ids.len() + 1..).map(|number| CallId(format!("call_{number}")));
        let wanted = Some(given).filter(|id| !id.as_str().is_empty());
        let free = wanted.into_iter().chain(made).find(|id| !self.ids.contains(id));
        let id = free.unwrap_or_else(|| CallId("call".to_owned()));
        self.ids.insert(id.clone());
        id
    }

    fn text(&mut self, more: String) {
        if more.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Text { text }) => text.push_str(&more),
            _ => self.parts.push(Part::Text { text: more.clone() }),
        }
        self.emitter.emit(Event::TextDelta { text: more });
    }

    fn reasoning(&mut self, more: String) {
        if more.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Reasoning { text, signature: None }) => text.push_str(&more),
            _ => self.parts.push(Part::Reasoning { text: more.clone(), signature: None }),
        }
        self.emitter.emit(Event::ReasoningDelta { text: more });
    }

    /// Signs the reasoning before it. A signature without one is a part of its own and must be kept.
    fn sign(&mut self, given: String) {
        match self.parts.last_mut() {
            Some(Part::Reasoning { signature: signature @ None, .. }) => *signature = Some(given),
            _ => self.parts.push(Part::Reasoning { text: String::new(), signature: Some(given) }),
        }
    }
}

/// Turns a model's failure into what the user is told.
pub fn user_error(error: &ModelError) -> UserError {
    let kind = serde_json::to_value(error.kind).ok();
    let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("failed");
    UserError { code: format!("model_{kind}"), message: error.message.clone(), hint: error.hint.clone() }
}
