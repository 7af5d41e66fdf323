//! One command from its start to its end, watched until then.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use koda_protocol::TaskId;
use koda_protocol::port::{Command, CommandOutcome, CommandState, OnOutput, TaskInfo};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::frame::Frames;
use crate::process::{Ended, Process, Side};
use crate::render::{Renderer, Told};
use crate::view::Status;

/// After the process's end its last output may still be on its way through the terminal. A background
/// child keeps the terminal open, so the end of output is not waited for longer than this.
const DRAIN: Duration = Duration::from_millis(200);

/// The least time between two glimpses of the output for people.
const GLIMPSE: Duration = Duration::from_millis(250);

/// Bytes of a glimpse.
const GLIMPSE_BYTES: usize = 2 * 1024;

/// A command that stands behind a question for so long waits for an answer.
const THINKS: Duration = Duration::from_secs(2);

/// What the last word of a question ends with. Not a percent sign: progress that stands still is no question.
const ASKS: &[char] = &[':', '?', '>', ']', ')', '#', '$'];

/// A command that was started.
pub struct Task {
    /// Names it.
    pub id: TaskId,
    /// Its terminal.
    pub terminal: u32,
    /// Process id of its shell.
    pub pid: Option<u32>,
    /// What was asked for.
    pub command: Command,
    /// Its terminal's other side.
    pub side: Side,
    /// Cancelled to end it, whatever becomes of the turn that began it.
    pub stop: CancellationToken,
    begun: Instant,
    inner: Mutex<Inner>,
    ended: watch::Sender<Option<Ended>>,
    state: watch::Sender<CommandState>,
    waiters: AtomicU32,
}

struct Inner {
    renderer: Renderer,
    told: Told,
    last_output: Instant,
    took: Option<Duration>,
    background: bool,
}

impl Task {
    /// Begins to watch a process.
    pub fn watch(id: TaskId, terminal: u32, command: Command, process: Process, frames: Frames) -> Arc<Self> {
        let Process { pid, output, ended, side } = process;
        let inner = Inner {
            renderer: Renderer::default(),
            told: Told::default(),
            last_output: Instant::now(),
            took: None,
            background: false,
        };
        let task = Arc::new(Self {
            id,
            terminal,
            pid,
            command,
            side,
            stop: CancellationToken::new(),
            begun: Instant::now(),
            inner: Mutex::new(inner),
            ended: watch::Sender::new(None),
            state: watch::Sender::new(CommandState::Running),
            waiters: AtomicU32::new(0),
        });
        tokio::spawn(follow(task.clone(), output, ended, frames));
        task
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when its process has ended and its output is in.
    pub async fn finished(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives in the task itself: it can't be gone.
        let _ = ended.wait_for(Option::is_some).await;
    }

    /// Tells how far it is.
    pub fn state(&self) -> CommandState {
        *self.state.borrow()
    }

    /// Tells whether it is over, and why is known.
    pub fn is_settled(&self) -> bool {
        self.state() != CommandState::Running
    }

    /// Settles why it is over. Returns whether it had gone to the background and nobody waits for its end.
    pub fn settle(&self, state: CommandState) -> bool {
        let mut inner = self.lock();
        inner.took = Some(self.begun.elapsed());
        let alone = inner.background && self.waiters.load(Ordering::Relaxed) == 0;
        self.state.send_replace(state);
        alone
    }

    /// Sends it to the background, unless it is over.
    pub fn leave(&self) -> bool {
        let mut inner = self.lock();
        inner.background = !self.is_settled();
        inner.background
    }

    /// Returns when it is over. Whoever calls this is told of the end, and nobody else need be.
    pub async fn settled(&self) {
        let _waits = Waits::begin(&self.waiters);
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| *state != CommandState::Running).await;
    }

    /// Ends it and returns when that is done.
    pub async fn end(&self) {
        let _waits = Waits::begin(&self.waiters);
        self.stop.cancel();
        self.settled().await;
    }

    /// Returns when it has printed nothing for `silence`.
    pub async fn silent_for(&self, silence: Duration) {
        loop {
            let quiet = self.lock().last_output.elapsed();
            if quiet >= silence {
                return;
            }
            tokio::time::sleep(silence - quiet).await;
        }
    }

    /// Returns when it seems to have waited for somebody to type for `patience`.
    pub async fn asks_for(&self, patience: Duration) {
        loop {
            self.silent_for(patience).await;
            if self.is_waiting() {
                return;
            }
            tokio::time::sleep(THINKS).await;
        }
    }

    /// Tells whether it seems to wait for somebody to type: it stands still behind a question.
    pub fn is_waiting(&self) -> bool {
        let inner = self.lock();
        let quiet = inner.last_output.elapsed() >= THINKS;
        let asks = || inner.renderer.last_line().trim_end().ends_with(ASKS);
        quiet && !self.is_settled() && (asks() || self.side.hides_typing())
    }

    /// Notes that somebody typed: what was asked is being answered.
    pub fn typed(&self, bytes: &[u8]) {
        self.lock().last_output = Instant::now();
        self.side.input(bytes);
    }

    fn ended(&self) -> Ended {
        self.ended.borrow().clone().unwrap_or_default()
    }

    fn took(&self, inner: &Inner) -> u64 {
        let took = inner.took.unwrap_or_else(|| self.begun.elapsed());
        u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
    }

    /// Describes it for the view.
    pub fn status(&self) -> Status {
        let Ended { exit_code, signal } = self.ended();
        Status { state: self.state(), exit_code, signal, waiting: self.is_waiting() }
    }

    /// Describes it for a list.
    pub fn info(&self) -> TaskInfo {
        let Status { state, exit_code, signal, waiting } = self.status();
        let inner = self.lock();
        TaskInfo {
            task_id: self.id.clone(),
            command: self.command.text.clone(),
            state,
            exit_code,
            signal,
            pid: self.pid,
            terminal: self.terminal,
            age_ms: self.took(&inner),
            output_bytes: inner.renderer.bytes(),
            waiting,
        }
    }

    /// Describes it for the caller, with all output or with what is new since the last time.
    pub fn outcome(&self, all: bool) -> CommandOutcome {
        let Status { state, exit_code, signal, waiting } = self.status();
        let mut inner = self.lock();
        let mut told = std::mem::take(&mut inner.told);
        let news = inner.renderer.news(&mut told);
        inner.told = told;
        let output = if all { inner.renderer.text() } else { news };
        CommandOutcome {
            exit_code,
            signal,
            pid: self.pid,
            task_id: self.id.clone(),
            state,
            // The shell is the command's own: its end is the command's.
            verified: true,
            cwd: self.command.cwd.clone(),
            duration_ms: self.took(&inner),
            terminal: self.terminal,
            waiting,
            output,
            output_bytes: inner.renderer.bytes(),
        }
    }

    fn take(&self, bytes: &[u8], frames: &Frames) {
        frames.push(bytes);
        let mut inner = self.lock();
        inner.last_output = Instant::now();
        inner.renderer.feed(bytes);
    }
}

/// Counts whoever waits for the end of a task.
struct Waits<'a>(&'a AtomicU32);

impl<'a> Waits<'a> {
    fn begin(count: &'a AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes in a task's output until it has ended.
async fn follow(
    task: Arc<Task>,
    mut output: mpsc::Receiver<Vec<u8>>,
    mut ended: watch::Receiver<Option<Ended>>,
    frames: Frames,
) {
    let mut glimpses = Glimpses { to: task.command.on_output.clone(), last: Instant::now() };
    let mut open = true;
    let end = loop {
        tokio::select! {
            biased;
            piece = output.recv(), if open => match piece {
                Some(bytes) => {
                    task.take(&bytes, &frames);
                    glimpses.show(&bytes);
                }
                None => open = false,
            },
            end = ended.wait_for(Option::is_some) => break end.map(|end| end.clone()).unwrap_or_default(),
        }
    };
    let drained = async {
        while let Some(bytes) = output.recv().await {
            task.take(&bytes, &frames);
        }
    };
    let _ = tokio::time::timeout(DRAIN, drained).await;
    frames.flush();
    task.ended.send_replace(Some(end.unwrap_or_default()));
    drop(task);
    // What a child in the background prints later is shown, but is no part of the result.
    while let Some(bytes) = output.recv().await {
        frames.push(&bytes);
    }
}

/// Tells people now and then what a command prints.
struct Glimpses {
    to: Option<OnOutput>,
    last: Instant,
}

impl Glimpses {
    fn show(&mut self, bytes: &[u8]) {
        let Some(to) = self.to.as_ref().filter(|_| self.last.elapsed() >= GLIMPSE) else { return };
        self.last = Instant::now();
        let newest = bytes.get(bytes.len().saturating_sub(GLIMPSE_BYTES)..).unwrap_or_default();
        let mut renderer = Renderer::default();
        renderer.feed(newest);
        to(&renderer.text());
    }
}
