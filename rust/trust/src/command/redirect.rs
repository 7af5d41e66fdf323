//! Redirections, and the paths that a command names.

use koda_protocol::CommandClass::{self, Destructive, Mutating, Safe};

use super::syntax::{Redirect, Sign};
use super::walk::{Judge, Stdin};
use super::words::Arg;
use super::{Named, rules::Found};

/// Files that take everything and keep nothing.
const HARMLESS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/full", "/dev/zero"];

/// Longer lists of paths are not kept: what names so many is not judged path by path.
const MAX_PATHS: usize = 500;

impl Judge {
    /// Notes what a redirection makes of the standard input, before the command is judged.
    pub(super) fn input(&mut self, redirect: &Redirect) {
        let word = match redirect.sign {
            Sign::Here(at) => self.body(at),
            Sign::HereString => Some(redirect.target.clone()),
            Sign::Read | Sign::ReadWrite | Sign::CopyInput => return self.set_stdin(Stdin::Unseen),
            _ => return,
        };
        let args = word.map(|word| self.expand(&word)).unwrap_or_default();
        self.set_stdin(Stdin::Text(Arg::joined(&args)));
    }

    /// Judges redirections.
    pub(super) fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match redirect.sign {
                Sign::Here(at) => {
                    if let Some(body) = self.body(at) {
                        self.word(&body);
                    }
                }
                Sign::HereString => self.word(&redirect.target),
                Sign::Read => {
                    self.word(&redirect.target);
                    self.targets(redirect, false);
                    // Of a shell's own making: it opens a connection.
                    if redirect.target.text.contains("/dev/tcp/")
                        || redirect.target.text.contains("/dev/udp/")
                    {
                        self.opaque(&redirect.target.text, Mutating, "opens a connection");
                    }
                }
                Sign::Write | Sign::Append | Sign::ReadWrite => self.output(redirect),
                Sign::CopyInput | Sign::CopyOutput => {
                    let text = redirect.target.text.trim_end_matches('-');
                    if text.bytes().all(|byte| byte.is_ascii_digit()) {
                        continue;
                    }
                    self.output(redirect);
                }
            }
        }
    }

    fn targets(&mut self, redirect: &Redirect, write: bool) -> CommandClass {
        let targets = self.expand(&redirect.target);
        targets.iter().map(|target| self.path(target, write)).max().unwrap_or(Mutating)
    }

    fn output(&mut self, redirect: &Redirect) {
        self.word(&redirect.target);
        let class = self.targets(redirect, true);
        if class == Safe {
            return;
        }
        let sign = if redirect.sign == Sign::Append { ">>" } else { ">" };
        let reason = if class == Destructive { "writes to a device" } else { "writes a file" };
        self.opaque(&format!("{sign} {}", redirect.target.text), class, reason);
    }

    /// Notes the paths that a program was found to read and write; returns how bad they make it.
    pub(super) fn named(&mut self, found: &Found) -> CommandClass {
        let class = found.paths.iter().map(|(path, write)| (self.path(path, *write), *write));
        let class: Vec<(CommandClass, bool)> = class.collect();
        let device = class.iter().any(|(class, write)| *write && *class == Destructive);
        if device { Destructive } else { Safe }
    }

    /// Notes a path; returns how bad writing it is.
    fn path(&mut self, arg: &Arg, write: bool) -> CommandClass {
        if arg.process {
            return Safe;
        }
        if arg.fixed() {
            if HARMLESS.contains(&arg.text.as_str()) || arg.text.starts_with("/dev/fd/") {
                return Safe;
            }
            let text = super::joined(self.folder.as_deref(), &arg.text);
            if let Some(text) = text.filter(|_| self.paths.len() < MAX_PATHS) {
                self.paths.push(Named { text, write });
            }
        }
        if write && !arg.fixed() {
            self.beginning(arg);
        }
        match write {
            true if arg.text.starts_with("/proc/") || arg.text.starts_with("/sys/") => Destructive,
            true if arg.text.starts_with("/dev/") && !arg.text.starts_with("/dev/null") => Destructive,
            _ => Mutating,
        }
    }
}
