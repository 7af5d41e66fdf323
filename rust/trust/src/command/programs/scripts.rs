//! Interpreters: programs in an argument, in a file, or on the standard input.

use koda_protocol::CommandClass::{Destructive, Mutating, Safe};

use crate::command::rules::{Found, find, judge as by_rule};
use crate::command::walk::Stdin;
use crate::command::words::{Arg, Origin};

/// What in a program's text removes files or runs other programs, in the usual languages.
const DESTROYS: &[&str] = &[
    "rmtree",
    "unlink",
    "os.remove",
    "os.rmdir",
    "os.system",
    "os.exec",
    "os.kill",
    "subprocess",
    "popen",
    "rmSync",
    "rmdir",
    "child_process",
    "execSync",
    "spawnSync",
    "File.delete",
    "FileUtils",
    "system(",
    "system ",
    "exec(",
    "exec ",
    "eval(",
    "__import__",
    "shell_exec",
    "passthru",
    "os.execute",
    "io.popen",
    "truncate",
    "do shell script",
    "Remove-Item",
    "`",
    "Deno.remove",
    "fs.rm",
    "shutil.move",
    "Bun.spawn",
    "Bun.$",
];

/// Statements that destroy what a database holds.
const DESTROYS_DATA: &[&str] = &[
    "drop ",
    "drop(",
    "deleteone",
    "deletemany",
    "remove(",
    "delete ",
    "truncate ",
    "flushall",
    "flushdb",
    ".shell",
    ".system",
    "\\!",
    "dropdatabase",
];

/// Options that the text of a program follows, by interpreter.
const TEXT_OPTIONS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("deno", &["eval"]),
    ("bun", &["-e", "--eval"]),
    ("R", &["-e"]),
    ("osascript", &["-e"]),
    ("pwsh", &["-c", "-Command", "-command"]),
    ("powershell", &["-c", "-Command", "-command"]),
];

/// Judges an interpreter: what it runs is a program, in whose text some words can be recognised.
pub fn interpreter(args: &[Arg], stdin: &Stdin, found: &mut Found) {
    if found.class == Safe {
        return;
    }
    let options =
        TEXT_OPTIONS.iter().find(|(name, _)| found.head.starts_with(name)).map_or(&[][..], |row| row.1);
    let in_argument = args.iter().any(|arg| {
        let cluster = arg.text.starts_with('-')
            && !arg.text.starts_with("--")
            && arg.text.contains(['e', 'E', 'c', 'r', 'p']);
        let name = arg.text.split_once('=').map_or(arg.text.as_str(), |(name, _)| name);
        options.contains(&name) || (cluster && !options.is_empty())
    });
    if in_argument {
        if args.iter().any(|arg| arg.origin == Origin::Command && !arg.fixed()) {
            found.raise(Destructive, "runs what another command prints");
        }
        if args.iter().any(|arg| DESTROYS.iter().any(|sign| arg.text.contains(sign))) {
            found.raise(Destructive, "has a program that removes files or runs others");
        } else {
            found.raise(Mutating, "runs a program given in its arguments");
        }
        return;
    }
    let file = args.iter().find(|arg| !arg.looks_like_option() || arg.is("-"));
    match file {
        Some(file) if file.process => found.raise(Destructive, "runs what another command prints"),
        Some(file) if !file.is("-") && !file.is("/dev/stdin") => {}
        _ => from_stdin(stdin, found),
    }
}

fn from_stdin(stdin: &Stdin, found: &mut Found) {
    match stdin {
        Stdin::Terminal => {}
        Stdin::Unseen => found.raise(Destructive, "runs what comes in, unseen"),
        Stdin::Text(text) if text.fixed() && !DESTROYS.iter().any(|sign| text.text.contains(sign)) => {}
        Stdin::Text(_) => found.raise(Destructive, "has a program that removes files or runs others"),
    }
}

/// `python -m MODULE` may be one of the tools that other tables know.
pub fn python(args: &[Arg], stdin: &Stdin, found: &mut Found) {
    let at = args.iter().position(|arg| arg.text.starts_with("-m") || !arg.looks_like_option());
    let module = at.and_then(|at| args.get(at).map(|arg| (at, arg)));
    let Some((at, option)) = module.filter(|(_, arg)| arg.text.starts_with("-m")) else {
        return interpreter(args, stdin, found);
    };
    let (name, rest) = if option.is("-m") {
        (args.get(at + 1).cloned(), args.get(at + 2..))
    } else {
        (Some(option.after(2)), args.get(at + 1..))
    };
    let (Some(name), rest) = (name.filter(Arg::fixed), rest.unwrap_or_default()) else { return };
    let before = args.get(..at).unwrap_or_default();
    // `-c` and other programs before it would make the module an argument.
    if before.iter().any(|arg| {
        !matches!(arg.text.as_str(), "-u" | "-B" | "-O" | "-OO" | "-s" | "-I" | "-E" | "-q" | "-v")
    }) {
        return found.raise(Mutating, "with options that are not known");
    }
    let known = match name.text.as_str() {
        "pytest" | "unittest" | "doctest" | "mypy" | "pyright" | "flake8" | "pylint" | "black" | "isort"
        | "ruff" | "pip" => name.text.as_str(),
        "json.tool" if rest.len() < 2 => "unittest",
        _ => return,
    };
    let Some(rule) = find(known) else { return };
    let mut tool = by_rule(known, rule, rest);
    if known == "pytest" {
        pytest(rest, &mut tool);
    }
    let vague = found.vague && tool.class > Safe;
    *found = Found { head: format!("{} -m {}", found.head, tool.head), vague, ..tool };
}

/// `-p` loads a plugin, but for `-p no:…`.
pub fn pytest(args: &[Arg], found: &mut Found) {
    let loads = args
        .windows(2)
        .any(|pair| matches!(pair, [option, name] if option.is("-p") && !name.text.starts_with("no:")));
    if loads
        || args
            .iter()
            .any(|arg| arg.text.starts_with("-p") && arg.text.len() > 2 && !arg.text.starts_with("-pno:"))
    {
        found.raise(Mutating, "-p loads a plugin");
    }
}

/// Judges the client of a database by the statements it is given.
pub fn database(args: &[Arg], stdin: &Stdin, found: &mut Found) {
    let given = match stdin {
        Stdin::Text(text) => Some(text.text.to_lowercase()),
        _ => None,
    };
    let plain = |text: String| text.replace(char::is_whitespace, " ");
    let mut texts = args.iter().map(|arg| plain(arg.text.to_lowercase())).chain(given.map(plain));
    if texts.any(|text| DESTROYS_DATA.iter().any(|sign| text.contains(sign))) {
        found.raise(Destructive, "is told to remove data or to run a command");
    }
}
