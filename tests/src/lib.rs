//! The harness for tests of the whole editor. The tests themselves stand in `tests/tests/`.
//!
//! A test builds a [`Place`] (its own HOME, XDG folders and git configuration), lays a project into it and opens a
//! Neovim there: an [`Editor`] (over RPC, with the screen's text and highlight names), a [`Terminal`] (a real terminal),
//! or a [`Headless`] run (standard output and exit status). All of them kill what they started when they are dropped.
//! Tests wait for a screen, an answer or an exit, never for time to pass; [`DEADLINE`] only bounds a test that fails.
//!
//! Knows Koda through its public doors only: the Lua API, `:Koda`, the screen, the event stream.

mod editor;
mod grid;
mod headless;
mod nvim;
mod place;
mod process;
mod replay;
mod terminal;
mod wire;

pub use editor::{Editor, Opening};
pub use grid::Grid;
pub use headless::{Finished, Headless};
pub use nvim::Nvim;
pub use place::Place;
pub use process::{Exit, Process};
pub use replay::{Replay, call};
pub use rustix::process::Signal;
pub use terminal::Terminal;

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a test waits for what must come. Long, since two cores may be busy with everything else.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// The screen's columns and rows in every test.
pub const SIZE: (u16, u16) = (100, 30);

/// Returns the root of the checkout.
///
/// # Panics
/// If this crate does not lie in `tests/` of it.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the checkout").to_owned()
}
