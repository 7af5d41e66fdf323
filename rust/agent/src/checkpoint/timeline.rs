//! What of a stored session stands: without what was taken back, and with what redo brought again.

use koda_protocol::{Envelope, Event};

/// Something that was taken back and that redo can bring again.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    /// Its number in the session, from 1.
    pub undo: u64,
    /// The message that it went back before.
    pub message: u64,
    /// Whether files were taken back.
    pub files: bool,
    /// Whether the conversation was.
    pub conversation: bool,
    /// The events that don't stand since.
    events: Vec<Standing>,
}

#[derive(Clone, Debug, PartialEq)]
struct Standing {
    /// The number of the latest message of the user, from 1; 0 before the first.
    message: u64,
    envelope: Envelope,
}

/// A session as it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    standing: Vec<Standing>,
    taken: Vec<Taken>,
    messages: u64,
    undos: u64,
}

impl Timeline {
    /// Reads the events of a session, in order.
    pub fn of(events: Vec<Envelope>) -> Self {
        let mut timeline = Self::default();
        events.into_iter().for_each(|envelope| timeline.take_in(envelope));
        timeline
    }

    fn take_in(&mut self, envelope: Envelope) {
        match &envelope.event {
            Event::UserMessage { .. } => {
                self.messages += 1;
                self.taken.clear();
            }
            Event::Rewound { message, files, conversation, .. } => {
                self.undos += 1;
                let at = if *conversation { self.index(*message) } else { None };
                let events = at.map(|at| self.standing.split_off(at)).unwrap_or_default();
                self.taken.push(Taken {
                    undo: self.undos,
                    message: *message,
                    files: *files,
                    conversation: *conversation,
                    events,
                });
            }
            Event::Redone { .. } => {
                let again = self.taken.pop().map(|taken| taken.events).unwrap_or_default();
                self.standing.extend(again);
            }
            _ => {}
        }
        let message = self.messages;
        self.standing.push(Standing { message, envelope });
    }

    /// Where a message of the user stands.
    fn index(&self, number: u64) -> Option<usize> {
        let is =
            |one: &Standing| one.message == number && matches!(one.envelope.event, Event::UserMessage { .. });
        self.standing.iter().position(is)
    }

    /// Returns the events that stand.
    pub fn standing(&self) -> impl Iterator<Item = &Envelope> {
        self.standing.iter().map(|one| &one.envelope)
    }

    /// Returns how many messages the user ever sent.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Returns how often something was taken back.
    pub fn undos(&self) -> u64 {
        self.undos
    }

    /// Returns what redo would bring again.
    pub fn taken(&self) -> Option<&Taken> {
        self.taken.last()
    }

    /// Returns the text of a message that stands.
    pub fn text(&self, number: u64) -> Option<&str> {
        match &self.standing.get(self.index(number)?)?.envelope.event {
            Event::UserMessage { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Returns the numbers of the messages that stand from one on, the newest first.
    pub fn since(&self, number: u64) -> Vec<u64> {
        let of = |one: &Standing| {
            (one.message >= number && matches!(one.envelope.event, Event::UserMessage { .. }))
                .then_some(one.message)
        };
        self.standing.iter().rev().filter_map(of).collect()
    }

    /// Returns the message that the last turn began with.
    pub fn last_turn(&self) -> Option<u64> {
        let (mut first, mut running) = (None, false);
        for one in &self.standing {
            match one.envelope.event {
                Event::UserMessage { .. } if !running => (first, running) = (Some(one.message), true),
                // Resumed after the end of a Neovim that told no end of the turn.
                Event::TurnEnd { .. } | Event::SessionStart { .. } => running = false,
                _ => {}
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use koda_protocol::{Outcome, UnixMillis};

    use super::*;

    fn said(text: &str) -> Event {
        Event::UserMessage { text: text.to_owned(), context: String::new() }
    }

    fn end() -> Event {
        Event::TurnEnd { outcome: Outcome::Done, steps: 1, duration_ms: 0, usage: None, cost: None }
    }

    fn back(message: u64) -> Event {
        Event::Rewound { message, files: true, conversation: true, text: String::new(), changes: vec![] }
    }

    fn again() -> Event {
        Event::Redone { message: 0, files: true, conversation: true, changes: vec![] }
    }

    fn timeline(events: Vec<Event>) -> Timeline {
        let envelope = |event| Envelope { time: UnixMillis(0), session: "s".into(), event };
        Timeline::of(events.into_iter().map(envelope).collect())
    }

    fn texts(timeline: &Timeline) -> Vec<&str> {
        let text = |envelope| match envelope {
            &Envelope { event: Event::UserMessage { ref text, .. }, .. } => Some(text.as_str()),
            _ => None,
        };
        timeline.standing().filter_map(text).collect()
    }

    #[test]
    fn a_turn_may_have_several_messages() {
        let told = timeline(vec![said("one"), end(), said("two"), said("steered"), end()]);
        assert_eq!((told.last_turn(), told.since(2)), (Some(2), vec![3, 2]));
        assert_eq!(timeline(vec![]).last_turn(), None);
    }

    #[test]
    fn what_is_taken_back_stands_no_more_until_it_is_redone() {
        let mut events = vec![said("one"), end(), said("two"), end(), back(2)];
        let told = timeline(events.clone());
        assert_eq!((texts(&told), told.last_turn()), (vec!["one"], Some(1)));
        events.push(back(1));
        assert_eq!(texts(&timeline(events.clone())), Vec::<&str>::new());
        events.push(again());
        assert_eq!(texts(&timeline(events.clone())), ["one"]);
        events.push(again());
        let told = timeline(events.clone());
        assert_eq!((texts(&told), told.last_turn(), told.taken()), (vec!["one", "two"], Some(2), None));
        assert_eq!((told.messages(), told.undos()), (2, 2));
    }

    #[test]
    fn a_new_message_ends_what_can_be_redone_and_has_a_number_of_its_own() {
        let told = timeline(vec![said("one"), end(), back(1), said("other"), end()]);
        assert_eq!((texts(&told), told.taken(), told.last_turn()), (vec!["other"], None, Some(2)));
        assert_eq!((told.text(2), told.text(1)), (Some("other"), None));
    }
}
