//! Calls outside of a conversation, verdicts, and answers to what waits.

use std::path::PathBuf;

use koda_agent::ToolRequest;
use koda_protocol::event::Answer;
use koda_protocol::{AskId, CallId, Mode, Trust, UserError, Verdict};
use mlua::prelude::{Lua, LuaResult, LuaTable, LuaValue};
use serde::Deserialize;

use super::{convert, function};
use crate::engine::Koda;

#[derive(Deserialize)]
struct Call {
    #[serde(alias = "name")]
    tool: String,
    #[serde(default)]
    args: serde_json::Value,
    trust: Option<Trust>,
    mode: Option<Mode>,
    cwd: PathBuf,
}

impl From<Call> for ToolRequest {
    fn from(call: Call) -> Self {
        Self { tool: call.tool, args: call.args, root: call.cwd, trust: call.trust, mode: call.mode }
    }
}

/// Adds the functions to `table`.
pub fn register(lua: &Lua, table: &LuaTable) -> LuaResult<()> {
    table.set("tool", function(lua, tool)?)?;
    table.set("judge", function(lua, judge)?)?;
    table.set("pending", function(lua, |_, koda, ()| Ok(koda.desk.pending()))?)?;
    table.set("answer", function(lua, answer)?)
}

fn tool(lua: &Lua, koda: &Koda, call: LuaValue) -> Result<CallId, UserError> {
    let call: Call = convert::read(lua, "tool", call)?;
    Ok(koda.engine.tool(call.into()))
}

fn judge(lua: &Lua, koda: &Koda, call: LuaValue) -> Result<Verdict, UserError> {
    let call: Call = convert::read(lua, "judge", call)?;
    Ok(koda.engine.judge(&call.into()))
}

fn answer(lua: &Lua, koda: &Koda, (id, answer): (String, LuaValue)) -> Result<bool, UserError> {
    let answer: Answer = convert::read(lua, "answer", answer)?;
    if !matches!(answer, Answer::Accept { .. } | Answer::Reject { .. }) {
        return Err(UserError::new("usage", "koda.answer: `decision` is \"accept\" or \"reject\""));
    }
    koda.desk.answer(&AskId(id), answer)?;
    Ok(true)
}
