"""The search for a faster kernel: takes one proven change after another.

In: a compilation. Out: its tries as they happen, and what the taken changes make of the kernel.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import NamedTuple, TypeVar

import msgspec

from explorer.agents.api import Api, Refused, document, post
from explorer.analysis.source_edits import EditableSource, edited
from explorer.documents import API, CompilationDocument
from explorer.errors import NotAnswerable
from explorer.model import Scalar
from explorer.model.measurements import Timing, Timings
from explorer.queries.finding_changes import FindingChanges
from explorer.queries.findings import FindingsDocument
from explorer.queries.findings.finding import Change
from explorer.runs.documents import RunDocument, RunsDocument
from explorer.store import is_over

_FIGURES = {
    "registers": ("registers",),
    "bytes that spills store and load": ("spill_stores_bytes", "spill_loads_bytes"),
    "bytes of shared memory": ("shared_bytes",),
}
_Job = TypeVar("_Job", CompilationDocument, RunDocument)


class Try(msgspec.Struct, frozen=True):
    """A change that was tried for a finding of the rule `rule`, and what its compilation says."""

    rule: str
    change: str
    verdict: str
    is_taken: bool


class Figure(msgspec.Struct, frozen=True):
    """A figure before and after the taken changes."""

    name: str
    before: int
    after: int


class Improvement(msgspec.Struct, frozen=True):
    """The result of a search. `compilation` is the kernel with the taken changes.

    The taken changes set `options` and `constants`. `diff` has the changed lines of the source, also of its
    launch; `not_written` are the options and constants that the launch of the source cannot have.
    The times are the medians on a GPU, before and after; null: not measured. `is_complete`: no change is left
    to try.
    """

    compilation: str
    tries: list[Try]
    figures: list[Figure]
    time_before_ns: float | None
    time_after_ns: float | None
    options: dict[str, Scalar]
    constants: dict[str, Scalar]
    not_written: list[str]
    diff: list[str]
    is_complete: bool


class _Late(Exception):
    """The time is over."""


class _Outcome(NamedTuple):
    """Whether a kernel may be taken for what it writes, in words, and its time; None: not measured."""

    is_proven: bool
    words: str
    timing: Timing | None


class Search:
    """Takes the first proven change of the most costly finding, again and again.

    A change of the source or of a constexpr is proven if the kernel also writes the same. With a GPU, a
    change is taken only if the kernel is faster. A correction needs neither: the kernel before is wrong.
    """

    def __init__(self, api: Api, compilation: CompilationDocument, seconds: float) -> None:
        """Start the clock: no compilation and no run begins when `seconds` are over."""
        self._api = api
        self._first = self._last = compilation
        #: The kernel whose results are right.
        self._right = compilation
        self._deadline = time.monotonic() + seconds
        self._tries: list[Try] = []
        self._taken: list[Change] = []
        self._is_complete = False
        self._device = "interpreter"
        #: The times of the first kernel and of the present one.
        self._timings: tuple[Timing | None, Timing | None] = (None, None)

    async def tries(self) -> AsyncGenerator[Try, None]:
        """Try changes until none is proven, or the time is over.

        Raises:
            NotAnswerable: the compilation is not complete.
            Refused: the API refuses before a change is taken.
        """
        if self._first.status != "complete":
            raise NotAnswerable(
                f"The status of the compilation is {self._first.status!r}. "
                "Only a complete compilation has changes to try."
            )
        try:
            await self._time_first()
            while not self._is_complete:
                is_left = False
                for index, rule, change in await self._proposals():
                    try:
                        found = await self._try(index, rule, change)
                    except Refused as error:
                        found = Try(rule, change.text, error.detail, is_taken=False)
                        is_left = is_left or error.is_temporary
                    self._tries.append(found)
                    yield found
                    if found.is_taken:
                        break
                else:
                    if is_left:
                        return
                    self._is_complete = True
        except _Late:
            return
        except Refused:
            if not self._taken:
                raise

    @property
    def result(self) -> Improvement:
        """The tries so far, and what the taken changes make of the kernel."""
        source, not_written = self._written()
        old, now = (each.splitlines() for each in (self._first.request.source, source))
        return Improvement(
            self._last.id,
            self._tries,
            [
                Figure(name, *(_sum(each, parts) for each in (self._first, self._last)))
                for name, parts in _FIGURES.items()
            ],
            _median_ns(self._timings[0]),
            _median_ns(self._timings[1]),
            self._options,
            self._constants,
            not_written,
            list(difflib.unified_diff(old, now, "before", "after", lineterm="")),
            self._is_complete,
        )

    @property
    def source(self) -> str:
        """The source with the taken changes, except for what its launch cannot have."""
        return self._written()[0]

    @property
    def _options(self) -> dict[str, Scalar]:
        return {name: value for each in self._taken for name, value in each.options.items()}

    @property
    def _constants(self) -> dict[str, Scalar]:
        return {name: value for each in self._taken for name, value in each.constants.items()}

    def _written(self) -> tuple[str, list[str]]:
        """Return the source with the taken changes, and the names that its launch cannot have."""
        request, specialized = self._last.request, self._first.specialization
        values = {**self._options, **self._constants}
        if not values:
            return request.source, []
        source = EditableSource("" if request.files else request.source)
        line = specialized.launch_line if specialized else None
        edits, not_written = source.in_launch(self._last.kernel or "", line, values)
        return edited(request.source, edits), not_written

    async def _time_first(self) -> None:
        """Time the first kernel on a GPU of its target. Without a time, the interpreter compares results."""
        gpu = (await document(self._api, f"{self._path()}/runs", RunsDocument)).devices.gpu
        if gpu.available and gpu.target == self._first.target.name:
            self._device = "gpu"
            with suppress(Refused):
                timing = (await self._run(self._first.id)).timing
                self._timings = timing, timing
            if self._timings[0] is None:
                self._device = "interpreter"

    async def _proposals(self) -> list[tuple[int, str, Change]]:
        """Return the different changes, each with the index and the rule of the first finding that has it."""
        findings = (await document(self._api, f"{self._path()}/findings", FindingsDocument)).findings
        found: dict[bytes, tuple[int, str, Change]] = {}
        for index, finding in enumerate(findings):
            for change in finding.changes:
                if change.may_be_faster and change.is_exact:
                    found.setdefault(msgspec.json.encode(change), (index, finding.rule, change))
        return list(found.values())

    async def _try(self, index: int, rule: str, change: Change) -> Try:
        """Compile a change. Take it if it is proven, and faster if there is a GPU."""
        self._check_time()
        fields = {name: getattr(change, name) for name in ("options", "constants", "edits")}
        ticket = await post(self._api, f"{self._path()}/changed", fields)
        after = await self._finished(f"/compilations/{ticket['id']}", CompilationDocument)
        is_proven, verdict, timing = False, f"fails: {_first_error(after)}", None
        if after.status == "complete":
            path = f"{self._path()}/compare/{after.id}/findings"
            said = (await document(self._api, path, FindingChanges)).verdicts[index]
            is_proven, verdict = said.is_proven, said.text
        if is_proven and change.is_correction:
            verdict = f"{verdict}, results not compared: the kernel before is wrong"
            self._right = after
            if self._device == "gpu":
                with suppress(Refused):
                    timing = (await self._run(after.id)).timing
        elif is_proven and (self._device == "gpu" or change.edits or change.constants):
            is_proven, results, timing = await self._run(after.id)
            verdict = f"{verdict}, {results}" if is_proven else results
        if is_proven and not change.is_correction and (before := self._timings[1]) is not None:
            verdict = f"{verdict}, {microseconds(before.median_ns)} → {microseconds(_median_ns(timing))}"
            is_proven = timing is not None and timing.is_faster_than(before)
        if is_proven:
            self._last = after
            self._timings = self._timings[0], timing
            self._taken.append(change)
        return Try(rule, change.text, verdict, is_proven)

    async def _run(self, compilation: str) -> _Outcome:
        """Run a kernel, and compare what it writes with what the first one writes, or its correction.

        A kernel is also proven if the check says that nothing can be compared, but not if its run fails.
        """
        self._check_time()
        fields = {
            "device": self._device,
            "measures": ["check", "time"] if self._device == "gpu" else ["check"],
        }
        body = {"compilation": compilation, "original": self._right.id, "run": fields}
        ticket = await post(self._api, "/runs", body)
        path = f"/runs/{ticket['id']}"
        run = await self._finished(path, RunDocument)
        timing = None
        if any(each.name == "timings" for each in run.measurements):
            timings = (await document(self._api, f"{path}/measurements/timings", Timings)).timings
            timing = next((each for each in timings if each.cache == "cold"), None)
        if run.matches is None:
            words = f"results not compared: {run.not_compared or run.problem}"
            return _Outcome(bool(run.not_compared), words, timing)
        words = "same results" if run.matches else "the kernel writes other results"
        return _Outcome(run.matches, words, timing)

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise _Late

    async def _finished(self, path: str, wanted: type[_Job]) -> _Job:
        """Wait for a job, at most until the time is over."""
        found = await document(self._api, path, wanted)
        if not is_over(found.status):
            await self._api.follow(f"{API}{path}/events", max(0.0, self._deadline - time.monotonic()))
            found = await document(self._api, path, wanted)
        if not is_over(found.status):
            raise _Late
        return found

    def _path(self) -> str:
        return f"/compilations/{self._last.id}"


def microseconds(time_ns: float | None) -> str:
    return "unknown" if time_ns is None else f"{time_ns / 1000:.1f} µs"


def _median_ns(timing: Timing | None) -> float | None:
    return timing.median_ns if timing else None


def _first_error(compilation: CompilationDocument) -> str:
    """Return the first line of the first error."""
    errors = (each.message for each in compilation.diagnostics if each.severity == "error")
    return next(errors, "no error was reported").partition("\n")[0]


def _sum(compilation: CompilationDocument, parts: tuple[str, ...]) -> int:
    return sum(getattr(compilation.resources, part, None) or 0 for part in parts)
