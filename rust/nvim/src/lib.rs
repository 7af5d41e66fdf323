//! Koda inside Neovim: the bridge to the main thread, the ports over the editor, and the Lua API.
//!
//! The one crate that knows Neovim, and the only one with `unsafe`. It loads into every Neovim from
//! 0.10 on because it touches nothing but the Lua C API and libuv's async handle: no C structs of the
//! editor. The functions that Lua sees stand in [`api`]; work reaches the main thread only through
//! [`bridge`]; [`engine`] wires the crates below together.

mod api;
mod bridge;
mod clock;
mod engine;
mod log;
mod port;
mod settings;
mod store;

use mlua::prelude::{Lua, LuaResult, LuaTable};

/// The version of the border between this library and `lua/koda/`; compared before any other call.
///
/// Raised with each change that an older face or library would not survive.
pub const ABI: u32 = 1;

/// Opens the library: returns the table of functions in `lua/koda/_meta/native.lua`.
#[mlua::lua_module(name = "koda")]
fn koda(lua: &Lua) -> LuaResult<LuaTable> {
    api::table(lua)
}
