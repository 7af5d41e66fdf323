//! The session's checkpoints: what files are before a call changes them, and taking back and redoing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use koda_protocol::checkpoint::{ChangeSet, TakenBack};
use koda_protocol::port::StoreError;
use koda_protocol::{CommandClass, Effect, Event, UserError};
use koda_tools::Prepared;
use koda_trust::classify;
use serde::Serialize;

use super::Session;
use crate::checkpoint::{Opened, Timeline};
use crate::history::History;
use crate::notes::Note;

/// What to take back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewind {
    /// The number of the message to go back before, from 1; the one that began the last turn without it.
    pub message: Option<u64>,
    /// Whether files are given back.
    pub files: bool,
    /// Whether the conversation goes on from before the message.
    pub conversation: bool,
}

/// What was taken back, or brought again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rewound {
    /// The number of the message, from 1.
    pub message: u64,
    /// What it said.
    pub text: String,
    /// What became of files.
    pub changes: Vec<TakenBack>,
}

/// What the model is told where its conversation is taken back and files are not.
const FILES_STAY: &str = "The user took the conversation back to here, but not the files: they may have changes that are not told of above.";

/// What the model is told where files are changed again.
const FILES_AGAIN: &str = "The user made the changes of files again that they had taken back.";

/// Keeps turns from beginning while something is taken back. What is sent meanwhile begins one afterwards.
struct Hold<'a>(&'a Arc<Session>);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.running = None;
        if !state.queued.is_empty() && !self.0.parts().cancel.is_cancelled() {
            self.0.begin(&mut state);
        }
    }
}

fn failed(error: &StoreError) -> UserError {
    UserError::new("checkpoints", format!("the checkpoints can't be used: {error}"))
}

impl Session {
    /// The files that a call writes, if it may change any.
    fn written(prepared: &Prepared) -> Vec<PathBuf> {
        let question = prepared.question();
        let changes = match question.effect {
            Effect::Mutate | Effect::Destroy => true,
            Effect::Command => question.command.is_some_and(|text| classify(text).class > CommandClass::Safe),
            _ => false,
        };
        let written = question.touches.iter().filter(|touch| changes && touch.write);
        written.map(|touch| touch.path.as_path().to_owned()).collect()
    }

    /// Tells the user, before a call runs, which of its files can't be given back. Not before it is asked
    /// for: the questions of a step come in the order of its calls.
    pub(crate) async fn tell_unkept(&self, prepared: &Prepared) {
        let (Some(keeper), paths) = (&self.keeper, Self::written(prepared)) else { return };
        if paths.is_empty() {
            return;
        }
        for (path, why) in keeper.unkept(paths).await {
            let text = format!("{} {why}: undo can't give it back.", self.shown(&path));
            self.emitter.emit(Event::Notice { text });
        }
    }

    /// Keeps what a call will change.
    pub(crate) async fn keep_before(&self, prepared: &Prepared) -> Opened {
        let (Some(keeper), paths) = (&self.keeper, Self::written(prepared)) else { return Opened::default() };
        if paths.is_empty() {
            return Opened::default();
        }
        let set = ChangeSet::Message(self.lock().messages);
        keeper.begin(set, paths).await.unwrap_or_else(|error| {
            self.tell_lost(&error);
            Opened::default()
        })
    }

    /// Keeps what came of a call.
    pub(crate) async fn keep_after(&self, opened: Opened) {
        if let Some(keeper) = &self.keeper
            && let Err(error) = keeper.end(opened).await
        {
            self.tell_lost(&error);
        }
    }

    fn tell_lost(&self, error: &StoreError) {
        tracing::error!(%error, "a checkpoint could not be kept");
        let text = format!("Undo can't take this change back: {error}");
        self.emitter.emit(Event::Notice { text });
    }

    /// Ends the changes that were being made when a Neovim ended.
    pub(super) async fn seal(&self) {
        if let Some(keeper) = &self.keeper
            && let Err(error) = keeper.seal().await
        {
            tracing::error!(%error, "changes that were broken off stay open");
        }
    }

    fn shown(&self, path: &Path) -> String {
        let resolved = self.workplace.resolver.resolve_path(path);
        resolved.map_or_else(|_| path.to_string_lossy().into_owned(), |path| path.shown().to_owned())
    }

    fn hold(self: &Arc<Self>) -> Result<Hold<'_>, UserError> {
        let mut state = self.lock();
        if state.running.is_some() {
            return Err(UserError::new("busy", "a turn runs").hint("stop it first: :Koda stop"));
        }
        state.running = Some(self.parts().cancel.child_token());
        drop(state);
        Ok(Hold(self))
    }

    /// Reads the session as it is stored.
    async fn timeline(&self) -> Result<Timeline, UserError> {
        self.recall().await?;
        let stored = self.shared.journal.read(&self.id).await.map_err(|gone| gone.to_string());
        let events = stored.and_then(|events| events.map_err(|error| error.to_string()));
        let events = events
            .map_err(|problem| UserError::new("store", format!("this session can't be read: {problem}")))?;
        Ok(Timeline::of(events))
    }

    /// Takes a message back, and all that followed it: the changes of files, the conversation, or both. What
    /// the user changed besides stays. An event `rewound` tells of it.
    ///
    /// # Errors
    ///
    /// `busy` while a turn runs, `nothing_to_undo`, `unknown_message`, `checkpoints` or `store`.
    pub async fn rewind(self: &Arc<Self>, what: Rewind) -> Result<Rewound, UserError> {
        if !what.files && !what.conversation {
            return Err(UserError::new("usage", "koda.rewind: neither files nor the conversation"));
        }
        let _hold = self.hold()?;
        let timeline = self.timeline().await?;
        let message = what.message.or_else(|| timeline.last_turn()).ok_or_else(|| {
            UserError::new("nothing_to_undo", "there is no turn to take back in this session")
        })?;
        let text = timeline.text(message).map(str::to_owned).ok_or_else(|| {
            UserError::new("unknown_message", format!("there is no message {message} in the conversation"))
                .hint("messages count from 1; those that were taken back are not there")
        })?;
        let sets: Vec<ChangeSet> = timeline.since(message).into_iter().map(ChangeSet::Message).collect();
        let changes = match what.files {
            true => self.take_back(&sets, Some(ChangeSet::Undo(timeline.undos() + 1))).await?,
            false => Vec::new(),
        };
        let Rewind { files, conversation, .. } = what;
        let event =
            Event::Rewound { message, files, conversation, text: text.clone(), changes: changes.clone() };
        self.emitter.emit(event);
        let note = match (files, conversation) {
            (true, true) => None,
            (true, false) => Some(note_of(message, &changes)),
            (false, _) => Some(FILES_STAY.to_owned()),
        };
        self.follow(conversation, note).await?;
        Ok(Rewound { message, text, changes })
    }

    /// Brings again what was taken back last. An event `redone` tells of it.
    ///
    /// # Errors
    ///
    /// `busy` while a turn runs, `nothing_to_redo`, `checkpoints` or `store`.
    pub async fn redo(self: &Arc<Self>) -> Result<Rewound, UserError> {
        let _hold = self.hold()?;
        let timeline = self.timeline().await?;
        let taken = timeline.taken().cloned().ok_or_else(|| {
            UserError::new("nothing_to_redo", "nothing was taken back since the last message")
        })?;
        let changes = match taken.files {
            true => self.take_back(&[ChangeSet::Undo(taken.undo)], None).await?,
            false => Vec::new(),
        };
        let (message, files, conversation) = (taken.message, taken.files, taken.conversation);
        self.emitter.emit(Event::Redone { message, files, conversation, changes: changes.clone() });
        self.follow(conversation, (files && !conversation).then(|| FILES_AGAIN.to_owned())).await?;
        let text = self.timeline().await?.text(message).unwrap_or_default().to_owned();
        Ok(Rewound { message, text, changes })
    }

    async fn take_back(
        &self,
        sets: &[ChangeSet],
        undo: Option<ChangeSet>,
    ) -> Result<Vec<TakenBack>, UserError> {
        let Some(keeper) = &self.keeper else { return Ok(Vec::new()) };
        keeper.take_back(sets, undo, |path| self.shown(path)).await.map_err(|error| failed(&error))
    }

    /// Makes the conversation what stands of it; a note tells the model with the next request what it can't know.
    async fn follow(&self, conversation: bool, note: Option<String>) -> Result<(), UserError> {
        if let Some(text) = note {
            self.note(Note { text, wakes: false, about: None });
        }
        if !conversation {
            return Ok(());
        }
        let timeline = self.timeline().await?;
        let mut history = History::default();
        history.recall(timeline.standing());
        self.memory.reset();
        timeline.standing().for_each(|envelope| self.memory.restore(&envelope.event));
        self.lock().history = history;
        Ok(())
    }
}

/// What the model is told where its conversation stays and files don't.
fn note_of(message: u64, changes: &[TakenBack]) -> String {
    let names: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
    let names = if names.is_empty() { "none had any".to_owned() } else { names.join(", ") };
    format!(
        "The user took back the changes of files since their message {message} ({names}). Read them again before you go on."
    )
}
