"""Runs Nsight Compute around a separate process that makes the one launch, and reads counters and samples.

One profile has counters and samples. The process is `python -m explorer.runner --once`, which makes the
launch of the request that it reads. The profiler ignores everything else that the process does. Most of the
time of a profile is spent on the start of this process, so it is started early and waits for its request.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from explorer.model import to_plain
from explorer.runner.measures.context import MeasureContext
from explorer.runner.profilers.metrics import COUNTED, FORBIDDEN, STALLS, TENSOR_OPERATIONS, NoCounters

#: ncu ignores names that the GPU lacks. These two families differ by architecture.
_METRICS = (*COUNTED, f"regex:^{TENSOR_OPERATIONS}", f"regex:^{STALLS}")

#: The columns to keep: sums, shares and samples, without their distribution over the multiprocessors.
_KEPT = re.compile(
    r"\w+__\w+(?:\.sum|\.max|\.avg(?:\.per_second|\.pct_of_peak_sustained_(?:active|elapsed))?)"
    r"|smsp__pcsamp_\w+|launch__\w+|derived__memory_\w+"
)
SECONDS = 180
MISSING = (
    "Nsight Compute is not installed on this host. Install it (part of the CUDA toolkit; package "
    "nsight-compute) so that “ncu” is on the PATH, in /usr/local/cuda/bin or below "
    "/opt/nvidia/nsight-compute."
)


@dataclass(frozen=True)
class Profile:
    """The results of Nsight Compute for one launch.

    `metrics` are in base units, by Nsight Compute's names. `rows` are its source page: one row per
    instruction, by column.
    """

    tool: str
    metrics: dict[str, float]
    rows: tuple[dict[str, str], ...]


def find() -> Path | None:
    """Return the newest `ncu` of this host."""
    on_path = shutil.which("ncu")
    if on_path:
        return Path(on_path)
    usual = [Path("/usr/local/cuda/bin/ncu")]
    installed = sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"), key=_version, reverse=True)
    return next((path for path in [*installed, *usual] if os.access(path, os.X_OK)), None)


def profile(context: MeasureContext) -> Profile:
    """Profile the launch of `context`. Repeated calls return the same profile.

    Raises:
        NoCounters: the launch could not be profiled.
    """
    if context.profile is None:
        try:
            context.profile, report = waiting_profiler().profile(json.dumps(to_plain(context.request)))
            context.keep_file("profile.ncu-rep", "application/octet-stream", report)
        except NoCounters as reason:
            context.profile = reason
        finally:
            waiting_profiler.cache_clear()
    if isinstance(context.profile, NoCounters):
        raise context.profile
    assert isinstance(context.profile, Profile)
    return context.profile


class Profiler:
    """An Nsight Compute that has started its process and waits for the request to profile.

    Raises:
        NoCounters: Nsight Compute is not installed.
    """

    def __init__(self) -> None:
        ncu = find()
        if ncu is None:
            raise NoCounters(MISSING)
        self._ncu = str(ncu)
        self._folder = tempfile.TemporaryDirectory(prefix="ncu-")
        # ncu keeps its lock and copies of its section files below these folders.
        path = os.pathsep.join(filter(None, sys.path))
        folder = self._folder.name
        self._environment = {**os.environ, "HOME": folder, "TMPDIR": folder, "PYTHONPATH": path}
        self._report = Path(folder) / "profile.ncu-rep"
        self._process = self._start(
            *("--config-file", "off", "--target-processes", "application-only"),
            *("--profile-from-start", "off", "--launch-count", "1"),
            *("--clock-control", "none", "--cache-control", "all", "--section", "SourceCounters"),
            *("--metrics", ",".join(_METRICS), "--export", str(self._report)),
            *(sys.executable, "-m", "explorer.runner", "--once"),
        )

    def profile(self, request: str) -> tuple[Profile, bytes]:
        """Profile the launch of a request. Return its results, and the report.

        Raises:
            NoCounters: the launch could not be profiled.
        """
        with self._folder:
            output = self._output_of(self._process, request)
            if not self._report.is_file():
                raise NoCounters(reason_for(output))
            view = ("--config-file", "off", "--import", str(self._report), "--csv", "--page")
            views = (
                (*view, "raw", "--print-units", "base"),
                (*view, "source", "--print-source", "sass"),
                ("--version",),
            )
            with ThreadPoolExecutor(len(views)) as threads:
                raw, source, about = threads.map(lambda view: self._output_of(self._start(*view)), views)
            version = re.search(r"^Version (\S+)", about, re.MULTILINE)
            tool = f"Nsight Compute {version.group(1)}" if version else "Nsight Compute"
            return Profile(tool, read_metrics(raw), read_instructions(source)), self._report.read_bytes()

    def _start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - the profiler, by its path
            [self._ncu, *options],
            env=self._environment,
            text=True,
            errors="replace",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    @staticmethod
    def _output_of(process: subprocess.Popen[str], given: str = "") -> str:
        try:
            output, _ = process.communicate(given, SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise NoCounters(
                f"Nsight Compute exceeded its time limit of {SECONDS} s. Reduce the sizes."
            ) from None
        return output


@cache
def waiting_profiler() -> Profiler:
    """Return the profiler of the next profile, which is started by the first call.

    Raises:
        NoCounters: Nsight Compute is not installed.
    """
    return Profiler()


def reason_for(output: str) -> str:
    """Return why there is no report, from the output of ncu."""
    if "ERR_NVGPUCTRPERM" in output:
        return FORBIDDEN
    errors = [line.removeprefix("==ERROR==").strip() for line in output.splitlines() if "==ERROR==" in line]
    if not errors:
        errors = [line for line in output.splitlines() if line.strip() and not line.startswith("==")][-3:]
    return f"Nsight Compute wrote no report: {' '.join(errors) or 'it printed no error'}"[:1000]


def read_metrics(text: str) -> dict[str, float]:
    """Read the metrics of the first kernel from ncu's page "raw", as CSV in base units."""
    rows = list(csv.reader(io.StringIO(text)))
    header = next((index for index, row in enumerate(rows) if row[:1] == ["ID"]), None)
    if header is None or len(rows) < header + 3:
        raise NoCounters(f"Nsight Compute reported no kernel: {text.strip()[-500:]}")
    numbers = {}
    for name, value in zip(rows[header], rows[header + 2], strict=False):
        number = _number(value)
        if number is not None and _KEPT.fullmatch(name):
            numbers[name] = number
    return numbers


def read_instructions(text: str) -> tuple[dict[str, str], ...]:
    """Read the rows of the first kernel from ncu's page "source" with SASS only, as CSV."""
    rows = list(csv.reader(io.StringIO(text)))
    header = next((index for index, row in enumerate(rows) if row[:1] == ["Address"]), None)
    if header is None:
        return ()
    found = []
    for row in rows[header + 1 :]:
        if not row or not row[0].startswith("0x"):
            break
        found.append(dict(zip(rows[header], row, strict=False)))
    return tuple(found)


def _number(value: str) -> float | None:
    try:
        number = float(value.replace(",", ""))
    except ValueError:
        return None
    return number if abs(number) != float("inf") and number == number else None


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", path.parent.name))
