//! What a command may read beyond the paths that it spells out: patterns, folders with all below, revisions.

use super::rules::Found;
use super::walk::{Judge, Stdin};
use super::words::Arg;
use super::{Descent, Named, joined};

/// Longer words are no names of files.
const MAX_NAME: usize = 1_024;

/// More of each kind are not collected from one text.
const MAX_NAMES: usize = 500;

/// Programs that only tell names, unless others get what they print.
const LISTERS: &[&str] = &["find", "gfind", "fd", "fdfind", "ls", "tree", "exa", "eza"];

/// Programs that leave out what Git ignores and what is hidden, unless an option says otherwise.
const TIDY: &[&str] = &["rg", "ag", "fd", "fdfind", "git"];

/// Programs whose first operand is no path.
const SEARCHERS: &[&str] = &[
    "grep", "egrep", "fgrep", "zgrep", "ugrep", "pcregrep", "rg", "ag", "ack", "sift", "git", "fd", "fdfind",
];

/// Programs with a language of their own in their arguments, in which names of files may stand.
const LANGUAGES: &[&str] = &[
    "python",
    "pypy",
    "node",
    "perl",
    "ruby",
    "php",
    "lua",
    "deno",
    "bun",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "gsed",
    "jq",
    "vim",
    "nvim",
    "ex",
    "ed",
    "emacs",
    "sqlite3",
    "psql",
    "osascript",
    "Rscript",
    "julia",
];

/// What surrounds names in such a language.
const PUNCTUATION: &str = "\"'`()[]{}<>,;:=@|&$!";

/// What in a word may be the name of a file.
fn names(word: &str) -> impl Iterator<Item = &str> {
    let value = word.split_once('=').map(|(_, value)| value);
    // `-fNAME`, `-d@NAME`
    let attached =
        word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    // `NAME:/mounted`, `key=a,src=NAME`
    let several = word.contains([':', ',']).then(|| word.split([':', ',', '=']));
    let all = [Some(word), value, attached].into_iter().flatten().chain(several.into_iter().flatten());
    all.map(|name| name.trim_start_matches('@'))
}

impl Judge {
    /// Notes what in words may be the name of a file: `x`, `--file=x`, `if=x`, `@x`, `HEAD:x`, `*.x`.
    pub(super) fn mention(&mut self, args: &[Arg]) {
        for arg in args {
            if let Some(glob) = &arg.glob {
                self.glob(glob);
            }
            if !arg.fixed() {
                continue;
            }
            // What is left out is not read.
            if ["--exclude=", "--exclude-dir="].iter().any(|option| arg.text.starts_with(option)) {
                continue;
            }
            for name in names(&arg.text) {
                self.name(name);
            }
        }
        let program = args.first().map_or("", |program| program.text.rsplit('/').next().unwrap_or_default());
        if LANGUAGES.iter().any(|name| program.starts_with(name)) {
            for arg in args.iter().skip(1) {
                arg.text
                    .split(|c: char| c.is_whitespace() || PUNCTUATION.contains(c))
                    .for_each(|name| self.name(name));
            }
        }
        if program == "git" {
            self.revisions(args);
        }
    }

    fn name(&mut self, name: &str) {
        let plausible = (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('-');
        let text = joined(self.folder.as_deref(), name);
        if let Some(text) = text.filter(|_| plausible && self.mentions.len() < MAX_NAMES) {
            self.mentions.push(text);
        }
    }

    fn glob(&mut self, glob: &str) {
        let text = joined(self.folder.as_deref(), glob);
        if let Some(text) = text.filter(|_| glob.len() <= MAX_NAME && self.globs.len() < MAX_NAMES) {
            self.globs.push(text);
        }
    }

    /// `git show HEAD:x` prints a file without naming it as one.
    fn revisions(&mut self, args: &[Arg]) {
        for arg in args.iter().filter(|arg| arg.fixed() && !arg.text.contains("://")) {
            let Some((_, path)) = arg.text.split_once(':').filter(|(_, path)| !path.is_empty()) else {
                continue;
            };
            if self.revisions.len() < MAX_NAMES {
                self.revisions.push(path.to_owned());
            }
        }
    }

    /// Notes the folders that a program reads with all that is in them.
    pub(super) fn descents(&mut self, found: &Found, args: &[Arg], stdin: &Stdin) {
        if !found.descends {
            return;
        }
        let program = found.head.split(' ').next().unwrap_or_default();
        let loud = |arg: &Arg| {
            ["--hidden", "--no-ignore", "--unrestricted", "--untracked", "--no-index"]
                .contains(&arg.text.as_str())
                || (arg.text.starts_with('-')
                    && !arg.text.starts_with("--")
                    && arg.text.contains(['u', 'H', 'I', '.']))
        };
        let only = |option: &str| {
            let values = args.iter().filter_map(|arg| arg.text.strip_prefix(option));
            values.map(str::to_owned).collect::<Vec<_>>()
        };
        let descent = |folder: String| Descent {
            folder,
            lists: LISTERS.contains(&program) && found.inner.is_empty(),
            tidy: TIDY.contains(&program) && !args.iter().any(loud),
            include: only("--include="),
            exclude: [only("--exclude="), only("--exclude-dir=")].concat(),
        };
        let first = usize::from(SEARCHERS.contains(&program));
        let folders: Vec<&Arg> = found.operands.iter().skip(first).filter(|arg| arg.fixed()).collect();
        // What is copied to is not read.
        let last = usize::from(matches!(program, "cp" | "rsync" | "scp"));
        let folders = folders.get(..folders.len().saturating_sub(last)).unwrap_or_default();
        let here = found.operands.len() <= first && matches!(stdin, Stdin::Terminal);
        let named = folders.iter().filter_map(|arg| joined(self.folder.as_deref(), &arg.text));
        let all: Vec<String> = named.chain(self.folder.clone().filter(|_| here)).collect();
        let room = MAX_NAMES.saturating_sub(self.descents.len());
        self.descents.extend(all.into_iter().take(room).map(descent));
    }

    /// Notes where a path that is written begins, as far as that is known.
    pub(super) fn beginning(&mut self, arg: &Arg) {
        let known = arg.known_beginning();
        let folder = known.rfind('/').and_then(|at| known.get(..=at));
        let text = folder.and_then(|folder| joined(self.folder.as_deref(), folder));
        if let Some(text) = text.filter(|_| self.paths.len() < MAX_NAMES) {
            self.paths.push(Named { text, write: true });
        }
    }
}
