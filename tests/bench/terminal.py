"""A Neovim in a real terminal (a PTY) that nobody looks at: takes keys, and sees when a text is drawn."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

COLUMNS, ROWS = 120, 40

# What a terminal answers when it is asked what it is. Without answers Neovim waits for them.
ANSWERS = [
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[5n", b"\x1b[0n"),
    (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x07"),
]


class Terminal:
    """Use it as a context manager: the end of the block kills Neovim."""

    def __init__(self, arguments, cwd, environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.child = subprocess.Popen(
            arguments, cwd=cwd, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.tail = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        os.close(self.master)

    def send(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds):
        """Returns what is drawn next and when (monotonic seconds), or nothing after `seconds`."""
        if not select.select([self.master], [], [], seconds)[0]:
            return b"", time.monotonic()
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # the terminal is gone with its last process
            piece = b""
        now = time.monotonic()
        if not piece:
            raise EOFError(f"Neovim ended early; its last output: {self.tail[-400:]!r}")
        for question, answer in ANSWERS:
            if question in piece:
                os.write(self.master, answer)
        self.tail = (self.tail + piece)[-4096:]
        return piece, now

    def wait_for(self, text, seconds=120.0):
        """Waits until `text` is drawn, and returns when."""
        wanted = text.encode()
        deadline = time.monotonic() + seconds
        while True:
            _, now = self.read(deadline - time.monotonic())
            if wanted in self.tail:
                self.tail = b""
                return now
            if now >= deadline:
                raise TimeoutError(f"{text!r} was not drawn within {seconds} s; last output: {self.tail[-400:]!r}")

    def wait_for_file(self, path, seconds=120.0):
        """Goes on drawing until `path` is there."""
        deadline = time.monotonic() + seconds
        while not path.exists():
            self.read(0.01)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} was not written; last output: {self.tail[-400:]!r}")
