//! Terminals: what was typed, their size, their list.

use koda_protocol::UserError;
use mlua::prelude::{Lua, LuaResult, LuaString, LuaTable};

use super::function;

/// Adds the functions to `table`.
pub fn register(lua: &Lua, table: &LuaTable) -> LuaResult<()> {
    table.set("terminals", function(lua, |_, koda, ()| Ok(koda.pool.list()))?)?;
    table.set(
        "terminal_input",
        function(lua, |_, koda, (terminal, bytes): (u32, LuaString)| {
            koda.pool.input(terminal, &bytes.as_bytes());
            Ok(true)
        })?,
    )?;
    table.set(
        "terminal_resize",
        function(lua, |_, koda, (terminal, columns, rows): (u32, u16, u16)| {
            if columns == 0 || rows == 0 {
                return Err(UserError::new(
                    "usage",
                    "koda.terminal_resize: a terminal has at least one cell",
                ));
            }
            koda.pool.resize(terminal, columns, rows);
            Ok(true)
        })?,
    )?;
    table.set(
        "terminal_close",
        function(lua, |_, koda, terminal: u32| {
            koda.pool.close(terminal);
            Ok(true)
        })?,
    )
}
