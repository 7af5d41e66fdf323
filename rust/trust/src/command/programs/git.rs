//! `git`: what its tables can't say.

use koda_protocol::CommandClass::{Destructive, Mutating};

use crate::command::rules::{Found, Inner};
use crate::command::words::Arg;

/// Settings that may be given with `-c`: they only change what is shown.
const SHOWN: &[&str] =
    &["color.", "column.", "core.quotepath=", "core.pager=cat", "advice.", "log.", "core.fsmonitor=false"];

/// Judges what comes after `git`.
pub fn check(args: &[Arg], found: &mut Found) {
    settings(args, found);
    let subcommand = found.head.split(' ').nth(1).unwrap_or_default().to_owned();
    match subcommand.as_str() {
        "push" => push(found),
        "checkout" => checkout(args, found),
        "grep" if args.iter().any(|arg| arg.text.starts_with("-O")) => {
            found.raise(Mutating, "-O runs a pager")
        }
        "config" if args.iter().any(|arg| arg.text.starts_with('!')) => {
            let texts = args.iter().filter(|arg| arg.text.starts_with('!'));
            found.inner.extend(texts.map(|arg| Inner::Text(arg.after(1))).collect::<Vec<_>>());
        }
        _ => {}
    }
    if args.iter().any(|arg| arg.text.contains("ext::")) {
        found.raise(Mutating, "with ext:: runs a program");
    }
}

/// `git -c key=value`: an alias or a setting may name a program.
fn settings(args: &[Arg], found: &mut Found) {
    let mut rest = args.iter();
    while let Some(arg) = rest.next().filter(|arg| arg.looks_like_option()) {
        let setting = match arg.text.as_str() {
            "-c" => rest.next().cloned(),
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => {
                rest.next();
                None
            }
            text if text.starts_with("-c") => Some(arg.after(2)),
            _ => None,
        };
        let Some(setting) = setting else { continue };
        let lower = setting.text.to_lowercase();
        if !setting.fixed() || !SHOWN.iter().any(|known| lower.starts_with(known)) {
            found.raise(Mutating, format!("with {} may run other programs", setting.source));
        }
        if let Some((_, text)) = setting.text.split_once("=!") {
            found.inner.push(Inner::Text(Arg::known(text)));
        }
    }
}

/// `+main` overwrites, `:main` deletes.
fn push(found: &mut Found) {
    let forced = found.operands.iter().find(|arg| arg.text.starts_with(['+', ':'])).cloned();
    if let Some(refspec) = forced {
        found.raise(Destructive, format!("{} overwrites or deletes a branch", refspec.text));
    }
}

/// `git checkout` switches branches, but with paths it throws changes away.
fn checkout(args: &[Arg], found: &mut Found) {
    let creates =
        args.iter().any(|arg| matches!(arg.text.as_str(), "-b" | "-B" | "--orphan" | "-t" | "--track"));
    let listed = args.iter().any(|arg| arg.text.starts_with("--pathspec-f"));
    let separated = listed || args.iter().position(|arg| arg.is("--")).is_some_and(|at| at + 1 < args.len());
    let operands = &found.operands;
    let path = |arg: &Arg| {
        let name = arg.text.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_file = !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_alphabetic());
        arg.is(".")
            || arg.text.starts_with("./")
            || arg.text.ends_with('/')
            || is_file
            || arg.text.contains('*')
    };
    if separated || (!creates && (operands.len() > 1 || operands.iter().any(path))) {
        found.raise(Destructive, "with paths throws changes away");
    }
}
