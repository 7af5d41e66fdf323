//! Ports: what the agent and its tools need of the world, as traits.
//!
//! Each has an in-memory double in [`crate::double`]. Errors name what was wrong; the doc of each
//! method states what its implementors must keep.

pub mod approver;
pub mod clock;
pub mod editor;
pub mod model;
pub mod store;
pub mod terminals;

pub use approver::{Approver, Ask};
pub use clock::Clock;
pub use editor::{Diagnostic, Editor, EditorError, OpenFile, Severity, Written};
pub use model::{Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ModelStream, StopReason};
pub use store::{EventSink, SpillRef, Store, StoreError};
pub use terminals::{
    Command, CommandOutcome, CommandState, Confinement, OnEnd, OnOutput, TaskInfo, Terminals, TerminalsError,
};
