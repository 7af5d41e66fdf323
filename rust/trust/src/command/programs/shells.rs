//! Shells, and the builtins that run a text.

use koda_protocol::CommandClass::{Destructive, Mutating, Safe};

use crate::command::rules::{Found, Inner};
use crate::command::walk::Stdin;
use crate::command::words::Arg;

/// Options of shells that take the next word.
const WITH_VALUE: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C", "--init-command"];

/// Judges a shell: its text in an argument or on the standard input, else its script.
pub fn shell(name: &str, args: &[Arg], stdin: &Stdin, found: &mut Found) {
    if args.len() == 1 && args.iter().any(|arg| arg.is("--version") || arg.is("--help")) {
        return;
    }
    let mut at = 0;
    let (mut text, mut from_stdin, mut only_parses) = (false, false, false);
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with(['-', '+']) || arg.may_be_option()) {
        at += 1;
        if arg.may_be_option() {
            return unsure(args, found);
        }
        let value = arg.text.as_str();
        if value == "--" || value == "-" {
            break;
        }
        if value.contains(char::is_whitespace) {
            // No shell takes it for an option, and some may for the text.
            found.inner.push(Inner::Perhaps(vec![arg.clone()]));
        }
        if value.starts_with("--rcfile") || value.starts_with("--init") {
            found.raise(Mutating, "reads a file of commands first");
        }
        let short = !value.starts_with("--");
        text |= (short && value.contains('c') && value.starts_with('-')) || value == "--command";
        from_stdin |= short && value.contains('s');
        only_parses |= short && value.starts_with('-') && value.contains('n');
        at += usize::from(WITH_VALUE.contains(&value));
    }
    let rest = args.get(at..).unwrap_or_default();
    if text {
        return command_text(name, rest, found);
    }
    match rest.first() {
        Some(script) if script.process => found.raise(Destructive, "runs what another command prints"),
        Some(script) if !from_stdin && !script.is("/dev/stdin") => {
            found.raise(if only_parses && found.class == Safe { Safe } else { Mutating }, "runs a script");
            found.paths.push((script.clone(), false));
        }
        _ => input(name, stdin, found),
    }
}

fn unsure(args: &[Arg], found: &mut Found) {
    found.raise(Destructive, "runs something that is known only then");
    found.inner.push(Inner::Perhaps(args.to_vec()));
}

fn command_text(name: &str, rest: &[Arg], found: &mut Found) {
    let Some((script, arguments)) = rest.split_first() else {
        return found.raise(Mutating, "-c without a text");
    };
    // Their grammar is not the one that we know.
    if matches!(name, "fish" | "csh" | "tcsh") {
        found.raise(Mutating, "has a grammar of its own");
    }
    found.inner.push(Inner::Text(script.clone()));
    // `sh -c '"$@"' sh rm x`
    found.inner.push(Inner::Perhaps(arguments.to_vec()));
}

fn input(name: &str, stdin: &Stdin, found: &mut Found) {
    match stdin {
        Stdin::Terminal => found.raise(Mutating, "starts a shell"),
        Stdin::Unseen => found.raise(Destructive, "runs what comes in, unseen"),
        Stdin::Text(text) => command_text(name, std::slice::from_ref(text), found),
    }
}

/// `env -S` makes a command of a text and of all words that follow.
pub fn env(args: &[Arg], found: &mut Found) {
    let splits =
        |arg: &Arg| arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.ends_with('S');
    if let Some(at) = args.iter().position(|arg| splits(arg) || arg.is("--split-string")) {
        found.inner.push(Inner::Text(Arg::joined(args.get(at + 1..).unwrap_or_default())));
    }
}

/// `ssh` without a command runs what comes in.
pub fn ssh(stdin: &Stdin, found: &mut Found) {
    if let (true, Stdin::Text(text)) = (found.inner.is_empty(), stdin) {
        found.inner.push(Inner::Text(text.clone()));
    }
}

/// `eval` joins its words and runs them.
pub fn eval(args: &[Arg], found: &mut Found) {
    if !args.is_empty() {
        found.inner.push(Inner::Text(Arg::joined(args)));
    }
}

/// `source` runs a file in this shell.
pub fn source(args: &[Arg], found: &mut Found) {
    match args.first() {
        Some(file) if file.process || file.is("/dev/stdin") => {
            found.raise(Destructive, "runs what another command prints")
        }
        Some(file) => found.paths.push((file.clone(), false)),
        None => {}
    }
}

/// `trap` keeps a text that runs later.
pub fn trap(args: &[Arg], found: &mut Found) {
    let asks = args.first().is_some_and(|arg| arg.looks_like_option() || arg.is("-"));
    if let Some(text) = args
        .iter()
        .find(|arg| !arg.looks_like_option())
        .filter(|_| !asks || args.first().is_some_and(|arg| arg.is("--")))
    {
        found.inner.push(Inner::Text(text.clone()));
    }
}

/// `alias` gives a name to a text that may run later.
pub fn alias(args: &[Arg], found: &mut Found) {
    for arg in args {
        if let Some((name, _)) = arg.text.split_once('=') {
            found.raise(Mutating, "changes what a name runs");
            found.inner.push(Inner::Text(arg.after(name.len() + 1)));
        }
    }
}

/// The words before the command that is run: `-i` after it is that command's own.
fn own_options<'a>(args: &'a [Arg], found: &Found) -> &'a [Arg] {
    let run = found.inner.iter().find_map(|inner| match inner {
        // What comes in stands behind them.
        Inner::Words(words, _) => Some(words.len() - usize::from(words.last() == Some(&Arg::unseen()))),
        _ => None,
    });
    &args[..args.len().saturating_sub(run.unwrap_or(0))]
}

/// What an option of `xargs` has replaced by the words that come in. Only `-I` takes the next word.
fn replaced_by(option: &Arg, next: Option<&Arg>) -> Option<String> {
    let text = option.text.as_str();
    let mark = match text {
        "-I" => next.map_or("{}", |next| next.text.as_str()),
        "-i" | "--replace" => "{}",
        _ => ["-I", "-i", "--replace="].iter().find_map(|name| text.strip_prefix(name))?,
    };
    Some(mark.to_owned())
}

/// `xargs` gives a program words that nobody sees: a shell would run them.
pub fn xargs(name: &str, args: &[Arg], found: &mut Found) {
    let replaced =
        own_options(args, found).iter().enumerate().find_map(|(at, arg)| replaced_by(arg, args.get(at + 1)));
    let marks: Vec<String> =
        replaced.into_iter().chain(["{}".to_owned()]).filter(|mark| !mark.is_empty()).collect();
    if name == "parallel"
        && let Some(at) = args.iter().position(|arg| arg.text.starts_with(":::"))
        && found.inner.iter().any(|inner| matches!(inner, Inner::Words(words, _) if words.first().is_some_and(|word| word.text.starts_with(":::"))))
    {
        // Without a command, what follows are commands.
        let texts = args.iter().skip(at + 1).filter(|arg| !arg.text.starts_with(":::"));
        found.inner = texts.cloned().map(Inner::Text).collect();
        return;
    }
    let mut runs_text = name == "parallel" && found.inner.is_empty();
    for inner in &mut found.inner {
        let Inner::Words(words, _) = inner else { continue };
        for word in words.iter_mut() {
            if let Some(mark) = marks.iter().find(|mark| word.text.contains(mark.as_str())) {
                *word = word.clone().with_unseen(mark);
            }
        }
        // `parallel` makes one text of its words; with one word it may be a whole script.
        runs_text |=
            name == "parallel" && words.first().is_some_and(|word| word.text.contains(char::is_whitespace));
        if let Some(end) = words.iter().position(|word| word.text.starts_with(":::")) {
            words.truncate(end);
            words.push(Arg::unseen());
        }
    }
    if runs_text {
        let texts = found.inner.iter().filter_map(|inner| match inner {
            Inner::Words(words, _) => words.first().map(|word| Inner::Text(Arg::known(&word.text))),
            _ => None,
        });
        found.inner = texts.collect();
        if found.inner.is_empty() {
            found.raise(Destructive, "runs the lines that come in");
        }
    }
}
