//! Running the calls of one message: judged, asked for, queued by file, each with exactly one result.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use koda_protocol::event::{Answer, AskKind};
use koda_protocol::port::Ask;
use koda_protocol::{AskId, Decision, Effect, Event, Mode, Scope, ToolCall, ToolResult, Verdict};
use koda_tools::{Ports, Prepared, Registry, ToolContext, Workplace};
use koda_trust::{Grant, Policy, judge};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::asking::Asking;
use crate::emitter::Emitter;
use crate::session::Session;

/// How long a stopped tool may take to tell what it had, before it is dropped.
const GRACE: Duration = Duration::from_millis(800);

/// Everything that running calls needs.
pub struct Dispatcher {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The ports, the approver being the session's own.
    pub ports: Ports,
    /// Where it works.
    pub workplace: Workplace,
    /// The session: policy, grants, memory.
    pub session: Arc<Session>,
    /// Which tools are offered.
    pub mode: Mode,
    /// Stops everything.
    pub cancel: CancellationToken,
}

impl Dispatcher {
    /// Builds the dispatcher of a session's turn.
    pub fn new(session: &Arc<Session>, policy_mode: Mode, cancel: &CancellationToken) -> Self {
        let parts = session.parts();
        let asking = Asking {
            approver: parts.ports.approver.clone(),
            emitter: session.emitter().clone(),
            unattended: session.unattended(),
            cancel: cancel.clone(),
        };
        let ports = Ports { approver: Arc::new(asking), ..parts.ports.clone() };
        Self {
            registry: parts.registry.clone(),
            ports,
            workplace: session.workplace().clone(),
            session: session.clone(),
            mode: policy_mode,
            cancel: cancel.clone(),
        }
    }

    fn emitter(&self) -> &Arc<Emitter> {
        self.session.emitter()
    }

    /// Runs calls and returns their results in the order of the calls.
    ///
    /// `policy` is asked for at each judgement, since an answer may have changed it meanwhile. `warn`
    /// tells what a call's result says to the model besides.
    pub async fn run(
        &self,
        calls: &[ToolCall],
        warn: &(dyn Fn(&ToolCall) -> &'static str + Sync),
        policy: &(dyn Fn() -> Policy + Sync),
    ) -> Vec<ToolResult> {
        let mut queues = Queues::default();
        let runs = calls.iter().map(|call| {
            let prepared = self.registry.prepare(call, self.mode, &self.workplace);
            let tool = match &prepared {
                Ok(prepared) => prepared.tool.to_owned(),
                Err(result) => result.tool.clone(),
            };
            let args = prepared.as_ref().map_or_else(|_| call.args.clone(), |prepared| prepared.args.clone());
            self.emitter().emit(Event::ToolCall { id: call.id.clone(), tool, args });
            let turn = queues.enter(prepared.as_ref().ok());
            self.one(call, prepared, turn, warn(call), policy)
        });
        // All calls are told and queued in the model's order before the first one runs.
        let runs: Vec<_> = runs.collect();
        join_all(runs).await
    }

    async fn one(
        &self,
        call: &ToolCall,
        prepared: Result<Prepared, ToolResult>,
        turn: Turn,
        warning: &'static str,
        policy: &(dyn Fn() -> Policy + Sync),
    ) -> ToolResult {
        let mut result = match prepared {
            Err(result) => result,
            Ok(prepared) => {
                tokio::select! {
                    () = turn.wait() => self.judged(call, prepared, policy).await,
                    () = self.cancel.cancelled() => stopped(call, prepared.tool),
                }
            }
        };
        drop(turn);
        result.text.push_str(warning);
        self.emitter().emit(Event::ToolResult {
            id: result.id.clone(),
            tool: result.tool.clone(),
            ok: result.ok,
            text: result.text.clone(),
            data: result.data.clone(),
        });
        result
    }

    async fn judged(
        &self,
        call: &ToolCall,
        prepared: Prepared,
        policy: &(dyn Fn() -> Policy + Sync),
    ) -> ToolResult {
        let tool = prepared.tool;
        let verdict = judge(&policy(), &prepared.question());
        match verdict.decision {
            Decision::Deny => {
                let text = format!("Denied, nothing was done: {}.", verdict.reasons.join("; "));
                return refused(call, tool, text, json!({ "verdict": verdict }));
            }
            // A question asks for itself.
            Decision::Ask if prepared.effect != Effect::Interactive => {
                let ask = self.question(call, &prepared, verdict);
                let grant = Grant::like(&prepared.question());
                if let Err(result) = self.ask(ask, grant).await {
                    return result;
                }
            }
            Decision::Ask | Decision::Allow => {}
        }
        self.run_one(call, prepared).await
    }

    /// Says what the user is asked about a call.
    fn question(&self, call: &ToolCall, prepared: &Prepared, verdict: Verdict) -> Ask {
        let call = ToolCall { tool: prepared.tool.to_owned(), args: prepared.args.clone(), ..call.clone() };
        let (id, session) = (AskId(String::new()), self.session.id().clone());
        Ask { id, session, kind: AskKind::Approval, call, verdict }
    }

    /// Asks the user; an error is the result of a call that may not run. `grant` is what an answer for
    /// longer than once allows.
    async fn ask(&self, ask: Ask, grant: Option<Grant>) -> Result<(), ToolResult> {
        let call = ask.call.clone();
        let tool = call.tool.as_str();
        match self.ports.approver.ask(ask).await {
            Answer::Accept { scope, .. } => {
                if let Some(grant) = grant.filter(|_| scope != Scope::Once) {
                    self.session.grant(grant);
                }
                Ok(())
            }
            Answer::Reject { reason } => {
                let why = reason.as_ref().map_or_else(String::new, |reason| format!(" They said: {reason}"));
                let text = format!("The user rejected this call, nothing was done.{why}");
                Err(refused(&call, tool, text, json!({ "rejected": true, "reason": reason })))
            }
            Answer::Nobody => {
                let text =
                    "This needs the user's approval, and nobody is there to give it. Nothing was done.";
                Err(refused(&call, tool, text.to_owned(), json!({ "needs_user": true })))
            }
            Answer::Cancelled => Err(stopped(&call, tool)),
        }
    }

    async fn run_one(&self, call: &ToolCall, prepared: Prepared) -> ToolResult {
        let tool = prepared.tool;
        let emitter = self.emitter().clone();
        let context = ToolContext {
            call: call.id.clone(),
            session: self.session.id().clone(),
            workplace: self.workplace.clone(),
            ports: self.ports.clone(),
            state: self.session.memory().clone(),
            cancel: self.cancel.clone(),
            emit: Arc::new(move |event| emitter.emit(event)),
        };
        let mut task = tokio::spawn(prepared.run(context));
        let joined = tokio::select! {
            joined = &mut task => joined,
            () = async { self.cancel.cancelled().await; tokio::time::sleep(GRACE).await } => {
                task.abort();
                return stopped(call, tool);
            }
        };
        joined.unwrap_or_else(|error| {
            tracing::error!(tool, %error, "a tool panicked");
            let text = "The tool failed inside Koda; what it did is not known. Check before you go on.";
            refused(call, tool, text.to_owned(), Value::Null)
        })
    }
}

fn refused(call: &ToolCall, tool: &str, text: String, data: Value) -> ToolResult {
    ToolResult { id: call.id.clone(), tool: tool.to_owned(), ok: false, text, data }
}

fn stopped(call: &ToolCall, tool: &str) -> ToolResult {
    refused(call, tool, "Cancelled by the user.".to_owned(), json!({ "cancelled": true }))
}

/// The queue of each file within one message: a call waits for those before it that share a file which
/// one of both writes.
#[derive(Default)]
struct Queues {
    entered: Vec<(PathBuf, bool, CancellationToken)>,
}

/// A call's place in its queues. Dropping it lets the next ones go.
struct Turn {
    before: Vec<CancellationToken>,
    done: CancellationToken,
}

impl Queues {
    fn enter(&mut self, prepared: Option<&Prepared>) -> Turn {
        let done = CancellationToken::new();
        let mut before = Vec::new();
        for touch in prepared.map(Prepared::touches).unwrap_or_default() {
            let path = touch.path.as_path();
            let clash =
                self.entered.iter().filter(|(other, write, _)| other == path && (*write || touch.write));
            before.extend(clash.map(|(_, _, done)| done.clone()));
        }
        for touch in prepared.map(Prepared::touches).unwrap_or_default() {
            self.entered.push((touch.path.as_path().to_owned(), touch.write, done.clone()));
        }
        Turn { before, done }
    }
}

impl Turn {
    async fn wait(&self) {
        for done in &self.before {
            done.cancelled().await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.done.cancel();
    }
}
