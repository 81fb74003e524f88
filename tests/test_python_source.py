"""Test that threads can parse at the same time, in a process of its own: the tests' process is changed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A garbage collection that runs Python lets the other threads go on in the middle of a parse.
PROGRAM = """
import gc, threading, time
from explorer.capture.readers.source import functions_of

script = "@triton.jit\\ndef kernel(x):\\n" + "    x = [x, (x + 1, {x: x})]\\n" * 50
gc.set_threshold(50)
gc.callbacks.append(lambda *_: time.sleep(0))
failures = []

def parse():
    try:
        for _ in range(10):
            assert len(functions_of(script)) == 1
    except Exception as error:
        failures.append(error)

threads = [threading.Thread(target=parse) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert not failures, failures
"""


def test_threads_parse_at_the_same_time() -> None:
    """CPython before 3.11.8 raises SystemError."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
