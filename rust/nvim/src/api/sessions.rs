//! Sessions: opening, prompting, stopping, and what is stored of them.

use std::path::PathBuf;

use koda_agent::{Change, OpenSession, Rewind};
use koda_protocol::{Judged, Mode, SessionId, Trust, UserError};
use mlua::prelude::{Lua, LuaFunction, LuaResult, LuaTable, LuaValue};
use mlua::{LuaSerdeExt, RegistryKey};
use serde::{Deserialize, Serialize};

use super::{convert, function};
use crate::engine::Koda;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Open {
    cwd: PathBuf,
    model: Option<String>,
    mode: Option<Mode>,
    trust: Option<Trust>,
    resume: Option<SessionId>,
    unattended: bool,
    max_cost: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Set {
    model: Option<String>,
    mode: Option<Mode>,
    trust: Option<Trust>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Back {
    message: Option<u64>,
    files: Option<bool>,
    conversation: Option<bool>,
}

/// Adds the functions to `table`.
pub fn register(lua: &Lua, table: &LuaTable) -> LuaResult<()> {
    table.set("open", function(lua, open)?)?;
    table.set(
        "prompt",
        function(lua, |_, koda, (session, text, context): (String, String, Option<String>)| {
            koda.engine.session(&session.into())?.prompt(text, context.unwrap_or_default());
            Ok(true)
        })?,
    )?;
    table.set(
        "stop",
        function(lua, |_, koda, session: String| {
            koda.engine.session(&session.into())?.cancel();
            Ok(true)
        })?,
    )?;
    table.set("set", function(lua, set)?)?;
    table.set("judged", function(lua, judged)?)?;
    table.set("rewind", function(lua, rewind)?)?;
    table.set("redo", function(lua, redo)?)?;
    table.set("sessions", function(lua, sessions)?)?;
    table.set("events", function(lua, events)?)
}

fn open(lua: &Lua, koda: &Koda, options: LuaValue) -> Result<SessionId, UserError> {
    let options: Open = convert::read(lua, "open", options)?;
    let session = koda.engine.open(OpenSession {
        root: options.cwd,
        model: model(koda, options.model)?,
        mode: options.mode,
        trust: options.trust,
        resume: options.resume,
        unattended: options.unattended,
        max_cost: options.max_cost,
    })?;
    Ok(session.id().clone())
}

/// The model to use: the one asked for, else the setting's, else one whose key is there.
pub(super) fn model(koda: &Koda, asked: Option<String>) -> Result<String, UserError> {
    let named = asked.or_else(|| koda.settings.model.clone()).or_else(|| koda.models.default_model());
    let Some(model) = named else {
        return Err(UserError::new("no_model", "no model is set, and no provider's key is in the environment")
            .hint("set `model`, or put a key such as ANTHROPIC_API_KEY into the environment; :Koda model lists the ways"));
    };
    koda.models.check(&model).map_err(|error| UserError {
        code: "config".to_owned(),
        message: error.message,
        hint: error.hint,
    })?;
    Ok(model)
}

fn set(lua: &Lua, koda: &Koda, (session, change): (String, LuaValue)) -> Result<bool, UserError> {
    let change: Set = convert::read(lua, "set", change)?;
    let session = koda.engine.session(&session.into())?;
    let model = change.model.map(|name| model(koda, Some(name))).transpose()?;
    session.set(Change { mode: change.mode, trust: change.trust, model });
    Ok(true)
}

fn judged(lua: &Lua, koda: &Koda, (session, judged): (String, LuaValue)) -> Result<bool, UserError> {
    let judged: Judged = convert::read(lua, "judged", judged)?;
    koda.engine.session(&session.into())?.judged(&judged);
    Ok(true)
}

/// Takes back the last turn, or all from a message on.
fn rewind(
    lua: &Lua,
    koda: &Koda,
    (session, what, callback): (String, LuaValue, LuaFunction),
) -> Result<bool, UserError> {
    let Back { message, files, conversation } = convert::read(lua, "rewind", what)?;
    let session = koda.engine.session(&session.into())?;
    let what = Rewind { message, files: files.unwrap_or(true), conversation: conversation.unwrap_or(true) };
    later(lua, koda, callback, async move { session.rewind(what).await })
}

fn redo(lua: &Lua, koda: &Koda, (session, callback): (String, LuaFunction)) -> Result<bool, UserError> {
    let session = koda.engine.session(&session.into())?;
    later(lua, koda, callback, async move { session.redo().await })
}

fn sessions(
    lua: &Lua,
    koda: &Koda,
    (cwd, callback): (Option<String>, LuaFunction),
) -> Result<bool, UserError> {
    let store = koda.store.clone();
    later(lua, koda, callback, async move {
        store.sessions(cwd.as_deref()).map_err(|error| UserError::new("store", error.to_string()))
    })
}

fn events(lua: &Lua, koda: &Koda, (session, callback): (String, LuaFunction)) -> Result<bool, UserError> {
    let store = koda.store.clone();
    later(lua, koda, callback, async move {
        store.events(&session.into()).map_err(|error| UserError::new("store", error.to_string()))
    })
}

/// Works in the background and calls `callback(value)` or `callback(nil, error)` on the main thread.
pub(super) fn later<T: Serialize + Send + 'static>(
    lua: &Lua,
    koda: &Koda,
    callback: LuaFunction,
    work: impl Future<Output = Result<T, UserError>> + Send + 'static,
) -> Result<bool, UserError> {
    let failed = |error: mlua::Error| UserError::new("bridge", error.to_string());
    let key: RegistryKey = lua.create_registry_value(callback).map_err(failed)?;
    let bridge = koda.bridge.clone();
    koda.runtime.spawn(async move {
        let result = work.await;
        bridge.post(move |lua| {
            let callback: LuaFunction = lua.registry_value(&key)?;
            lua.remove_registry_value(key)?;
            match result {
                Ok(value) => callback.call(lua.to_value_with(&value, convert::OPTIONS)?),
                Err(error) => callback.call((LuaValue::Nil, lua.to_value_with(&error, convert::OPTIONS)?)),
            }
        });
    });
    Ok(true)
}
