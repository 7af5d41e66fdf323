//! Measures the judge: `judge_speed` prints, as JSON, the microseconds of a typical and the milliseconds of a long text.

#![expect(clippy::print_stdout, reason = "it is a program that prints what it measured")]

use std::hint::black_box;
use std::time::Instant;

use koda_trust::classify;

const TYPICAL: &[&str] = &[
    "cargo test --workspace 2>&1 | tail -n 40",
    "git status --short && git diff --stat HEAD~1",
    "cd rust && grep -rn 'fn main' --include='*.rs' . | head -20",
    "for f in src/*.rs; do wc -l \"$f\"; done | sort -n",
];

const RUNS: u32 = 500;
const LONG_BYTES: usize = 100_000;

/// The fastest of a few runs, in milliseconds.
fn fastest(text: &str) -> f64 {
    let run = |_| {
        let begun = Instant::now();
        black_box(classify(black_box(text)));
        begun.elapsed().as_secs_f64() * 1e3
    };
    (0..5).map(run).fold(f64::INFINITY, f64::min)
}

fn long(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= LONG_BYTES {
            break;
        }
        text.push_str(&line(number));
    }
    text
}

fn main() {
    black_box(classify("ls"));
    let begun = Instant::now();
    for text in TYPICAL.iter().cycle().take(TYPICAL.len() * RUNS as usize) {
        black_box(classify(black_box(text)));
    }
    let typical_us = begun.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS) / TYPICAL.len() as f64;
    let assignments = fastest(&long(|number| format!("x={number}\n")));
    let commands = fastest(&long(|number| format!("git log -n {number} -- src/a{number}.rs | head\n")));
    let nested =
        fastest(&long(|number| format!("if test -f a{number}; then echo \"$(cat b{number})\"; fi\n")));
    println!(
        "{{\"typical_us\": {typical_us:.2}, \"assignments_ms\": {assignments:.2}, \"commands_ms\": {commands:.2}, \"nested_ms\": {nested:.2}}}"
    );
}
