//! An approver that answers from a list.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;

use super::lock;
use crate::event::Answer;
use crate::port::{Approver, Ask};

/// Answers in order from a list, then with [`Answer::Nobody`]; remembers what it was asked.
#[derive(Default)]
pub struct ScriptedApprover {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<Ask>>,
}

impl ScriptedApprover {
    /// Builds one with the answers that it will give.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() }
    }

    /// Returns what it was asked so far.
    pub fn asked(&self) -> Vec<Ask> {
        lock(&self.asked).clone()
    }
}

#[async_trait]
impl Approver for ScriptedApprover {
    async fn ask(&self, ask: Ask) -> Answer {
        lock(&self.asked).push(ask);
        lock(&self.answers).pop_front().unwrap_or(Answer::Nobody)
    }
}
