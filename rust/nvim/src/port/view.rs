//! The view of the terminals: bytes and states on their way to `lua/koda/terminal/`.

use koda_shell::{Status, View};
use mlua::LuaSerdeExt;
use mlua::prelude::{Lua, LuaFunction, LuaResult, LuaTable};

use crate::api::convert;
use crate::bridge::Bridge;

/// The Lua half.
const MODULE: &str = "koda.terminal";

/// Shows terminals in Neovim's windows.
pub struct SplitView {
    bridge: Bridge,
}

impl SplitView {
    /// Builds the view over the bridge.
    pub fn new(bridge: Bridge) -> Self {
        Self { bridge }
    }
}

fn function(lua: &Lua, name: &str) -> LuaResult<LuaFunction> {
    let require: LuaFunction = lua.globals().get("require")?;
    require.call::<LuaTable>(MODULE)?.get(name)
}

impl View for SplitView {
    fn opened(&self, terminal: u32, title: &str) {
        let title = title.to_owned();
        self.bridge.post(move |lua| function(lua, "opened")?.call((terminal, title)));
    }

    fn output(&self, terminal: u32, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.bridge.post(move |lua| {
            let bytes = lua.create_string(&bytes)?;
            function(lua, "output")?.call((terminal, bytes))
        });
    }

    fn status(&self, terminal: u32, status: &Status) {
        let status = status.clone();
        self.bridge.post(move |lua| {
            let status = lua.to_value_with(&status, convert::OPTIONS)?;
            function(lua, "status")?.call((terminal, status))
        });
    }
}
