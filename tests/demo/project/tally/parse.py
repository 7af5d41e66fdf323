"""Reads a work log: one entry a line, blank lines and lines after a # don't count."""

import re
from datetime import datetime

from tally.entry import Entry

LINE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d) (?P<start>\d\d:\d\d)-(?P<end>\d\d:\d\d) (?P<client>[\w-]+): (?P<note>.+)"
)


class LogError(ValueError):
    """A line that is no entry."""

    def __init__(self, number, line):
        super().__init__(f"line {number} is no entry: {line!r}")


def parse_line(line, number=1):
    match = LINE.fullmatch(line.strip())
    if match is None:
        raise LogError(number, line)
    start = moment(match["day"], match["start"])
    end = moment(match["day"], match["end"])
    return Entry(start, end, match["client"], match["note"])


def parse_log(text):
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            entries.append(parse_line(line, number))
    return entries


def moment(day, time):
    return datetime.strptime(f"{day} {time}", "%Y-%m-%d %H:%M")
