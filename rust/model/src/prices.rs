//! What is known of models before they are asked: prices and sizes, from a table and the user's settings.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use koda_protocol::cost::{ModelFacts, Price, Rates};
use serde::Deserialize;

use crate::provider::{LLAMA_CPP, REPLAY};
use crate::settings;

/// The user's own numbers for a model, in US dollars for a million tokens. Others stay as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PriceSettings {
    /// Of tokens sent.
    pub input: Option<f64>,
    /// Of tokens received.
    pub output: Option<f64>,
    /// Of tokens read from a cache.
    pub cached: Option<f64>,
    /// Of tokens written to a cache.
    pub cache_write: Option<f64>,
    /// Tokens that a request may have.
    pub context: Option<u64>,
}

/// The rows of `data/prices.tsv`.
static TABLE: LazyLock<HashMap<&'static str, ModelFacts>> = LazyLock::new(|| {
    let mut table: HashMap<&str, ModelFacts> = HashMap::new();
    for (model, above, context, rates) in rows().flatten() {
        let facts = table.entry(model).or_default();
        facts.context = context;
        let price = facts.price.get_or_insert_default();
        match above {
            0 => price.rates = rates,
            above => price.long = Some((above, rates)),
        }
    }
    table
});

type Row = (&'static str, u64, Option<u64>, Rates);

/// Reads the table; a row that can't be read is nothing, which a test does not allow.
fn rows() -> impl Iterator<Item = Option<Row>> {
    let lines = include_str!("../data/prices.tsv").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
        let mut fields = line.split('\t');
        let (model, context, above) = (fields.next()?, fields.next()?, fields.next()?.parse().ok()?);
        let (input, output) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let rates = Rates {
            input,
            output,
            cached: fields.next()?.parse().ok(),
            cache_write: fields.next()?.parse().ok(),
        };
        Some((model, above, context.parse().ok(), rates))
    })
}

/// Returns what is known of `provider::model`: what the user says, else the table.
pub(crate) fn facts(set: &BTreeMap<String, PriceSettings>, model: &str) -> ModelFacts {
    let known = known(model);
    let Some(own) = settings::named(set, model) else { return known };
    let rates = known.price.map(|price| price.rates);
    let rates = match (
        own.input.or(rates.map(|rates| rates.input)),
        own.output.or(rates.map(|rates| rates.output)),
    ) {
        (Some(input), Some(output)) => Some(Rates {
            input,
            output,
            cached: own.cached.or(rates.and_then(|rates| rates.cached)),
            cache_write: own.cache_write.or(rates.and_then(|rates| rates.cache_write)),
        }),
        _ => None,
    };
    // The user's rates hold for all requests; the table's dearer ones would not be theirs.
    let is_priced = [own.input, own.output, own.cached, own.cache_write].iter().any(Option::is_some);
    let price = if is_priced { rates.map(|rates| Price { rates, long: None }) } else { known.price };
    ModelFacts { price, context: own.context.or(known.context) }
}

/// Tells whether the user says anything of a model.
pub(crate) fn is_set(set: &BTreeMap<String, PriceSettings>, model: &str) -> bool {
    settings::named(set, model).is_some()
}

fn known(model: &str) -> ModelFacts {
    let provider = model.split("::").next().unwrap_or_default();
    if matches!(provider, REPLAY | LLAMA_CPP | "ollama") {
        return ModelFacts { price: Some(Price::default()), context: None };
    }
    let model = model.replacen("openai_resp::", "openai::", 1);
    TABLE.get(model.as_str()).or_else(|| TABLE.get(undated(&model))).copied().unwrap_or_default()
}

/// Takes a date (`-20251001`, `-2025-10-01`) or `-latest` off the end of a name.
fn undated(model: &str) -> &str {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(base) = model.strip_suffix("-latest") {
        return base;
    }
    let mut parts = model.rsplitn(4, '-');
    let (last, month, year, base) = (parts.next(), parts.next(), parts.next(), parts.next());
    match (last, month, year, base) {
        (Some(day), Some(month), Some(year), Some(base))
            if digits(day, 2) && digits(month, 2) && digits(year, 4) =>
        {
            base
        }
        (Some(date), ..) if digits(date, 8) => {
            model.strip_suffix(date).unwrap_or(model).trim_end_matches('-')
        }
        _ => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    fn price_of(model: &str) -> Option<Price> {
        facts(&BTreeMap::new(), model).price
    }

    #[test]
    fn every_row_can_be_read_and_costs_something() {
        assert!(rows().count() > 100);
        for row in rows() {
            let (model, _, _, rates) = row.expect("each row has all fields");
            assert!(rates.input >= 0.0 && rates.input + rates.output > 0.0, "{model}");
        }
        for row in
            provider::TABLE.iter().filter(|row| !matches!(row.name.as_str(), "open_router" | "fireworks"))
        {
            let model = format!("{}::{}", row.name, row.model);
            assert!(price_of(&model).is_some(), "{model} is offered first and has no price");
        }
    }

    #[test]
    fn dates_at_the_end_of_a_name_are_passed_over() {
        let plain = price_of("anthropic::claude-sonnet-5");
        assert!(plain.is_some());
        for date in ["20261130", "2026-11-30", "latest"] {
            assert_eq!(price_of(&format!("anthropic::claude-sonnet-5-{date}")), plain);
        }
        assert_eq!(price_of("anthropic::claude-sonnet-99"), None);
        assert_eq!(price_of("mine::claude-sonnet-5"), None, "another server has prices of its own");
        assert!(price_of("ollama::qwen3").is_some_and(|price| price.is_free()));
    }

    #[test]
    fn the_users_numbers_come_first() {
        let own = |input, output| PriceSettings { input, output, ..PriceSettings::default() };
        let set = BTreeMap::from([
            ("anthropic::claude-sonnet-5".to_owned(), own(Some(1.0), None)),
            ("lab::*".to_owned(), own(Some(3.0), Some(4.0))),
            ("lab::big*".to_owned(), own(Some(5.0), Some(6.0))),
            ("half::known".to_owned(), own(Some(5.0), None)),
        ]);
        let rates =
            |model: &str| facts(&set, model).price.map(|price| (price.rates.input, price.rates.output));
        assert_eq!(rates("anthropic::claude-sonnet-5"), Some((1.0, 10.0)));
        assert_eq!((rates("lab::x"), rates("lab::bigger")), (Some((3.0, 4.0)), Some((5.0, 6.0))));
        assert_eq!(rates("half::known"), None);
    }
}
