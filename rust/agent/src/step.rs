//! One step: a request, its stream, and the message that comes of it.

use std::collections::HashSet;

use futures::StreamExt;
use koda_protocol::port::{Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, StopReason};
use koda_protocol::{CallId, Event, Message, Part, Role, ToolCall, Usage, UserError};

use crate::emitter::Emitter;
use crate::history::History;

/// What came of a request.
pub struct Step {
    /// The message: whole, or what had come.
    pub message: Message,
    /// The usage, as far as the provider told it.
    pub usage: Option<Usage>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What broke it off.
    pub error: Option<ModelError>,
}

/// Sends a request and tells of its answer as it comes.
pub async fn run(model: &dyn Model, request: ModelRequest, history: &History, emitter: &Emitter) -> Step {
    let mut building = Building { emitter, history, parts: Vec::new(), ids: HashSet::new(), forming: None };
    let mut step = Step {
        message: Message { role: Role::Assistant, parts: Vec::new() },
        usage: None,
        stop: StopReason::Unknown,
        error: None,
    };
    let cancel = request.cancel.clone();
    let opened = tokio::select! {
        opened = model.stream(request) => opened,
        () = cancel.cancelled() => Err(cancelled()),
    };
    match opened {
        Err(error) => step.error = Some(error),
        Ok(mut stream) => loop {
            let next = tokio::select! {
                next = stream.next() => next,
                () = cancel.cancelled() => Some(Err(cancelled())),
            };
            match next {
                Some(Ok(ModelEvent::Stop(reason))) => {
                    step.stop = reason;
                    break;
                }
                Some(Ok(ModelEvent::Usage(usage))) => step.usage.get_or_insert_default().add(&usage),
                Some(Ok(event)) => building.take(event),
                Some(Err(error)) => {
                    step.error = Some(error);
                    break;
                }
                None => {
                    step.error = Some(ModelError {
                        kind: ModelErrorKind::Cut,
                        message: "the model's stream ended before its message did".to_owned(),
                        hint: Some("send the prompt again".to_owned()),
                    });
                    break;
                }
            }
        },
    }
    step.message.parts = building.parts;
    if step.error.is_some() {
        // A call of a broken message was never answered for: it is not run and not kept.
        step.message.parts.retain(|part| !matches!(part, Part::Call(_)));
    }
    step
}

fn cancelled() -> ModelError {
    ModelError { kind: ModelErrorKind::Cancelled, message: "stopped by the user".to_owned(), hint: None }
}

/// The message while it grows.
struct Building<'a> {
    emitter: &'a Emitter,
    history: &'a History,
    parts: Vec<Part>,
    ids: HashSet<CallId>,
    /// The provider's id of the call that forms, and ours.
    forming: Option<(String, CallId)>,
}

impl Building<'_> {
    fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Text(text) => self.text(text),
            ModelEvent::Reasoning(text) => self.reasoning(text),
            ModelEvent::ReasoningSignature(signature) => self.sign(signature),
            ModelEvent::CallForming { id, tool, bytes } => {
                let id = self.id_of(&id);
                self.emitter.emit(Event::CallForming { id, tool, bytes });
            }
            ModelEvent::Call(call) => {
                let id = self.id_of(call.id.as_str());
                self.forming = None;
                self.ids.insert(id.clone());
                self.parts.push(Part::Call(ToolCall { id, ..call }));
            }
            ModelEvent::Retry { attempt, wait_ms, reason } => {
                self.emitter.emit(Event::Retry { attempt, wait_ms, reason });
            }
            ModelEvent::Usage(_) | ModelEvent::Stop(_) => {}
        }
    }

    /// Our id for a provider's: the same while one call forms, unique among all.
    fn id_of(&mut self, given: &str) -> CallId {
        if let Some((theirs, ours)) = &self.forming
            && theirs == given
        {
            return ours.clone();
        }
        let id = self.history.unique(given, &self.ids);
        self.forming = Some((given.to_owned(), id.clone()));
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

    fn sign(&mut self, given: String) {
        let reasoning = self.parts.iter_mut().rev().find_map(|part| match part {
            Part::Reasoning { signature, .. } => Some(signature),
            _ => None,
        });
        match reasoning {
            Some(signature) => *signature = Some(given),
            None => self.parts.push(Part::Reasoning { text: String::new(), signature: Some(given) }),
        }
    }
}

/// Turns a model's failure into what the user is told.
pub fn user_error(error: &ModelError) -> UserError {
    let kind = serde_json::to_value(error.kind).ok();
    let kind = kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or("failed");
    UserError { code: format!("model_{kind}"), message: error.message.clone(), hint: error.hint.clone() }
}
