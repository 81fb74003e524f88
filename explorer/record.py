"""Makes recordings: runs the scripts of the gallery with all measures, and writes what was found out.

In: an example's name, and services on a machine with a GPU. Out: a file as `explorer.recordings` reads it,
with what would make it large cut down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from explorer.errors import NotFound
from explorer.examples import find_example
from explorer.model import Diagnostic, Measure, Request, Run, to_plain
from explorer.pipeline.scopes import marked_lines
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
_OF_ONE_LAUNCH: tuple[Measure, ...] = ("check", "time", "counters", "samples")

RunNow = Callable[[Services, Request], Record]
Plain = dict[str, Any]


@dataclass
class Recorder:
    """Runs kernels and collects what was found out. `roofs` are this machine's, once they are known."""

    services: Services
    run_now: RunNow
    roofs: Plain | None = None
    runs: list[Plain] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    has_failed: bool = False

    def record(self, request: Request, run: Run) -> Plain | None:
        """Compile what is asked for and run it; return its measurements by name, None if it has failed."""
        compilation = self.services.queue.complete(request)
        record = self.run_now(self.services, run_request(self.services, compilation.request, run))
        self.diagnostics += record.result.diagnostics
        if record.status != "complete":
            return None
        documents = {
            name: compact(name, json.loads(record.measurement(name))) for name in record.result.measurements
        }
        self.roofs = self.roofs or documents.get("roofs")
        if self.roofs is not None:
            documents["roofs"] = self.roofs
        self.runs.append({"request": recorded_request(compilation, run), "measurements": documents})
        self.summaries.append(summary_of(record, compilation))
        return documents


def record_example(recorder: Recorder, name: str, target: str) -> None:
    """Run each kernel that an example launches, on the GPU: as its benchmark does at its largest size.

    A kernel that the benchmark does not launch is run as the script launches it. An autotuned one is run
    with its first configuration, which is what is compiled when none is asked for, and with its fastest.

    Raises:
        NotFound: the gallery has no such example.
    """
    example = find_example(name)
    if example is None:
        raise NotFound(f"The gallery has no {name!r}.")
    services, source = recorder.services, example.source
    triton = services.triton_version(None)
    found = services.queue.ask(Request(source, target, triton, task="inspect"))
    inspection = found.result.inspection
    if inspection is None or not inspection.launches:
        recorder.diagnostics += found.result.diagnostics
        recorder.has_failed = True
        return
    configs = {kernel.name: kernel.configs for kernel in inspection.kernels}
    for kernel in dict.fromkeys(launch.kernel for launch in inspection.launches):
        request = Request(source, target, triton, kernel=kernel)
        measures = _measures(source, bool(configs.get(kernel)), recorder.roofs is None)
        run = Run("gpu", measures, is_benchmark="perf_report" in source)
        measured = recorder.record(request, run)
        if measured is None and run.is_benchmark:
            run = replace(run, is_benchmark=False)
            measured = recorder.record(request, run)
        if measured is None:
            recorder.has_failed = True
            continue
        best = measured.get("autotuning", {}).get("best")
        if best is not None and best != recorder.runs[-1]["request"]["config"]:
            recorder.record(replace(request, config=best), replace(run, measures=_OF_ONE_LAUNCH))


def _measures(source: str, is_autotuned: bool, wants_roofs: bool) -> tuple[Measure, ...]:
    """What can be found out about a kernel of this source."""
    measures = list(_OF_ONE_LAUNCH)
    if "perf_report" in source:
        measures.append("sweep")
    if is_autotuned:
        measures.append("autotune")
    if marked_lines(source):
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
    # Whole or not at all: a server may read it at any moment.
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(f"{head.removesuffix('[]' + chr(10) + '}')}[\n{lines}\n]\n}}\n", encoding="utf-8")
    return unfinished.replace(path)


def _run_lines(run: Plain) -> str:
    """A run as JSON, each of its measurements on a line of its own."""
    measured = ",\n".join(
        f"{json.dumps(name)}: {_json(document)}" for name, document in run["measurements"].items()
    )
    return f'{{"request": {_json(run["request"])},\n"measurements": {{\n{measured}\n}}}}'


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
