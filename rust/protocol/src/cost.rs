//! What models cost, in US dollars.

use serde::{Deserialize, Serialize};

use crate::message::Usage;

const MILLION: f64 = 1_000_000.0;

/// Prices in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of tokens sent.
    pub input: f64,
    /// Of tokens received, reasoning included.
    pub output: f64,
    /// Of tokens read from a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Of tokens written to a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Rates {
    fn of(&self, usage: &Usage, input: u64, output: u64) -> f64 {
        let (cached, written) = (usage.cached.unwrap_or(0), usage.cache_write.unwrap_or(0));
        let plain = input.saturating_sub(cached).saturating_sub(written);
        let dollars = self.input * plain as f64
            + self.cached.unwrap_or(self.input) * cached as f64
            + self.cache_write.unwrap_or(self.input) * written as f64
            + self.output * output as f64;
        dollars / MILLION
    }
}

/// The price of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// The usual rates.
    pub rates: Rates,
    /// The rates of a request with more input tokens than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<(u64, Rates)>,
}

impl Price {
    /// Tells whether nothing is paid by the token.
    pub fn is_free(&self) -> bool {
        let free = |rates: &Rates| {
            let Rates { input, output, cached, cache_write } = *rates;
            [Some(input), Some(output), cached, cache_write].into_iter().flatten().all(|rate| rate == 0.0)
        };
        free(&self.rates) && self.long.as_ref().is_none_or(|(_, rates)| free(rates))
    }

    /// Returns what a request costs; nothing where its tokens were not counted.
    pub fn of(&self, usage: &Usage) -> Option<f64> {
        if self.is_free() {
            return Some(0.0);
        }
        let (input, output) = (usage.input?, usage.output?);
        let rates = self.long.filter(|(above, _)| input > *above).map_or(self.rates, |(_, rates)| rates);
        Some(rates.of(usage, input, output))
    }
}

/// What is known of a model without asking its provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Tokens that a request may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

/// Money that was spent on several requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// US dollars, as far as they are known.
    pub usd: f64,
    /// Whether the cost of some request is not known, so that it was more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Spent {
    /// Adds the cost of a request.
    pub fn add(&mut self, cost: Option<f64>) {
        match cost {
            Some(usd) => self.usd += usd,
            None => self.partial = true,
        }
    }
}

/// What was spent up to a request, that one included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// By this request, in US dollars; absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// In this turn.
    pub turn: Spent,
    /// In this session.
    pub session: Spent,
    /// In all sessions of this day (UTC).
    pub day: Spent,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates { input: 2.0, output: 10.0, cached: Some(0.5), cache_write: None };

    fn cost(price: Price, input: u64, cached: u64, written: u64) -> f64 {
        let usage = Usage {
            input: Some(input),
            output: Some(100_000),
            cached: Some(cached),
            cache_write: Some(written),
            reasoning: Some(50_000),
        };
        price.of(&usage).unwrap()
    }

    #[test]
    fn cached_tokens_are_part_of_the_input_and_reasoning_of_the_output() {
        let price = Price { rates: RATES, long: None };
        assert!((cost(price, 1_000_000, 0, 0) - 3.0).abs() < 1e-9);
        assert!((cost(price, 1_000_000, 400_000, 100_000) - (1.0 + 0.2 + 0.2 + 1.0)).abs() < 1e-9);
    }

    #[test]
    fn long_requests_have_rates_of_their_own() {
        let double = Rates { input: 4.0, output: 20.0, cached: None, cache_write: None };
        let price = Price { rates: RATES, long: Some((200_000, double)) };
        assert!((cost(price, 200_000, 0, 0) - 1.4).abs() < 1e-9);
        assert!((cost(price, 200_001, 0, 0) - 2.800_004).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_counted_is_not_known_unless_it_is_free() {
        let uncounted = Usage { input: Some(5), ..Usage::default() };
        assert_eq!(Price { rates: RATES, long: None }.of(&uncounted), None);
        assert_eq!(Price::default().of(&uncounted), Some(0.0));
        let mut spent = Spent::default();
        spent.add(Some(0.5));
        spent.add(None);
        assert_eq!(spent, Spent { usd: 0.5, partial: true });
    }
}
