//! One command from its start to its end, watched until then.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use koda_protocol::TaskId;
use koda_protocol::port::{Command, CommandOutcome, CommandState, OnOutput};
use tokio::sync::watch;

use crate::frame::Frames;
use crate::process::{Ended, Process, Side};
use crate::render::Renderer;
use crate::view::Status;

/// After the process's end its last output may still be on its way through the terminal. A background
/// child keeps the terminal open, so the end of output is not waited for longer than this.
const DRAIN: Duration = Duration::from_millis(200);

/// The least time between two glimpses of the output for people.
const GLIMPSE: Duration = Duration::from_millis(250);

/// Bytes of a glimpse.
const GLIMPSE_BYTES: usize = 2 * 1024;

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
    begun: Instant,
    renderer: Mutex<Renderer>,
    last_output: Mutex<Instant>,
    ended: watch::Sender<Option<Ended>>,
}

impl Task {
    /// Begins to watch a process.
    pub fn watch(id: TaskId, terminal: u32, command: Command, process: Process, frames: Frames) -> Arc<Self> {
        let Process { pid, output, ended, side } = process;
        let task = Arc::new(Self {
            id,
            terminal,
            pid,
            command,
            side,
            begun: Instant::now(),
            renderer: Mutex::default(),
            last_output: Mutex::new(Instant::now()),
            ended: watch::Sender::new(None),
        });
        tokio::spawn(follow(task.clone(), output, ended, frames));
        task
    }

    fn renderer(&self) -> MutexGuard<'_, Renderer> {
        self.renderer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_output(&self) -> MutexGuard<'_, Instant> {
        self.last_output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.ended.borrow().clone()
    }

    /// Returns when it has ended and its output is in.
    pub async fn finished(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives in the task itself: it can't be gone.
        let _ = ended.wait_for(Option::is_some).await;
    }

    /// Returns when it has printed nothing for `silence`.
    pub async fn silent_for(&self, silence: Duration) {
        loop {
            let quiet = self.last_output().elapsed();
            if quiet >= silence {
                return;
            }
            tokio::time::sleep(silence - quiet).await;
        }
    }

    /// Describes it for the view.
    pub fn status(&self, state: CommandState) -> Status {
        let ended = self.ended();
        Status {
            state,
            exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
            signal: ended.and_then(|ended| ended.signal),
        }
    }

    /// Describes it for the caller.
    pub fn outcome(&self, state: CommandState) -> CommandOutcome {
        let Status { exit_code, signal, .. } = self.status(state);
        let renderer = self.renderer();
        CommandOutcome {
            exit_code,
            signal,
            pid: self.pid,
            task_id: self.id.clone(),
            state,
            // The shell is the command's own: its end is the command's.
            verified: true,
            cwd: self.command.cwd.clone(),
            duration_ms: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            terminal: self.terminal,
            output: renderer.text(),
            output_bytes: renderer.bytes(),
        }
    }

    fn take(&self, bytes: &[u8], frames: &Frames) {
        *self.last_output() = Instant::now();
        frames.push(bytes);
        self.renderer().feed(bytes);
    }
}

/// Takes in a task's output until it has ended.
async fn follow(
    task: Arc<Task>,
    mut output: tokio::sync::mpsc::UnboundedReceiver<Vec<u8>>,
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
    task.ended.send_replace(Some(end.unwrap_or(Ended { exit_code: None, signal: None })));
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
