//! The one way to Neovim's main thread.
//!
//! Any thread posts jobs into the [`inbox`]; one libuv async handle wakes the event loop; the jobs run
//! inside `vim.schedule`, in order, under a time budget a tick. Events for Lua go through the
//! [`outbox`], which merges text deltas and delivers at most once a frame. Rust never blocks on Lua:
//! a caller that wants an answer awaits it.

mod inbox;
mod outbox;

pub use inbox::{Bridge, BridgeError, start};
pub use outbox::Outbox;
