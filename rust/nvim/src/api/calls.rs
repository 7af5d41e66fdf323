//! Calls outside of a conversation, verdicts, and answers to what waits.

use std::path::PathBuf;

use koda_agent::ToolRequest;
use koda_protocol::event::Answer;
use koda_protocol::{AskId, CallId, Mode, Trust, UserError, Verdict};
use koda_tools::Registry;
use mlua::prelude::{Lua, LuaResult, LuaTable, LuaValue};
use serde::{Deserialize, Serialize};

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
    table.set("stop_calls", function(lua, stop_calls)?)?;
    table.set("judge", function(lua, judge)?)?;
    table.set("tools", function(lua, tools)?)?;
    table.set("pending", function(lua, |_, koda, ()| Ok(koda.desk.pending()))?)?;
    table.set("answer", function(lua, answer)?)
}

fn tool(lua: &Lua, koda: &Koda, call: LuaValue) -> Result<CallId, UserError> {
    let call: Call = convert::read(lua, "tool", call)?;
    Ok(koda.engine.tool(call.into()))
}

fn stop_calls(_: &Lua, koda: &Koda, (): ()) -> Result<bool, UserError> {
    koda.engine.stop_calls();
    Ok(true)
}

fn judge(lua: &Lua, koda: &Koda, call: LuaValue) -> Result<Verdict, UserError> {
    let call: Call = convert::read(lua, "judge", call)?;
    Ok(koda.engine.judge(&call.into()))
}

#[derive(Serialize)]
struct ToolInfo {
    name: String,
    description: String,
}

/// Lists the tools that a model is offered in a mode, by name.
fn tools(lua: &Lua, _: &Koda, mode: LuaValue) -> Result<Vec<ToolInfo>, UserError> {
    let mode: Mode = convert::read(lua, "tools", mode)?;
    let specs = Registry::standard().specs(mode).into_iter();
    Ok(specs.map(|spec| ToolInfo { name: spec.name, description: spec.description }).collect())
}

fn answer(lua: &Lua, koda: &Koda, (id, answer): (String, LuaValue)) -> Result<bool, UserError> {
    let answer: Answer = convert::read(lua, "answer", answer)?;
    if !matches!(answer, Answer::Accept { .. } | Answer::Reject { .. }) {
        return Err(UserError::new("usage", "koda.answer: `decision` is \"accept\" or \"reject\""));
    }
    koda.desk.answer(&AskId(id), answer)?;
    Ok(true)
}
