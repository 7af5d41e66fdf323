"""One stretch of work."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Entry:
    start: datetime
    end: datetime
    client: str
    note: str

    @property
    def hours(self):
        return (self.end - self.start).total_seconds() / 3600
