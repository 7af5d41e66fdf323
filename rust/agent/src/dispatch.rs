//! Running the calls of one message: judged, asked for, in order by file, each with exactly one result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use koda_protocol::event::{Answer, AskKind};
use koda_protocol::port::Ask;
use koda_protocol::{
    AskId, Decision, Effect, Event, Mode, Proposal, Scope, ToolCall, ToolResult, Trust, Verdict,
};
use koda_tools::{Ports, Prepared, Review, ToolContext};
use koda_trust::{Policy, Question, grant, judge};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::asking::Asking;
use crate::instructions;
use crate::notes::Note;
use crate::order::{Place, Queues};
use crate::refusals::{self, is_denied};
use crate::repeats::{self, Repeat};
use crate::session::Session;

/// How long a stopped tool may take to tell what it had, before it is dropped.
const GRACE: Duration = Duration::from_millis(700);

/// A call, with what is known of it.
struct Understood {
    call: ToolCall,
    repeat: Repeat,
    /// Canonical name, or the unknown name as it came.
    tool: String,
    prepared: Result<Prepared, Box<ToolResult>>,
}

/// Runs calls of a session, for turns and for calls outside of a conversation alike.
pub struct Dispatcher {
    session: Arc<Session>,
    asking: Arc<Asking>,
    mode: Mode,
    /// Taken instead of the session's own.
    trust: Option<Trust>,
    cancel: CancellationToken,
    /// Whether denied calls get a warning.
    warns: bool,
    /// Whether failed calls get one.
    struggles: bool,
}

impl Dispatcher {
    /// Builds the dispatcher of a session; `cancel` stops everything that it runs.
    pub fn new(session: &Arc<Session>, mode: Mode, trust: Option<Trust>, cancel: &CancellationToken) -> Self {
        let asking = Arc::new(Asking {
            approver: session.parts().ports.approver.clone(),
            emitter: session.emitter().clone(),
            unattended: session.unattended(),
            cancel: cancel.clone(),
        });
        Self {
            session: session.clone(),
            asking,
            mode,
            trust,
            cancel: cancel.clone(),
            warns: false,
            struggles: false,
        }
    }

    /// Tells the model with each denied call, if `warns`, that it goes on in vain.
    #[must_use]
    pub fn warning(self, warns: bool) -> Self {
        Self { warns, ..self }
    }

    /// Tells the model with each failed call, if it `struggles`, that nothing works.
    #[must_use]
    pub fn struggling(self, struggles: bool) -> Self {
        Self { struggles, ..self }
    }

    /// Runs calls and returns their results in the order of the calls. The session has them already.
    pub async fn run(&self, calls: impl IntoIterator<Item = (ToolCall, Repeat)>) -> Vec<ToolResult> {
        let mut queues = Queues::default();
        let mut runs = Vec::new();
        // All calls are told and queued in the model's order before the first one runs.
        for (call, repeat) in calls {
            let understood = self.understand(call, repeat);
            let touches = understood.prepared.as_ref().map(Prepared::touches).unwrap_or_default();
            let place = queues.enter(touches);
            runs.push(self.one(understood, place));
        }
        join_all(runs).await
    }

    fn understand(&self, call: ToolCall, repeat: Repeat) -> Understood {
        let registry = &self.session.parts().registry;
        let prepare = || registry.prepare(&call, self.mode, self.session.workplace()).map_err(Box::new);
        let prepared = catch_unwind(AssertUnwindSafe(prepare))
            .unwrap_or_else(|_| Err(Box::new(panicked(&call, &call.tool))));
        let (tool, args) = match &prepared {
            Ok(prepared) => (prepared.tool.to_owned(), prepared.args.clone()),
            Err(result) => (result.tool.clone(), call.args.clone()),
        };
        self.session.emitter().emit(Event::ToolCall { id: call.id.clone(), tool: tool.clone(), args });
        Understood { call, repeat, tool, prepared }
    }

    async fn one(&self, understood: Understood, place: Place) -> ToolResult {
        let Understood { call, repeat, tool, prepared } = understood;
        let touches = prepared.as_ref().map(|prepared| prepared.touches().to_vec()).unwrap_or_default();
        let work = AssertUnwindSafe(self.outcome(&call, repeat, prepared, &place)).catch_unwind();
        let mut result = work.await.unwrap_or_else(|_| panicked(&call, &tool));
        drop(place);
        result.id = call.id;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {}
            () = instructions::attach(&self.session, &touches, &mut result) => {}
        }
        if repeat == Repeat::Warn {
            result.text.push_str(repeats::WARNING);
        }
        if self.warns && is_denied(&result) {
            result.text.push_str(refusals::WARNING);
        } else if self.struggles && !result.ok {
            result.text.push_str(repeats::STRUGGLE);
        }
        self.session.answer(result.clone());
        result
    }

    async fn outcome(
        &self,
        call: &ToolCall,
        repeat: Repeat,
        prepared: Result<Prepared, Box<ToolResult>>,
        place: &Place,
    ) -> ToolResult {
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(result) => return *result,
        };
        if repeat == Repeat::Stop {
            let text = "Not run: it is the same call over and over. The turn ends here.".to_owned();
            return refused(call, prepared.tool, text, json!({ "repeated": true }));
        }
        tokio::select! {
            // In this order: after a stop nothing begins, also not what waited for the stopped.
            biased;
            () = self.cancel.cancelled() => return stopped(call, prepared.tool),
            () = place.reached() => {}
        }
        let review = match self.permit(call, &prepared).await {
            Ok(review) => review,
            Err(result) => return *result,
        };
        if self.cancel.is_cancelled() {
            return stopped(call, prepared.tool);
        }
        self.session.tell_unkept(&prepared).await;
        let opened = self.session.keep_before(&prepared).await;
        let result = self.work(call, prepared, review).await;
        self.session.keep_after(opened).await;
        result
    }

    /// Judges a call and asks the user where that is the verdict; an error is the result of a call that
    /// may not run, a review what the user said to one that may.
    async fn permit(&self, call: &ToolCall, prepared: &Prepared) -> Result<Option<Review>, Box<ToolResult>> {
        let (question, args) = (&prepared.question(), &prepared.args);
        let tool = question.tool;
        let policy = self.policy();
        let verdict = judge(&policy, question);
        let decided = policy.rules.iter().find(|rule| Some(rule.shown()) == verdict.rule);
        if let Some(rule) = decided {
            self.session.count_use(rule.id);
        }
        match verdict.decision {
            Decision::Allow => Ok(None),
            Decision::Deny => {
                let text = format!("Denied, nothing was done: {}.", verdict.reasons.join("; "));
                Err(Box::new(refused(call, tool, text, json!({ "verdict": verdict }))))
            }
            // A question asks for itself.
            Decision::Ask if question.effect == Effect::Interactive => Ok(None),
            Decision::Ask if self.session.has_refused(tool, args) => {
                let text = "Not asked again, nothing was done: the user rejected this very call. Do it in another way, or say what you need and why.";
                Err(Box::new(refused(
                    call,
                    tool,
                    text.to_owned(),
                    json!({ "rejected": true, "repeated": true }),
                )))
            }
            Decision::Ask => {
                let proposal = tokio::select! {
                    () = self.cancel.cancelled() => return Err(Box::new(stopped(call, tool))),
                    proposal = prepared.propose(self.context(call, None)) => proposal,
                };
                let ask = Ask { proposal, ..self.approval(call, tool, args.clone(), verdict) };
                let proposal = ask.proposal.clone();
                let answer = self.asking.ask_unless(ask, self.allowed(question)).await;
                self.settle(call, prepared, proposal, answer).map(Some)
            }
        }
    }

    fn policy(&self) -> Policy {
        self.session.policy(self.trust)
    }

    /// Says what the user is asked about a call.
    fn approval(&self, call: &ToolCall, tool: &str, args: Value, verdict: Verdict) -> Ask {
        let call = ToolCall { tool: tool.to_owned(), args, ..call.clone() };
        let (id, session) = (AskId(String::new()), self.session.id().clone());
        Ask { id, session, kind: AskKind::Approval, call, verdict, proposal: None }
    }

    /// Returns once a call may run unasked: another answer's grant covers it, or the user trusts more.
    async fn allowed(&self, question: &Question<'_>) {
        let mut changes = self.session.changes();
        while judge(&self.policy(), question).decision != Decision::Allow {
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    fn settle(
        &self,
        call: &ToolCall,
        prepared: &Prepared,
        proposal: Option<Proposal>,
        answer: Answer,
    ) -> Result<Review, Box<ToolResult>> {
        let tool = prepared.tool;
        match answer {
            Answer::Accept { scope, text, hunks, edited, said } => {
                if scope != Scope::Once {
                    self.grant(&prepared.question(), scope);
                }
                Ok(Review { proposal, hunks, edited, said, note: text })
            }
            Answer::Reject { reason } => {
                self.session.refuse(tool, &prepared.args);
                let why = reason.as_ref().map_or_else(String::new, |reason| format!(" They said: {reason}"));
                let text = format!("The user rejected this call, nothing was done.{why}");
                Err(Box::new(refused(call, tool, text, json!({ "rejected": true, "reason": reason }))))
            }
            Answer::Nobody => {
                let text =
                    "This needs the user's approval, and nobody is there to give it. Nothing was done.";
                Err(Box::new(refused(call, tool, text.to_owned(), json!({ "needs_user": true }))))
            }
            Answer::Cancelled => Err(Box::new(stopped(call, tool))),
        }
    }

    /// Lets calls like this one go from now on, in this session or by a rule of the project.
    fn grant(&self, question: &Question<'_>, scope: Scope) {
        match grant::like(question) {
            Some(grant) if scope == Scope::Project => {
                let text = match self.session.keep(grant.clone()) {
                    Ok(rule) => format!("Kept for this project: {}. :Koda rules lists them.", rule.shown()),
                    Err(error) => {
                        self.session.grant(grant);
                        format!("Accepted for this session only, the rule can't be kept: {error}")
                    }
                };
                self.session.emitter().emit(Event::Notice { text });
            }
            Some(grant) => self.session.grant(grant),
            None => {
                let text =
                    format!("Accepted for this once: {} like this is asked for each time.", question.tool);
                self.session.emitter().emit(Event::Notice { text });
            }
        }
    }

    async fn work(&self, call: &ToolCall, prepared: Prepared, review: Option<Review>) -> ToolResult {
        let tool = prepared.tool;
        let mut task = tokio::spawn(prepared.run(self.context(call, review)));
        let joined = tokio::select! {
            joined = &mut task => joined,
            () = async { self.cancel.cancelled().await; tokio::time::sleep(GRACE).await } => {
                task.abort();
                return stopped(call, tool);
            }
        };
        joined.unwrap_or_else(|error| {
            tracing::error!(tool, %error, "a tool panicked");
            panicked(call, tool)
        })
    }

    fn context(&self, call: &ToolCall, review: Option<Review>) -> ToolContext {
        let session = &self.session;
        let (emitter, told) = (session.emitter().clone(), session.clone());
        ToolContext {
            call: call.id.clone(),
            session: session.id().clone(),
            mode: self.mode,
            workplace: session.workplace().clone(),
            ports: Ports { approver: self.asking.clone(), ..session.parts().ports.clone() },
            state: session.memory().clone(),
            review,
            cancel: self.cancel.clone(),
            emit: Arc::new(move |event| emitter.emit(event)),
            note: Arc::new(move |text| told.note(Note { text, wakes: true, about: None })),
        }
    }
}

/// Whether a call ended because nobody was there to approve or answer.
pub fn needs_user(result: &ToolResult) -> bool {
    result.data.get("needs_user").and_then(Value::as_bool).unwrap_or(false)
}

/// Whether the word is the user's after a call: a plan waits for their review.
pub fn ends_turn(result: &ToolResult) -> bool {
    result.ok && result.data.get("ends_turn").and_then(Value::as_bool).unwrap_or(false)
}

fn refused(call: &ToolCall, tool: &str, text: String, data: Value) -> ToolResult {
    ToolResult { id: call.id.clone(), tool: tool.to_owned(), ok: false, text, data }
}

fn stopped(call: &ToolCall, tool: &str) -> ToolResult {
    refused(call, tool, "Cancelled by the user.".to_owned(), json!({ "cancelled": true }))
}

fn panicked(call: &ToolCall, tool: &str) -> ToolResult {
    let text = "The tool failed inside Koda; what it did is not known. Check before you go on.";
    refused(call, tool, text.to_owned(), Value::Null)
}
