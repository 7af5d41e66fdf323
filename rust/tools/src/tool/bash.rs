//! Bash: a command in a terminal that the user sees.

use std::sync::Arc;
use std::time::Duration;

use koda_protocol::port::{Command, CommandOutcome, CommandState, Confinement, OnEnd};
use koda_protocol::{Effect, Event};
use koda_trust::ResolvedPath;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::{object, read, rename};
use crate::context::ToolContext;
use crate::ending::{ending, told_later};
use crate::entry::{Entry, Job, Output, data};
use crate::named;

/// What the model is told when the sandbox may be why a command failed.
const SANDBOXED: &str = "\n[The command ran in a sandbox: it can write only the project, temporary files and caches. If that is why it failed, call Bash again with unsandboxed: true; the user is then asked.]";

/// No command may be given more time than this.
const MAX_TIMEOUT_S: u64 = 1_800;

#[derive(Deserialize)]
struct Args {
    command: String,
    #[serde(default)]
    background: bool,
    timeout: Option<f64>,
    foreground_timeout_ms: Option<u64>,
    cwd: Option<String>,
    #[serde(default)]
    unsandboxed: bool,
}

pub fn entry() -> Entry {
    Entry {
        name: "Bash",
        aliases: &["shell", "run_terminal_command", "run_command", "run_shell_command", "execute_command"],
        description: "Run a shell command in a terminal that the user sees, and get its output and exit code. Set background for servers and watchers. Don't use it to read, search or change files: there are tools for that. Nothing waits for input.",
        effect: Effect::Command,
        schema: json!({
            "type": "object",
            "properties": {
                "command": { "type": "string" },
                "background": { "type": "boolean" },
                "timeout": { "type": "integer", "description": "seconds until it is ended, at most 1800" },
                "foreground_timeout_ms": { "type": "integer", "description": "then it goes on in the background" },
                "cwd": { "type": "string" },
                "unsandboxed": { "type": "boolean", "description": "only after the sandbox stopped it: the user is asked" }
            },
            "required": ["command"]
        }),
        prepare: |args, place| {
            let args: Args = read(canonical(args)?)?;
            if args.command.trim().is_empty() {
                return Err("`command`: it is empty".to_owned());
            }
            if args.command.contains('\0') {
                return Err("`command`: it has a NUL character".to_owned());
            }
            let cwd = place.resolve(args.cwd.as_deref().unwrap_or("."))?;
            let timeout = timeout(args.timeout)?;
            let text = args.command.clone();
            let named = named::look(&text, &cwd, args.unsandboxed, place)?;
            let confined = named.confined;
            let job = Job::new(move |context| run(context, args, cwd, timeout, confined));
            Ok(job.command(&text).touching(named.touches))
        },
    }
}

fn canonical(args: Value) -> Result<Value, String> {
    let mut fields = object(args)?;
    rename(&mut fields, &[("cmd", "command"), ("is_background", "background"), ("working_directory", "cwd")]);
    if let Some(mode) = fields.shift_remove("mode") {
        fields.insert("background".to_owned(), json!(mode == "background"));
    }
    Ok(fields.into())
}

fn timeout(seconds: Option<f64>) -> Result<Option<Duration>, String> {
    let Some(seconds) = seconds else { return Ok(None) };
    match Duration::try_from_secs_f64(seconds) {
        Ok(timeout) if !timeout.is_zero() => Ok(Some(timeout.min(Duration::from_secs(MAX_TIMEOUT_S)))),
        _ => Err(format!("`timeout`: {seconds} is no number of seconds from 1 to {MAX_TIMEOUT_S}")),
    }
}

async fn run(
    context: ToolContext,
    args: Args,
    cwd: ResolvedPath,
    timeout: Option<Duration>,
    confined: bool,
) -> Output {
    let (emit, call) = (context.emit.clone(), context.call.clone());
    let (note, text) = (context.note.clone(), args.command.clone());
    let on_end: OnEnd = Arc::new(move |outcome| note(told_later(&text, outcome)));
    let command = Command {
        text: args.command,
        cwd: cwd.as_path().to_owned(),
        session: context.session.clone(),
        call: context.call.clone(),
        confined,
        background: args.background,
        timeout,
        foreground_timeout: args.foreground_timeout_ms.map(Duration::from_millis),
        cancel: context.cancel.clone(),
        on_output: Some(Arc::new(move |text: &str| {
            emit(Event::ToolOutput { id: call.clone(), text: text.to_owned() });
        })),
        on_end: Some(on_end),
    };
    match context.ports.terminals.run(command).await {
        Ok(outcome) => {
            let sandboxed = confined && context.ports.terminals.confinement() == Confinement::Sandbox;
            report(&context, &outcome, sandboxed)
        }
        Err(error) => Output::failed(format!("The command did not run: {error}")),
    }
}

fn report(context: &ToolContext, outcome: &CommandOutcome, sandboxed: bool) -> Output {
    let mut text = outcome.output.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[{}]", ending(outcome)));
    if outcome.state == CommandState::Running {
        text.push_str(match outcome.waiting {
            true => "\n[It seems to wait for input, which only the user can type in its terminal. CancelTask ends it; then run it so that it asks nothing.]",
            false => "\n[You are told when it ends. TaskOutput tells how far it is, WaitTask waits, CancelTask ends it.]",
        });
    }
    if outcome.cwd != context.workplace.cwd {
        text.push_str(&format!("\n[the shell is now in {}]", outcome.cwd.display()));
    }
    if sandboxed && named::looks_forbidden(outcome.exit_code, &outcome.output) {
        text.push_str(SANDBOXED);
    }
    let ok = outcome.state != CommandState::Cancelled;
    Output { ok, keep_tail: true, ..Output::ok(text, data(outcome)) }
}
