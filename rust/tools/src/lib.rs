//! The tools a model may call, one file each, and their registry.
//!
//! A tool is a name, a schema, an effect, and a function over the ports. It does not know which model
//! calls it, nor who shows its result. A failure is a result that tells the model what to do next.

mod arguments;
mod context;
mod ending;
mod entry;
pub mod memory;
mod modes;
mod named;
mod reach;
mod registry;
mod result;
mod review;
mod search;
pub mod skills;
mod state;
mod tool;

pub use context::{Emit, NoteLater, Ports, ToolContext, Workplace};
pub use entry::{Job, Output};
pub use registry::{Prepared, Registry};
pub use review::Review;
pub use state::SessionState;
