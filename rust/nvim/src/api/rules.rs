//! The rules that last: listing and removing them, in the background.

use koda_protocol::UserError;
use koda_protocol::port::StoreError;
use mlua::prelude::{Lua, LuaFunction, LuaResult, LuaTable};

use super::function;
use super::sessions::later;
use crate::engine::Koda;

/// Adds the functions to `table`.
pub fn register(lua: &Lua, table: &LuaTable) -> LuaResult<()> {
    table.set("rules", function(lua, list)?)?;
    table.set("remove_rule", function(lua, remove)?)
}

fn failed(error: StoreError) -> UserError {
    UserError::new("rules", format!("the rules can't be used: {error}")).hint("mend the file or move it away")
}

fn list(lua: &Lua, koda: &Koda, callback: LuaFunction) -> Result<bool, UserError> {
    let rules = koda.rules.clone();
    later(lua, koda, callback, async move { rules.list().map_err(failed) })
}

fn remove(lua: &Lua, koda: &Koda, (id, callback): (u64, LuaFunction)) -> Result<bool, UserError> {
    let rules = koda.rules.clone();
    later(lua, koda, callback, async move { rules.remove(id).map_err(failed) })
}
