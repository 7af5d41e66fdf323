//! The pool: which terminals there are, what runs in them, and their end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use koda_protocol::port::{
    Command, CommandOutcome, CommandState, Confinement, TaskInfo, Terminals, TerminalsError,
};
use koda_protocol::{SessionId, TaskId};
use tokio::runtime::Handle;

use crate::frame::Frames;
use crate::options::{PoolOptions, Size};
use crate::process;
use crate::sandbox::{self, Profile};
use crate::task::Task;
use crate::tree;
use crate::view::{TerminalInfo, View};

/// A command that prints nothing for so long goes on in the background.
const SILENCE: Duration = Duration::from_secs(5 * 60);

/// A command that waits for an answer for so long goes on in the background, so that the model hears of it.
const UNANSWERED: Duration = Duration::from_secs(20);

/// Tasks that ended in the background and can still be asked for.
const REMEMBERED: usize = 16;

#[derive(Default)]
struct Inner {
    /// By terminal: the newest task in it.
    terminals: BTreeMap<u32, Arc<Task>>,
    sizes: BTreeMap<u32, Size>,
    /// By number: what went to the background, and the newest of what ended there.
    tasks: BTreeMap<u64, Arc<Task>>,
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
        if let Some(task) = task.filter(|task| !task.is_settled()) {
            task.typed(bytes);
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
        task.stop.cancel();
    }

    /// Lists the terminals by number.
    pub fn list(&self) -> Vec<TerminalInfo> {
        let inner = self.lock();
        let info = |(terminal, task): (&u32, &Arc<Task>)| TerminalInfo {
            terminal: *terminal,
            session: task.command.session.clone(),
            title: task.command.text.clone(),
            task_id: task.id.clone(),
            status: task.status(),
        };
        inner.terminals.iter().map(info).collect()
    }

    /// Takes the lowest terminal in which nothing runs, or a new one.
    fn reserve(&self) -> (u32, TaskId, Size) {
        let mut inner = self.lock();
        let busy = |inner: &Inner, number: &u32| {
            inner.starting.contains(number)
                || inner.terminals.get(number).is_some_and(|task| !task.is_settled())
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
        drop(inner);
        tokio::spawn(keep(self.clone(), task.clone()));
        Ok(task)
    }

    /// Returns when a command is to go on in the background.
    async fn patience(&self, task: &Task) {
        match task.command.foreground_timeout {
            Some(limit) => tokio::time::sleep(limit).await,
            None => tokio::select! {
                () = task.silent_for(SILENCE) => {}
                () = task.asks_for(UNANSWERED) => {}
            },
        }
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
        if !background {
            tokio::select! {
                () = task.settled() => {}
                () = self.patience(&task) => {}
            }
        }
        let left = task.leave();
        // What was begun in the background is asked for by its id, also where it has ended meanwhile.
        if left || background {
            self.remember(&task);
        }
        if left {
            self.0.view.status(task.terminal, &task.status());
        }
        Ok(task.outcome(true))
    }

    /// Keeps a task that can be asked for; of those that ended only the newest.
    fn remember(&self, task: &Arc<Task>) {
        let Some(number) = number(&task.id) else { return };
        let mut inner = self.lock();
        inner.tasks.insert(number, task.clone());
        let ended: Vec<u64> =
            inner.tasks.iter().filter(|(_, task)| task.is_settled()).map(|(number, _)| *number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(REMEMBERED)) {
            inner.tasks.remove(number);
        }
    }

    fn find(&self, session: &SessionId, id: &TaskId) -> Result<Arc<Task>, TerminalsError> {
        let task = number(id).and_then(|number| self.lock().tasks.get(&number).cloned());
        let task = task.ok_or_else(|| TerminalsError::NoTask(id.clone()))?;
        if task.command.session == *session { Ok(task) } else { Err(TerminalsError::Foreign(id.clone())) }
    }
}

/// Watches a command from its start to its end, and ends it when it is to be ended.
async fn keep(pool: Pool, task: Arc<Task>) {
    let Command { cancel, timeout, .. } = task.command.clone();
    let limit = async {
        match timeout {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let asked = async {
        task.asks_for(Duration::from_secs(2)).await;
        pool.0.view.status(task.terminal, &task.status());
        std::future::pending::<()>().await;
    };
    let state = tokio::select! {
        biased;
        () = task.finished() => CommandState::Done,
        () = cancel.cancelled() => CommandState::Cancelled,
        () = task.stop.cancelled() => CommandState::Cancelled,
        () = limit => CommandState::TimedOut,
        () = asked => CommandState::Done,
    };
    if state != CommandState::Done {
        tree::end(task.pid, pool.0.options.grace).await;
        // A process that even KILL does not end at once (in the kernel) is not waited for.
        let _ = tokio::time::timeout(pool.0.options.grace, task.finished()).await;
    }
    let alone = task.settle(state);
    pool.0.view.status(task.terminal, &task.status());
    if let Some(on_end) = task.command.on_end.as_ref().filter(|_| alone) {
        on_end(&task.outcome(false));
    }
}

/// The number within a task's id.
fn number(id: &TaskId) -> Option<u64> {
    id.0.strip_prefix("sh:")?.parse().ok()
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

    fn tasks(&self, session: &SessionId) -> Vec<TaskInfo> {
        let inner = self.lock();
        inner.tasks.values().filter(|task| task.command.session == *session).map(|task| task.info()).collect()
    }

    fn look(&self, session: &SessionId, task: &TaskId) -> Result<CommandOutcome, TerminalsError> {
        Ok(self.find(session, task)?.outcome(false))
    }

    async fn wait(&self, session: &SessionId, task: &TaskId) -> Result<CommandOutcome, TerminalsError> {
        let task = self.find(session, task)?;
        task.settled().await;
        Ok(task.outcome(false))
    }

    async fn end(&self, session: &SessionId, task: &TaskId) -> Result<CommandOutcome, TerminalsError> {
        let task = self.find(session, task)?;
        task.end().await;
        Ok(task.outcome(false))
    }

    async fn shutdown(&self, grace: Duration) {
        let tasks: Vec<Arc<Task>> = {
            let mut inner = self.lock();
            inner.closed = true;
            std::mem::take(&mut inner.terminals).into_values().collect()
        };
        let running = tasks.iter().filter(|task| !task.is_settled());
        let ends: Vec<_> = running.map(|task| tokio::spawn(tree::end(task.pid, grace))).collect();
        for end in ends {
            // A panic there has nothing left to end.
            let _ = end.await;
        }
    }
}
