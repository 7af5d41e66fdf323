//! What people see of a flood: at most a frame's worth of the newest bytes at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::view::View;

/// The time between two pieces.
const FRAME: Duration = Duration::from_millis(30);

/// Bytes of a piece. Neovim's terminal takes some 4 MB a second on its main thread: under 4 ms.
const FRAME_BYTES: usize = 16 * 1024;

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    skipped: usize,
    armed: bool,
}

/// Hands a terminal's bytes to the view.
#[derive(Clone)]
pub struct Frames(Arc<Shared>);

struct Shared {
    terminal: u32,
    view: Arc<dyn View>,
    runtime: Handle,
    pending: Mutex<Pending>,
}

impl Frames {
    /// Builds the frames of a terminal.
    pub fn new(terminal: u32, view: Arc<dyn View>, runtime: Handle) -> Self {
        Self(Arc::new(Shared { terminal, view, runtime, pending: Mutex::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes; they are shown when the frame is over.
    pub fn push(&self, bytes: &[u8]) {
        let mut pending = self.lock();
        pending.bytes.extend_from_slice(bytes);
        if pending.bytes.len() > 2 * FRAME_BYTES {
            drop_oldest(&mut pending);
        }
        if !pending.armed {
            pending.armed = true;
            let frames = self.clone();
            self.0.runtime.spawn(async move {
                tokio::time::sleep(FRAME).await;
                frames.flush();
            });
        }
    }

    /// Shows what waits.
    pub fn flush(&self) {
        let mut pending = self.lock();
        pending.armed = false;
        if pending.bytes.len() > FRAME_BYTES {
            drop_oldest(&mut pending);
        }
        let skipped = std::mem::take(&mut pending.skipped);
        let bytes = std::mem::take(&mut pending.bytes);
        // Held while it is shown: two pieces must not change places.
        if skipped > 0 {
            let note = format!("\x1b[0m\r\n[{skipped} bytes not shown]\r\n");
            self.0.view.output(self.0.terminal, &[note.as_bytes(), &bytes].concat());
        } else if !bytes.is_empty() {
            self.0.view.output(self.0.terminal, &bytes);
        }
    }
}

/// Keeps the newest frame's worth, from the beginning of a line where there is one.
fn drop_oldest(pending: &mut Pending) {
    let cut = pending.bytes.len().saturating_sub(FRAME_BYTES);
    let line = pending.bytes.iter().skip(cut).position(|byte| *byte == b'\n');
    let end = line.map_or(cut, |at| cut + at + 1);
    pending.bytes.drain(..end);
    pending.skipped += end;
}
