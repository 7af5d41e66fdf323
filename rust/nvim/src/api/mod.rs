//! What Lua sees: one table of functions, each of which returns at once.
//!
//! Values cross by serde ([`convert`]); errors as `nil, { code, message, hint }`. The border is typed
//! for Lua in `lua/koda/_meta/native.lua`, and a test compares both.

mod calls;
pub mod convert;
mod models;
mod rules;
mod sessions;
mod terminals;

use koda_protocol::UserError;
use mlua::prelude::{Lua, LuaFunction, LuaResult, LuaTable, LuaValue};

use crate::engine::{self, Koda};
use crate::settings::Settings;

/// The commit of the sources, which whoever builds gives; nothing where they lie outside of git.
fn commit() -> Option<&'static str> {
    option_env!("KODA_COMMIT").filter(|commit| !commit.is_empty())
}

/// Builds the table that `luaopen_koda` returns.
pub fn table(lua: &Lua) -> LuaResult<LuaTable> {
    let table = lua.create_table()?;
    table.set("abi", lua.create_function(|_, ()| Ok(crate::ABI))?)?;
    table.set("version", lua.create_function(|_, ()| Ok(env!("CARGO_PKG_VERSION")))?)?;
    table.set("commit", lua.create_function(|_, ()| Ok(commit()))?)?;
    table.set("setup", lua.create_function(setup)?)?;
    table.set("sandbox", lua.create_function(|_, ()| Ok(koda_shell::sandbox::support()))?)?;
    table.set("stats", function(lua, |_, koda, ()| Ok(koda.bridge.stats()))?)?;
    table.set(
        "shutdown",
        lua.create_function(|_, ()| {
            if let Some(koda) = engine::running() {
                koda.shutdown();
            }
            Ok(())
        })?,
    )?;
    rules::register(lua, &table)?;
    sessions::register(lua, &table)?;
    calls::register(lua, &table)?;
    models::register(lua, &table)?;
    terminals::register(lua, &table)?;
    Ok(table)
}

fn setup(lua: &Lua, (settings, deliver): (LuaValue, LuaFunction)) -> LuaResult<mlua::MultiValue> {
    convert::outcome(lua, || {
        let settings: Settings = convert::read(lua, "setup", settings)?;
        engine::start(lua, settings, deliver)?;
        Ok(true)
    })
}

/// Wraps an API function: finds the running engine, catches panics, turns errors into values.
fn function<A, T>(
    lua: &Lua,
    body: impl Fn(&Lua, &Koda, A) -> Result<T, UserError> + 'static,
) -> LuaResult<LuaFunction>
where
    A: mlua::FromLuaMulti,
    T: serde::Serialize,
{
    lua.create_function(move |lua, args: A| convert::outcome(lua, || body(lua, engine::koda()?, args)))
}
