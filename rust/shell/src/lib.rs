//! Terminals: PTYs, the commands in them, and what their output says.
//!
//! A pool owns every terminal: each command runs in a pseudo-terminal of its own, as the child of a
//! shell that ends with it, so its exit code is the process's own. What people see goes out through
//! [`View`]; what the model reads is the output as a screen would show it ([`render`]). This crate knows
//! no editor and reads no environment.

mod frame;
mod options;
mod pool;
mod process;
pub mod render;
pub mod sandbox;
mod task;
mod tree;
mod view;

pub use options::{PoolOptions, Size};
pub use pool::Pool;
pub use view::{Status, TerminalInfo, View};
