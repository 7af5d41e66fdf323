//! The registry: which tools there are, by which names, and what they are told to models as.

use koda_protocol::port::Store;
use koda_protocol::{Effect, Mode, Proposal, ToolCall, ToolResult, ToolSpec};
use koda_text::diff::likeness;
use koda_trust::{Question, Touch};
use serde_json::Value;

use crate::arguments;
use crate::context::{ToolContext, Workplace};
use crate::entry::{Entry, Job};
use crate::modes::offers;
use crate::{result, tool};

/// Names longer than this, or with a brace, are a model's failed attempt at a call.
const MAX_NAME: usize = 64;

/// How alike a tool's name must be to one that was asked for, from 0 to 1, to be named.
const ALIKE: f32 = 0.6;

/// All tools.
pub struct Registry {
    entries: Vec<Entry>,
}

/// A call that is understood: ready to be judged, then run.
pub struct Prepared {
    /// Canonical name.
    pub tool: &'static str,
    /// The arguments as they were understood.
    pub args: Value,
    /// What the tool does to the world.
    pub effect: Effect,
    job: Job,
}

impl Prepared {
    /// Returns what is to be judged.
    pub fn question(&self) -> Question<'_> {
        Question {
            tool: self.tool,
            effect: self.effect,
            command: self.job.command.as_deref(),
            touches: &self.job.touches,
        }
    }

    /// Returns the paths that it touches.
    pub fn touches(&self) -> &[Touch] {
        &self.job.touches
    }

    /// Tells what the call would change now, without touching anything; none if that can't be told.
    pub async fn propose(&self, context: ToolContext) -> Option<Proposal> {
        self.job.propose(context).await
    }

    /// Runs the call and returns its result, cut to what a model takes.
    pub async fn run(self, context: ToolContext) -> ToolResult {
        let (id, store) = (context.call.clone(), context.ports.store.clone());
        let output = self.job.run(context).await;
        result::finish(&id, self.tool, output, store.as_ref() as &dyn Store)
    }
}

impl Registry {
    /// Builds the registry of Koda's own tools.
    pub fn standard() -> Self {
        let mut entries = tool::all();
        entries.sort_by_key(|entry| entry.name);
        Self { entries }
    }

    /// Returns the canonical name of a tool, whatever its case or alias.
    pub fn canonical(&self, name: &str) -> Option<&'static str> {
        self.find(name).map(|entry| entry.name)
    }

    /// Returns a tool's effect, by any of its names.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.find(name).map(|entry| entry.effect)
    }

    /// Returns what a model is told in a mode, sorted by name.
    pub fn specs(&self, mode: Mode) -> Vec<ToolSpec> {
        let offered = self.entries.iter().filter(|entry| offers(mode, entry.name, entry.effect));
        let spec = |entry: &Entry| ToolSpec {
            name: entry.name.to_owned(),
            description: entry.description.to_owned(),
            schema: entry.schema.clone(),
        };
        offered.map(spec).collect()
    }

    /// Understands a call: name and arguments by whatever aliases, paths resolved once.
    ///
    /// # Errors
    ///
    /// The result for the model, naming what was wrong and what to do.
    #[expect(clippy::result_large_err, reason = "a refused call is rare and its result is moved once")]
    pub fn prepare(&self, call: &ToolCall, mode: Mode, place: &Workplace) -> Result<Prepared, ToolResult> {
        let Some(entry) = self.find(&call.tool) else {
            return Err(refused(call, &call.tool, self.unknown(&call.tool)));
        };
        if !offers(mode, entry.name, entry.effect) {
            let text = format!("{} is not offered in mode {}, nothing was done.", entry.name, mode.name());
            return Err(refused(call, entry.name, text));
        }
        let prepared = arguments::object(call.args.clone()).and_then(|fields| {
            let args = Value::Object(fields);
            Ok((args.clone(), (entry.prepare)(args, place)?))
        });
        match prepared {
            Ok((args, job)) => Ok(Prepared { tool: entry.name, args, effect: entry.effect, job }),
            Err(problem) => {
                Err(refused(call, entry.name, format!("Nothing was done. {}: {problem}", entry.name)))
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let lower = name.to_lowercase();
        let is =
            |entry: &&Entry| entry.name.to_lowercase() == lower || entry.aliases.contains(&lower.as_str());
        self.entries.iter().find(is)
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
        let list = names.join(", ");
        if name.len() > MAX_NAME || name.contains('{') {
            return format!(
                "That is no tool's name but a failed call. Call one of these tools properly: {list}"
            );
        }
        let score = |other: &&str| likeness(&other.to_lowercase(), &name.to_lowercase());
        let nearest = names.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)));
        let meant = match nearest.filter(|other| score(other) >= ALIKE) {
            Some(other) => format!(" Did you mean {other}?"),
            None => String::new(),
        };
        format!("There is no tool {name:?}.{meant} The tools are: {list}")
    }
}

fn refused(call: &ToolCall, tool: &str, text: String) -> ToolResult {
    ToolResult { id: call.id.clone(), tool: tool.to_owned(), ok: false, text, data: Value::Null }
}
