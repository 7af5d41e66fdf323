//! Shell grammar, path and ignore rules, and the verdict on a call.
//!
//! Pure functions, but for one thing: resolving a path reads its metadata and symlinks, and ignore
//! rules read ignore files. Nothing here runs a process, asks anybody, or reads the environment.

pub mod command;
pub mod grant;
pub mod ignored;
pub mod path;
pub mod verdict;

pub use command::{Classified, Descent, classify};
pub use koda_protocol::rule::Grant;
pub use path::{PathError, ResolvedPath, Resolver};
pub use verdict::{Policy, Question, Touch, credentials, holds_credentials, judge};
