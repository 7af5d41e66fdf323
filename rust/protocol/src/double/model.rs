//! A model that says what it is told to.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;
use futures::StreamExt;

use super::lock;
use crate::port::{Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream};

/// Plays one list of events for each request and remembers the requests.
#[derive(Default)]
pub struct ScriptedModel {
    turns: Mutex<VecDeque<Vec<Result<ModelEvent, ModelError>>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    /// Builds one that plays `turns` in order.
    pub fn new(turns: impl IntoIterator<Item = Vec<Result<ModelEvent, ModelError>>>) -> Self {
        Self { turns: Mutex::new(turns.into_iter().collect()), requests: Mutex::default() }
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.requests).clone()
    }
}

#[async_trait]
impl Model for ScriptedModel {
    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        lock(&self.requests).push(request);
        match lock(&self.turns).pop_front() {
            Some(events) => Ok(futures::stream::iter(events).boxed()),
            None => Err(ModelError {
                kind: ModelErrorKind::Reply,
                message: "the script has no more turns".to_owned(),
                hint: None,
            }),
        }
    }
}
