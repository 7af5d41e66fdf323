//! Where a provider's key comes from: the handed-in environment, or a command run off every thread that
//! matters. A key is never in a message, and never in a process's arguments.

use std::collections::HashMap;
use std::process::Stdio;
use std::time::Duration;

use koda_protocol::port::{ModelError, ModelErrorKind};
use tokio::sync::Mutex;

use crate::provider::Provider;
use crate::settings::{Env, KeyCommand};

/// A key and where it came from.
#[derive(Clone)]
pub(crate) struct Key {
    /// The key; absent where none is needed.
    pub secret: Option<String>,
    /// `the environment variable X`, `the command Y`: for messages.
    pub source: String,
}

/// Finds keys, and remembers what commands printed so that a password store asks once.
pub(crate) struct Keys {
    env: Env,
    patience: Duration,
    // Held while a command runs, so that two requests at once don't both start it.
    printed: Mutex<HashMap<String, String>>,
}

impl Keys {
    pub(crate) fn new(env: Env, patience: Duration) -> Self {
        Self { env, patience, printed: Mutex::default() }
    }

    /// Returns whether a key could be had, without running a command.
    pub(crate) fn present(&self, provider: &Provider) -> bool {
        provider.key_command.is_some() || self.in_env(provider).is_some()
    }

    /// Finds the key of `provider`. Errors are of the kind `Auth`.
    pub(crate) async fn find(&self, provider: &Provider) -> Result<Key, ModelError> {
        if let Some(command) = &provider.key_command {
            let source = format!("the command `{command}`");
            let secret = self.printed(provider, command).await?;
            return Ok(Key { secret: Some(secret), source });
        }
        match self.in_env(provider) {
            Some((var, secret)) => {
                Ok(Key { secret: Some(secret), source: format!("the environment variable {var}") })
            }
            None if provider.key_needed => Err(missing(provider)),
            None => Ok(Key { secret: None, source: "no key (none is set)".to_owned() }),
        }
    }

    /// Forgets what a command printed, since the provider refused it.
    pub(crate) async fn forget(&self, provider: &Provider) {
        self.printed.lock().await.remove(&provider.name);
    }

    fn in_env(&self, provider: &Provider) -> Option<(String, String)> {
        provider.key_vars.iter().find_map(|var| {
            let secret = (self.env)(var)?.trim().to_owned();
            (!secret.is_empty()).then(|| (var.clone(), secret))
        })
    }

    async fn printed(&self, provider: &Provider, command: &KeyCommand) -> Result<String, ModelError> {
        let mut printed = self.printed.lock().await;
        if let Some(secret) = printed.get(&provider.name) {
            return Ok(secret.clone());
        }
        let secret = run(&provider.name, command, self.patience).await?;
        printed.insert(provider.name.clone(), secret.clone());
        Ok(secret)
    }
}

async fn run(provider: &str, command: &KeyCommand, patience: Duration) -> Result<String, ModelError> {
    let failed = |reason: String| ModelError {
        kind: ModelErrorKind::Auth,
        message: format!("providers.{provider}.key_command `{command}` gave no key: {reason}"),
        hint: Some("run the command in a terminal; the key must be the first line that it prints".to_owned()),
    };
    let mut process = process(command).ok_or_else(|| failed("it is empty".to_owned()))?;
    process.stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(patience, process.output()).await {
        Err(_) => return Err(failed(format!("it ran for more than {} s", patience.as_secs_f32()))),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let secret = text.lines().next().unwrap_or_default().trim();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        // A command that prints its key and then fails may repeat it on stderr.
        let said = if secret.is_empty() { said } else { "" };
        return Err(failed(format!("{} {}", output.status, said.chars().take(200).collect::<String>())));
    }
    if secret.is_empty() {
        return Err(failed("it printed nothing".to_owned()));
    }
    Ok(secret.to_owned())
}

fn process(command: &KeyCommand) -> Option<tokio::process::Command> {
    match command {
        KeyCommand::Line(line) if line.trim().is_empty() => None,
        KeyCommand::Line(line) => {
            let mut process = tokio::process::Command::new("sh");
            process.arg("-c").arg(line);
            Some(process)
        }
        KeyCommand::Words(words) => {
            let (program, arguments) = words.split_first()?;
            let mut process = tokio::process::Command::new(program);
            process.args(arguments);
            Some(process)
        }
    }
}

fn missing(provider: &Provider) -> ModelError {
    let var = provider.key_vars.first().map_or("key_env", String::as_str);
    ModelError {
        kind: ModelErrorKind::Auth,
        message: format!("{} needs a key, and {var} is not set", provider.name),
        hint: Some(format!("set {var} before Neovim starts, or providers.{}.key_command", provider.name)),
    }
}
