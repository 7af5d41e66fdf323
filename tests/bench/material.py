"""What the benches run on: a long answer in Markdown, a tree of files, ripgrep. All made once, below .build/bench."""

import json
import random
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build" / "bench"
FILES = 60_000
TOKEN_BYTES = 4

WORDS = """the a buffer window cursor text line reads writes moves edits finds keeps holds opens closes when while after
before because so that each every which where mark fold undo redo screen key timer thread event queue budget frame task
model answer token stream parser tree node match range byte column file path root folder test""".split()
SUFFIXES = ["rs", "lua", "py", "md", "toml", "json", "c", "h"]


def answer(tokens):
    """An answer of so many tokens, as models write it: headings, prose, lists, code."""
    dice = random.Random(7)
    parts, size, number = [], 0, 0
    while size < tokens * TOKEN_BYTES:
        number += 1
        prose = " ".join(dice.choices(WORDS, k=90)).capitalize()
        items = "\n".join(f"- **{dice.choice(WORDS)}** and `{dice.choice(WORDS)}`" for _ in range(4))
        code = "\n".join(f"let {dice.choice(WORDS)}_{line} = {dice.choice(WORDS)}({line});" for line in range(8))
        part = f"## Part {number}\n\n{prose}.\n\n{items}\n\n```rust\n{code}\n```\n\n"
        parts.append(part)
        size += len(part)
    return "".join(parts)[: tokens * TOKEN_BYTES]


def script(path, text, delay_ms):
    """Writes a script for the replay model that says `text`, one token at a time."""
    path.write_text(json.dumps({"turns": [{"text": text}], "chunk_bytes": TOKEN_BYTES, "delay_ms": delay_ms}))
    return path


def tree():
    """A tree of 60,000 small files. `zanzibar` stands in one of them, `cursor` in nearly all."""
    root = BUILD / "tree"
    if (BUILD / "tree.done").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    dice = random.Random(11)
    for number in range(FILES):
        folder = root / f"part{number // 2000}" / f"room{number // 50 % 40}"
        if number % 50 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(dice.choices(WORDS, k=10)) for _ in range(20)]
        if number == FILES // 2:
            lines[10] = "here lies zanzibar"
        name = f"{dice.choice(WORDS)}_{number}.{dice.choice(SUFFIXES)}"
        (folder / name).write_text("\n".join(lines) + "\n")
    (BUILD / "tree.done").touch()
    return root


def ripgrep():
    """The path of rg: the one on PATH, else built into .build; None, with the reason printed, if neither can be had."""
    found = shutil.which("rg")
    if found:
        return found
    built = BUILD / "ripgrep" / "bin" / "rg"
    if not built.exists():
        print("No rg on PATH; building one into .build/bench.", flush=True)
        command = ["cargo", "install", "--quiet", "--locked", "--root", BUILD / "ripgrep", "ripgrep"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"rg can't be built, so there is nothing to compare with: {done.stderr.strip()[-300:]}")
            return None
    return str(built)
