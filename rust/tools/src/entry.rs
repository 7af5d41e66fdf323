//! What makes a tool.

use futures::future::BoxFuture;
use koda_protocol::{Effect, Proposal};
use koda_trust::{ResolvedPath, Touch};
use serde::Serialize;
use serde_json::Value;

use crate::context::{ToolContext, Workplace};

/// What a tool hands back.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Whether the tool did what it was asked.
    pub ok: bool,
    /// What the model reads, before any cut.
    pub text: String,
    /// What happened, in fields.
    pub data: Value,
    /// Whether the end of a long text matters as much as its beginning.
    pub keep_tail: bool,
}

impl Output {
    /// Builds the result of a call that did what it was asked.
    pub fn ok(text: impl Into<String>, data: Value) -> Self {
        Self { ok: true, text: text.into(), data, keep_tail: false }
    }

    /// Builds the result of a call that did not; the text says what to do.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { ok: false, text: text.into(), data: Value::Null, keep_tail: false }
    }
}

/// Turns a value into `data`. A value that can't be JSON is none.
pub fn data(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

type Propose = Box<dyn Fn(ToolContext) -> BoxFuture<'static, Option<Proposal>> + Send + Sync>;

type Run = Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Output> + Send + Sync>;

/// A call whose arguments are understood and whose paths are resolved, ready to be judged and run.
pub struct Job {
    /// The paths that it touches.
    pub touches: Vec<Touch>,
    /// The command that it runs.
    pub command: Option<String>,
    run: Run,
    propose: Option<Propose>,
}

impl Job {
    /// Builds a job that touches nothing.
    pub fn new<F>(run: impl FnOnce(ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Output> + Send + 'static,
    {
        Self {
            touches: Vec::new(),
            command: None,
            run: Box::new(move |context| Box::pin(run(context))),
            propose: None,
        }
    }

    /// Adds a path that is read.
    #[must_use]
    pub fn reads(mut self, path: &ResolvedPath) -> Self {
        self.touches.push(Touch { path: path.clone(), write: false });
        self
    }

    /// Adds a path that is written.
    #[must_use]
    pub fn writes(mut self, path: &ResolvedPath) -> Self {
        self.touches.push(Touch { path: path.clone(), write: true });
        self
    }

    /// Adds what a command touches.
    #[must_use]
    pub fn touching(mut self, touches: Vec<Touch>) -> Self {
        self.touches.extend(touches);
        self
    }

    /// Sets the command that is run.
    #[must_use]
    pub fn command(mut self, command: &str) -> Self {
        self.command = Some(command.to_owned());
        self
    }

    /// Sets how it tells what it would change.
    #[must_use]
    pub fn proposes<F>(mut self, propose: impl Fn(ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<Proposal>> + Send + 'static,
    {
        self.propose = Some(Box::new(move |context| Box::pin(propose(context))));
        self
    }

    /// Tells what it would change, if it can.
    pub async fn propose(&self, context: ToolContext) -> Option<Proposal> {
        match &self.propose {
            Some(propose) => propose(context).await,
            None => None,
        }
    }

    /// Runs it.
    pub async fn run(self, context: ToolContext) -> Output {
        (self.run)(context).await
    }
}

/// A tool of the registry.
pub struct Entry {
    /// Canonical name.
    pub name: &'static str,
    /// Other names that are accepted, lower case.
    pub aliases: &'static [&'static str],
    /// What it does and when to use it, for the model.
    pub description: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// Understands arguments; an error names the field and what it should be.
    pub prepare: fn(Value, &Workplace) -> Result<Job, String>,
}
