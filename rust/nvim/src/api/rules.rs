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
    later(lua, koda, callback, blocking(move || rules.list()))
}

fn remove(lua: &Lua, koda: &Koda, (id, callback): (u64, LuaFunction)) -> Result<bool, UserError> {
    let rules = koda.rules.clone();
    later(lua, koda, callback, blocking(move || rules.remove(id)))
}

/// Works where waiting for the disk, or for another Neovim's lock, holds up nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, UserError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(failed),
        Err(panic) => Err(UserError::new("panic", format!("the rules can't be used: {panic}"))),
    }
}
