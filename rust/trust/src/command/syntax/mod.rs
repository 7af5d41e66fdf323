//! The grammar of the shell: a text becomes a tree, or a fault.
//!
//! A descent by hand, in one pass, for what a judge needs and ready-made parsers of Rust don't give:
//! bounded depth, time that grows with the text and not with its nesting, no panic on any input, the
//! text of each command as it was written, and above all refusal. Bash, zsh and dash read some texts in
//! different ways (`"${x:-'}"`, `$'\''`, `((` as two subshells). A parser that picks one reading can be
//! made to see a quoted string where the user's shell sees a command; here each is a fault, and what
//! has a fault is never safe.
//!
//! The tests run texts in real shells and compare what ran with what was read.

mod command;
mod dollar;
mod reader;
mod redirect;
mod tree;
mod word;

pub use reader::parse;
pub use tree::{Assignment, Command, Kind, List, Piece, Pipeline, Redirect, Script, Sign, Word};
