//! The agent: it turns a prompt into requests, calls and results, until the model is done.
//!
//! It works through ports alone and knows neither editor nor HTTP. Everything that happens is an event.
//! An [`Engine`] opens [`Session`]s; a session runs one turn at a time (`turn`), each step of which
//! streams one message (`step`) and runs its calls (`dispatch`). What waits for the user lies on the
//! [`Desk`].

mod asking;
mod checkpoint;
mod context;
mod desk;
mod dispatch;
mod engine;
mod history;
mod instructions;
mod journal;
mod judged;
mod notes;
mod order;
mod prompt;
mod refusals;
mod repeats;
mod session;
mod spending;
mod step;
mod turn;

pub use context::{ContextReport, Share};
pub use desk::Desk;
pub use engine::{AgentSettings, Engine, EngineParts, OpenSession, ToolRequest};
pub use instructions::InstructionSettings;
pub use notes::Note;
pub use prompt::PromptPart;
pub use session::{Change, Current, Rewind, Rewound, Session, Snapshot};
pub use spending::Budget;
