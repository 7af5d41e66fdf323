//! What all of Koda shares: messages, calls and results, events, verdicts, ids, and the port traits.
//!
//! The ground floor. It knows no other crate of Koda, does no input or output of its own, and holds
//! no policy: only the shapes in which the crates above talk, and for each port an in-memory double
//! ([`double`]) so that everything above can be tested without Neovim, a network or a clock.

pub mod call;
pub mod checkpoint;
pub mod cost;
pub mod double;
pub mod error;
pub mod event;
pub mod id;
pub mod message;
pub mod plan;
pub mod port;
pub mod recall;
pub mod review;
pub mod rule;
pub mod text;
pub mod time;
pub mod trust;

pub use call::{ToolCall, ToolResult, ToolSpec};
pub use cost::{Costs, ModelFacts, Price, Rates, Spent};
pub use error::UserError;
pub use event::{EVENT_VERSION, Envelope, Event, Outcome};
pub use id::{AskId, CallId, SessionId, TaskId};
pub use message::{Message, Part, Role, Usage};
pub use plan::{Plan, PlanStep, StepStatus};
pub use recall::{RecallQuery, Recalled, Recollection};
pub use review::{Hunk, HunkState, HunkText, Judged, JudgedHunk, Proposal, WordMark};
pub use text::{Document, LineEnd, Revision, TextEdit, TextFormat};
pub use time::UnixMillis;
pub use trust::{CommandClass, Decision, Effect, Mode, Scope, ToolPolicy, Trust, Verdict, VerdictPart};
