//! Instructions of the folders below the session's, told with the first result that comes from there.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use koda_protocol::{Event, ToolResult};
use koda_trust::Touch;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{Instruction, Reader, capped};
use crate::session::Session;

/// Bytes of instructions that one result may bring.
const MAX_RESULT: usize = 32 * 1024;

/// What a session was told. Held while a result's instructions are gathered, so that of two calls at once
/// only one brings them.
#[derive(Default)]
pub struct Nested(Mutex<Told>);

#[derive(Default)]
struct Told {
    /// By file: the text that it had.
    texts: HashMap<String, String>,
    /// Folders without instructions: they are looked at once only, since every call touches some.
    bare: HashSet<PathBuf>,
}

/// Adds to the result of a call the instructions of the folders that it touched, unless they were told and
/// say still the same.
pub async fn attach(session: &Session, touches: &[Touch], result: &mut ToolResult) {
    let settings = &session.parts().settings.instructions;
    let root = session.workplace().resolver.root();
    let folders = folders(root, touches);
    if !result.ok || settings.max_bytes == 0 || folders.is_empty() {
        return;
    }
    let editor = session.parts().ports.editor.clone();
    let mut told = session.nested().0.lock().await;
    let mut reader = Reader::new(editor.as_ref(), root, session.workplace().resolver.home(), settings);
    for folder in folders.into_iter().filter(|folder| !told.bare.contains(folder)).collect::<Vec<_>>() {
        let before = reader.seen.len();
        reader.folder(&folder).await;
        if reader.seen.len() == before {
            told.bare.insert(folder);
        }
    }
    let system = session.system_prompt().await;
    let in_prompt = |found: &Instruction| system.iter().any(|part| part.name == found.shown);
    let new = |found: &Instruction| told.texts.get(&found.shown) != Some(&found.text) && !in_prompt(found);
    let found: Vec<Instruction> = reader.found.into_iter().filter(new).collect();
    if found.is_empty() {
        return;
    }
    told.texts.extend(found.iter().map(|found| (found.shown.clone(), found.text.clone())));
    let files: Vec<String> = found.iter().map(|found| found.shown.clone()).collect();
    session.emitter().emit(Event::Notice { text: format!("Instructions read: {}", files.join(", ")) });
    for Instruction { shown, text, .. } in capped(found, MAX_RESULT) {
        result.text.push_str(&format!("\n\n[Instructions for work in this folder, from {shown}:]\n{text}"));
    }
    match &mut result.data {
        Value::Object(fields) => drop(fields.insert("instructions".to_owned(), json!(files))),
        data => *data = json!({ "instructions": files }),
    }
}

/// Lists the folders below `root` that were touched, each once and outer ones first.
fn folders(root: &Path, touches: &[Touch]) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut folders = Vec::new();
    for touch in touches.iter().filter(|touch| touch.path.inside()) {
        let below = |folder: &&Path| folder.starts_with(root) && *folder != root;
        // A file is among them as a folder with nothing in it, which costs a look and no more.
        let mut chain: Vec<&Path> = touch.path.as_path().ancestors().take_while(below).collect();
        chain.reverse();
        folders
            .extend(chain.into_iter().filter(|folder| seen.insert(folder.to_path_buf())).map(Path::to_owned));
    }
    folders
}
