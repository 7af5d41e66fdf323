//! Models: which there are, and what fills their windows.

use std::path::PathBuf;

use koda_protocol::{Mode, SessionId, Trust, UserError};
use mlua::prelude::{Lua, LuaFunction, LuaResult, LuaTable, LuaValue};
use serde::{Deserialize, Serialize};

use super::sessions::{later, model};
use super::{convert, function};
use crate::engine::Koda;

/// Adds the functions to `table`.
pub fn register(lua: &Lua, table: &LuaTable) -> LuaResult<()> {
    table.set("ways", function(lua, ways)?)?;
    table.set("models", function(lua, models)?)?;
    table.set("context", function(lua, context)?)
}

#[derive(Serialize)]
struct Ways<A, B> {
    ways: A,
    local_servers: B,
    default_model: Option<String>,
}

fn ways(lua: &Lua, koda: &Koda, callback: LuaFunction) -> Result<bool, UserError> {
    let models = koda.models.clone();
    later(lua, koda, callback, async move {
        let local_servers = models.local_servers().await;
        Ok(Ways { ways: models.ways(), local_servers, default_model: models.default_model() })
    })
}

/// Lists what providers offer; nobody is asked twice a day, and nobody at all unless it may ask.
fn models(lua: &Lua, koda: &Koda, (may_ask, callback): (bool, LuaFunction)) -> Result<bool, UserError> {
    let models = koda.models.clone();
    later(lua, koda, callback, async move { Ok(models.listings(may_ask).await) })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Look {
    session: Option<SessionId>,
    cwd: PathBuf,
    model: Option<String>,
    mode: Option<Mode>,
    trust: Option<Trust>,
}

fn context(lua: &Lua, koda: &Koda, (options, callback): (LuaValue, LuaFunction)) -> Result<bool, UserError> {
    let look: Look = convert::read(lua, "context", options)?;
    let session = match &look.session {
        Some(id) => koda.engine.session(id)?,
        None => koda.engine.look(&look.cwd, model(koda, look.model)?, look.mode, look.trust),
    };
    later(lua, koda, callback, async move { Ok(session.context().await) })
}
