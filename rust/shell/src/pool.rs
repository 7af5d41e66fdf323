//! The pool: which terminals there are, what runs in them, and their end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use koda_protocol::TaskId;
use koda_protocol::port::{Command, CommandOutcome, CommandState, Confinement, Terminals, TerminalsError};
use tokio::runtime::Handle;

use crate::frame::Frames;
use crate::options::{PoolOptions, Size};
use crate::process;
use crate::sandbox::{self, Profile};
use crate::task::Task;
use crate::view::{TerminalInfo, View};

/// A command that prints nothing for so long goes on in the background.
const SILENCE: Duration = Duration::from_secs(5 * 60);

#[derive(Default)]
struct Inner {
    /// By terminal: the newest task in it.
    terminals: BTreeMap<u32, Arc<Task>>,
    sizes: BTreeMap<u32, Size>,
    /// Terminals whose number is taken while their process starts.
    starting: Vec<u32>,
    next_task: u64,
    closed: bool,
}

struct Shared {
    options: PoolOptions,
    view: Arc<dyn View>,
    inner: Mutex<Inner>,
}

/// All terminals of one Neovim. Cheap to clone.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

impl Pool {
    /// Builds a pool without terminals.
    pub fn new(options: PoolOptions, view: Arc<dyn View>) -> Self {
        Self(Arc::new(Shared { options, view, inner: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Types bytes into a terminal; none arrive where no command runs.
    pub fn input(&self, terminal: u32, bytes: &[u8]) {
        let task = self.lock().terminals.get(&terminal).cloned();
        if let Some(task) = task.filter(|task| task.ended().is_none()) {
            task.side.input(bytes);
        }
    }

    /// Sets a terminal's size, for what runs in it now and later.
    pub fn resize(&self, terminal: u32, columns: u16, rows: u16) {
        let size = Size { columns: columns.max(1), rows: rows.max(1) };
        let mut inner = self.lock();
        inner.sizes.insert(terminal, size);
        if let Some(task) = inner.terminals.get(&terminal) {
            task.side.resize(size);
        }
    }

    /// Ends what runs in a terminal and forgets it.
    pub fn close(&self, terminal: u32) {
        let Some(task) = self.lock().terminals.remove(&terminal) else { return };
        task.command.cancel.cancel();
    }

    /// Lists the terminals by number.
    pub fn list(&self) -> Vec<TerminalInfo> {
        let inner = self.lock();
        let info = |(terminal, task): (&u32, &Arc<Task>)| TerminalInfo {
            terminal: *terminal,
            session: task.command.session.clone(),
            title: task.command.text.clone(),
            task_id: task.id.clone(),
            status: task.status(if task.ended().is_some() {
                CommandState::Done
            } else {
                CommandState::Running
            }),
        };
        inner.terminals.iter().map(info).collect()
    }

    /// Takes the lowest terminal in which nothing runs, or a new one.
    fn reserve(&self) -> (u32, TaskId, Size) {
        let mut inner = self.lock();
        let busy = |inner: &Inner, number: &u32| {
            inner.starting.contains(number)
                || inner.terminals.get(number).is_some_and(|task| task.ended().is_none())
        };
        let number = (1..).find(|number| !busy(&inner, number)).unwrap_or(u32::MAX);
        inner.starting.push(number);
        inner.next_task += 1;
        let size = inner.sizes.get(&number).copied().unwrap_or(self.0.options.size);
        (number, TaskId(format!("sh:{}", inner.next_task)), size)
    }

    fn start(&self, command: Command) -> Result<Arc<Task>, TerminalsError> {
        if !command.cwd.is_dir() {
            let reason = "there is no such folder".to_owned();
            return Err(TerminalsError::Cwd { path: command.cwd, reason });
        }
        let (terminal, id, size) = self.reserve();
        let process = process::start(&self.0.options, size, &command.text, &command.cwd, command.confined);
        let mut inner = self.lock();
        inner.starting.retain(|number| *number != terminal);
        let process = process?;
        let frames = Frames::new(terminal, self.0.view.clone(), Handle::current());
        self.0.view.opened(terminal, &command.text);
        self.0.view.output(terminal, prompt(&command.text).as_bytes());
        let task = Task::watch(id, terminal, command, process, frames);
        inner.terminals.insert(terminal, task.clone());
        Ok(task)
    }

    /// Waits for a task's end, or for what ends the waiting; a stop or time limit ends the task.
    async fn attend(&self, task: &Task) -> CommandState {
        let command = &task.command;
        let limit = |limit: Option<Duration>| async move {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let foreground = async {
            match command.foreground_timeout {
                Some(limit) => tokio::time::sleep(limit).await,
                None => task.silent_for(SILENCE).await,
            }
        };
        tokio::select! {
            () = task.finished() => CommandState::Done,
            () = command.cancel.cancelled() => self.end(task, CommandState::Cancelled).await,
            () = limit(command.timeout) => self.end(task, CommandState::TimedOut).await,
            () = foreground => CommandState::Running,
        }
    }

    async fn end(&self, task: &Task, state: CommandState) -> CommandState {
        process::end_group(task.pid, self.0.options.grace).await;
        // A process that even KILL does not end at once (in the kernel) is not waited for.
        let _ = tokio::time::timeout(self.0.options.grace, task.finished()).await;
        state
    }

    /// Watches a command that goes on in the background.
    fn leave(&self, task: Arc<Task>) {
        let pool = self.clone();
        tokio::spawn(async move {
            let cancel = task.command.cancel.clone();
            let state = tokio::select! {
                () = task.finished() => CommandState::Done,
                () = cancel.cancelled() => pool.end(&task, CommandState::Cancelled).await,
            };
            pool.0.view.status(task.terminal, &task.status(state));
        });
    }

    async fn run_in(&self, command: Command) -> Result<CommandOutcome, TerminalsError> {
        if self.lock().closed {
            return Err(TerminalsError::Spawn {
                shell: self.0.options.program(),
                reason: "Koda is closing".to_owned(),
            });
        }
        let background = command.background;
        let task = self.start(command)?;
        let state = if background { CommandState::Running } else { self.attend(&task).await };
        self.0.view.status(task.terminal, &task.status(state));
        if state == CommandState::Running {
            self.leave(task.clone());
        }
        Ok(task.outcome(state))
    }
}

/// What people see above a command's output.
fn prompt(text: &str) -> String {
    format!("\x1b[0m\x1b[1;34m$\x1b[0m \x1b[1m{}\x1b[0m\r\n", text.replace('\n', "\r\n> "))
}

#[async_trait]
impl Terminals for Pool {
    async fn run(&self, command: Command) -> Result<CommandOutcome, TerminalsError> {
        self.run_in(command).await
    }

    fn confinement(&self) -> Confinement {
        match &self.0.options.sandbox {
            Some(sandbox) if sandbox.profile != Profile::Off => match sandbox::support() {
                Some(_) => Confinement::Sandbox,
                None => Confinement::Missing,
            },
            _ => Confinement::Off,
        }
    }

    async fn shutdown(&self, grace: Duration) {
        let tasks: Vec<Arc<Task>> = {
            let mut inner = self.lock();
            inner.closed = true;
            std::mem::take(&mut inner.terminals).into_values().collect()
        };
        let running = tasks.iter().filter(|task| task.ended().is_none());
        let ends: Vec<_> = running.map(|task| tokio::spawn(process::end_group(task.pid, grace))).collect();
        for end in ends {
            // A panic there has nothing left to end.
            let _ = end.await;
        }
    }
}
