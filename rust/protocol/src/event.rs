//! The one stream of events. What is not an event did not happen.
//!
//! The chat draws it, the session file stores it, the headless run prints it. A stored session
//! replayed through the chat looks as it did live.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::ToolCall;
use crate::checkpoint::TakenBack;
use crate::cost::{Costs, Spent};
use crate::error::UserError;
use crate::id::{AskId, CallId, SessionId};
use crate::message::{Message, Usage};
use crate::plan::Plan;
use crate::review::{HunkText, Proposal};
use crate::time::UnixMillis;
use crate::trust::{Mode, Scope, Trust, Verdict};

/// The version of [`Event`]. Raised when a reader of the last version would misread a new stream.
pub const EVENT_VERSION: u32 = 1;

/// An event with when and where it happened. Serialises flat: `type`, `time`, `session`, fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// When it happened.
    pub time: UnixMillis,
    /// The session that it belongs to.
    pub session: SessionId,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// Everything that happens in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A session began or was resumed. Always the first of a stream.
    SessionStart {
        /// [`EVENT_VERSION`] of the writer.
        version: u32,
        /// The project root.
        cwd: String,
        /// `provider::model`.
        model: String,
        /// Which tools are offered.
        mode: Mode,
        /// Who approves.
        trust: Trust,
    },
    /// The user sent a message. Answered by a `turn_end`.
    UserMessage {
        /// What the user typed.
        text: String,
        /// Context sent along (a selection with its path and lines), empty if none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        context: String,
    },
    /// Something that happened outside of the turn is told to the model, with the next request.
    Note {
        /// What happened, as the model reads it.
        text: String,
    },
    /// The user sent a message while a turn ran; it goes in at the next step, as a `user_message`.
    Queued {
        /// What the user typed.
        text: String,
    },
    /// A request goes to the model. Answered by a `message`, or by an `error`.
    StepStart {
        /// Steps of this turn, from 1.
        step: u32,
    },
    /// The model wrote text.
    TextDelta {
        /// The piece, cut at a character border.
        text: String,
    },
    /// The model wrote reasoning.
    ReasoningDelta {
        /// The piece, cut at a character border.
        text: String,
    },
    /// A call is forming: its name is known, its arguments still grow. Nothing may be done on it yet.
    CallForming {
        /// The call's id.
        id: CallId,
        /// The name as the model wrote it.
        tool: String,
        /// Bytes of arguments so far.
        bytes: u64,
    },
    /// The model's message is complete, as it enters the history.
    Message {
        /// The whole message: text, reasoning, calls.
        message: Message,
        /// Whether the stream broke off, so that the text is only what had come.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// A call is to be judged and run. Answered by exactly one `tool_result` with its id.
    ToolCall {
        /// The call's id.
        id: CallId,
        /// Canonical name, or the unknown name as it came.
        tool: String,
        /// The arguments, canonical where they parsed.
        args: Value,
    },
    /// A call or a question waits for the user. Answered by an `answer` with its id.
    Approval {
        /// Names what waits.
        id: AskId,
        /// `approval` or `question`.
        kind: AskKind,
        /// The call that waits.
        call: ToolCall,
        /// Why it must be asked, as `koda.judge` tells it.
        verdict: Verdict,
        /// What it would change, where that can be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<Proposal>,
    },
    /// What waited was answered.
    Answer {
        /// Names what waited.
        id: AskId,
        /// `decision` (`accept`, `reject`, `nobody` or `cancelled`) and what was said with it.
        answer: Answer,
    },
    /// A running tool had output: a glimpse for people, not the result.
    ToolOutput {
        /// The call's id.
        id: CallId,
        /// The newest text.
        text: String,
    },
    /// A call ended, whatever happened to it.
    ToolResult {
        /// The call's id.
        id: CallId,
        /// Canonical name, or the unknown name as it came.
        tool: String,
        /// Whether the tool did what it was asked.
        ok: bool,
        /// What the model reads.
        text: String,
        /// What happened, in fields that depend on the tool.
        data: Value,
    },
    /// The task list changed.
    Todo {
        /// All items, in order: `content`, `status` and `priority` each.
        items: Vec<TodoItem>,
    },
    /// The plan changed.
    Plan {
        /// `explanation`, `steps` with `text` and `status` each, and further parts.
        plan: Plan,
        /// The same as Markdown.
        text: String,
        /// Whether the user is to review it: the model's turn ends with it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        review: bool,
    },
    /// The provider counted a request's tokens.
    Usage {
        /// This request's: `input`, `output`, `cached`, `cache_write` and `reasoning`, as far as they are known.
        usage: Usage,
        /// The session's so far.
        total: Usage,
        /// What was spent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Costs>,
    },
    /// A request failed in a way that passes; it is tried again.
    Retry {
        /// Tries so far, from 1.
        attempt: u32,
        /// Milliseconds until the next.
        wait_ms: u64,
        /// What failed.
        reason: String,
    },
    /// The user took back a message and all that followed it. Redo brings it again, before the next message.
    Rewound {
        /// The number of the message in the session, from 1.
        message: u64,
        /// Whether files were given back.
        files: bool,
        /// Whether the conversation goes on from before the message.
        conversation: bool,
        /// What the message said.
        text: String,
        /// What became of files, as far as anything did.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<TakenBack>,
    },
    /// What was taken back last was brought again.
    Redone {
        /// The number of the message in the session, from 1.
        message: u64,
        /// Whether files were changed again.
        files: bool,
        /// Whether the conversation goes on from its old end.
        conversation: bool,
        /// What became of files, as far as anything did.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<TakenBack>,
    },
    /// Mode, trust or model changed within the session.
    Settings {
        /// Which tools are offered.
        mode: Mode,
        /// Who approves.
        trust: Trust,
        /// `provider::model`.
        model: String,
    },
    /// Something the user should know that is no error.
    Notice {
        /// One line.
        text: String,
    },
    /// Something failed.
    Error {
        /// What, where, and what to do.
        error: UserError,
    },
    /// The turn that a `user_message` began is over.
    TurnEnd {
        /// How: `done`, `failed`, `cancelled`, `needs_approval`, `step_limit` or `budget`.
        outcome: Outcome,
        /// Steps taken.
        steps: u32,
        /// Milliseconds since the `user_message`.
        duration_ms: u64,
        /// The turn's tokens, as far as they were counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// What the turn cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Spent>,
    },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model had no more calls.
    Done,
    /// An error ended it.
    Failed,
    /// The user stopped it.
    Cancelled,
    /// Something needed an approval and nobody was there to give it.
    NeedsApproval,
    /// The limit of steps was reached.
    StepLimit,
    /// A budget was used up.
    Budget,
}

/// What kind of thing waits for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// A call wants to run.
    Approval,
    /// The model asks something.
    Question,
}

/// The user's answer to something that waited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Answer {
    /// Run it; or here is the answer to the question.
    Accept {
        /// How long this holds.
        #[serde(default)]
        scope: Scope,
        /// The answer to a question; of an approval, what the model shall hear.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The numbers of the proposal's hunks that stand; all without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hunks: Option<Vec<usize>>,
        /// Hunks that the user wrote anew: what comes in the place of theirs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        edited: Vec<HunkText>,
        /// What the user said of single hunks.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        said: Vec<HunkText>,
    },
    /// Don't.
    Reject {
        /// Why, for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Nobody is there to answer: a headless run.
    Nobody,
    /// The turn was stopped while it waited.
    Cancelled,
}

impl Answer {
    /// Accepts the whole call, for this once.
    pub fn accept() -> Self {
        Self::Accept { scope: Scope::Once, text: None, hunks: None, edited: Vec::new(), said: Vec::new() }
    }
}

/// One item of the task list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// How much it matters.
    #[serde(default)]
    pub priority: TodoPriority,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done; at most one item is.
    InProgress,
    /// Done.
    Completed,
}

/// How much a task matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoPriority {
    /// First.
    High,
    /// As usual.
    #[default]
    Medium,
    /// When there is time.
    Low,
}
