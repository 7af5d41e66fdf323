//! Taking back what the agent did: to files (`keeper` before, `plan` and `apply` after), and to the
//! conversation (`timeline`).

mod apply;
mod keeper;
mod plan;
mod timeline;

pub use keeper::{Keeper, Opened};
pub use timeline::Timeline;
