"""feed.py FILE DELAY_MS: waits for a line, then prints the file token by token, as a model's stream comes."""

import sys
import time

from material import TOKEN_BYTES

data = open(sys.argv[1], "rb").read()
delay = float(sys.argv[2]) / 1000
sys.stdin.readline()
due = time.monotonic()
for at in range(0, len(data), TOKEN_BYTES):
    sys.stdout.buffer.write(data[at : at + TOKEN_BYTES])
    sys.stdout.buffer.flush()
    if delay:
        due += delay
        time.sleep(max(0.0, due - time.monotonic()))
