//! The session's side of what is spent: money, and the room in the model's window.

use koda_protocol::{Costs, Event, ModelFacts, Usage, UserError};

use super::{Current, Session};
use crate::context::{self, ContextReport};
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

    /// Returns what the next request would be made of.
    pub async fn context(&self) -> ContextReport {
        let Current { mode, model, .. } = self.current();
        let fixed = context::fixed(&self.system_prompt().await, &self.offered(mode));
        let window = self.facts().context;
        let (messages, _) = self.conversation();
        let used = |usage: Usage| Some(usage.input? + usage.output.unwrap_or(0));
        ContextReport {
            model,
            window,
            fixed,
            conversation: context::conversation(&messages),
            counted: self.lock().last_usage.and_then(used),
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
