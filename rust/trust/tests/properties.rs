//! What holds for every command: nothing that leaves its meaning alone lowers its class.

#![expect(clippy::unwrap_used, reason = "a random search that can't set up must fail")]

use koda_protocol::CommandClass::{self, Safe};
use koda_trust::classify;
use proptest::prelude::*;
use proptest::sample::select;

const TABLES: &[&str] =
    &[include_str!("commands.tsv"), include_str!("more_commands.tsv"), include_str!("kinds_of_commands.tsv")];

/// The commands of the tables that are whole: one can be put before or after another.
fn commands() -> Vec<String> {
    let lines = TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with("# "));
    let texts = lines.map(|line| line.rsplit_once('\t').unwrap().0.replace("\\n", "\n"));
    texts.filter(|text| is_whole(text)).collect()
}

/// Whether a text is one list that stands for itself, wherever it is put.
fn is_whole(text: &str) -> bool {
    let parsed = classify(text).parts.iter().all(|part| !part.reason.contains("can't be parsed"));
    // What ends in these reaches into what follows; definitions and variables change what follows.
    let open = ["<<", "#", "function", "()", "alias", "=", "exit", "set ", "!"];
    parsed
        && !text.trim().is_empty()
        && !text.ends_with(['&', '\\', ';'])
        && !open.iter().any(|sign| text.contains(sign))
}

fn class(text: &str) -> CommandClass {
    classify(text).class
}

/// Words of a text that has nothing but words.
fn plain_words(text: &str) -> Option<Vec<&str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_./:,+".contains(c);
    text.chars().all(plain).then(|| text.split(' ').filter(|word| !word.is_empty()).collect())
}

fn plain_commands() -> Vec<String> {
    // Words of a shell's grammar are not programs, and quoting makes them ordinary words.
    let grammar =
        ["if", "for", "while", "until", "case", "select", "time", "coproc", "done", "repeat", "function"];
    let fits = |text: &String| {
        plain_words(text).is_some_and(|words| words.first().is_some_and(|word| !grammar.contains(word)))
    };
    commands().into_iter().filter(fits).collect()
}

/// The same word written in another way.
fn disguised(word: &str, way: usize) -> String {
    let (first, rest) = word.split_at(1);
    match way {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("\\{word}"),
        3 => format!("{first}''{rest}"),
        4 => format!("{first}\"\"{rest}"),
        5 => format!("$'{word}'"),
        6 => format!("{first}\\\n{rest}"),
        _ => word.to_owned(),
    }
}

const WRAPPERS: [&str; 26] = [
    "nohup",
    "env",
    "env A=1",
    "command",
    "nice",
    "nice -n 5",
    "timeout 5",
    "setsid",
    "stdbuf -oL",
    "time",
    "exec",
    "A=1",
    "A=1 B=2",
    "sudo",
    "xargs",
    "env -u X",
    "if true; then :; fi;",
    "true &&",
    "false ||",
    "ls |",
    "! ",
    "\n",
    "{ ls; };",
    ">/dev/null",
    "2>&1",
    "/usr/bin/env",
];

/// Every pair, since few commands and wrappers go wrong together.
#[test]
fn harmless_wrappers_lower_no_class() {
    let builtins = ["cd", "pushd", "popd", "export", "unset", "read", "declare", "local", "readonly", "let"];
    let mut lowered = Vec::new();
    for text in plain_commands().iter().filter(|text| !builtins.iter().any(|name| text.starts_with(name))) {
        for wrapper in WRAPPERS {
            let other = format!("{wrapper} {text}");
            if class(&other) < class(text) {
                lowered.push(other);
            }
        }
    }
    assert!(lowered.is_empty(), "{lowered:#?}");
}

/// Shells run what stands before a fault, some of them within its line.
#[test]
fn a_fault_hides_nothing_that_stands_before_it() {
    let mut hidden = Vec::new();
    for text in commands() {
        for fault in [" | ", " | !", " && (", "; }", " | for", "\n`", "; if", " | cat <(", "\n{ ls; )"] {
            let other = format!("{text}{fault}");
            if class(&other) < class(&text) {
                hidden.push(other);
            }
        }
        for before in ["( ", "{ ", "if true; then ", "f() { ", "case x in x) ", "echo $( ", "cat <( "] {
            let other = format!("{before}{text} | )");
            if class(&other) < class(&text) {
                hidden.push(other);
            }
        }
    }
    assert!(hidden.is_empty(), "{hidden:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quotes_and_backslashes_change_no_class(
        text in select(plain_commands()),
        ways in prop::collection::vec(0..8_usize, 12),
    ) {
        let words = plain_words(&text).unwrap();
        let all = words.iter().zip(ways.iter().cycle());
        let other: Vec<String> = all.map(|(word, way)| disguised(word, *way)).collect();
        let other = other.join(" ");
        prop_assert!(class(&other) >= class(&text), "{text:?} as {other:?}");
    }

    #[test]
    fn texts_of_shells_lower_no_class(text in select(plain_commands()), shell in select(vec!["sh -c", "bash -lc", "eval", "zsh -c", "watch"])) {
        let other = format!("{shell} '{text}'");
        prop_assert!(class(&other) >= class(&text), "{text:?} as {other:?}");
    }

    #[test]
    fn two_are_at_least_as_bad_as_the_worse(
        first in select(commands()),
        second in select(commands()),
        sign in select(vec![" && ", " || ", "; ", " & ", "\n", " | ", " |& "]),
    ) {
        let both = format!("{first}{sign}{second}");
        let worse = class(&first).max(class(&second));
        prop_assert!(class(&both) >= worse, "{both:?}");
    }

    #[test]
    fn what_surrounds_a_command_lowers_no_class(
        text in select(commands()),
        (before, after) in select(vec![
            ("( ", " )"), ("{ ", "; }"), ("if ", "; then :; fi"), ("while ", "; do :; done"), ("for i in 1; do ", "; done"),
            ("case x in x) ", ";; esac"), ("echo $( ", ")"), ("echo \"$( ", ")\""), ("cat <(", ")"), ("x=$( ", ")"),
            (": ${x:-$( ", ")}"), ("[ $( ", ") ]"), ("f() { ", "; }; f"), ("ls > $( ", ")"), ("cat <<A\n$( ", ")\nA"),
        ]),
    ) {
        let other = format!("{before}{text}{after}");
        prop_assert!(class(&other) >= class(&text), "{other:?}");
    }

    #[test]
    fn what_does_not_parse_is_never_safe(text in select(commands()), end in select(vec!["'", "\"", "$(", "`", "(", " |", " &&", "; if", "; for", " <<", "; case", " >"])) {
        let balanced = !text.contains(['\'', '"', '`']);
        prop_assume!(balanced);
        let other = format!("{text}{end}");
        prop_assert!(class(&other) > Safe, "{other:?}");
    }

    #[test]
    fn any_text_at_all_is_judged(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<char>(), 0..100)) {
        classify(&text);
        classify(&bytes.into_iter().collect::<String>());
    }
}
