//! Rules in memory.

use std::sync::Mutex;

use super::lock;
use crate::port::StoreError;
use crate::rule::{Rule, Rules};
use crate::time::UnixMillis;

/// Keeps rules as long as it lives.
#[derive(Debug, Default)]
pub struct MemoryRules(Mutex<Vec<Rule>>);

impl Rules for MemoryRules {
    fn list(&self) -> Result<Vec<Rule>, StoreError> {
        Ok(lock(&self.0).clone())
    }

    fn add(&self, rule: Rule) -> Result<Rule, StoreError> {
        let mut rules = lock(&self.0);
        let id = rules.last().map_or(1, |last| last.id + 1);
        let rule = Rule { id, ..rule };
        rules.push(rule.clone());
        Ok(rule)
    }

    fn remove(&self, id: u64) -> Result<bool, StoreError> {
        let mut rules = lock(&self.0);
        let before = rules.len();
        rules.retain(|rule| rule.id != id);
        Ok(rules.len() < before)
    }

    fn used(&self, id: u64, now: UnixMillis) -> Result<(), StoreError> {
        for rule in lock(&self.0).iter_mut().filter(|rule| rule.id == id) {
            rule.uses += 1;
            rule.last_use = Some(now);
        }
        Ok(())
    }
}
