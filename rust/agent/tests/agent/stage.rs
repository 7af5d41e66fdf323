//! A model and terminals that a test leads step by step.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use koda_protocol::port::{
    Command, CommandOutcome, CommandState, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest,
    ModelStream, StopReason, Terminals, TerminalsError,
};
use koda_protocol::{ModelFacts, Price, Rates, TaskId, ToolCall};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub type Piece = Result<ModelEvent, ModelError>;

pub fn text(text: &str) -> Piece {
    Ok(ModelEvent::Text(text.to_owned()))
}

pub fn call(id: &str, tool: &str, args: Value) -> Piece {
    Ok(ModelEvent::Call(ToolCall { id: id.into(), tool: tool.to_owned(), args, signature: None }))
}

pub fn stop() -> Piece {
    Ok(ModelEvent::Stop(StopReason::End))
}

pub fn error(kind: ModelErrorKind, message: &str) -> ModelError {
    ModelError { kind, message: message.to_owned(), hint: None }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a model does when it is asked.
enum Part {
    Play(Vec<Piece>),
    Live(mpsc::UnboundedReceiver<Piece>),
    Refuse(ModelError),
    Silence,
    Panic,
}

/// A model that plays its parts in order and remembers what it was asked.
#[derive(Default)]
pub struct Actor {
    parts: Mutex<VecDeque<Part>>,
    requests: Mutex<Vec<ModelRequest>>,
    asked: watch::Sender<usize>,
    price: Mutex<Option<Price>>,
}

impl Actor {
    fn then(&self, part: Part) {
        lock(&self.parts).push_back(part);
    }

    /// Next, it says all this; what it says ends with a stop unless the last piece is an error.
    pub fn says(&self, pieces: impl IntoIterator<Item = Piece>) {
        let mut pieces: Vec<Piece> = pieces.into_iter().collect();
        if !matches!(pieces.last(), Some(Err(_) | Ok(ModelEvent::Stop(_)))) {
            pieces.push(stop());
        }
        self.then(Part::Play(pieces));
    }

    /// Next, it says this, and then its stream ends without a stop.
    pub fn breaks_off(&self, pieces: impl IntoIterator<Item = Piece>) {
        self.then(Part::Play(pieces.into_iter().collect()));
    }

    /// Next, it says what the returned sender sends.
    pub fn is_led(&self) -> mpsc::UnboundedSender<Piece> {
        let (sender, pieces) = mpsc::unbounded_channel();
        self.then(Part::Live(pieces));
        sender
    }

    /// Next, the request fails before a stream begins.
    pub fn refuses(&self, error: ModelError) {
        self.then(Part::Refuse(error));
    }

    /// Next, it never answers.
    pub fn is_silent(&self) {
        self.then(Part::Silence);
    }

    /// Next, it panics.
    pub fn panics(&self) {
        self.then(Part::Panic);
    }

    /// From now on a million tokens cost this, in US dollars.
    pub fn costs(&self, input: f64, output: f64) {
        let rates = Rates { input, output, ..Rates::default() };
        *lock(&self.price) = Some(Price { rates, long: None });
    }

    /// Drops what it had still to play.
    pub fn forgets(&self) {
        lock(&self.parts).clear();
    }

    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }

    /// Returns once it was asked `count` times.
    pub async fn asked(&self, count: usize) {
        self.asked.subscribe().wait_for(|asked| *asked >= count).await.unwrap();
    }
}

#[async_trait]
impl Model for Actor {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        lock(&self.requests).push(request);
        let part = lock(&self.parts).pop_front();
        self.asked.send_modify(|asked| *asked += 1);
        match part {
            Some(Part::Play(pieces)) => Ok(futures::stream::iter(pieces).boxed()),
            Some(Part::Live(pieces)) => {
                let next = |mut pieces: mpsc::UnboundedReceiver<Piece>| async {
                    pieces.recv().await.map(|piece| (piece, pieces))
                };
                Ok(futures::stream::unfold(pieces, next).boxed())
            }
            Some(Part::Refuse(error)) => Err(error),
            Some(Part::Silence) => std::future::pending().await,
            Some(Part::Panic) => panic!("the model panics, as it was told"),
            None => Err(error(ModelErrorKind::Reply, "the play is over")),
        }
    }

    fn facts(&self, _model: &str) -> ModelFacts {
        ModelFacts { price: *lock(&self.price), context: Some(1000) }
    }
}

/// Terminals whose commands are told what to do by their text:
/// `gate NAME` waits until the gate is opened or the call is stopped, `stubborn` ignores being stopped,
/// `panic` panics, all others end at once.
#[derive(Default)]
pub struct Hall {
    begun: watch::Sender<Vec<String>>,
    gates: Mutex<HashMap<String, CancellationToken>>,
}

impl Hall {
    fn gate(&self, name: &str) -> CancellationToken {
        lock(&self.gates).entry(name.to_owned()).or_default().clone()
    }

    /// Lets `gate NAME` end.
    pub fn open(&self, name: &str) {
        self.gate(name).cancel();
    }

    /// Returns the commands that were begun, in order.
    pub fn begun(&self) -> Vec<String> {
        self.begun.borrow().clone()
    }

    /// Returns once a command was begun.
    pub async fn has_begun(&self, command: &str) {
        let begun = |begun: &Vec<String>| begun.iter().any(|other| other == command);
        self.begun.subscribe().wait_for(begun).await.unwrap();
    }
}

#[async_trait]
impl Terminals for Hall {
    async fn run(&self, command: Command) -> Result<CommandOutcome, TerminalsError> {
        self.begun.send_modify(|begun| begun.push(command.text.clone()));
        let mut state = CommandState::Done;
        match command.text.split_once(' ').unwrap_or((&command.text, "")) {
            ("gate", name) => {
                let gate = self.gate(name);
                tokio::select! {
                    () = gate.cancelled() => {}
                    () = command.cancel.cancelled() => state = CommandState::Cancelled,
                }
            }
            ("stubborn", _) => std::future::pending().await,
            ("panic", _) => panic!("the terminal panics, as it was told"),
            _ => tokio::task::yield_now().await,
        }
        let done = state == CommandState::Done;
        Ok(CommandOutcome {
            exit_code: done.then_some(0),
            signal: (!done).then(|| "TERM".to_owned()),
            pid: Some(1),
            task_id: TaskId("sh:1".to_owned()),
            state,
            verified: true,
            cwd: command.cwd,
            duration_ms: 0,
            terminal: 1,
            waiting: false,
            output: format!("{} was here\n", command.text),
            output_bytes: 0,
        })
    }

    async fn shutdown(&self, _grace: Duration) {}
}
