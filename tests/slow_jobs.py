"""Jobs that take as long as a test needs, submitted to servers that tests start, and followed there."""

import json
import time
import urllib.request

#: A kernel that keeps the compiler waiting between its stages `ast` and `ttir`.
SLOW = """
import time
import triton
import triton.language as tl

@tl.core.builtin
def wait(_semantic=None):
    time.sleep({seconds})
    return tl.constexpr(1)

@triton.jit
def kernel(x):
    tl.store(x, wait())  # {name}
"""
#: A script that waits until it is stopped, without work.
ENDLESS = "import time\nwhile True:\n    time.sleep(1)\n"
WAIT_SECONDS = 60


def submit(server, seconds, name, **fields):
    source = SLOW.format(seconds=seconds, name=name)
    body = {"source": source, "target": "cuda:90", "arguments": "*fp32:16", **fields}
    answer = server.client().ask("POST", "/api/v1/compilations?follower=page", body)
    assert answer.status == 202, answer
    return answer.document


def events(server, ticket, last=0):
    """Yield the number, the kind and the document of each event, as it arrives."""
    request = urllib.request.Request(server.url + ticket["events"], headers={"Last-Event-ID": str(last)})
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
        number, kind = 0, ""
        for line in response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                number = int(value)
            elif name == "event":
                kind = value
            elif name == "data":
                yield number, kind, json.loads(value)


def until_stage(server, ticket):
    """Return the events up to the first stage, which arrives while the job runs."""
    seen = []
    for event in events(server, ticket):
        seen.append(event)
        if event[1] == "stage":
            return seen
    raise AssertionError(f"the stream ended without a stage: {seen}")


def wait_for_status(server, ticket, status):
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := server.client().document(ticket)["status"]) != status:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
