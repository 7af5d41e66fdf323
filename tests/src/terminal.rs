//! A Neovim in a real terminal: a PTY whose bytes a terminal emulator turns into a screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use vt100::{Callbacks, Parser, Screen};

use crate::{DEADLINE, Nvim, Place, SIZE};

/// What the terminal answers when Neovim asks what it is; without answers Neovim waits and then warns.
#[derive(Default)]
struct Answers(Vec<u8>);

type Shown = Arc<(Mutex<Parser<Answers>>, Condvar)>;

/// A real terminal of [`SIZE`] with a Neovim in it. Hung up and killed when dropped.
pub struct Terminal {
    shown: Shown,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    /// Keeps the terminal open.
    _master: Box<dyn MasterPty + Send>,
}

impl Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let param = params.first().and_then(|param| param.first()).copied().unwrap_or_default();
        match (first, last, param) {
            (None, 'c', 0) => self.0.extend(b"\x1b[?62;22c"),
            (None, 'n', 5) => self.0.extend(b"\x1b[0n"),
            (None, 'n', 6) => {
                let (row, column) = screen.cursor_position();
                self.0.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut Screen, params: &[&[u8]]) {
        if params == [b"11".as_slice(), b"?".as_slice()] {
            self.0.extend(b"\x1b]11;rgb:0000/0000/0000\x07");
        }
    }
}

impl Terminal {
    /// Opens Neovim with these arguments in a folder.
    ///
    /// # Panics
    /// If there is no PTY to be had, or Neovim does not start.
    pub fn open(place: &Place, folder: &Path, arguments: &[&str]) -> Self {
        let size = PtySize { cols: SIZE.0, rows: SIZE.1, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a PTY");
        let nvim = Nvim::find();
        let mut command = CommandBuilder::new(nvim.executable());
        command.args(nvim.arguments());
        command.args(arguments);
        command.cwd(folder);
        command.env_clear();
        for (name, value) in place.environment() {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("Neovim starts");
        let writer = Arc::new(Mutex::new(pair.master.take_writer().expect("the PTY's writer")));
        let [columns, rows] =
            [SIZE.0, SIZE.1].map(|number| NonZeroU16::new(number).expect("a screen has cells"));
        let parser = Parser::new_with_callbacks(rows, columns, 0, Answers::default());
        let shown: Shown = Arc::new((Mutex::new(parser), Condvar::new()));
        read_on(pair.master.try_clone_reader().expect("the PTY's reader"), shown.clone(), writer.clone());
        Self { shown, writer, child, _master: pair.master }
    }

    /// Types bytes, as a terminal sends them (`\r` for Enter, `\x1b` for Escape).
    ///
    /// # Panics
    /// If Neovim has ended.
    pub fn input(&self, bytes: &str) {
        let mut writer = self.writer.lock().expect("no panic under this lock");
        writer.write_all(bytes.as_bytes()).and_then(|()| writer.flush()).expect("the terminal takes input");
    }

    /// Waits until a text stands on the screen, within one row, and returns the screen's text.
    ///
    /// # Panics
    /// If it does not come, with the last screen.
    pub fn expect_text(&self, text: &str) -> String {
        self.expect(&format!("the text {text:?}"), |screen| screen.lines().any(|line| line.contains(text)))
    }

    /// Waits for a screen and returns its text. `what` says in words what is expected.
    ///
    /// # Panics
    /// If it does not come, with the last screen.
    pub fn expect(&self, what: &str, matches: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + DEADLINE;
        let mut parser = self.shown.0.lock().expect("no panic under this lock");
        loop {
            let screen = parser.screen().contents();
            if matches(&screen) {
                return screen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "expected {what} on:\n{screen}");
            parser = self.shown.1.wait_timeout(parser, left).expect("no panic under this lock").0;
        }
    }

    /// Leaves insert mode, and waits until that is seen: an Escape with a key right behind it would be an Alt key.
    pub fn escape(&self) {
        self.input("\x1b");
        self.expect("no insert mode", |screen| !screen.contains("-- INSERT --"));
    }

    /// Waits until Neovim ends and returns its status. `None` if it has not within `limit`.
    pub fn exit(&mut self, limit: Duration) -> Option<u32> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status.exit_code());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_on(mut reader: Box<dyn Read + Send>, shown: Shown, writer: Arc<Mutex<Box<dyn Write + Send>>>) {
    std::thread::spawn(move || {
        let mut piece = [0; 8192];
        while let Ok(bytes @ 1..) = reader.read(&mut piece) {
            let answers = {
                let mut parser = shown.0.lock().expect("no panic under this lock");
                parser.process(&piece[..bytes]);
                std::mem::take(&mut parser.callbacks_mut().0)
            };
            shown.1.notify_all();
            if !answers.is_empty() {
                let mut writer = writer.lock().expect("no panic under this lock");
                // Neovim may have ended meanwhile.
                let _ = writer.write_all(&answers).and_then(|()| writer.flush());
            }
        }
    });
}
