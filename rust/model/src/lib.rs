//! Models by name: the port [`Model`](koda_protocol::port::Model) over `genai`, and the replay model.
//!
//! `genai` shapes each request, knows the providers' endpoints, and carries the bytes. What an agent needs
//! beyond that is here: keys that come from a handed-in environment or a command, timeouts, retries before
//! the first event, a reading of the two most spoken wire formats that loses nothing (`wire`), a history
//! that every provider accepts, and failures that say what to do.
//!
//! Borders: no tools, no editor, no environment, no printing. The only files are those of the replay model, and
//! the list of what providers offer in the folder for caches.

#![forbid(unsafe_code)]

mod attempt;
mod catalog;
mod convert;
mod failure;
pub mod history;
mod http;
mod ids;
mod keys;
mod local;
mod models;
mod nearest;
mod prices;
mod provider;
mod readable;
mod replay;
mod retry;
mod settings;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod ways;
mod wire;

pub use catalog::{Listing, Offered};
pub use local::LocalServer;
pub use models::Models;
pub use prices::PriceSettings;

pub use settings::{
    Effort, Env, KeyCommand, LocalEndpoints, ModelSettings, OptionSettings, ProviderSettings, Retries,
    Timeouts,
};
pub use ways::Way;
