//! A child process whose end is an event, and which never outlives the test.

use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

/// A started process. Killed when dropped.
pub struct Process {
    pid: Pid,
    exit: Arc<(Mutex<Option<Exit>>, Condvar)>,
}

impl Process {
    /// Starts a command; the closure takes the pipes that it wants from the child.
    ///
    /// # Panics
    /// If the program can't be started.
    pub fn start<T>(mut command: Command, take: impl FnOnce(&mut Child) -> T) -> (Self, T) {
        let mut child = command.spawn().unwrap_or_else(|problem| panic!("start {command:?}: {problem}"));
        let taken = take(&mut child);
        let pid = Pid::from_child(&child);
        let exit = Arc::new((Mutex::new(None), Condvar::new()));
        let told = exit.clone();
        std::thread::spawn(move || {
            let status = child.wait().expect("a child can be waited for");
            *told.0.lock().expect("no panic under this lock") = Some(exit_of(status));
            told.1.notify_all();
        });
        (Self { pid, exit }, taken)
    }

    /// Returns the process id.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends a signal, if the process still lives.
    pub fn signal(&self, signal: Signal) {
        let ended = self.exit.0.lock().expect("no panic under this lock");
        if ended.is_none() {
            // It may end in this moment; then there is nobody to signal, which is as good.
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Waits until the process ends. `None` if it has not within `limit`.
    #[must_use]
    pub fn wait(&self, limit: Duration) -> Option<Exit> {
        let deadline = Instant::now() + limit;
        let mut ended = self.exit.0.lock().expect("no panic under this lock");
        while ended.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            ended = self.exit.1.wait_timeout(ended, left).expect("no panic under this lock").0;
        }
        *ended
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.wait(Duration::from_secs(5));
    }
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
