#!/usr/bin/env python3
"""Measures the whole editor and prints a table: medians of several runs, each beside its baseline of the same runs.

run.py [PART]: only rows whose name has PART in it.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import material
from material import BUILD, ROOT
from terminal import Terminal

RUNS = 5
HERE = Path(__file__).resolve().parent
KEY_EVERY_S = 0.05
# One cell wide each, in no other text: where they are drawn can't be mistaken.
KEYS = [chr(0x2801 + number) for number in range(200)]
LAST_TOKEN = "\u25c6"


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    BUILD.mkdir(parents=True, exist_ok=True)
    nvim = subprocess.run([ROOT / "scripts/need-nvim"], check=True, capture_output=True, text=True).stdout.strip()
    bench = Bench(nvim)
    groups = [bench.size, bench.start, bench.flood, bench.pace, bench.searches, bench.judge]
    rows = [row for group in groups if part in group.__name__ for row in group()]
    print_table(rows)


class Bench:
    def __init__(self, nvim):
        self.nvim = nvim

    def size(self):
        """Library size, beside Neovim's own executable."""
        library = max((ROOT / "target" / "release").glob("libkoda*.*"), key=lambda path: path.stat().st_size)
        # A fetched Neovim is a script that starts the executable.
        executable = max([Path(self.nvim), *Path(self.nvim).parent.glob("root/**/bin/nvim")], key=lambda p: p.stat().st_size)
        mebibytes = [path.stat().st_size / 2**20 for path in (library, executable)]
        yield "library size", "MiB", mebibytes[0], mebibytes[1], "", "Neovim's executable"

    def start(self):
        """What a start costs before and at the first use."""
        ours, least = self.alternate(lambda what: self.headless("start.lua", BENCH_WHAT=what), "koda", "least")
        yield "require + setup", "ms", median(ours, "require_ms"), median(least, "require_ms"), "1", "an empty module"
        yield "first :Koda", "ms", median(ours, "open_ms"), median(least, "open_ms"), "30", "an empty float"

    def flood(self):
        """20,000 tokens as fast as they come."""
        ours, least = self.alternate(lambda what: self.stream(what, 20_000, 0, keys=False), "koda", "least")
        yield from stream_rows("20,000 tokens", ours, least, {"milliseconds": "150", "cpu_s": "0.3", "longest_wait_ms": "8"})

    def pace(self):
        """5,000 tokens at 2 ms a token, while somebody types."""
        ours, least = self.alternate(lambda what: self.stream(what, 5_000, 2, keys=True), "koda", "least", runs=3)
        goals = {"cpu_s": "0.6", "key_p99_ms": "4", "longest_wait_ms": "8"}
        yield from stream_rows("5,000 tokens at 2 ms", ours, least, goals)

    def searches(self):
        """Grep and Glob over 60,000 files, beside rg on the command line."""
        rg = material.ripgrep()
        tree = material.tree()
        cases = [
            ("Grep, rare", {"name": "Grep", "args": {"pattern": "zanzibar"}}, ["-n", "zanzibar"], "1.0"),
            ("Grep, common", {"name": "Grep", "args": {"pattern": "cursor"}}, ["-n", "cursor"], "1.1"),
            ("Glob", {"name": "Glob", "args": {"pattern": "**/*.toml"}}, ["--files", "-g", "**/*.toml"], "1.5"),
        ]
        for name, call, arguments, goal in cases:
            call["cwd"] = str(tree)
            ours, rgs = [], []
            for _ in range(RUNS):
                ours.append(self.headless("search.lua", cwd=tree, BENCH_CALL=json.dumps(call)))
                if rg:
                    rgs.append({"milliseconds": time_of([rg, *arguments, "."], tree)})
            yield f"{name}: time", "ms", median(ours, "milliseconds"), median(rgs, "milliseconds"), f"x {goal}", "rg"
            yield f"{name}: longest wait", "ms", median(ours, "longest_wait_ms"), None, "8", ""

    def judge(self):
        """The judge of commands on its own: a typical command, and texts of 100 KB."""
        cargo = ["cargo", "run", "--release", "--locked", "--quiet", "--package", "koda-trust", "--example", "judge_speed"]
        numbers = json.loads(subprocess.run(cargo, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        yield "judge: typical command", "us", numbers["typical_us"], None, "200", ""
        for kind in ("assignments", "commands", "nested"):
            yield f"judge: 100 KB of {kind}", "ms", numbers[f"{kind}_ms"], None, "50", ""

    def alternate(self, measure, first, second, runs=RUNS):
        """Runs both by turns, so that a busy minute of the machine hits both."""
        measured = [(measure(first), measure(second)) for _ in range(runs)]
        return [a for a, _ in measured], [b for _, b in measured]

    def arguments(self, script, *more):
        runtime = f"set runtimepath^={ROOT}".replace(" ", "\\ ").replace("set\\ ", "set ")
        return [self.nvim, "--clean", "--cmd", runtime, *more, "-c", f"luafile {HERE / script}"]

    def environment(self, scratch, variables):
        kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        folders = {f"XDG_{name}_HOME": str(scratch / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        fixed = {"HOME": str(scratch), "LANG": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        return kept | folders | fixed | {"BENCH_FOLDER": str(HERE), "BENCH_OUT": str(scratch / "out.json")} | variables

    def headless(self, script, cwd=None, **variables):
        with scratch_folder() as scratch:
            environment = self.environment(scratch, variables)
            command = self.arguments(script, "--headless")
            done = subprocess.run(command, cwd=cwd or scratch, env=environment, capture_output=True, text=True, timeout=180)
            return read_numbers(scratch, done.stderr)

    def stream(self, what, tokens, delay_ms, keys):
        """Streams an answer to the screen of a real terminal, with or without somebody who types."""
        text = material.answer(tokens) + f"\n\n{LAST_TOKEN}\n"
        with scratch_folder() as scratch:
            (scratch / "text").write_text(text)
            model = material.script(scratch / "replay.json", text, delay_ms)
            environment = self.environment(scratch, {
                "BENCH_MODEL": f"replay::{model}",
                "BENCH_TEXT": str(scratch / "text"),
                "BENCH_DELAY_MS": str(delay_ms),
            })
            with Terminal(self.arguments(f"stream_{what}.lua"), scratch, environment) as terminal:
                settle(terminal)
                begun = time.monotonic()
                terminal.send("\x1b[15~")  # F5
                drawn, waits = type_until(terminal, LAST_TOKEN) if keys else (terminal.wait_for(LAST_TOKEN), [])
                terminal.wait_for_file(scratch / "out.json")
                numbers = read_numbers(scratch, "")
            numbers["milliseconds"] = (drawn - begun) * 1000
            if waits:
                waits.sort()
                numbers["key_p99_ms"] = waits[int(len(waits) * 0.99)] * 1000
            return numbers


def stream_rows(name, ours, least, goals):
    units = {"milliseconds": ("last token drawn", "ms"), "cpu_s": ("CPU", "s")}
    units |= {"longest_wait_ms": ("longest wait", "ms"), "key_p99_ms": ("key to screen, p99", "ms")}
    for field, goal in goals.items():
        what, unit = units[field]
        yield f"{name}: {what}", unit, median(ours, field), median(least, field), goal, "the least Lua"


def settle(terminal):
    """Waits until nothing has been drawn for a while."""
    while terminal.read(0.3)[0]:
        pass


def type_until(terminal, text):
    """Types a key now and then until `text` is drawn. Returns when that was, and how long each key took to be drawn."""
    waits, pending, number, next_key = [], None, 0, time.monotonic() + 0.2
    deadline = time.monotonic() + 120
    while True:
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError(f"{text!r} was not drawn; last output: {terminal.tail[-400:]!r}")
        if pending is None and now >= next_key:
            # Emptied now and then, so that the line never wraps.
            key = ("\x15" if number % 20 == 19 else "") + KEYS[number % len(KEYS)]
            pending = (KEYS[number % len(KEYS)].encode(), time.monotonic())
            terminal.send(key)
            number, next_key = number + 1, now + KEY_EVERY_S
        _, seen = terminal.read(0.005)
        if text.encode() in terminal.tail:
            return seen, waits
        if pending and pending[0] in terminal.tail:
            waits.append(seen - pending[1])
            pending = None


def time_of(command, cwd):
    started = time.monotonic()
    subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return (time.monotonic() - started) * 1000


class scratch_folder:
    def __enter__(self):
        self.path = Path(tempfile.mkdtemp(prefix="koda-bench-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def read_numbers(scratch, problem):
    path = scratch / "out.json"
    if not path.exists():
        raise RuntimeError(f"the run wrote no numbers: {problem.strip()}")
    return json.loads(path.read_text())


def median(runs, field):
    return statistics.median(run[field] for run in runs) if runs else None


def print_table(rows):
    shown = [("what", "koda", "baseline", "goal", "baseline is")]
    for name, unit, ours, base, goal, beside in rows:
        number = lambda value: "-" if value is None else f"{value:.3g} {unit}"
        shown.append((name, number(ours), number(base), goal, beside))
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    for row in shown:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


if __name__ == "__main__":
    main()
