//! Assembles calls from pieces that may lack an id or an index, or share one.

use std::collections::HashSet;

use koda_protocol::call::ToolCall;
use koda_protocol::port::ModelEvent;

use super::text::arguments;

/// A piece of a call, as it came.
#[derive(Debug, Default)]
pub(crate) struct Piece<'a> {
    pub index: Option<u64>,
    pub id: Option<&'a str>,
    pub name: Option<&'a str>,
    pub args: &'a str,
}

#[derive(Debug)]
struct Forming {
    index: Option<u64>,
    // As the provider wrote it; pieces are matched by it.
    own_id: Option<String>,
    id: String,
    name: String,
    args: String,
}

/// The calls of one message.
#[derive(Debug)]
pub(crate) struct Calls {
    forming: Vec<Forming>,
    current: Option<usize>,
    taken: HashSet<String>,
    made: usize,
}

impl Calls {
    /// Builds an empty list. Ids in `taken` are not given again: some servers begin with `call_0` each time.
    pub(crate) fn new(taken: HashSet<String>) -> Self {
        Self { forming: Vec::new(), current: None, taken, made: 0 }
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.made == 0
    }

    /// Adds a piece and tells how its call grows.
    pub(crate) fn push(&mut self, piece: &Piece<'_>) -> Option<ModelEvent> {
        let at = match self.place(piece) {
            Some(at) => at,
            None => self.begin(piece),
        };
        self.current = Some(at);
        let call = self.forming.get_mut(at)?;
        if let Some(name) = piece.name.filter(|name| *name != call.name && call.args.is_empty()) {
            call.name.push_str(name);
        }
        call.args.push_str(piece.args);
        let bytes = u64::try_from(call.args.len()).unwrap_or(u64::MAX);
        Some(ModelEvent::CallForming { id: call.id.clone(), tool: call.name.clone(), bytes })
    }

    /// Returns whether a call forms at `index`.
    pub(crate) fn has(&self, index: u64) -> bool {
        self.forming.iter().any(|call| call.index == Some(index))
    }

    /// Replaces the arguments of the call at `index` by those that came whole, if any.
    pub(crate) fn settle(&mut self, index: u64, args: &str) {
        let call = self.forming.iter_mut().find(|call| call.index == Some(index));
        if let Some(call) = call.filter(|_| !args.is_empty()) {
            args.clone_into(&mut call.args);
        }
    }

    /// Takes the call at `index` as complete.
    pub(crate) fn complete(&mut self, index: u64) -> Option<ModelEvent> {
        let at = self.forming.iter().position(|call| call.index == Some(index))?;
        self.current = None;
        Some(done(self.forming.remove(at)))
    }

    /// Takes all calls that still form as complete, in the order in which they began.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = ModelEvent> {
        self.current = None;
        std::mem::take(&mut self.forming).into_iter().map(done)
    }

    /// Finds the call that a piece belongs to, or nothing if it begins one.
    fn place(&self, piece: &Piece<'_>) -> Option<usize> {
        let last = |wanted: &dyn Fn(&Forming) -> bool| self.forming.iter().rposition(wanted);
        if let Some(id) = piece.id {
            let same = last(&|call| call.own_id.as_deref() == Some(id));
            // An id of its own begins a call, even at an index that is in use; a piece that only
            // repeats the index under a fresh id, without a name, does not.
            return same.or_else(|| match piece.name {
                Some(_) => None,
                None => piece.index.and_then(|index| last(&|call| call.index == Some(index))),
            });
        }
        let by_index = piece.index.and_then(|index| last(&|call| call.index == Some(index)));
        let candidate = match (piece.index, piece.name) {
            (Some(_), Some(_)) => by_index,
            // The tail of arguments under a wrong index goes to the call being streamed.
            (Some(_), None) => by_index.or(self.current),
            (None, _) => self.current,
        };
        candidate.filter(|at| !self.begins_another(*at, piece))
    }

    /// Without ids, a name after complete arguments begins the next call, and so does another name where no
    /// index says that it goes on.
    fn begins_another(&self, at: usize, piece: &Piece<'_>) -> bool {
        let (Some(name), Some(call)) = (piece.name, self.forming.get(at)) else { return false };
        let complete = serde_json::from_str::<serde::de::IgnoredAny>(&call.args).is_ok();
        complete || piece.index.is_none() && !call.name.is_empty() && call.name != name
    }

    fn begin(&mut self, piece: &Piece<'_>) -> usize {
        let id = self.unique(piece.id);
        self.made += 1;
        self.forming.push(Forming {
            index: piece.index,
            own_id: piece.id.map(str::to_owned),
            id,
            name: String::new(),
            args: String::new(),
        });
        self.forming.len() - 1
    }

    fn unique(&mut self, id: Option<&str>) -> String {
        let base = id.map_or_else(|| format!("call_{}", self.made), str::to_owned);
        let mut id = base.clone();
        let mut count = 2;
        while !self.taken.insert(id.clone()) {
            id = format!("{base}-{count}");
            count += 1;
        }
        id
    }
}

fn done(call: Forming) -> ModelEvent {
    ModelEvent::Call(ToolCall {
        id: call.id.into(),
        tool: call.name,
        args: arguments(&call.args),
        signature: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    type Given = (Option<u64>, &'static str, &'static str, &'static str);

    fn assemble(pieces: &[Given]) -> Vec<(String, String, Value)> {
        let mut calls = Calls::new(HashSet::from(["used".to_owned()]));
        let some = |text: &'static str| (!text.is_empty()).then_some(text);
        for (index, id, name, args) in pieces {
            calls.push(&Piece { index: *index, id: some(id), name: some(name), args });
        }
        let list = calls.drain().map(|event| match event {
            ModelEvent::Call(call) => (call.id.0, call.tool, call.args),
            other => panic!("{other:?}"),
        });
        list.collect()
    }

    fn call(id: &str, tool: &str, args: Value) -> (String, String, Value) {
        (id.to_owned(), tool.to_owned(), args)
    }

    #[test]
    fn two_calls_interleave_by_index() {
        let got = assemble(&[
            (Some(0), "a", "Read", ""),
            (Some(1), "b", "Grep", ""),
            (Some(0), "", "", "{\"p\":"),
            (Some(1), "", "", "{\"q\":"),
            (Some(0), "", "", "1}"),
            (Some(1), "", "", "2}"),
        ]);
        assert_eq!(got, [call("a", "Read", json!({"p": 1})), call("b", "Grep", json!({"q": 2}))]);
    }

    #[test]
    fn two_ids_at_one_index_are_two_calls() {
        let got = assemble(&[
            (Some(0), "a", "Read", "{\"p\":"),
            (Some(0), "", "", "1}"),
            (Some(0), "b", "Read", "{\"p\":"),
            (Some(0), "", "", "2}"),
        ]);
        assert_eq!(got, [call("a", "Read", json!({"p": 1})), call("b", "Read", json!({"p": 2}))]);
    }

    #[test]
    fn pieces_without_index_are_one_call_until_a_new_id() {
        let got = assemble(&[
            (None, "a", "Read", "{\"p\":"),
            (None, "", "", "1}"),
            (None, "b", "Grep", ""),
            (None, "b", "", "{}"),
        ]);
        assert_eq!(got, [call("a", "Read", json!({"p": 1})), call("b", "Grep", json!({}))]);
    }

    #[test]
    fn a_tail_under_a_wrong_index_goes_to_the_call_being_streamed() {
        let got = assemble(&[(Some(0), "a", "Read", "{\"p\":"), (Some(1), "", "", "1}")]);
        assert_eq!(got, [call("a", "Read", json!({"p": 1}))]);
    }

    #[test]
    fn calls_without_ids_get_ids_and_taken_ones_are_not_given_again() {
        let got =
            assemble(&[(None, "", "Read", "{}"), (None, "", "Read", "{}"), (Some(2), "used", "Read", "")]);
        let ids: Vec<&str> = got.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(ids, ["call_0", "call_1", "used-2"]);
    }

    #[test]
    fn calls_without_anything_but_names_are_told_apart() {
        let got = assemble(&[(None, "", "Read", ""), (None, "", "Grep", ""), (None, "", "Grep", "{}")]);
        assert_eq!(got, [call("call_0", "Read", json!({})), call("call_1", "Grep", json!({}))]);
    }

    #[test]
    fn a_repeated_name_and_a_fresh_id_on_each_piece_change_nothing() {
        let got = assemble(&[
            (Some(0), "a", "Read", ""),
            (Some(0), "a", "Read", "{\"p\""),
            (Some(0), "x", "", ":1}"),
        ]);
        assert_eq!(got, [call("a", "Read", json!({"p": 1}))]);
    }
}
