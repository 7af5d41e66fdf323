//! Programs that run another one: what it is that they run.

use koda_protocol::CommandClass::{self, Destructive, Mutating, Safe};

use super::words::Known;

/// What a wrapper runs.
pub enum Inner {
    /// These words, as a simple command; the class is at least this.
    Words(Vec<Known>, CommandClass),
    /// This text, by a shell; the class is at least this.
    Text(String, CommandClass),
    /// Something that is known only when it runs.
    Unknown(CommandClass),
}

/// Finds what a wrapper runs; none if the program is no wrapper.
pub fn unwrap(name: &str, words: &[Known]) -> Option<Inner> {
    let args = words.get(1..).unwrap_or_default();
    match name {
        "sudo" | "doas" | "su" | "pkexec" | "runuser" => Some(Inner::Words(Vec::new(), Destructive)),
        "env" => Some(env(args)),
        "time" | "nohup" | "exec" | "builtin" | "setsid" | "command" => plain(name, args),
        "nice" | "ionice" | "timeout" | "stdbuf" | "watch" | "chrt" | "taskset" => Some(counted(name, args)),
        "xargs" | "parallel" => Some(xargs(args)),
        "find" => find(args),
        "fd" | "fdfind" => after(args, &["-x", "-X", "--exec", "--exec-batch"]),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => Some(shell(args)),
        "eval" => Some(eval(args)),
        "trap" => args.first().filter(|arg| arg.text.contains(' ')).map(|_| Inner::Unknown(Mutating)),
        "source" | "." => Some(Inner::Unknown(if args.iter().any(|arg| arg.text.is_empty()) {
            Destructive
        } else {
            Mutating
        })),
        _ => None,
    }
}

fn plain(name: &str, args: &[Known]) -> Option<Inner> {
    if name == "command" && args.iter().any(|arg| arg.text == "-v" || arg.text == "-V") {
        return None;
    }
    let at = args.iter().position(|arg| !arg.text.starts_with('-'))?;
    Some(Inner::Words(args.get(at..).unwrap_or_default().to_vec(), Safe))
}

/// `env [-i] [-u NAME] [NAME=VALUE ...] COMMAND`.
fn env(args: &[Known]) -> Inner {
    let mut least = Safe;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if text == "-u" || text == "-C" || text == "--unset" || text == "--chdir" {
            at += 1;
        } else if text.starts_with("-S") || text.starts_with("--split-string") {
            return Inner::Unknown(Mutating);
        } else if let Some((name, _)) = text.split_once('=').filter(|_| !text.starts_with('-')) {
            if matches!(name, "PATH" | "BASH_ENV" | "ENV" | "PAGER" | "EDITOR")
                || name.starts_with("LD_")
                || name.starts_with("GIT_")
            {
                least = Mutating;
            }
        } else if !text.starts_with('-') {
            break;
        }
        at += 1;
    }
    Inner::Words(args.get(at..).unwrap_or_default().to_vec(), least)
}

/// Wrappers whose options take values, and `timeout`, whose first argument is a time.
fn counted(name: &str, args: &[Known]) -> Inner {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
        let takes_value =
            matches!(arg.text.as_str(), "-n" | "-c" | "-k" | "-s" | "-o" | "-e" | "-i" | "-p" | "--signal");
        at += if takes_value { 2 } else { 1 };
    }
    at += usize::from(matches!(name, "timeout" | "taskset" | "chrt"));
    let rest = args.get(at..).unwrap_or_default();
    if name == "watch" && rest.len() == 1 {
        return Inner::Text(rest.iter().map(|word| word.text.clone()).collect(), Safe);
    }
    Inner::Words(rest.to_vec(), Safe)
}

/// `xargs` adds arguments that nobody sees: what it runs must be harmless with any.
fn xargs(args: &[Known]) -> Inner {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
        let takes_value =
            matches!(arg.text.as_str(), "-I" | "-n" | "-P" | "-L" | "-d" | "-E" | "-s" | "-a" | "-j");
        at += if takes_value { 2 } else { 1 };
    }
    let mut words = args.get(at..).unwrap_or_default().to_vec();
    if words.is_empty() {
        return Inner::Words(vec![], Safe);
    }
    words.push(Known::default());
    Inner::Words(words, Safe)
}

fn find(args: &[Known]) -> Option<Inner> {
    if args.iter().any(|arg| arg.text == "-delete") {
        return Some(Inner::Unknown(Destructive));
    }
    after(args, &["-exec", "-execdir", "-ok", "-okdir"])
}

/// What follows one of `options`, up to a `;` or `+`.
fn after(args: &[Known], options: &[&str]) -> Option<Inner> {
    let at = args.iter().position(|arg| options.contains(&arg.text.as_str()))?;
    let words = args.get(at + 1..).unwrap_or_default().iter();
    let words: Vec<Known> = words.take_while(|word| word.text != ";" && word.text != "+").cloned().collect();
    Some(if words.is_empty() { Inner::Unknown(Mutating) } else { Inner::Words(words, Safe) })
}

fn shell(args: &[Known]) -> Inner {
    let short =
        |arg: &Known| arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains('c');
    if args.iter().any(|arg| arg.text == "--version") {
        return Inner::Words(Vec::new(), Safe);
    }
    match args.iter().position(short).and_then(|at| args.get(at + 1)) {
        Some(script) if script.fixed => Inner::Text(script.text.clone(), Safe),
        Some(_) => Inner::Unknown(Destructive),
        None => Inner::Unknown(Mutating),
    }
}

fn eval(args: &[Known]) -> Inner {
    if args.iter().all(|arg| arg.fixed) {
        let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
        return Inner::Text(words.join(" "), Safe);
    }
    Inner::Unknown(Destructive)
}
