//! Notes: what happened outside of the turn and the model is to know.

use std::collections::VecDeque;

use koda_protocol::CallId;

/// Something that happened, waiting for the next request of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What happened, as the model reads it.
    pub text: String,
    /// Whether a running turn takes one more step for it. Other notes, and all while no turn runs, wait for
    /// the next request.
    pub wakes: bool,
    /// The call that it tells all about: a later note about it takes the place of one that still waits.
    pub about: Option<CallId>,
}

/// The notes of a session that wait.
#[derive(Debug, Default)]
pub struct Notes(VecDeque<Note>);

impl Notes {
    /// Adds a note, in the place of one about the same call.
    pub fn push(&mut self, note: Note) {
        self.0.retain(|other| note.about.is_none() || other.about != note.about);
        self.0.push_back(note);
    }

    /// Tells whether one of them is worth a step of its own.
    pub fn wake(&self) -> bool {
        self.0.iter().any(|note| note.wakes)
    }

    /// Takes the oldest.
    pub fn pop(&mut self) -> Option<Note> {
        self.0.pop_front()
    }
}
