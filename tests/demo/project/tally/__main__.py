"""The command line: python3 -m tally FILE."""

import sys
from pathlib import Path

from tally.parse import LogError, parse_log
from tally.report import hours_by_client, render


def main(arguments):
    if len(arguments) != 1:
        print("usage: python3 -m tally FILE", file=sys.stderr)
        return 2
    try:
        entries = parse_log(Path(arguments[0]).read_text(encoding="utf-8"))
    except (OSError, LogError) as problem:
        print(f"tally: {problem}", file=sys.stderr)
        return 1
    print(render(hours_by_client(entries)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
