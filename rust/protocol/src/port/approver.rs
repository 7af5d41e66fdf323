//! The user, as one who approves and answers.

use async_trait::async_trait;

use crate::call::ToolCall;
use crate::event::{Answer, AskKind};
use crate::id::{AskId, SessionId};
use crate::review::Proposal;
use crate::trust::Verdict;

/// Something that waits for the user.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Ask {
    /// Names it; unique within the process.
    pub id: AskId,
    /// The session that asks.
    pub session: SessionId,
    /// `approval` or `question`.
    pub kind: AskKind,
    /// The call that waits.
    pub call: ToolCall,
    /// Why it must be asked.
    pub verdict: Verdict,
    /// What it would change, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
}

/// Whoever answers.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the answer. Dropping the future withdraws the question.
    async fn ask(&self, ask: Ask) -> Answer;
}
