//! Tool calls, their results, and what a model is told about a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::CallId;

/// A call that a model (or `koda.tool`) makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the session.
    pub id: CallId,
    /// The name as the model wrote it; the registry maps aliases.
    pub tool: String,
    /// The arguments. A `Value::String` is text that did not parse as JSON, kept as it came.
    pub args: Value,
    /// A provider's signature that must be sent back with the call unchanged (Gemini).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The one result of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that this answers.
    pub id: CallId,
    /// The canonical name of the tool, or the unknown name that was asked for.
    pub tool: String,
    /// Whether the tool did what it was asked. A command that exits with 1 is still `ok`.
    pub ok: bool,
    /// What the model reads.
    pub text: String,
    /// What happened, in fields (see the tool's page).
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// What a model is told about a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Canonical name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments: an object schema.
    pub schema: Value,
}
