//! The RPC connection to `nvim --embed`: requests with their answers, notifications, and the screen they draw.

use std::collections::{HashMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rmpv::Value;

use crate::Grid;

const REQUEST: u64 = 0;
const RESPONSE: u64 = 1;
const NOTIFICATION: u64 = 2;

/// What came over the wire so far.
#[derive(Default)]
pub struct Arrived {
    /// The screen after the last `flush`.
    pub grid: Grid,
    /// Notifications that Neovim sent with `rpcnotify`, in order.
    pub notified: VecDeque<(String, Vec<Value>)>,
    drawing: Grid,
    answers: HashMap<u64, Result<Value, Value>>,
    closed: bool,
}

struct Shared {
    arrived: Mutex<Arrived>,
    changed: Condvar,
}

/// One connection. Its reader thread ends with the child's standard output.
pub struct Wire {
    shared: Arc<Shared>,
    writer: Mutex<(u64, Box<dyn Write + Send>)>,
}

impl Wire {
    /// Connects over a child's pipes.
    pub fn new(reader: impl Read + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        let shared = Arc::new(Shared { arrived: Mutex::default(), changed: Condvar::new() });
        let told = shared.clone();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(reader);
            while let Ok(message) = rmpv::decode::read_value(&mut reader) {
                told.lock().take(message);
                told.changed.notify_all();
            }
            told.lock().closed = true;
            told.changed.notify_all();
        });
        Self { shared, writer: Mutex::new((0, Box::new(writer))) }
    }

    /// Sends a request and waits for its answer: `Ok(None)` if none came within `limit`.
    ///
    /// # Errors
    /// Neovim's error, or that the connection is closed.
    pub fn request(
        &self,
        method: &str,
        arguments: Vec<Value>,
        limit: Duration,
    ) -> Result<Option<Value>, String> {
        let id = self.send(method, arguments).map_err(|problem| format!("{method}: {problem}"))?;
        let answer = self.wait(limit, |arrived| match arrived.answers.remove(&id) {
            None if arrived.closed => Some(Err(Value::from("Neovim closed the connection"))),
            answer => answer,
        });
        answer.transpose().map_err(|problem| format!("{method}: {}", error_text(&problem)))
    }

    /// Sends a request whose answer nobody awaits.
    ///
    /// # Errors
    /// If the connection is closed.
    pub fn send(&self, method: &str, arguments: Vec<Value>) -> Result<u64, rmpv::encode::Error> {
        let mut writer = self.writer.lock().expect("no panic under this lock");
        writer.0 += 1;
        let id = writer.0;
        let message = Value::Array(vec![REQUEST.into(), id.into(), method.into(), Value::Array(arguments)]);
        rmpv::encode::write_value(&mut writer.1, &message)?;
        writer.1.flush().map_err(rmpv::encode::Error::InvalidDataWrite)?;
        Ok(id)
    }

    /// Waits until `look` finds something in what arrived; looks again after each message. `None` after `limit`.
    pub fn wait<T>(&self, limit: Duration, mut look: impl FnMut(&mut Arrived) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut arrived = self.shared.lock();
        loop {
            if let Some(found) = look(&mut arrived) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || arrived.closed {
                return None;
            }
            arrived = self.shared.changed.wait_timeout(arrived, left).expect("no panic under this lock").0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().expect("no panic under this lock")
    }
}

impl Arrived {
    fn take(&mut self, message: Value) {
        let Value::Array(parts) = message else { return };
        let mut parts = parts.into_iter();
        let kind = parts.next().and_then(|kind| kind.as_u64());
        match (kind, parts.next(), parts.next(), parts.next()) {
            (Some(RESPONSE), Some(id), Some(error), Some(result)) => {
                let answer = if error.is_nil() { Ok(result) } else { Err(error) };
                self.answers.insert(id.as_u64().unwrap_or_default(), answer);
            }
            (Some(NOTIFICATION), Some(method), Some(Value::Array(arguments)), None) => {
                match method.as_str().unwrap_or_default() {
                    "redraw" => self.redraw(&arguments),
                    name => self.notified.push_back((name.to_owned(), arguments)),
                }
            }
            _ => {}
        }
    }

    fn redraw(&mut self, batch: &[Value]) {
        if self.drawing.apply(batch) {
            self.grid = self.drawing.clone();
        }
    }
}

/// Neovim's errors are `[kind, text]`.
fn error_text(error: &Value) -> String {
    let text = error.as_array().and_then(|parts| parts.get(1)).and_then(Value::as_str);
    text.map_or_else(|| error.to_string(), str::to_owned)
}
