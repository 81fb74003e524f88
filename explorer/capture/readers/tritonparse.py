"""Reads the traces of tritonparse: a line of JSON for each compilation and each launch.

A trace may be compressed with gzip, as a whole or line by line. The traces of a folder are read as one trace.
Events of other types, and the fields that tritonparse adds when it parses a trace, are ignored.

Source: tritonparse/structured_logging.py, July 2025 to August 2026.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from explorer.capture.read import CannotRead, CapturedKernel, Damaged, decode
from explorer.capture.readers.imported import STAGE_NAMES, imported_kernel
from explorer.capture.readers.lines import files_of, lines_of
from explorer.capture.readers.source import (
    LocalSources,
    Script,
    functions_of,
    lines_by_file,
    write_script,
)
from explorer.errors import InvalidRequest
from explorer.model import BINARY_STAGES
from explorer.model.limits import MOST_CAPTURED_KERNELS, MOST_LAUNCHES, MOST_TEXT_BYTES

_SUFFIXES = (".ndjson", ".ndjson.gz")


class _Compiled(msgspec.Struct):
    hash: str = ""


class _Launch(msgspec.Struct):
    """The fields of every event that counting launches needs."""

    event_type: str = ""
    compilation_metadata: _Compiled | None = None


class _Source(msgspec.Struct):
    file_path: Annotated[str, msgspec.Meta(max_length=4096)]
    start_line: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)]
    code: str


class _Payload(msgspec.Struct):
    metadata: dict[str, Any]
    file_content: dict[str, str] = {}
    python_source: _Source | None = None
    times: Any = None


class _Compilation(msgspec.Struct):
    payload: _Payload


class TritonparseReader:
    """Reads one trace, or all traces in a folder."""

    def __init__(self, path: Path, sources: LocalSources | None) -> None:
        self.programs: list[str] = []
        self._sources = sources
        self._paths = files_of(path, _SUFFIXES)

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Return whether the path is a trace or a folder with a trace, by the names of files."""
        return bool(files_of(path, _SUFFIXES))

    def kernels(self) -> Iterator[CapturedKernel | Damaged]:
        """Yield each kernel once, with the launches of all traces.

        Raises:
            InvalidRequest: there are more than a session has.
        """
        launches: Counter[str] = Counter()
        for path in self._paths:
            for _, line in lines_of(path):
                if isinstance(line, bytes) and b'"launch"' in line:
                    try:
                        event = decode(line, _Launch)
                    except CannotRead:  # reported below
                        continue
                    if event.event_type == "launch" and event.compilation_metadata is not None:
                        launches[event.compilation_metadata.hash] += 1
        seen: set[str] = set()
        for path in self._paths:
            for place, line in lines_of(path):
                try:
                    yield from self._event(line, launches, seen)
                except CannotRead as error:
                    yield Damaged(place, str(error))

    def _event(
        self, line: bytes | CannotRead, launches: Counter[str], seen: set[str]
    ) -> Iterator[CapturedKernel]:
        if isinstance(line, CannotRead):
            raise line
        if line.isspace():
            return
        if decode(line, _Launch).event_type != "compilation":
            return
        payload = decode(line, _Compilation).payload
        # The hash identifies the compilation: a process that finds it in Triton's cache writes it again.
        identity = payload.metadata.get("hash")
        if not isinstance(identity, str):
            raise CannotRead("the compilation has no hash")
        if identity in seen:
            return
        if len(seen) == MOST_CAPTURED_KERNELS:
            raise InvalidRequest(
                f"The trace has more than {MOST_CAPTURED_KERNELS:,} kernels, the limit of a session. "
                "Send a part of its lines."
            )
        seen.add(identity)
        stages = _stages(payload.file_content)
        # A trace without a launch may have been recorded without launches: their number is not known.
        count = min(launches[identity], MOST_LAUNCHES) if launches else None
        name = next(iter(payload.file_content), "").rpartition(".")[0]
        yield imported_kernel(
            identity,
            name,
            payload.metadata,
            stages,
            self._script(str(payload.metadata.get("name") or name), payload.python_source, stages),
            launches=count,
            milliseconds=_milliseconds(payload),
        )

    def _script(self, kernel: str, source: _Source | None, stages: dict[str, str]) -> Script:
        """Write the functions in the trace and, if local sources are read, the functions of other files."""
        lines = lines_by_file(stages)
        known, problem = self._sources.functions_by_file(lines) if self._sources else ({}, "")
        file = next(iter(lines), "")
        missing = problem or "the trace does not have it"
        if source is not None:
            try:
                functions = functions_of(source.code, source.start_line)
                known[source.file_path], file = functions, source.file_path
                if source.file_path not in lines:
                    lines[source.file_path] = {first for first, _, _ in functions}
            except CannotRead as error:
                missing = f"the source in the trace is not read: {error}"
        return write_script(kernel, file, missing, lines, known)


def _stages(contents: dict[str, str]) -> dict[str, str]:
    """Return the texts of the stages. In place of an omitted text, tritonparse writes `<reason>`."""
    found = {}
    for name, text in contents.items():
        stage = name.rpartition(".")[2]
        if stage in STAGE_NAMES and stage not in BINARY_STAGES and not text.startswith("<"):
            if len(text) > MOST_TEXT_BYTES:
                raise CannotRead(f"{name} has more than {MOST_TEXT_BYTES:,} characters")
            found[stage] = text
    return found


def _milliseconds(payload: _Payload) -> dict[str, float] | None:
    """Return the time of each step; None if Triton's cache had the kernel. Triton counts microseconds."""
    times = payload.times
    try:
        steps = {str(name): float(value) for name, value in times["lowering_stages"]}
        if not steps or payload.metadata.get("cache_hit"):
            return None
        steps = {"ir": float(times["ir_initialization"]), **steps, "store": float(times["store_results"])}
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    return {name: round(value / 1000, 3) for name, value in steps.items()}
