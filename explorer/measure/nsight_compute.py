"""Nsight Compute around a process of its own that makes the one launch: its counters and its samples.

One profile serves both. The process is `python -m explorer.measure --once`, which makes the launch of the
request that it reads, and the profiler looks at nothing else of what that does.
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
from dataclasses import dataclass
from pathlib import Path

from explorer.measure.bench import Bench
from explorer.measure.metrics import COUNTED, FORBIDDEN, STALLS, TENSOR_OPERATIONS, NoCounters
from explorer.model import to_plain

#: A name that the GPU lacks is left out by ncu; these two families differ by architecture.
_METRICS = (*COUNTED, f"regex:^{TENSOR_OPERATIONS}", f"regex:^{STALLS}")

#: What is kept of the page: sums, shares and samples, not their distribution over the multiprocessors.
_KEPT = re.compile(
    r"\w+__\w+(?:\.sum|\.max|\.avg(?:\.per_second|\.pct_of_peak_sustained_(?:active|elapsed))?)"
    r"|smsp__pcsamp_\w+|launch__\w+|derived__memory_\w+"
)
SECONDS = 180
MISSING = (
    "There is no Nsight Compute on this host. Install it (the CUDA toolkit has it, its package is "
    "nsight-compute), so that “ncu” is on the PATH, in /usr/local/cuda/bin or under "
    "/opt/nvidia/nsight-compute."
)


@dataclass(frozen=True)
class Profile:
    """What Nsight Compute has found out about one launch.

    `metrics` are in base units, by its names; `rows` are its source page: one an instruction, by column.
    """

    tool: str
    metrics: dict[str, float]
    rows: tuple[dict[str, str], ...]


def find() -> Path | None:
    """Find the newest `ncu` of this host."""
    on_path = shutil.which("ncu")
    if on_path:
        return Path(on_path)
    usual = [Path("/usr/local/cuda/bin/ncu")]
    installed = sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"), key=_version, reverse=True)
    return next((path for path in [*installed, *usual] if os.access(path, os.X_OK)), None)


def profile(bench: Bench) -> Profile:
    """Profile the launch of `bench`, once however often it is asked for.

    Raises:
        NoCounters: it could not be profiled.
    """
    if bench.profile is None:
        ncu = find()
        if ncu is None:
            raise NoCounters(MISSING)
        try:
            made, report = _profile(ncu, json.dumps(to_plain(bench.request)))
            bench.profile = made
            bench.keep("profile.ncu-rep", "application/octet-stream", report)
        except NoCounters as reason:
            bench.profile = reason
    if isinstance(bench.profile, NoCounters):
        raise bench.profile
    assert isinstance(bench.profile, Profile)
    return bench.profile


def _profile(ncu: Path, request: str) -> tuple[Profile, bytes]:
    """Profile the launch of a request; return what is read of the report, and the report."""
    with tempfile.TemporaryDirectory(prefix="ncu-") as folder:
        report = Path(folder) / "profile.ncu-rep"
        # It keeps its lock and its copies of section files below these.
        path = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "HOME": folder, "TMPDIR": folder, "PYTHONPATH": path}
        command = [
            *(str(ncu), "--config-file", "off", "--target-processes", "application-only"),
            *("--profile-from-start", "off", "--launch-count", "1"),
            *("--clock-control", "none", "--cache-control", "all", "--section", "SourceCounters"),
            *("--metrics", ",".join(_METRICS), "--export", str(report)),
            *(sys.executable, "-m", "explorer.measure", "--once"),
        ]
        said = _run(command, environment, request)
        if not report.is_file():
            raise NoCounters(reason_for(said))
        view = [str(ncu), "--config-file", "off", "--import", str(report), "--csv", "--page"]
        raw = _run([*view, "raw", "--print-units", "base"], environment)
        source = _run([*view, "source", "--print-source", "sass"], environment)
        version = re.search(r"^Version (\S+)", _run([str(ncu), "--version"], environment), re.MULTILINE)
        tool = f"Nsight Compute {version.group(1)}" if version else "Nsight Compute"
        return Profile(tool, read_metrics(raw), read_instructions(source)), report.read_bytes()


def _run(command: list[str], environment: dict[str, str], given: str = "") -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the profiler, by its path
            command,
            input=given,
            env=environment,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoCounters(f"Nsight Compute was not done after {SECONDS} s.") from None
    return done.stdout


def reason_for(said: str) -> str:
    """Say why there is no report, from what ncu has printed."""
    if "ERR_NVGPUCTRPERM" in said:
        return FORBIDDEN
    errors = [line.removeprefix("==ERROR==").strip() for line in said.splitlines() if "==ERROR==" in line]
    if not errors:
        errors = [line for line in said.splitlines() if line.strip() and not line.startswith("==")][-3:]
    return f"Nsight Compute has made no report: {' '.join(errors) or 'it does not say why'}"[:1000]


def read_metrics(text: str) -> dict[str, float]:
    """Read the numbers of ncu's page "raw", as CSV in base units, of the first kernel in it."""
    rows = list(csv.reader(io.StringIO(text)))
    header = next((index for index, row in enumerate(rows) if row[:1] == ["ID"]), None)
    if header is None or len(rows) < header + 3:
        raise NoCounters(f"Nsight Compute has reported no kernel: {text.strip()[-500:]}")
    numbers = {}
    for name, value in zip(rows[header], rows[header + 2], strict=False):
        number = _number(value)
        if number is not None and _KEPT.fullmatch(name):
            numbers[name] = number
    return numbers


def read_instructions(text: str) -> tuple[dict[str, str], ...]:
    """Read the rows of ncu's page "source" with SASS only, as CSV, of the first kernel in it."""
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
