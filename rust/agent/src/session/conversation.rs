//! The session's side of a turn: what goes into the conversation, each with its event.
//!
//! History and event change under one lock, so that the stored events always tell the history.

use std::collections::HashSet;
use std::sync::Arc;

use koda_protocol::{CallId, Envelope, Event, Judged, Message, Outcome, ToolResult, UnixMillis, UserError};

use super::{Recall, Session, State};
use crate::checkpoint::Timeline;
use crate::notes::Note;
use crate::{history, judged, spending, turn};

impl Session {
    /// Begins a turn with the messages that wait.
    pub(super) fn begin(self: &Arc<Self>, state: &mut State) {
        let cancel = self.parts().cancel.child_token();
        state.running = Some(cancel.clone());
        self.take_in(state);
        self.shared.tasks.spawn_on(turn::run(self.clone(), cancel), &self.parts().runtime);
    }

    /// Puts the notes and messages that wait into the history; false if there was nothing to answer to.
    fn take_in(&self, state: &mut State) -> bool {
        let mut taken = state.notes.wake();
        // A note alone that can wait must not end the history: the turn would end with it.
        while taken || !state.queued.is_empty() || state.history.wants_answer() {
            let Some(Note { text, .. }) = state.notes.pop() else { break };
            state.history.push_user(&text, "");
            self.emitter.emit(Event::Note { text });
        }
        while let Some((text, context)) = state.queued.pop_front() {
            state.history.push_user(&text, &context);
            state.messages += 1;
            self.emitter.emit(Event::UserMessage { text, context });
            taken = true;
        }
        taken
    }

    /// Tells the model of something with the next request. It begins no turn.
    pub fn note(&self, note: Note) {
        self.lock().notes.push(note);
    }

    /// Tells the model, with the next request, what the user said to a change that was made already. What
    /// was said of the same call and still waits is told by this as well.
    pub fn judged(&self, judged: &Judged) {
        if let Some(text) = judged::told(judged) {
            self.note(Note { text, wakes: false, about: Some(judged.call.clone()) });
        }
    }

    /// Takes in what is stored of a resumed session, before its first step.
    ///
    /// # Errors
    ///
    /// If it can't be read: going on without it would look like having forgotten everything.
    pub(crate) async fn recall(&self) -> Result<(), UserError> {
        let mut recall = self.recall.lock().await;
        let stored = match &mut *recall {
            Recall::Done => return Ok(()),
            Recall::Failed(error) => return Err(error.clone()),
            Recall::Due(stored) => stored.await.map_err(|gone| gone.to_string()),
        };
        match stored.and_then(|events| events.map_err(|error| error.to_string())) {
            Ok(events) => {
                self.take_up(events);
                *recall = Recall::Done;
                drop(recall);
                self.seal().await;
                Ok(())
            }
            Err(problem) => {
                let error = UserError::new("store", format!("this session can't be read: {problem}"))
                    .hint("resume it again, or begin a new one");
                *recall = Recall::Failed(error.clone());
                Err(error)
            }
        }
    }

    fn take_up(&self, events: Vec<Envelope>) {
        let mut state = self.lock();
        state.total = history::total(&events);
        state.purse.session = spending::total(&events);
        let timeline = Timeline::of(events);
        state.messages += timeline.messages();
        state.history.recall(timeline.standing());
        timeline.standing().for_each(|envelope| self.memory.restore(&envelope.event));
    }

    /// Tells whether what is stored could not be read, so that only opening it anew can help.
    pub(crate) fn is_lost(&self) -> bool {
        self.recall.try_lock().is_ok_and(|recall| matches!(*recall, Recall::Failed(_)))
    }

    /// Returns the conversation as it is sent, and the ids that its calls have had.
    pub(crate) fn conversation(&self) -> (Vec<Message>, HashSet<CallId>) {
        let state = self.lock();
        (state.history.messages().to_vec(), state.history.ids().clone())
    }

    /// Takes the model's message in.
    pub(crate) fn hear(&self, message: Message, cut: bool) {
        let mut state = self.lock();
        state.history.push_assistant(message.clone());
        self.emitter.emit(Event::Message { message, cut });
    }

    /// Takes the one result of a call in.
    pub(crate) fn answer(&self, result: ToolResult) {
        let mut state = self.lock();
        state.history.answer(result.clone());
        self.tell_result(result);
    }

    fn tell_result(&self, result: ToolResult) {
        let ToolResult { id, tool, ok, text, data } = result;
        self.emitter.emit(Event::ToolResult { id, tool, ok, text, data });
    }

    /// Closes the calls of the last step and takes in what the user typed meanwhile; false if that is nothing.
    pub(crate) fn take_queued(&self) -> bool {
        let mut state = self.lock();
        state.history.close();
        self.take_in(&mut state)
    }

    /// Ends the turn. A message that came in at the last moment begins the next one, unless this one ended
    /// otherwise than well: stop stops, so that the message waits for the next prompt.
    pub(crate) fn end_turn(self: &Arc<Self>, outcome: Outcome, steps: u32, begun: UnixMillis) {
        let mut state = self.lock();
        for result in state.history.unanswered() {
            state.history.answer(result.clone());
            self.tell_result(result);
        }
        state.history.close();
        state.running = None;
        let go_on = outcome == Outcome::Done && !self.parts().cancel.is_cancelled();
        if !state.queued.is_empty() && !go_on {
            let text =
                "What you typed meanwhile was not sent; it goes along with your next message.".to_owned();
            self.emitter.emit(Event::Notice { text });
        }
        let duration_ms = self.now().0.saturating_sub(begun.0);
        let (usage, cost) = (state.turn_usage.take(), state.purse.turn);
        let cost = usage.is_some().then_some(cost);
        self.emitter.emit(Event::TurnEnd { outcome, steps, duration_ms, usage, cost });
        if !state.queued.is_empty() && go_on {
            self.begin(&mut state);
        }
    }
}
