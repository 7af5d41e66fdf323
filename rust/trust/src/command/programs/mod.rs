//! Programs whose arguments no table can judge: those with a language of their own in them.

mod forge;
mod git;
mod scripts;
mod shells;
mod text;

use koda_protocol::CommandClass::{Destructive, Mutating};

use super::environment;
use super::rules::{self, Found, Inner};
use super::walk::Stdin;
use super::words::Arg;

/// Programs that are installed under names with a version: `python3.12`.
const VERSIONED: &[&str] = &["python", "pip", "ruby", "perl", "php", "lua", "gcc", "clang"];

/// Judges a program with its arguments.
pub fn judge(name: &str, args: &[Arg], stdin: &Stdin) -> Found {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let known = if VERSIONED.contains(&bare) { bare } else { name };
    let Some(rule) = rules::find(name).or_else(|| rules::find(known)) else {
        return unlisted(name, args);
    };
    let args = if name == "cargo" { without_toolchain(args) } else { args };
    let mut found = rules::judge(name, rule, args);
    match known {
        "sed" | "gsed" => text::sed(args, &mut found),
        "awk" | "gawk" | "mawk" | "nawk" => text::awk(args, &mut found),
        "git" => git::check(args, &mut found),
        "gh" => forge::gh(args, &mut found),
        "curl" => forge::curl(args, &mut found),
        "aws" | "gcloud" | "az" | "oci" | "doctl" | "hcloud" | "linode-cli" | "ibmcloud" | "s3cmd"
        | "gsutil" | "mc" | "heroku" | "fly" | "flyctl" | "vercel" | "netlify" | "railway" | "supabase"
        | "firebase" | "wrangler" | "surge" | "cf" | "eas" => {
            forge::cloud(args, &mut found);
        }
        "env" => shells::env(args, &mut found),
        "ssh" => shells::ssh(stdin, &mut found),
        "hyperfine" => found.inner.extend(found.operands.iter().cloned().map(Inner::Text)),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" => compiler(args, &mut found),
        "stty" => terminal(args, &mut found),
        "sysctl" if found.operands.iter().any(|arg| arg.text.contains('=') || !arg.fixed()) => {
            found.raise(Destructive, "changes the kernel");
        }
        "tsc" | "vue-tsc" if args.iter().any(|arg| arg.is("false")) => {
            found.raise(Mutating, "with false may write files");
        }
        "python" | "python3" | "pypy3" => scripts::python(args, stdin, &mut found),
        "perl" | "ruby" | "node" | "php" | "lua" | "luajit" | "deno" | "bun" | "Rscript" | "osascript" => {
            scripts::interpreter(args, stdin, &mut found);
        }
        "sqlite3" | "psql" | "mysql" | "mariadb" | "redis-cli" | "mongosh" => {
            scripts::database(args, stdin, &mut found)
        }
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "ash" | "rbash"
        | "osh" | "ysh" | "yash" | "posh" | "hush" => {
            shells::shell(known, args, stdin, &mut found);
        }
        "pwsh" | "powershell" | "nu" | "xonsh" | "elvish" => {
            scripts::interpreter(args, stdin, &mut found);
            found.inner.push(Inner::Perhaps(args.to_vec()));
        }
        "eval" => shells::eval(args, &mut found),
        "source" | "." => shells::source(args, &mut found),
        "trap" => shells::trap(args, &mut found),
        "alias" => shells::alias(args, &mut found),
        "xargs" | "parallel" => shells::xargs(name, args, &mut found),
        "export" | "declare" | "typeset" | "local" | "readonly" | "read" | "unset" | "printf" | "mapfile"
        | "let" | "readarray" | "getopts" | "test" | "[" => builtin(args, &mut found),
        "less" | "more" | "view" if args.iter().any(|arg| arg.text.starts_with('+')) => {
            found.raise(Mutating, "with + runs a command");
        }
        "date" => date(&mut found),
        "mv" if found.paths.iter().any(|(path, write)| *write && path.is("/dev/null")) => {
            found.raise(Destructive, "to /dev/null destroys what it moves");
        }
        "dd" => dd(args, &mut found),
        "make" | "gmake" | "just" | "task" => make(&mut found),
        "pytest" | "py.test" => scripts::pytest(args, &mut found),
        "tar" | "gtar" | "bsdtar" => tar(args, &mut found),
        _ => {}
    }
    found
}

/// Subcommands by which programs that no table knows destroy or publish.
const DESTROYING_VERBS: &[&str] = &[
    "delete",
    "destroy",
    "purge",
    "publish",
    "unpublish",
    "drop",
    "wipe",
    "erase",
    "uninstall",
    "prune",
    "rm",
];

/// Verbs are looked for in so many first words.
const MAX_VERBS: usize = 3;

/// `firestore:delete`, `db.drop`
fn verb(word: &str) -> &str {
    word.rsplit([':', '.']).next().unwrap_or(word)
}

/// A program that no table knows may run its arguments, as wrappers do.
fn unlisted(name: &str, args: &[Arg]) -> Found {
    let formats = name.starts_with("mkfs");
    let verb = args.iter().take(MAX_VERBS).find(|arg| DESTROYING_VERBS.contains(&verb(&arg.text)));
    let reason = match verb {
        _ if formats => "formats a disk".to_owned(),
        Some(verb) => format!("is not known, and {} may destroy or publish something", verb.text),
        None => "is not known to be harmless".to_owned(),
    };
    Found {
        class: if formats || verb.is_some() { Destructive } else { Mutating },
        reason: format!("{name} {reason}"),
        head: name.to_owned(),
        vague: false,
        inner: if args.is_empty() { Vec::new() } else { vec![Inner::Perhaps(args.to_vec())] },
        paths: Vec::new(),
        descends: false,
        operands: Vec::new(),
    }
}

/// Options of compilers with their values in the same word, and those that name programs.
fn compiler(args: &[Arg], found: &mut Found) {
    let signs = [
        "-o",
        "-wrapper",
        "-fplugin",
        "-B",
        "-specs",
        "--specs",
        "-MF",
        "-MD",
        "-save-temps",
        "-Xclang",
        "-load",
        "@",
    ];
    if let Some(arg) = args.iter().find(|arg| signs.iter().any(|sign| arg.text.starts_with(sign))) {
        found.raise(Mutating, format!("with {} writes a file or runs another program", arg.source));
    }
}

/// `stty -a` shows; everything else sets.
fn terminal(args: &[Arg], found: &mut Found) {
    let shows = |arg: &Arg| matches!(arg.text.as_str(), "-a" | "-g" | "--all" | "--save" | "size" | "speed");
    if !args.iter().all(|arg| arg.fixed() && shows(arg)) {
        found.raise(Mutating, "changes the terminal");
    }
}

/// `cargo +nightly test`.
fn without_toolchain(args: &[Arg]) -> &[Arg] {
    match args.split_first() {
        Some((first, rest)) if first.text.starts_with('+') && first.fixed() => rest,
        _ => args,
    }
}

/// Where `cd` leads to: none if the program is no `cd`, inner none if that is not known.
pub fn changed_folder(name: &str, args: &[Arg]) -> Option<Option<String>> {
    if !matches!(name, "cd" | "chdir" | "pushd" | "popd") {
        return None;
    }
    let target = args.iter().find(|arg| !arg.looks_like_option());
    Some(match target {
        None if name == "cd" && args.is_empty() => Some("~".to_owned()),
        Some(target) if target.fixed() && args.iter().all(|arg| !arg.is("-")) => Some(target.text.clone()),
        _ => None,
    })
}

/// Builtins that set variables, or evaluate their arguments.
fn builtin(args: &[Arg], found: &mut Found) {
    let sets = !matches!(found.head.as_str(), "test" | "[");
    let declares = matches!(found.head.as_str(), "export" | "declare" | "typeset" | "local" | "readonly");
    let refers = args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('n'));
    for arg in args {
        let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
        let named = arg.fixed() || (arg.text.contains('=') && arg.is_known_to(name.len() + 1));
        if declares && (!named || (refers && environment::is_loaded(value))) {
            found.raise(Mutating, format!("sets a variable that {} names", arg.source));
        }
        let value = if arg.fixed() { Arg::known(value) } else { Arg::unseen() };
        if sets && environment::changes_what_runs(name, &value) {
            found.raise(Mutating, format!("changes {name}, by which programs are found or run"));
        }
        if arg.text.contains("$(") || arg.text.contains('`') {
            let text = arg.text.replace('\\', "\\\\").replace('"', "\\\"");
            found.inner.push(Inner::Text(Arg::known(&format!(": \"{text}\""))));
            found.raise(Mutating, "may evaluate a command in its argument");
        }
    }
}

/// `date +%F` prints, `date 0102` sets the clock.
fn date(found: &mut Found) {
    if found.operands.iter().any(|arg| !arg.text.starts_with('+')) {
        found.raise(Destructive, "sets the clock");
    }
}

fn dd(args: &[Arg], found: &mut Found) {
    found.paths.clear();
    for (prefix, write) in [("if=", false), ("of=", true)] {
        let named = args.iter().filter(|arg| arg.text.starts_with(prefix));
        found.paths.extend(named.map(|arg| (arg.after(prefix.len()), write)));
    }
}

/// Targets that test are safe; variables may say what runs.
fn make(found: &mut Found) {
    let targets = &found.operands;
    let tests =
        |arg: &Arg| arg.fixed() && matches!(arg.text.as_str(), "test" | "tests" | "check" | "lint" | "help");
    if !targets.is_empty()
        && targets.iter().all(tests)
        && found.class == Mutating
        && found.reason.ends_with("recipes")
    {
        let targets: Vec<&str> = targets.iter().map(|arg| arg.text.as_str()).collect();
        found.reason = format!("{} {} tests the project", found.head, targets.join(" "));
        found.class = koda_protocol::CommandClass::Safe;
    }
}

/// `tar` takes its mode from the first word, with or without a dash.
fn tar(args: &[Arg], found: &mut Found) {
    let Some(first) = args.first().filter(|arg| arg.fixed()) else { return };
    let mode = first.text.strip_prefix('-').unwrap_or(&first.text);
    let lists = first.is("--list")
        || (!first.text.starts_with("--") && mode.contains('t') && !mode.contains(['x', 'c', 'r', 'u', 'A']));
    let others = args.iter().skip(1).any(|arg| {
        let text = arg.text.as_str();
        arg.may_be_option()
            || [
                "--extract",
                "--get",
                "--create",
                "--append",
                "--update",
                "--delete",
                "--concatenate",
                "--catenate",
            ]
            .iter()
            .any(|mode| text.len() > 3 && mode.starts_with(text))
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'c', 'r', 'u', 'A']))
    });
    // These were seen by the table too, but not as worse than writing files.
    let runs = ["--use-c", "--to-c", "--checkpoint-a", "--rs", "--rm", "--info-s", "--new-v", "-I", "-F"];
    let others = others || args.iter().any(|arg| runs.iter().any(|sign| arg.text.starts_with(sign)));
    if lists && !others && found.class == Mutating && found.reason.ends_with("writes files") {
        found.class = koda_protocol::CommandClass::Safe;
        found.reason = format!("{} only lists", found.head);
    }
}
