//! The editor port: buffers through `lua/koda/port/editor.lua`, other files from the disk.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use koda_protocol::port::{Diagnostic, Editor, EditorError, OpenFile, Written};
use koda_protocol::{Document, LineEnd, Revision, TextEdit, TextFormat};
use mlua::LuaSerdeExt;
use mlua::prelude::{Lua, LuaFunction, LuaResult, LuaString, LuaTable, LuaValue};

use super::disk;
use super::place::place;
use crate::api::convert;
use crate::bridge::{Bridge, BridgeError};

/// The Lua half.
const MODULE: &str = "koda.port.editor";

/// Neovim as the port `Editor`.
pub struct NvimEditor {
    bridge: Bridge,
}

impl NvimEditor {
    /// Builds the port over the bridge.
    pub fn new(bridge: Bridge) -> Self {
        Self { bridge }
    }

    /// Runs `job` on the main thread; what it says of the file passes, what Lua says becomes an error.
    async fn on_main<R: Send + 'static>(
        &self,
        job: impl FnOnce(&Lua) -> LuaResult<Result<R, EditorError>> + Send + 'static,
    ) -> Result<R, EditorError> {
        self.bridge.call(job).await.map_err(editor_error)?
    }
}

fn editor_error(error: BridgeError) -> EditorError {
    EditorError::Editor(error.to_string())
}

fn function(lua: &Lua, name: &str) -> LuaResult<LuaFunction> {
    let require: LuaFunction = lua.globals().get("require")?;
    require.call::<LuaTable>(MODULE)?.get(name)
}

/// Paths cross as bytes: they need not be valid UTF-8.
fn lua_path(lua: &Lua, path: &Path) -> LuaResult<LuaString> {
    lua.create_string(path.as_os_str().as_encoded_bytes())
}

fn bytes_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

/// Reads what Lua tells of a loaded buffer.
fn document(path: &Path, buffer: &LuaTable) -> LuaResult<Result<Document, EditorError>> {
    if let Some(reason) = buffer.get::<Option<String>>("binary")? {
        tracing::debug!(reason, "a buffer with NUL bytes");
        return Ok(Err(EditorError::Binary(path.to_owned())));
    }
    let encoding: String = buffer.get("encoding")?;
    let bytes: LuaString = buffer.get("text")?;
    let text = match std::str::from_utf8(&bytes.as_bytes()) {
        Ok(text) => Arc::<str>::from(text),
        Err(error) => {
            let offset = error.valid_up_to() as u64;
            return Ok(Err(EditorError::Encoding { path: path.to_owned(), encoding, offset }));
        }
    };
    let line_end = match buffer.get::<String>("format")?.as_str() {
        "dos" => LineEnd::CrLf,
        "mac" => LineEnd::Cr,
        _ => LineEnd::Lf,
    };
    Ok(Ok(Document {
        path: path.to_owned(),
        revision: disk::revision(&text),
        text,
        format: TextFormat { line_end, bom: buffer.get("bom")?, encoding },
        unsaved: buffer.get("unsaved")?,
    }))
}

/// Applies `edits` to the buffer of `path`, if its text is still the one that they were made for.
fn apply(
    lua: &Lua,
    path: &Path,
    revision: &Revision,
    edits: &[TextEdit],
) -> LuaResult<Result<Written, EditorError>> {
    let (buffer, refused): (Option<LuaTable>, Option<String>) =
        function(lua, "load")?.call(lua_path(lua, path)?)?;
    let Some(buffer) = buffer else {
        let reason = refused.unwrap_or_default();
        return Ok(Err(EditorError::ReadOnly { path: path.to_owned(), reason }));
    };
    let before = match document(path, &buffer)? {
        Ok(before) => before,
        Err(error) => return Ok(Err(error)),
    };
    if before.revision != *revision {
        return Ok(Err(EditorError::Stale(path.to_owned())));
    }
    let Some(change) = place(&before.text, edits) else {
        return Ok(Err(EditorError::Editor(
            "an edit lies outside the text or within a character".to_owned(),
        )));
    };
    let change = lua.to_value_with(&change, convert::OPTIONS)?;
    let number: i64 = buffer.get("buffer")?;
    let (after, failed): (Option<LuaTable>, Option<String>) =
        function(lua, "apply")?.call((number, change, before.unsaved))?;
    let Some(after) = after else {
        let reason = failed.unwrap_or_default();
        return Ok(Err(EditorError::Io { path: path.to_owned(), reason }));
    };
    written(path, &before.text, edits, &after)
}

/// Tells what a change did; `reformatted` where the text is not what the edits alone would give.
fn written(
    path: &Path,
    before: &str,
    edits: &[TextEdit],
    after: &LuaTable,
) -> LuaResult<Result<Written, EditorError>> {
    let saved: bool = after.get("saved")?;
    Ok(document(path, after)?.map(|document| {
        let expected = super::place::apply(before, edits);
        let reformatted = (expected.as_deref() != Some(&document.text)).then(|| document.text.clone());
        Written { revision: document.revision, saved, reformatted }
    }))
}

#[async_trait]
impl Editor for NvimEditor {
    async fn read(&self, path: &Path) -> Result<Document, EditorError> {
        let wanted = path.to_owned();
        let loaded = self.on_main(move |lua| {
            match function(lua, "loaded")?.call::<Option<LuaTable>>(lua_path(lua, &wanted)?)? {
                Some(buffer) => Ok(document(&wanted, &buffer)?.map(Some)),
                None => Ok(Ok(None)),
            }
        });
        match loaded.await? {
            Some(document) => Ok(document),
            None => disk::blocking(path.to_owned(), disk::read).await,
        }
    }

    async fn edit(
        &self,
        path: &Path,
        revision: &Revision,
        edits: &[TextEdit],
    ) -> Result<Written, EditorError> {
        // Whether it is a text file at all is found out before a buffer is made for it.
        self.read(path).await?;
        let (path, revision, edits) = (path.to_owned(), revision.clone(), edits.to_vec());
        self.on_main(move |lua| apply(lua, &path, &revision, &edits)).await
    }

    async fn create(&self, path: &Path, text: &str) -> Result<Written, EditorError> {
        let wanted = path.to_owned();
        let loaded = self.on_main(move |lua| {
            let buffer = function(lua, "loaded")?.call::<Option<LuaTable>>(lua_path(lua, &wanted)?)?;
            Ok(Ok(match buffer {
                Some(buffer) => buffer.get::<bool>("unsaved")?,
                None => false,
            }))
        });
        if loaded.await? {
            return Err(EditorError::Exists(path.to_owned()));
        }
        let owned = text.to_owned();
        disk::blocking(path.to_owned(), move |path| disk::create(path, &owned)).await?;
        let wanted = path.to_owned();
        self.on_main(move |lua| function(lua, "refresh")?.call::<()>(lua_path(lua, &wanted)?).map(Ok))
            .await?;
        Ok(Written { revision: disk::revision(text), saved: true, reformatted: None })
    }

    async fn delete(&self, path: &Path) -> Result<(), EditorError> {
        disk::blocking(path.to_owned(), disk::delete).await?;
        let wanted = path.to_owned();
        self.on_main(move |lua| function(lua, "forget")?.call::<()>(lua_path(lua, &wanted)?).map(Ok)).await
    }

    async fn loaded(&self) -> Result<Vec<PathBuf>, EditorError> {
        let paths = self.on_main(|lua| {
            let names = function(lua, "loaded_files")?.call::<Vec<LuaString>>(())?;
            Ok(Ok(names.iter().map(|name| bytes_path(&name.as_bytes())).collect()))
        });
        paths.await
    }

    async fn reload(&self, path: &Path) -> Result<(), EditorError> {
        let wanted = path.to_owned();
        self.on_main(move |lua| function(lua, "refresh")?.call::<()>(lua_path(lua, &wanted)?).map(Ok)).await
    }

    async fn unsaved(&self) -> Result<Vec<(PathBuf, Arc<str>)>, EditorError> {
        let texts = self.on_main(|lua| {
            let mut texts = Vec::new();
            for buffer in function(lua, "unsaved")?.call::<Vec<LuaTable>>(())? {
                let path = PathBuf::from(buffer.get::<String>("path")?);
                // A buffer that is no text is left to what reads it by name.
                if let Ok(document) = document(&path, &buffer)? {
                    texts.push((path, document.text));
                }
            }
            Ok(Ok(texts))
        });
        texts.await
    }

    async fn open_files(&self) -> Result<Vec<OpenFile>, EditorError> {
        let files = self.on_main(|lua| {
            let files = function(lua, "open_files")?.call::<LuaValue>(())?;
            lua.from_value(files).map(Ok)
        });
        files.await
    }

    async fn diagnostics(&self, paths: &[PathBuf]) -> Result<Vec<Diagnostic>, EditorError> {
        let paths = paths.to_vec();
        let found = self.on_main(move |lua| {
            let names = lua.create_table()?;
            for path in &paths {
                names.push(lua_path(lua, path)?)?;
            }
            let found = function(lua, "diagnostics")?.call::<LuaValue>(names)?;
            lua.from_value(found).map(Ok)
        });
        found.await
    }
}
