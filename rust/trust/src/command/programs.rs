//! What each program does, by its arguments. Rules are data; what is not listed is mutating.

use koda_protocol::CommandClass::{self, Destructive, Mutating, Safe};

use super::words::Known;

/// What was found of a simple command.
pub struct Judged {
    /// Its class.
    pub class: CommandClass,
    /// Why.
    pub reason: String,
    /// Program and subcommand, for rules.
    pub head: String,
}

/// Programs that only read or print, unless one of the options is there, which makes them mutating.
const READERS: &[(&str, &[&str])] = &[
    ("[", &[]),
    ("ag", &["--pager"]),
    ("arch", &[]),
    ("basename", &[]),
    ("bat", &["--pager"]),
    ("cal", &[]),
    ("cat", &[]),
    ("cd", &[]),
    ("cksum", &[]),
    ("cloc", &[]),
    ("cmp", &[]),
    ("column", &[]),
    ("comm", &[]),
    ("command", &[]),
    ("cut", &[]),
    ("date", &["-s", "--set"]),
    ("df", &[]),
    ("diff", &["--output"]),
    ("dirname", &[]),
    ("du", &[]),
    ("echo", &[]),
    ("egrep", &[]),
    ("env", &[]),
    ("exit", &[]),
    ("expr", &[]),
    ("false", &[]),
    ("fd", &[]),
    ("fdfind", &[]),
    ("fgrep", &[]),
    ("file", &["-C"]),
    ("find", &["-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("fmt", &[]),
    ("fold", &[]),
    ("free", &[]),
    ("grep", &[]),
    ("groups", &[]),
    ("head", &[]),
    ("hexdump", &[]),
    ("id", &[]),
    ("jobs", &[]),
    ("join", &[]),
    ("jq", &[]),
    ("less", &["-o", "-O"]),
    ("locale", &[]),
    ("ls", &[]),
    ("lsof", &[]),
    ("man", &["-P"]),
    ("md5sum", &[]),
    ("more", &[]),
    ("nl", &[]),
    ("nm", &[]),
    ("nproc", &[]),
    ("objdump", &[]),
    ("od", &[]),
    ("paste", &[]),
    ("pgrep", &[]),
    ("popd", &[]),
    ("printenv", &[]),
    ("printf", &["-v"]),
    ("ps", &[]),
    ("pstree", &[]),
    ("pushd", &[]),
    ("pwd", &[]),
    ("read", &[]),
    ("readelf", &[]),
    ("readlink", &[]),
    ("realpath", &[]),
    ("rev", &[]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("seq", &[]),
    ("sha1sum", &[]),
    ("sha256sum", &[]),
    ("sha512sum", &[]),
    ("shellcheck", &[]),
    ("size", &[]),
    ("sleep", &[]),
    ("sort", &["-o", "--output", "--compress-program"]),
    ("ss", &["-K", "--kill"]),
    ("stat", &[]),
    ("strings", &[]),
    ("sum", &[]),
    ("tac", &[]),
    ("tail", &[]),
    ("test", &[]),
    ("tokei", &[]),
    ("top", &[]),
    ("tput", &[]),
    ("tr", &[]),
    ("tree", &["-o"]),
    ("true", &[]),
    ("tty", &[]),
    ("type", &[]),
    ("ulimit", &[]),
    ("uname", &[]),
    ("uniq", &[]),
    ("uptime", &[]),
    ("wait", &[]),
    ("wc", &[]),
    ("whereis", &[]),
    ("which", &[]),
    ("who", &[]),
    ("whoami", &[]),
    ("xxd", &["-r"]),
    ("yes", &[]),
    ("zcat", &[]),
    (":", &[]),
    ("time", &[]),
    ("nohup", &[]),
    ("xargs", &[]),
    ("vitest", &[]),
    ("jest", &[]),
    ("mypy", &[]),
    ("tsc", &["--build", "-b"]),
    ("pyright", &[]),
    ("flake8", &[]),
    ("pylint", &[]),
    ("ctest", &[]),
    ("pytest", &["--basetemp", "-p"]),
    ("py.test", &[]),
    ("tox", &[]),
    ("set", &[]),
];

/// Programs that destroy, take rights or stop things, whatever their arguments.
const DESTROYERS: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "truncate",
    "dd",
    "fdisk",
    "parted",
    "wipefs",
    "chown",
    "chgrp",
    "sudo",
    "su",
    "doas",
    "pkexec",
    "kill",
    "killall",
    "pkill",
    "reboot",
    "shutdown",
    "halt",
    "poweroff",
    "systemctl",
    "service",
    "mount",
    "umount",
    "crontab",
    "iptables",
    "useradd",
    "userdel",
    "passwd",
    "visudo",
    "srm",
    "format",
];

/// Subcommands by class: `(program, safe, destructive)`; others are mutating.
const SUBCOMMANDS: &[(&str, &[&str], &[&str])] = &[
    (
        "cargo",
        &[
            "build",
            "b",
            "check",
            "c",
            "test",
            "t",
            "nextest",
            "clippy",
            "doc",
            "tree",
            "metadata",
            "search",
            "info",
            "bench",
            "verify-project",
            "locate-project",
            "pkgid",
            "version",
            "help",
            "audit",
            "deny",
        ],
        &["publish", "yank", "owner", "logout"],
    ),
    ("go", &["test", "vet", "build", "list", "env", "version", "doc", "help"], &[]),
    (
        "npm",
        &["test", "t", "ls", "list", "view", "outdated", "audit", "help"],
        &["publish", "unpublish", "deprecate", "owner"],
    ),
    ("pnpm", &["test", "t", "ls", "list", "outdated", "why"], &["publish", "unpublish"]),
    ("yarn", &["test", "list", "why", "info", "outdated"], &["publish", "unpublish"]),
    ("pip", &["list", "show", "freeze", "check", "help", "index"], &["uninstall"]),
    ("pip3", &["list", "show", "freeze", "check", "help", "index"], &["uninstall"]),
    ("gem", &["list", "search", "info"], &["uninstall", "push", "yank"]),
    (
        "docker",
        &[
            "ps", "images", "logs", "inspect", "version", "info", "stats", "top", "port", "diff", "history",
            "search",
        ],
        &["rm", "rmi", "kill", "prune"],
    ),
    (
        "kubectl",
        &["get", "describe", "logs", "explain", "version", "top", "api-resources", "cluster-info"],
        &["delete", "drain"],
    ),
    (
        "terraform",
        &["plan", "show", "validate", "version", "output", "providers", "graph"],
        &["destroy", "apply"],
    ),
    ("make", &["test", "check", "lint", "help"], &[]),
    (
        "git",
        &[
            "status",
            "log",
            "show",
            "diff",
            "blame",
            "describe",
            "rev-parse",
            "rev-list",
            "ls-files",
            "ls-tree",
            "ls-remote",
            "shortlog",
            "cat-file",
            "show-ref",
            "name-rev",
            "merge-base",
            "diff-tree",
            "for-each-ref",
            "grep",
            "reflog",
            "whatchanged",
            "cherry",
            "count-objects",
            "check-ignore",
            "var",
            "version",
            "help",
            "annotate",
            "range-diff",
        ],
        &["filter-branch", "filter-repo", "gc", "prune", "update-ref"],
    ),
    ("gh", &["status", "search"], &[]),
    ("aws", &[], &[]),
    ("rustup", &["show", "which", "doc"], &["self", "uninstall"]),
    ("brew", &["list", "info", "search", "doctor", "outdated"], &["uninstall", "remove"]),
    ("apt", &["list", "show", "search", "policy"], &["remove", "purge", "autoremove"]),
    ("apt-get", &[], &["remove", "purge", "autoremove"]),
    ("apt-cache", &["show", "search", "policy"], &[]),
    ("hg", &["status", "log", "diff", "cat", "blame"], &["strip", "purge"]),
    ("dotnet", &["test", "build", "list"], &[]),
    ("mvn", &["test", "verify", "compile"], &["deploy"]),
    ("gradle", &["test", "check", "build", "tasks"], &["publish"]),
    ("mix", &["test"], &["hex.publish"]),
    ("swift", &["test", "build"], &[]),
    ("zig", &["test", "build"], &[]),
    ("ruff", &["check"], &[]),
];

/// Options that make a `safe` subcommand more: `(program, option, class)`. Prefixes of `--option=` count.
const DANGEROUS_OPTIONS: &[(&str, &str, CommandClass)] = &[
    ("git", "--output", Mutating),
    ("git", "--open-files-in-pager", Mutating),
    ("git", "--ext-diff", Mutating),
    ("git", "--textconv", Mutating),
    ("cargo", "--fix", Mutating),
    ("cargo", "--config", Mutating),
    ("go", "-exec", Mutating),
    ("go", "-toolexec", Mutating),
    ("ruff", "--fix", Mutating),
    ("npm", "--prefix", Mutating),
];

/// Interpreters and their options that run a text.
const SCRIPTS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("python3", &["-c"]),
    ("perl", &["-e", "-E", "-ne", "-pe", "-i"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];

/// Whether the text has the name of a destroyer as a word: for what can't be parsed.
pub fn mentions_destroyer(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').any(|word| DESTROYERS.contains(&word))
}

/// Judges a program with its arguments.
pub fn judge(name: &str, args: &[Known]) -> Judged {
    let subcommand = args.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| arg.text.as_str());
    let has_subcommands = SUBCOMMANDS.iter().any(|row| row.0 == name) && !subcommand.is_empty();
    let head = if has_subcommands { format!("{name} {subcommand}") } else { name.to_owned() };
    let (class, reason) = class(name, args, &head);
    Judged { class, reason, head }
}

fn class(name: &str, args: &[Known], head: &str) -> (CommandClass, String) {
    let safe = |why: &str| (Safe, format!("{head} {why}"));
    if only_asks_version(args) && !DESTROYERS.contains(&name) {
        return safe("only prints its version or help");
    }
    if DESTROYERS.contains(&name) || name.starts_with("mkfs") {
        return (Destructive, format!("{name} destroys, stops or takes rights"));
    }
    if let Some((class, reason)) = special(name, args) {
        return (class, reason);
    }
    if let Some((_, options)) = READERS.iter().find(|row| row.0 == name) {
        return match args.iter().find(|arg| options.iter().any(|option| is_option(arg, option))) {
            Some(arg) => (Mutating, format!("{name} with {} writes or runs something", arg.text)),
            None => safe("only reads"),
        };
    }
    if let Some((_, options)) = SCRIPTS.iter().find(|row| row.0 == name) {
        return script(name, args, options);
    }
    if let Some(row) = SUBCOMMANDS.iter().find(|row| row.0 == name) {
        return by_subcommand(row, args, head);
    }
    (Mutating, format!("{name} is not known to be harmless"))
}

fn only_asks_version(args: &[Known]) -> bool {
    let [only] = args else { return false };
    only.fixed && matches!(only.text.as_str(), "--version" | "--help" | "-V" | "-h" | "version" | "help")
}

/// Whether an argument is this option: itself, `--option=value`, or a short one with its value behind.
fn is_option(arg: &Known, option: &str) -> bool {
    let text = arg.text.as_str();
    let valued = text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
    let short = option.len() == 2 && text.len() > 2 && text.starts_with(option);
    text == option || valued || short
}

fn has(args: &[Known], option: &str) -> bool {
    args.iter().any(|arg| is_option(arg, option))
}

fn by_subcommand(row: &(&str, &[&str], &[&str]), args: &[Known], head: &str) -> (CommandClass, String) {
    let (name, safe, destructive) = *row;
    let Some(subcommand) = args.iter().find(|arg| !arg.text.starts_with('-')) else {
        let class = if args.iter().all(|arg| arg.fixed) && name != "make" { Safe } else { Mutating };
        return (class, format!("{name} without a subcommand"));
    };
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    if !subcommand.fixed {
        return (Mutating, format!("which subcommand of {name} runs is known only when it runs"));
    }
    if words.iter().any(|word| destructive.contains(word)) {
        return (Destructive, format!("{head} destroys or publishes"));
    }
    if let Some((_, option, class)) =
        DANGEROUS_OPTIONS.iter().find(|(program, option, _)| *program == name && has(args, option))
    {
        return (*class, format!("{head} with {option} writes or runs something"));
    }
    if safe.contains(&subcommand.text.as_str()) {
        return (Safe, format!("{head} reads, builds or tests"));
    }
    (Mutating, format!("{head} is not known to be harmless"))
}

fn script(name: &str, args: &[Known], options: &[&str]) -> (CommandClass, String) {
    if options.iter().any(|option| has(args, option)) {
        return (Mutating, format!("{name} runs a text given to it"));
    }
    let words: Vec<&str> = args.iter().take(2).map(|arg| arg.text.as_str()).collect();
    if let ["-m", "pytest" | "unittest" | "mypy" | "doctest" | "compileall"] = words[..] {
        return (Safe, format!("{name} -m {} tests the project", words.get(1).unwrap_or(&"")));
    }
    if words.first() == Some(&"--test") {
        return (Safe, format!("{name} --test tests the project"));
    }
    (Mutating, format!("{name} runs a program"))
}

/// Programs whose arguments need more than a table.
fn special(name: &str, args: &[Known]) -> Option<(CommandClass, String)> {
    let found = match name {
        "git" => return git(args),
        "gh" => return Some(gh(args)),
        "sed" => sed(args),
        "awk" | "gawk" | "mawk" => awk(args),
        "yq" => (if has(args, "-i") || has(args, "--inplace") { Mutating } else { Safe }, "yq -i writes"),
        "uniq" => (
            if args.iter().filter(|arg| !arg.text.starts_with('-')).count() > 1 { Mutating } else { Safe },
            "a second file is written",
        ),
        "hostname" => (if args.is_empty() { Safe } else { Mutating }, "a name sets it"),
        "tar" => tar(args),
        "unzip" => (if has(args, "-l") || has(args, "-t") { Safe } else { Mutating }, "unpacks files"),
        "rsync" => (
            if args.iter().any(|arg| arg.text.starts_with("--del")) { Destructive } else { Mutating },
            "copies files",
        ),
        "curl" | "wget" => (Mutating, "talks to the network and may write files"),
        "cargo" => return cargo(args),
        "docker" if args.first().is_some_and(|arg| arg.text == "compose") => compose(args),
        "env" | "time" | "nohup" if args.is_empty() => (Safe, "alone it only prints"),
        "date" if args.iter().any(|arg| is_option(arg, "-s")) => (Mutating, "sets the clock"),
        "export" | "declare" | "local" | "readonly" => return Some(export(name, args)),
        "eslint" | "prettier" | "black" | "rustfmt" | "gofmt" => formatter(args),
        "npx" | "bunx" | "uvx" => (Mutating, "runs a package that may be fetched"),
        "fzf" => (Safe, "only chooses"),
        "chmod" if args.iter().any(|arg| is_option(arg, "-R")) => {
            (Destructive, "changes rights below a folder")
        }
        _ => return None,
    };
    Some((found.0, format!("{name}: {}", found.1)))
}

fn cargo(args: &[Known]) -> Option<(CommandClass, String)> {
    let at = usize::from(args.first().is_some_and(|arg| arg.text.starts_with('+')));
    match args.get(at).map(|arg| arg.text.as_str()) {
        Some("fmt") if has(args, "--check") => Some((Safe, "cargo fmt --check only reads".to_owned())),
        Some("clippy") if has(args, "--fix") => Some((Mutating, "cargo clippy --fix writes".to_owned())),
        _ => None,
    }
}

fn compose(args: &[Known]) -> (CommandClass, &'static str) {
    match args.get(1).map(|arg| arg.text.as_str()) {
        Some("ps" | "logs" | "config" | "ls" | "images" | "top") => (Safe, "compose only reads"),
        Some("down" | "rm" | "kill") => (Destructive, "compose removes containers"),
        _ => (Mutating, "compose starts or changes containers"),
    }
}

fn export(name: &str, args: &[Known]) -> (CommandClass, String) {
    let loaded = |arg: &&Known| {
        ["PATH=", "LD_", "GIT_", "BASH_ENV=", "PROMPT_COMMAND="]
            .iter()
            .any(|prefix| arg.text.starts_with(prefix))
    };
    match args.iter().find(loaded) {
        Some(arg) => (Mutating, format!("{name} {} changes which programs run", arg.text)),
        None => (Safe, format!("{name} sets a variable of the shell")),
    }
}

fn formatter(args: &[Known]) -> (CommandClass, &'static str) {
    let checks = ["--check", "-c", "-l", "-d"].iter().any(|option| has(args, option));
    let writes = ["--fix", "--write", "-w"].iter().any(|option| has(args, option));
    (if checks && !writes { Safe } else { Mutating }, "rewrites files unless it only checks")
}

fn sed(args: &[Known]) -> (CommandClass, &'static str) {
    if args.iter().any(|arg| arg.text.starts_with("-i") || arg.text.starts_with("--in-place")) {
        return (Mutating, "rewrites files in place");
    }
    let script = args.iter().filter(|arg| !arg.text.starts_with('-')).take(1);
    let commands = script.flat_map(|arg| arg.text.split([';', '\n', '{', '}']));
    let mut commands = commands.map(str::trim);
    let runs = commands.any(|command| {
        let bare =
            command.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' '));
        let after = bare.rsplit('/').next().unwrap_or_default();
        bare.starts_with(['w', 'W', 'e', 'r']) || (bare.starts_with('s') && after.contains(['e', 'w']))
    });
    if runs || args.iter().any(|arg| !arg.fixed && arg.text.is_empty()) {
        return (Mutating, "its script may write or run something");
    }
    (Safe, "only prints")
}

fn awk(args: &[Known]) -> (CommandClass, &'static str) {
    let risky =
        |arg: &Known| ["system", "|", ">", "getline", "@load"].iter().any(|sign| arg.text.contains(sign));
    if args.iter().any(risky) || has(args, "-f") || has(args, "-i") {
        return (Mutating, "its program may write or run something");
    }
    (Safe, "only prints")
}

fn tar(args: &[Known]) -> (CommandClass, &'static str) {
    let runs = ["--checkpoint-action", "--to-command", "-I", "--use-compress-program"];
    if runs.iter().any(|option| has(args, option)) {
        return (Mutating, "runs a program");
    }
    let lists = args.first().is_some_and(|arg| {
        let letters = arg.text.trim_start_matches('-');
        arg.text == "--list"
            || (!arg.text.starts_with("--") && letters.contains('t') && !letters.contains(['x', 'c']))
    });
    (if lists { Safe } else { Mutating }, "writes unless it only lists")
}

fn git(args: &[Known]) -> Option<(CommandClass, String)> {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
        let text = arg.text.as_str();
        if text == "-c" || text.starts_with("--config-env") || text.starts_with("--exec-path=") {
            return Some((Mutating, "git -c may make it run other programs".to_owned()));
        }
        at += if matches!(text, "-C" | "--git-dir" | "--work-tree" | "--namespace") { 2 } else { 1 };
    }
    let rest = args.get(at + 1..).unwrap_or_default();
    let subcommand = args.get(at)?.text.as_str();
    let first = rest.iter().find(|arg| !arg.text.starts_with('-')).map_or("", |arg| arg.text.as_str());
    let any = |options: &[&str]| options.iter().any(|option| has(rest, option));
    let class = match subcommand {
        "push" => {
            let forced =
                any(&["-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d", "--prune"]);
            let plus = rest.iter().any(|arg| arg.text.starts_with('+') || arg.text.starts_with(':'));
            if forced || plus { Destructive } else { Mutating }
        }
        "reset" if any(&["--hard", "--merge", "--keep"]) => Destructive,
        "clean" if !any(&["-n", "--dry-run"]) => Destructive,
        "restore" if !any(&["--staged", "-S"]) => Destructive,
        "checkout" | "switch" if any(&["-f", "--force", "--discard-changes"]) => Destructive,
        "checkout" if rest.iter().any(|arg| arg.text == "--" || arg.text == ".") => Destructive,
        "stash" if matches!(first, "drop" | "clear") => Destructive,
        "stash" if matches!(first, "list" | "show") => Safe,
        "branch" | "tag" if any(&["-D", "-d", "--delete"]) => Destructive,
        "branch"
            if first.is_empty() || any(&["--list", "-a", "-r", "-v", "--show-current", "--contains"]) =>
        {
            Safe
        }
        "tag" if first.is_empty() || any(&["-l", "--list"]) => Safe,
        "remote" if first.is_empty() || matches!(first, "show" | "get-url") => Safe,
        "remote" if matches!(first, "remove" | "rm" | "prune") => Destructive,
        "worktree" | "submodule" if matches!(first, "list" | "status") => Safe,
        "config" if any(&["--get", "--list", "-l", "--get-all"]) => Safe,
        "reflog" if matches!(first, "expire" | "delete") => Destructive,
        "grep" if rest.iter().any(|arg| arg.text.starts_with("-O")) => Mutating,
        "rm" => Destructive,
        _ => {
            let row = SUBCOMMANDS.iter().find(|row| row.0 == "git")?;
            return Some(by_subcommand(
                row,
                args.get(at..).unwrap_or_default(),
                &format!("git {subcommand}"),
            ));
        }
    };
    let what = match class {
        Safe => "only reads",
        Mutating => "changes the repository or another",
        Destructive => "destroys what may not come back",
    };
    Some((class, format!("git {subcommand} {what}")))
}

fn gh(args: &[Known]) -> (CommandClass, String) {
    let mut words = args.iter().filter(|arg| !arg.text.starts_with('-')).map(|arg| arg.text.as_str());
    let (topic, action) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let class = match (topic, action) {
        ("api", _) => api(args),
        ("auth", "status") => Safe,
        (_, "delete") | ("auth", _) => Destructive,
        (_, "view" | "list" | "status" | "diff" | "checks" | "watch") | ("status" | "search" | "help", _) => {
            Safe
        }
        ("pr", "merge") => Destructive,
        _ => Mutating,
    };
    (class, format!("gh {topic} {action}"))
}

fn api(args: &[Known]) -> CommandClass {
    let method = args.iter().position(|arg| matches!(arg.text.as_str(), "-X" | "--method"));
    let method = method.and_then(|at| args.get(at + 1)).map_or("GET", |arg| arg.text.as_str());
    let fields = ["-f", "-F", "--field", "--raw-field", "--input"].iter().any(|option| has(args, option));
    match method.to_ascii_uppercase().as_str() {
        "DELETE" => Destructive,
        "GET" if !fields => Safe,
        _ => Mutating,
    }
}
