"""What a client is billed."""

from collections import defaultdict


def hours_by_client(entries):
    hours = defaultdict(float)
    for entry in entries:
        hours[entry.client] += entry.hours
    return dict(hours)


def render(hours):
    width = max((len(client) for client in hours), default=0)
    lines = [f"{client:<{width}}  {hours[client]:6.2f} h" for client in sorted(hours)]
    return "\n".join(lines)
