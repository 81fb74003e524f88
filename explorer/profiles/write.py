"""Record profiles: run the scripts of the gallery with all measures, and write the measurements to a file.

In: the name of an example, on a machine with a GPU. Out: a file that `explorer.profiles.read` reads, with
long lists cut.
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
from explorer.jobs import Queue
from explorer.model import Diagnostic, Measure, Request, Run, to_plain
from explorer.model.measurements import measures_of
from explorer.pipeline.scopes import marked_lines
from explorer.profiles.read import FORMAT, ProfiledRequest
from explorer.store import Record

#: The most elements of each list that are written.
MOST_TIMES = 200
MOST_SCOPES = 2000
MOST_FILE_BYTES = 150_000
MOST_FILES_BYTES = 300_000
SIGNIFICANT_DIGITS = 6
#: Measures that apply to some kernels only, and measures of the machine.
_CONDITIONAL = ("timeline", "sweep", "autotune", "roofs")
_OF_ONE_LAUNCH = tuple(name for name in measures_of("gpu") if name not in _CONDITIONAL)

#: Runs the kernel of a compilation and waits for the result.
RunKernel = Callable[[Request, Run], Record]
Plain = dict[str, Any]


@dataclass
class ProfileRecorder:
    """Runs kernels and collects their measurements.

    `roofs` are the roofs of this machine, once they are measured. `finished` has each complete run with its
    compilation.
    """

    queue: Queue
    run_kernel: RunKernel
    roofs: Plain | None = None
    runs: list[Plain] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    finished: list[tuple[Record, Record]] = field(default_factory=list)
    has_failed: bool = False

    def record(self, request: Request, run: Run) -> Plain | None:
        """Compile and run a kernel; return the measurements by name, or None if it failed."""
        compilation = self.queue.complete(request)
        record = self.run_kernel(compilation.request, run)
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
        self.finished.append((record, compilation))
        return documents


def record_example(recorder: ProfileRecorder, name: str, target: str, triton: str) -> None:
    """Run each kernel that an example launches on the GPU, as its benchmark does at its largest size.

    A kernel that the benchmark does not launch is run as the script launches it. An autotuned kernel is run
    with its first configuration, which is the default of a compilation, and with its fastest configuration.

    Raises:
        NotFound: the gallery has no such example.
    """
    example = find_example(name)
    if example is None:
        raise NotFound(f"The gallery has no example {name!r}.")
    source = example.source
    found = recorder.queue.ask(Request(source, target, triton, task="inspect"))
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
    """Return the measures that apply to a kernel of this source."""
    conditions = {
        "timeline": bool(marked_lines(source)),
        "sweep": "perf_report" in source,
        "autotune": is_autotuned,
        "roofs": wants_roofs,
    }
    return tuple(name for name in measures_of("gpu") if conditions.get(name, True))


def recorded_request(compilation: Record, run: Run) -> Plain:
    """Return the request of the run, with the chosen launch and configuration."""
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
    msgspec.convert(plain, ProfiledRequest)  # check that it can be read
    return plain


def compact(name: str, document: Plain) -> Plain:
    """Shorten the numbers and the lists of a measurement."""
    if name == "timings":
        for timing in document["timings"]:
            timing["samples_ns"] = timing["samples_ns"][:MOST_TIMES]
    elif name == "timeline" and len(document["scopes"]) > MOST_SCOPES:
        document["cut"] += len(document["scopes"]) - MOST_SCOPES
        document["scopes"] = document["scopes"][:MOST_SCOPES]
    elif name == "samples":
        document["instructions"] = [each for each in document["instructions"] if _has_data(each)]
    elif name == "files":
        document["files"] = _small_files(document["files"])
    rounded: Plain = _rounded(document)
    return rounded


def _has_data(instruction: Mapping[str, Any]) -> bool:
    return bool(instruction["samples"] or instruction.get("sectors"))


def _small_files(files: Sequence[Plain]) -> list[Plain]:
    """Return the files that are not too long, shortest first, up to a total size."""
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
        # Whole numbers are counts of bytes and operations, and exact.
        return value if value.is_integer() else short
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else value


def write_profiles(folder: Path, example: str, command: str, date: datetime, runs: list[Plain]) -> Path:
    """Write a file of profiles, with few lines for each run, so that a diff shows which runs changed."""
    file = {"format": FORMAT, "example": example, "command": command, "date": date.isoformat(), "runs": []}
    head = json.dumps(file, indent=1)
    assert head.endswith("[]\n}")
    lines = ",\n".join(_run_lines(run) for run in runs)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{example}.json"
    # Rename a complete file: a server may read it at any time.
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(f"{head.removesuffix('[]' + chr(10) + '}')}[\n{lines}\n]\n}}\n", encoding="utf-8")
    return unfinished.replace(path)


def _run_lines(run: Plain) -> str:
    """Return a run as JSON, with one line for each measurement."""
    measured = ",\n".join(
        f"{json.dumps(name)}: {_json(document)}" for name, document in run["measurements"].items()
    )
    return f'{{"request": {_json(run["request"])},\n"measurements": {{\n{measured}\n}}}}'


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
