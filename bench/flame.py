"""The flame chart of a vector add: what each process does from the request to the last event.

The server and its jails are traced (`bench.trace`). Of several compilations, the one with the median time is
drawn: `bench/results/<date>-flame.svg`, and `.json` in the format of Chrome's trace viewer and of Perfetto.
The tracing itself takes some milliseconds. Times without it, and the processor time of a compilation, come
from a second server that is not traced.
"""

from __future__ import annotations

import html
import json
import os
import statistics
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.bare import TARGET
from bench.service import Service, running_service
from explorer.examples import find_example

RESULTS = Path(__file__).parent / "results"
COUNT = 15
_KERNEL = "vector_add"
#: The preparation of a process before the request is drawn if it began this late.
_BEFORE_MS = 60.0
_ROW, _WIDTH, _LEFT = 16, 1600, 150
_COLORS = {
    "client": "#8899aa",
    "server": "#4c8dd6",
    "zygote": "#b08cd9",
    "keeper": "#c9a0c9",
    "warden": "#d9a05b",
    "worker": "#5fae6e",
    "copy": "#9cc26a",
}

Span = dict[str, Any]


def measure_flame(service: Service) -> dict[str, Any]:
    """Draw the chart, print the longest spans, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spans.jsonl"
        with running_service(["bench.trace.server", str(file)]) as traced:
            traced.wait_until_warm()
            jobs = _trace(traced, file)
    jobs.sort(key=lambda spans: spans[0]["end"] - spans[0]["start"])
    middle = jobs[len(jobs) // 2]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}-flame"
    path.with_suffix(".json").write_text(json.dumps({"traceEvents": _chrome(middle)}))
    path.with_suffix(".svg").write_text(_svg(middle))
    figures = measure_cost(service)
    print(
        f"{_KERNEL}: first stage {figures['first_stage_ms']:.1f} ms, "
        f"last event {figures['last_event_ms']:.1f} ms, "
        f"processor time {figures['processor_ms']:.0f} ms (medians and mean of {COUNT})"
    )
    print(f"\n{'':44} {'calls':>6} {'wall ms':>9} {'processor ms':>13} {'page faults':>12}")
    table = _table(jobs)
    for row in table:
        print(
            f"{row['process']:8} {row['name']:35} {row['calls']:6.0f} {row['wall_ms']:9.2f} "
            f"{row['processor_ms']:13.2f} {row['faults']:12.0f}"
        )
    print(f"written to {path}.svg and .json")
    return {**figures, "parts": table}


def measure_cost(service: Service, count: int = COUNT) -> dict[str, float]:
    """Return the times of a compilation, and the processor time that it costs all processes of the server."""
    example = find_example(_KERNEL)
    assert example is not None
    first, last = [], []
    service.compile(f"{example.source}\n# before\n", TARGET)
    begin = _settled_processor_ms()
    for number in range(count):
        timing = service.compile(f"{example.source}\n# cost {number}\n", TARGET)
        first.append(timing.first_stage)
        last.append(timing.last_event)
        time.sleep(0.1)  # The next process is ready, as for a person's request.
    end = _settled_processor_ms()
    return {
        "first_stage_ms": statistics.median(first),
        "last_event_ms": statistics.median(last),
        "processor_ms": (end - begin) / count,
    }


def _settled_processor_ms() -> float:
    """Return the processor time of the machine when the server has finished the work after a compilation.

    When the kernel ends a namespace, it does not add the times of processes to the times of their parents.
    The figure is right on a machine at rest.
    """
    time.sleep(1)
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _, _, interrupts, soft_interrupts, *_ = fields
    return (user + nice + system + interrupts + soft_interrupts) * 1000 / os.sysconf("SC_CLK_TCK")


def _trace(service: Service, file: Path) -> list[list[Span]]:
    """Compile several times. Return the spans of each compilation, the client's wait first."""
    example = find_example(_KERNEL)
    assert example is not None
    waits: list[Span] = []
    in_jail: list[list[Span]] = []
    for number in range(COUNT + 1):
        start = time.monotonic_ns()
        timing = service.compile(f"{example.source}\n# traced {number}\n", TARGET)
        end = time.monotonic_ns()
        waits.append(_client_span("request to last event", start, end))
        document = service.request("GET", f"/api/v1/compilations/{timing.id}")
        logs = [log["text"] for log in document["logs"] if log["source"] == "trace"]
        in_jail.append([json.loads(line) for log in logs for line in log.splitlines()])
        time.sleep(0.2)
    spans = [json.loads(line) for line in file.read_text().splitlines()]
    spans += [span for part in in_jail for span in part]
    return [[wait, *_between(spans, wait)] for wait in waits[1:-1]]


def _client_span(name: str, start: int, end: int) -> Span:
    return {
        "name": name,
        "process": "client",
        "thread": "",
        "start": start,
        "end": end,
        "processor": 0,
        "faults": 0,
    }


def _between(spans: list[Span], wait: Span) -> list[Span]:
    """Return the spans of one compilation, with the preparation of its process."""
    begin = wait["start"] - _BEFORE_MS * 1e6
    found = [span for span in spans if span["end"] >= begin and span["start"] <= wait["end"]]
    return sorted(found, key=lambda span: (span["start"], -span["end"]))


def _table(jobs: list[list[Span]]) -> list[dict[str, Any]]:
    """Return the mean times of the spans of a request, the longest first."""
    sums: dict[tuple[str, str], list[float]] = {}
    for job in jobs:
        for span in job:
            if (
                span["end"] > job[0]["start"]
                and span["start"] < job[0]["end"]
                and span["end"] > span["start"]
            ):
                row = sums.setdefault((span["process"], span["name"]), [0.0] * 4)
                for place, value in enumerate(
                    (1, (span["end"] - span["start"]) / 1e6, span["processor"] / 1e6, span["faults"])
                ):
                    row[place] += value / len(jobs)
    rows = [
        dict(
            zip(("process", "name", "calls", "wall_ms", "processor_ms", "faults"), (*key, *row), strict=True)
        )
        for key, row in sums.items()
    ]
    return sorted(rows, key=lambda row: -row["wall_ms"])


def _chrome(spans: list[Span]) -> list[dict[str, Any]]:
    begin = spans[0]["start"]
    return [
        {
            "name": span["name"],
            "ph": "X",
            "pid": span["process"],
            "tid": span["thread"],
            "ts": (span["start"] - begin) / 1e3,
            "dur": (span["end"] - span["start"]) / 1e3,
            "args": {"processor ms": span["processor"] / 1e6, "page faults": span["faults"]},
        }
        for span in spans
    ]


def _svg(spans: list[Span]) -> str:
    """Draw a lane for each thread, in which a span lies below the span around it."""
    wait = spans[0]
    begin = min(span["start"] for span in spans)
    scale = (_WIDTH - _LEFT) / (max(span["end"] for span in spans) - begin)
    parts: list[str] = []
    y = 2 * _ROW
    lanes: dict[tuple[str, str], list[Span]] = {}
    for span in sorted(spans, key=lambda span: list(_COLORS).index(span["process"])):
        lanes.setdefault((span["process"], span["thread"]), []).append(span)
    for (process, thread), lane in lanes.items():
        parts.append(f'<text x="2" y="{y + 12}">{html.escape(f"{process} {thread}"[:26])}</text>')
        deepest, open_ends = 0, list[float]()
        for span in sorted(lane, key=lambda span: (span["start"], -span["end"])):
            open_ends = [end for end in open_ends if end > span["start"]]
            depth = len(open_ends)
            open_ends.append(span["end"])
            deepest = max(deepest, depth)
            x = _LEFT + (span["start"] - begin) * scale
            width = max((span["end"] - span["start"]) * scale, 0.5)
            milliseconds = (span["end"] - span["start"]) / 1e6
            title = f"{span['name']}: {milliseconds:.2f} ms, {span['faults']} page faults"
            label = html.escape(span["name"][: int(width / 6.2)]) if width > 20 else ""
            parts.append(
                f'<g><title>{html.escape(title)}</title><rect x="{x:.1f}" y="{y + depth * _ROW}" '
                f'width="{width:.1f}" height="{_ROW - 1}" fill="{_COLORS[process]}" stroke="#fff" '
                f'stroke-width="0.3"/><text x="{x + 2:.1f}" y="{y + depth * _ROW + 12}">{label}</text></g>'
            )
        y += (deepest + 1) * _ROW + 4
    lines = []
    step = 5e6 if (wait["end"] - begin) < 4e8 else 5e7
    moment = wait["start"] - (wait["start"] - begin) // step * step
    while moment <= wait["end"] + step:
        x = _LEFT + (moment - begin) * scale
        lines.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="14" y2="{y}" stroke="#ddd"/>'
            f'<text x="{x:.1f}" y="11">{(moment - wait["start"]) / 1e6:.0f}</text>'
        )
        moment += step
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{y}" '
        f'font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(lines)}{''.join(parts)}</svg>\n"
    )
