//! The agent through the engine's doors: real tools and verdicts, and doubles of the ports.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod approvals;
mod budgets;
mod calls;
mod prompts;
mod queueing;
mod random;
mod resuming;
mod rig;
mod stage;
mod stopping;
mod turns;
