//! One command's process: its pseudo-terminal, its end, and how it is ended.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use koda_protocol::port::TerminalsError;
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};
use tokio::sync::{mpsc, watch};

use crate::options::{PoolOptions, Size};
use crate::sandbox::{self, Bounds};

/// Pieces of output that may wait to be taken in. A program that prints faster than it is read is held up by its
/// terminal, so that a flood grows nothing here.
const PIECES: usize = 16;

/// The terminal flag for showing what is typed.
const ECHO: u64 = 0o10;

/// The terminal flag for reading whole lines.
const LINES: u64 = if cfg!(target_os = "linux") { 0o2 } else { 0x100 };

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit code, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal, without `SIG`.
    pub signal: Option<String>,
}

/// A running command.
pub struct Process {
    /// Process id of the shell; it leads a session and process group of its own.
    pub pid: Option<u32>,
    /// Pieces of output as they come; closed when the terminal is.
    pub output: mpsc::Receiver<Vec<u8>>,
    /// How it ended, once it has.
    pub ended: watch::Receiver<Option<Ended>>,
    /// Its terminal's other side.
    pub side: Side,
}

/// The master side of a command's terminal: typing and resizing.
#[derive(Clone)]
pub struct Side(Arc<Mutex<Inner>>);

struct Inner {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
}

impl Side {
    /// Types bytes. A terminal whose process is gone takes none.
    pub fn input(&self, bytes: &[u8]) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = inner.writer.write_all(bytes).and_then(|()| inner.writer.flush()) {
            tracing::debug!(%error, "a terminal took no input");
        }
    }

    /// Tells whether what is typed is not shown although lines are read: somebody is asked for a secret.
    pub fn hides_typing(&self) -> bool {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let flags = inner.master.get_termios().map(|termios| termios.local_flags.bits());
        flags.is_some_and(|flags| u64::from(flags) & LINES != 0 && u64::from(flags) & ECHO == 0)
    }

    /// Changes the size.
    pub fn resize(&self, size: Size) {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = inner.master.resize(pty_size(size)) {
            tracing::debug!(%error, "a terminal could not be resized");
        }
    }
}

fn pty_size(size: Size) -> PtySize {
    PtySize { rows: size.rows, cols: size.columns, pixel_width: 0, pixel_height: 0 }
}

/// Starts `text` in a shell of its own.
///
/// # Errors
///
/// If there is no pseudo-terminal, or the shell does not start.
pub fn start(
    options: &PoolOptions,
    size: Size,
    text: &str,
    cwd: &Path,
    confined: bool,
) -> Result<Process, TerminalsError> {
    let shell = options.program();
    let failed = |reason: String| TerminalsError::Spawn { shell: shell.clone(), reason };
    let pair = native_pty_system().openpty(pty_size(size)).map_err(|error| failed(error.to_string()))?;
    let mut command = CommandBuilder::new(&shell);
    command.env_clear();
    for (name, value) in options.environment() {
        command.env(name, value);
    }
    command.env("PWD", cwd);
    command.args(["-c", text]);
    command.cwd(cwd);
    let bounds = options.sandbox.as_ref().filter(|_| confined).and_then(|sandbox| sandbox.bounds(cwd));
    let child = spawn(bounds, pair.slave, command).map_err(failed)?;
    let reader = pair.master.try_clone_reader().map_err(|error| failed(error.to_string()))?;
    let writer = pair.master.take_writer().map_err(|error| failed(error.to_string()))?;
    let side = Side(Arc::new(Mutex::new(Inner { master: pair.master, writer })));
    let pid = child.process_id();
    Ok(Process { pid, output: read(reader), ended: wait(child), side })
}

/// Starts a command within its bounds: a thread enters them that ends with the start.
fn spawn(
    bounds: Option<Bounds>,
    slave: Box<dyn SlavePty + Send>,
    command: CommandBuilder,
) -> Result<Box<dyn Child + Send + Sync>, String> {
    let start = move || {
        // Our copy of the slave would keep the terminal open after the last process of the command.
        let slave = slave;
        slave.spawn_command(command).map_err(|error| error.to_string())
    };
    match bounds.filter(|_| sandbox::support().is_some()) {
        None => start(),
        Some(bounds) => {
            let within = thread::spawn(move || bounds.enter().and_then(|()| start()));
            within.join().unwrap_or_else(|_| Err("the thread that starts it panicked".to_owned()))
        }
    }
}

/// Reads in a thread of its own: a pseudo-terminal's read can't be awaited.
fn read(mut reader: Box<dyn Read + Send>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(PIECES);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        // An error is the end as well: Linux says EIO when the last process has closed the terminal.
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            if sender.blocking_send(buffer.get(..read).unwrap_or_default().to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

fn wait(mut child: Box<dyn portable_pty::Child + Send + Sync>) -> watch::Receiver<Option<Ended>> {
    let (sender, receiver) = watch::channel(None);
    thread::spawn(move || {
        let ended = child.wait().map_or(Ended { exit_code: None, signal: None }, |status| describe(&status));
        // Nobody may be waiting any more.
        let _ = sender.send(Some(ended));
    });
    receiver
}

fn describe(status: &ExitStatus) -> Ended {
    match status.signal() {
        Some(signal) => Ended { exit_code: None, signal: Some(signal_name(signal)) },
        None => Ended { exit_code: i32::try_from(status.exit_code()).ok(), signal: None },
    }
}

/// The short name of a signal that is told in the C library's words.
fn signal_name(words: &str) -> String {
    let known = [
        ("Hangup", "HUP"),
        ("Interrupt", "INT"),
        ("Quit", "QUIT"),
        ("Aborted", "ABRT"),
        ("Killed", "KILL"),
        ("Segmentation fault", "SEGV"),
        ("Broken pipe", "PIPE"),
        ("Terminated", "TERM"),
    ];
    let name = known.iter().find(|(said, _)| words.starts_with(said)).map(|(_, name)| *name);
    name.unwrap_or(words).to_owned()
}
