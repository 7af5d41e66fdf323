//! The judge against real shells: whenever one of them runs `rm`, the judge must have seen it.
//!
//! Texts are made at random of what confuses parsers, and run in an empty folder by shells that find no
//! program but three doubles. `FUZZ_TEXTS=100000` makes it a longer search.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a search that can't set up its shells must fail")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use koda_protocol::CommandClass;
use koda_trust::classify;

const FRAGMENTS: &[&str] = &[
    "rm x",
    "rm x",
    "rm x",
    "rm",
    "r''m x",
    "echo ",
    "echo ",
    "ls ",
    "cat ",
    "true",
    "'",
    "'",
    "\"",
    "\"",
    "\"",
    "\\",
    "$",
    "(",
    ")",
    "{",
    "}",
    "{ ",
    " }",
    "`",
    "`",
    ";",
    ";",
    "; ",
    "&",
    "|",
    "\n",
    "\n",
    " ",
    " ",
    " ",
    "#",
    " # ",
    "<<EOF",
    "<<EOF\n",
    "EOF",
    "\nEOF\n",
    "${y:-",
    "${y#",
    "${y/",
    "}",
    "}",
    "$(",
    "$(",
    ")",
    "$((",
    "))",
    "((",
    "if true; then ",
    "fi",
    "; fi",
    "case x in x) ",
    ";;",
    "esac",
    ";; esac",
    "for i in a; do ",
    "; done",
    "done",
    "[[ ",
    " ]]",
    "!",
    "! ",
    "$'",
    "$\"",
    "a",
    "=",
    "x=",
    "x=rm ",
    "$x ",
    "<(",
    ">(",
    "*",
    "?",
    "@(",
    "[",
    "]",
    "~",
    ",",
    "{rm,x}",
    "eval ",
    "<<-EOF\n",
    "<<'EOF'\n",
    "\t",
    "$$",
    "\\'",
    "\\\"",
    "\\\n",
    "while false; do ",
    "function f {",
    "f() ",
    "f",
    "2>&1",
    "&& ",
    "|| ",
    "time ",
    "<<< ",
    "1",
    "<",
    "> o",
    "$[",
    "-",
    "+",
    "alias f=rm",
    "$1",
    "\"$@\"",
    "set -- rm",
    "exec ",
    "command ",
    "trap ",
    "in",
    "do",
    "then",
    "else ",
    "%",
    "\\\\",
    "x",
    "EO",
    "F",
    "=(",
    "1 << 2",
    "${#",
    "${!",
    ":",
];

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

impl Random {
    fn pick(&mut self, texts: &[&str]) -> String {
        texts[self.below(texts.len())].to_owned()
    }

    /// A text of fragments without order.
    fn fragments(&mut self) -> String {
        let length = 2 + self.below(14);
        (0..length).map(|_| self.pick(FRAGMENTS)).collect()
    }

    /// A text with the order of a command, and a few changes to it.
    fn nearly_right(&mut self) -> String {
        let mut text = self.command(4);
        for _ in 0..self.below(3) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = places[self.below(places.len())];
            match self.below(3) {
                0 => drop(text.remove(at)),
                _ => text.insert_str(at, &self.pick(FRAGMENTS)),
            }
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        let inner = |random: &mut Self| random.command(depth - 1);
        if depth == 0 {
            return self.pick(&["r''m x", "echo a", "ls", "true", "\\rm x"]);
        }
        match self.below(24) {
            0 => format!("({})", inner(self)),
            1 => format!("{{ {}; }}", inner(self)),
            2 => format!("if {}; then {}; fi", inner(self), inner(self)),
            3 => format!("case {} in {}) {};; esac", self.word(depth - 1), self.word(0), inner(self)),
            4 => format!("for i in {}; do {}; done", self.word(depth - 1), inner(self)),
            5 => format!("cat <<EOF; {}\n{}\nEOF\n{}", inner(self), self.data(depth - 1), inner(self)),
            6 => format!("cat <<'EOF'\n{}\nEOF\n{}", self.data(0), inner(self)),
            7 => format!("[[ {} ]] && {}", self.word(depth - 1), inner(self)),
            8 => format!("(( {} )); {}", self.word(0), inner(self)),
            9 => format!("x={} {}", self.word(depth - 1), inner(self)),
            10 => format!("f() {{ {}; }}; f", inner(self)),
            11 => format!("eval {}", self.word(depth - 1)),
            12 => format!("{} # {}\n{}", inner(self), self.data(0), inner(self)),
            13 => format!("cat <<-EOF\n\t{}\n\tEOF\n{}", self.data(depth - 1), inner(self)),
            14 => format!(
                "{} {} {}",
                inner(self),
                self.pick(&[";", "&&", "||", "|", "&", "\n", "|&", ";;"]),
                inner(self)
            ),
            15 => format!("! {}", inner(self)),
            16 => format!("(({}))", inner(self)),
            17 => format!("[[ {} {} {} ]]", self.word(0), self.pick(&["||", "&&", "|", "<"]), inner(self)),
            _ => format!("echo {} {}; {}", self.word(depth - 1), self.word(depth - 1), inner(self)),
        }
    }

    fn word(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.data(0);
        }
        let inner = depth - 1;
        match self.below(14) {
            0 => format!("\"{}\"", self.data(inner)),
            1 => format!("'{}'", self.data(0)),
            2 => format!("$'{}'", self.data(0)),
            3 => format!("$({})", self.command(inner)),
            4 => format!("`{}`", self.command(inner)),
            5 => format!("\"$({})\"", self.command(inner)),
            6 => format!("${{y:-{}}}", self.word(inner)),
            7 => format!("\"${{y:-{}}}\"", self.word(inner)),
            8 => format!("$(({}))", self.data(0)),
            9 => format!("<({})", self.command(inner)),
            10 => format!("{}{}", self.word(inner), self.word(inner)),
            11 => format!("\\{}", self.data(0)),
            12 => format!("${{y/{}/{}}}", self.data(0), self.word(inner)),
            _ => self.data(0),
        }
    }

    fn data(&mut self, depth: usize) -> String {
        let plain = self.pick(&[
            "a", "'", "\"", "\\", "$", "#", "a'b", "it's", "r''m x", "; r''m x", ")", "}", "`", "\\\n",
            "EOF", "$x", "$$", "((", "))", "1", "*", " ", "\\'", "\\\"", "<<EOF", "${", "$(", "\\`", "esac",
            ";;", "\t", "!", "a b", "=", "~",
        ]);
        if depth == 0 { plain } else { format!("{plain}{}", self.word(depth)) }
    }
}

struct Shells {
    dir: tempfile::TempDir,
    programs: Vec<PathBuf>,
}

impl Shells {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir_all(dir.path().join("work")).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let mark = dir.path().join("mark");
        for (name, text) in
            [("rm", format!("echo >> '{}'", mark.display())), ("ls", String::new()), ("cat", String::new())]
        {
            let path = bin.join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let known = ["/bin/bash", "/usr/bin/bash", "/usr/bin/zsh", "/bin/zsh", "/usr/bin/dash", "/bin/dash"];
        let mut programs: Vec<PathBuf> = Vec::new();
        for path in known.iter().map(Path::new).filter(|path| path.exists()) {
            if !programs.iter().any(|program| program.file_name() == path.file_name()) {
                programs.push(path.to_owned());
            }
        }
        Self { dir, programs }
    }

    /// Tells whether a shell runs `rm` for a text, by that shell's name.
    fn run_rm(&self, text: &str) -> Option<String> {
        self.programs.iter().find_map(|program| {
            let mark = self.dir.path().join("mark");
            let _ = fs::remove_file(&mark);
            let mut command = Command::new("timeout");
            command.arg("2").arg(program);
            if program.ends_with("zsh") {
                command.arg("-f");
            }
            command.arg("-c").arg(text).current_dir(self.dir.path().join("work"));
            command.env_clear().env("PATH", self.dir.path().join("bin").as_os_str());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // Without the system's programs in PATH, `timeout` itself needs its full name.
            let mut command = full_path(command);
            command.status().unwrap();
            mark.exists().then(|| program.display().to_string())
        })
    }
}

fn full_path(command: Command) -> Command {
    let timeout = ["/usr/bin/timeout", "/bin/timeout"].into_iter().find(|path| Path::new(path).exists());
    let mut full = Command::new(timeout.unwrap_or("timeout"));
    full.args(command.get_args());
    if let Some(dir) = command.get_current_dir() {
        full.current_dir(dir);
    }
    full.env_clear();
    full.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    full.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    full
}

#[test]
fn what_a_shell_runs_the_judge_has_seen() {
    let shells = Shells::new();
    if shells.programs.is_empty() {
        println!("skipped: no bash, zsh or dash");
        return;
    }
    let count = std::env::var("FUZZ_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let seed = std::env::var("FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut random = Random(seed);
    let (mut ran, mut unsure) = (0, Vec::new());
    for at in 0..count {
        let text = if at % 4 == 0 { random.fragments() } else { random.nearly_right() };
        if !text.contains('m') {
            continue;
        }
        let got = classify(&text);
        if got.class == CommandClass::Destructive {
            continue;
        }
        let Some(shell) = shells.run_rm(&text) else { continue };
        ran += 1;
        assert!(got.class > CommandClass::Safe, "{shell} runs rm, unseen, in:\n{text}\n{text:?}\n{got:?}");
        unsure.push((text, got));
    }
    println!("{ran} ran rm of {count}");
    for (text, got) in &unsure {
        println!("{text:?} {:?}", got.parts.iter().map(|part| &part.reason).collect::<Vec<_>>());
    }
}
