"""Makes recordings: runs the scripts of the gallery with all measures, and writes what was found out.

In: an example's name, and services on a machine with a GPU. Out: a file as `explorer.recordings` reads it,
with what would make it large cut down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from explorer.errors import NotFound
from explorer.examples import find_example
from explorer.model import Diagnostic, Measure, Request, Run, to_plain
from explorer.recordings import FORMAT, RecordedRequest
from explorer.run_requests import run_request
from explorer.run_summary import summary_of
from explorer.services import Services
from explorer.store import Record

#: How many of a list are kept: what a person looks at, not what a profiler can write.
MOST_TIMES = 200
MOST_SCOPES = 2000
MOST_FILE_BYTES = 150_000
MOST_FILES_BYTES = 300_000
SIGNIFICANT_DIGITS = 6

RunNow = Callable[[Services, Request], Record]
Plain = dict[str, Any]


@dataclass
class Recorded:
    """What was found out about one example. `roofs` is the document of the measurement, if it is among it."""

    runs: list[Plain] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    roofs: Any = None
    failed: bool = False


def record_example(services: Services, name: str, target: str, run_now: RunNow, roofs: Any) -> Recorded:
    """Run each kernel of an example that its script launches. `roofs` are those of this machine, if known.

    Raises:
        NotFound: the gallery has no such example.
    """
    example = find_example(name)
    if example is None:
        raise NotFound(f"The gallery has no {name!r}.")
    recorded = Recorded(roofs=roofs)
    triton = services.triton_version(None)
    found = services.queue.ask(Request(example.source, target, triton, task="inspect"))
    inspection = found.result.inspection
    recorded.diagnostics += found.result.diagnostics
    if inspection is None or not inspection.launches:
        recorded.failed = True
        return recorded
    configs = {kernel.name: kernel.configs for kernel in inspection.kernels}
    for kernel in dict.fromkeys(launch.kernel for launch in inspection.launches):
        compilation = services.queue.complete(Request(example.source, target, triton, kernel=kernel))
        measures = _measures(example.source, bool(configs.get(kernel)), recorded.roofs is None)
        run = Run("gpu", measures, is_benchmark="perf_report" in example.source)
        record = run_now(services, run_request(services, compilation.request, run))
        recorded.diagnostics += record.result.diagnostics
        if record.status != "complete":
            recorded.failed = True
            continue
        documents = {
            each: compact(each, json.loads(record.measurement(each))) for each in record.result.measurements
        }
        recorded.roofs = recorded.roofs or documents.get("roofs")
        if recorded.roofs is not None:
            documents["roofs"] = recorded.roofs
        recorded.runs.append({"request": recorded_request(compilation, run), "measurements": documents})
        recorded.summaries.append(summary_of(record, compilation))
    return recorded


def _measures(source: str, is_autotuned: bool, wants_roofs: bool) -> tuple[Measure, ...]:
    """What can be found out about a kernel of this source."""
    measures: list[Measure] = ["check", "time", "counters", "samples"]
    if "perf_report" in source:
        measures.append("sweep")
    if is_autotuned:
        measures.append("autotune")
    if "proton" in source:
        measures.append("timeline")
    if wants_roofs:
        measures.append("roofs")
    return tuple(measures)


def recorded_request(compilation: Record, run: Run) -> Plain:
    """What was run, as it is found again: with the launch and the configuration that were taken."""
    request, specialized = compilation.request, compilation.result.specialized
    plain: Plain = to_plain(
        {
            "kernel": compilation.kernel or "",
            "target": request.target,
            "triton": request.triton,
            "launch": specialized.launch if specialized else request.launch,
            "config": specialized.config if specialized else request.config,
            "options": request.options,
            "source_sha256": sha256(request.source.encode("utf-8", errors="replace")).hexdigest(),
            "run": run,
        }
    )
    msgspec.convert(plain, RecordedRequest)  # what is written can be read
    return plain


def compact(name: str, document: Plain) -> Plain:
    """A measurement with shorter numbers, and without what nobody will look at."""
    if name == "timings":
        for timing in document["timings"]:
            timing["samples_ns"] = timing["samples_ns"][:MOST_TIMES]
    elif name == "timeline" and len(document["scopes"]) > MOST_SCOPES:
        document["cut"] += len(document["scopes"]) - MOST_SCOPES
        document["scopes"] = document["scopes"][:MOST_SCOPES]
    elif name == "samples":
        document["instructions"] = [each for each in document["instructions"] if _says_something(each)]
    elif name == "files":
        document["files"] = _small_files(document["files"])
    rounded: Plain = _rounded(document)
    return rounded


def _says_something(instruction: Mapping[str, Any]) -> bool:
    return bool(instruction["samples"] or instruction.get("sectors"))


def _small_files(files: Sequence[Plain]) -> list[Plain]:
    """The files that are not too long, the shortest first, as long as there is room."""
    kept, total_bytes = [], 0
    for file in sorted(files, key=lambda file: len(file["data"])):
        size_bytes = len(file["data"])
        if size_bytes <= MOST_FILE_BYTES and total_bytes + size_bytes <= MOST_FILES_BYTES:
            kept.append(file)
            total_bytes += size_bytes
    return kept


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        short = float(f"{value:.{SIGNIFICANT_DIGITS}g}")
        # Counted bytes and operations are whole numbers, and exact.
        return value if value.is_integer() else short
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def write_recordings(folder: Path, example: str, command: str, date: datetime, runs: list[Plain]) -> Path:
    """Write a file of recordings; a run a few lines, so that a change of one is seen as such."""
    file = {"format": FORMAT, "example": example, "command": command, "date": date.isoformat(), "runs": []}
    head = json.dumps(file, indent=1)
    assert head.endswith("[]\n}")
    lines = ",\n".join(_run_lines(run) for run in runs)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{example}.json"
    path.write_text(f"{head.removesuffix('[]' + chr(10) + '}')}[\n{lines}\n]\n}}\n", encoding="utf-8")
    return path


def _run_lines(run: Plain) -> str:
    """A run as JSON, each of its measurements on a line of its own."""
    measured = ",\n".join(
        f"{json.dumps(name)}: {_json(document)}" for name, document in run["measurements"].items()
    )
    return f'{{"request": {_json(run["request"])},\n"measurements": {{\n{measured}\n}}}}'


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
