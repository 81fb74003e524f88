"""The cost of a stage of the maximum length for the process that answers requests."""

import random
import urllib.request
from pathlib import Path

import pytest
from served import Server

pytestmark = pytest.mark.slow

#: Measured: 150 MB at most. Each copy of the text is 60 MB.
MOST_BYTES = 200 << 20
#: Writes the event of a stage to the pipe for events, as hostile code can.
FORGED = """
import os
from explorer.model import Stage, encode_event

line = "    %v{} = arith.addi %a, %b : i32  // padding padding padding"
lines = [line.format(number) for number in range(900_000)]
text = "module {\\n" + "\\n".join(lines) + "\\n}\\n"
assert 55 << 20 < len(text) < 60 << 20, len(text)
event = memoryview(encode_event(Stage("ttgir", "TTGIR", "ttgir", 1.0, text)))
pipes = (fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}"))
events = next(fd for fd in pipes if os.readlink(f"/proc/self/fd/{fd}").startswith("pipe:"))
while event:
    event = event[os.write(events, event):]
os._exit(0)
"""


def memory_of(process, name):
    """Return a line of the memory of a process, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("data"))
    yield server
    server.close()


@pytest.mark.nightly
def test_a_stage_of_60_mb_costs_little_memory(server):
    list(server.events(server.post({"source": f"# {random.random()}", "target": "cuda:90"})))
    present = server.worker.pid
    before = memory_of(present, "VmRSS")
    Path(f"/proc/{present}/clear_refs").write_text("5")  # VmHWM counts from here on
    ticket = server.post({"source": FORGED, "target": "cuda:90"})
    assert "stage" in list(server.events(ticket))
    paths = [*("", "/stages/ttgir", "/stages/ttgir/lines?from=800000", "/stages/ttgir/text", "/events")]
    paths += ["/stages/ttgir/search?text=v777", "/stages/ttgir/locations", "/archive.zip"]
    costs = {"job": memory_of(present, "VmHWM") - before}
    for path in paths:
        Path(f"/proc/{present}/clear_refs").write_text("5")
        with urllib.request.urlopen(server.url + ticket["api"] + path) as response:
            size = len(response.read())
        assert size > 100, path
        costs[path] = memory_of(present, "VmHWM") - before
    assert {path: cost for path, cost in costs.items() if cost > MOST_BYTES} == {}
