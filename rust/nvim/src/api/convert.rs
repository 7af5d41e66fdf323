//! How values cross the border: serde both ways, errors as `nil, { code, message, hint }`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use koda_protocol::UserError;
use mlua::prelude::{Lua, LuaMultiValue, LuaResult, LuaValue};
use mlua::serde::ser::Options;
use mlua::{IntoLuaMulti, LuaSerdeExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Absent values are `nil`, arrays plain tables.
pub const OPTIONS: Options =
    Options::new().set_array_metatable(false).serialize_none_to_null(false).serialize_unit_to_null(false);

/// Reads a Lua value as `T`.
///
/// # Errors
///
/// `usage`, naming the function and what serde found wrong.
pub fn read<T: DeserializeOwned>(lua: &Lua, function: &str, value: LuaValue) -> Result<T, UserError> {
    lua.from_value(value).map_err(|error| UserError::new("usage", format!("koda.{function}: {error}")))
}

/// Runs the body of an API function and turns its outcome into what Lua gets: the value, or `nil` and
/// the error. A panic becomes an error too.
pub fn outcome<T: Serialize>(
    lua: &Lua,
    body: impl FnOnce() -> Result<T, UserError>,
) -> LuaResult<LuaMultiValue> {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(UserError::new("panic", "Koda panicked").hint("see :Koda log, and please report it"))
    });
    match result {
        Ok(value) => lua.to_value_with(&value, OPTIONS)?.into_lua_multi(lua),
        Err(error) => (LuaValue::Nil, lua.to_value_with(&error, OPTIONS)?).into_lua_multi(lua),
    }
}
