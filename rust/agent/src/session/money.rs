//! The session's side of what is spent.

use koda_protocol::{Costs, Event, ModelFacts, Usage, UserError};

use super::Session;
use crate::engine::EngineParts;
use crate::spending::Ledger;

impl Session {
    fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    fn facts(&self) -> ModelFacts {
        self.parts().model.facts(&self.current().model)
    }

    /// Limits what the session may cost from now on.
    pub(crate) fn limit(&self, max_cost: Option<f64>) {
        self.lock().purse.limit(max_cost);
    }

    /// Begins a turn's account, and looks up what others have spent today if that matters.
    pub(crate) async fn begin_account(&self) {
        let first = self.lock().purse.begin_turn();
        let EngineParts { settings, ports, .. } = self.parts();
        self.shared.journal.flush().await;
        let (shared, store, now) = (self.shared.clone(), ports.store.clone(), self.now());
        let read = tokio::task::spawn_blocking(move || shared.ledger.read(store.as_ref(), now)).await;
        if let Ok(Err(problem)) = read {
            tracing::warn!(problem, "what was spent today is not known");
        }
        let limited = self.lock().purse.is_limited(&settings.budget);
        if first && limited && self.facts().price.is_none() {
            let model = self.current().model;
            let text = format!(
                "No price is known of {model}, so no budget can be kept: set it by the option `prices`."
            );
            self.emitter.emit(Event::Notice { text });
        }
    }

    /// Returns why no further request may be sent, if that is so. A free model may always be asked.
    pub(crate) fn over_budget(&self) -> Option<UserError> {
        let price = self.facts().price;
        if price.is_some_and(|price| price.is_free()) {
            return None;
        }
        let state = self.lock();
        if price.is_none() && state.purse.is_capped() {
            let message = format!("max_cost can't be kept: no price is known of {}", state.current.model);
            return Some(UserError::new("budget", message).hint("take a model whose price is known"));
        }
        if state.purse.is_blind() {
            let message =
                format!("max_cost can't be kept: {} does not count its tokens", state.current.model);
            return Some(UserError::new("budget", message).hint("take another model"));
        }
        state.purse.over(&self.parts().settings.budget, self.ledger().today(self.now()))
    }

    /// Notes a request whose provider told no usage.
    pub(crate) fn uncounted(&self) {
        let step = self.facts().price.filter(koda_protocol::Price::is_free).map(|_| 0.0);
        let now = self.now();
        let mut state = self.lock();
        // Told with the next count; what was not counted has no event of its own.
        let _ = state.purse.pay(step, self.ledger(), now);
    }

    /// Takes in what a request used, and tells it.
    pub(crate) fn count(&self, usage: Usage) {
        let step = self.facts().price.and_then(|price| price.of(&usage));
        let now = self.now();
        let mut state = self.lock();
        state.total.add(&usage);
        state.turn_usage.get_or_insert_default().add(&usage);
        state.last_usage = Some(usage);
        let total = state.total;
        let cost: Costs = state.purse.pay(step, self.ledger(), now);
        self.emitter.emit(Event::Usage { usage, total, cost: Some(cost) });
        if let Some(text) = state.purse.warning(&self.parts().settings.budget, cost.day) {
            self.emitter.emit(Event::Notice { text });
        }
    }
}
