//! What is spent, and the limits that the user set on it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use koda_protocol::cost::{Costs, Spent};
use koda_protocol::port::Store;
use koda_protocol::{Envelope, Event, UnixMillis, UserError};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The part of a limit at which the user is warned.
const WARN_AT: f64 = 0.8;

/// Limits in US dollars; absent is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Of a turn.
    pub turn: Option<f64>,
    /// Of a session.
    pub session: Option<f64>,
    /// Of all sessions of a day (UTC).
    pub day: Option<f64>,
}

/// One limit and what is spent of it.
struct Limit {
    name: &'static str,
    usd: f64,
    spent: Spent,
    /// How to raise it.
    hint: &'static str,
}

/// What a session has spent.
#[derive(Clone, Debug, Default)]
pub struct Purse {
    /// In the running turn, or the last one.
    pub turn: Spent,
    /// In all.
    pub session: Spent,
    /// Since it was opened with a limit.
    run: Spent,
    /// That limit, in US dollars.
    most: Option<f64>,
    /// Whether a turn has begun.
    begun: bool,
    /// Limits of which the user was warned.
    warned: Vec<&'static str>,
}

impl Purse {
    /// Begins a turn; true for the first.
    pub fn begin_turn(&mut self) -> bool {
        self.turn = Spent::default();
        self.warned.retain(|name| *name != "turn");
        !std::mem::replace(&mut self.begun, true)
    }

    /// Limits what may be spent from now on.
    pub fn limit(&mut self, most: Option<f64>) {
        self.run = Spent::default();
        self.most = most;
    }

    /// Tells whether such a limit can't be kept, since some request's cost is not known.
    pub fn is_blind(&self) -> bool {
        self.most.is_some() && self.run.partial
    }

    /// Tells whether whoever opened the session set a limit.
    pub fn is_capped(&self) -> bool {
        self.most.is_some()
    }

    /// Adds a request's cost and returns what is spent now.
    pub fn pay(&mut self, step: Option<f64>, ledger: &Ledger, now: UnixMillis) -> Costs {
        self.turn.add(step);
        self.session.add(step);
        self.run.add(step);
        Costs { step, turn: self.turn, session: self.session, day: ledger.add(step, now) }
    }

    fn limits(&self, budget: &Budget, day: Spent) -> impl Iterator<Item = Limit> + use<> {
        let limit = |name, usd: Option<f64>, spent, hint| usd.map(|usd| Limit { name, usd, spent, hint });
        [
            limit("turn", budget.turn, self.turn, "send the prompt again to go on, or raise budget.turn"),
            limit("session", budget.session, self.session, "begin a new session, or raise budget.session"),
            limit("day", budget.day, day, "raise budget.day, or take a free model"),
            limit("run", self.most, self.run, "raise --max-cost (max_cost)"),
        ]
        .into_iter()
        .flatten()
    }

    /// Tells whether any limit is set.
    pub fn is_limited(&self, budget: &Budget) -> bool {
        self.limits(budget, Spent::default()).next().is_some()
    }

    /// Returns the error of the first limit that is reached.
    pub fn over(&self, budget: &Budget, day: Spent) -> Option<UserError> {
        let limit = self.limits(budget, day).find(|limit| limit.spent.usd >= limit.usd)?;
        let Limit { name, usd, spent, hint } = limit;
        let message =
            format!("the budget of the {name} is used up: {} of {}", dollars(spent.usd), dollars(usd));
        Some(UserError::new("budget", message).hint(hint))
    }

    /// Returns what the user is to be warned of, each limit once.
    pub fn warning(&mut self, budget: &Budget, day: Spent) -> Option<String> {
        let near = |limit: &Limit| limit.spent.usd >= limit.usd * WARN_AT && limit.spent.usd < limit.usd;
        let limit =
            self.limits(budget, day).find(|limit| near(limit) && !self.warned.contains(&limit.name))?;
        self.warned.push(limit.name);
        Some(format!(
            "{} of the {}'s budget of {} are spent.",
            dollars(limit.spent.usd),
            limit.name,
            dollars(limit.usd)
        ))
    }
}

/// Shows money: cents, and more digits of small amounts.
fn dollars(usd: f64) -> String {
    if usd < 0.1 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// What all sessions of a day have spent together.
#[derive(Default)]
pub struct Ledger(Mutex<(u64, Spent)>);

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, (u64, Spent)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, cost: Option<f64>, now: UnixMillis) -> Spent {
        let mut day = self.lock();
        if day.0 != now.0 / DAY_MS {
            *day = (now.0 / DAY_MS, Spent::default());
        }
        day.1.add(cost);
        day.1
    }

    /// Returns what is spent today.
    pub fn today(&self, now: UnixMillis) -> Spent {
        let day = self.lock();
        if day.0 == now.0 / DAY_MS { day.1 } else { Spent::default() }
    }

    /// Takes over what is stored of today, other Neovims' sessions included. Blocks.
    ///
    /// # Errors
    ///
    /// The store's words, if it can't be read.
    pub fn read(&self, store: &dyn Store, now: UnixMillis) -> Result<(), String> {
        let today = now.0 / DAY_MS;
        let events = store.usage_since(UnixMillis(today * DAY_MS)).map_err(|error| error.to_string())?;
        let mut spent = Spent::default();
        for envelope in &events {
            if let Event::Usage { cost: Some(cost), .. } = &envelope.event {
                spent.add(cost.step);
            }
        }
        *self.lock() = (today, spent);
        Ok(())
    }
}

/// Returns what a stored session has spent.
pub fn total(events: &[Envelope]) -> Spent {
    let total = events.iter().rev().find_map(|envelope| match &envelope.event {
        Event::Usage { cost, .. } => Some(cost.map(|cost| cost.session).unwrap_or_default()),
        _ => None,
    });
    total.unwrap_or_default()
}
