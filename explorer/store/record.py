"""A record: the row of a job, with its request and its entries so far."""

from __future__ import annotations

import codecs
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, TypeVar

import msgspec

from explorer.errors import NotFound, ResultTooLarge
from explorer.model import LineNumber, Outcome, Request
from explorer.model.limits import (
    MOST_LOCATION_BYTES,
    MOST_PASSES,
    MOST_STAGES,
    MOST_TEXT_BYTES,
    MOST_TEXT_LINES,
    MOST_WIDE_TEXT_BYTES,
)
from explorer.model.source_lines import SourceLines
from explorer.store.address import Address
from explorer.store.entries import Entry, PassEntry, Result, StageEntry, StageLocations

Document = TypeVar("Document")
#: A character beyond U+00FF.
_WIDE_CHARACTER = re.compile(rb"[\xc4-\xff]")
Status = Literal["queued", "running"] | Outcome


def is_over(status: Status) -> bool:
    """Return whether a job with this status has ended."""
    return status not in ("queued", "running")


def compilation_of(request: Request) -> Request:
    """Return the request that compiles the kernel of `request`, which compiles or runs it."""
    return replace(request, task="compile", run=None, captured=None, imported="")


@dataclass(frozen=True)
class Record:
    """A compilation or a run at one moment.

    `journal` is the address of the stored entries, None until they are stored. `is_final`: the record never
    changes again. A job that ended for a transient reason (time limit, cancellation, unavailable sandbox) is
    finished but not final: it may be started again.
    """

    id: str
    request: Request
    created: datetime
    status: Status
    entries: tuple[Entry, ...]
    is_final: bool
    journal: Address | None
    read: Callable[[Address], bytes]
    #: Yields the parts of a text; None: texts are read as a whole.
    stream: Callable[[Address], Iterator[bytes]] | None = None
    #: How long the job has been running, None if it does not run.
    running_seconds: float | None = None

    def running_since(self, began_at: float | None) -> Record:
        """Return the record of a job that has begun at a time of the monotonic clock of this process."""
        if self.status != "running" or began_at is None:
            return self
        return replace(self, running_seconds=time.monotonic() - began_at)

    @property
    def is_finished(self) -> bool:
        """Whether the last entry is present."""
        return is_over(self.status)

    @property
    def kernel(self) -> str | None:
        """The name of the compiled kernel, or of the requested kernel."""
        specialized = self.result.specialized
        return specialized.kernel if specialized else self.request.kernel

    @cached_property
    def result(self) -> Result:
        """The state that the entries describe.

        Raises:
            ResultTooLarge: the result has more stages or passes than any compiler.
        """
        for kind, what, most in ((StageEntry, "stages", MOST_STAGES), (PassEntry, "passes", MOST_PASSES)):
            count = sum(isinstance(entry, kind) for entry in self.entries)
            if count > most:
                raise _forged(f"{count:,} {what}", f"{most:,}")
        return Result.of(self.entries)

    def text(self, address: Address) -> str:
        """Return a text that one of the entries refers to.

        Raises:
            ResultTooLarge: the text is longer than any that a compiler writes.
        """
        data = self.read(address)
        is_wide = len(data) > MOST_WIDE_TEXT_BYTES and _WIDE_CHARACTER.search(data) is not None
        _check_text(len(data), data.count(b"\n"), is_wide)
        return data.decode("utf-8", errors="replace")

    def lines(self, address: Address) -> Iterator[str]:
        """Yield the lines of a text that an entry refers to. The text is never in memory as a whole.

        Raises:
            ResultTooLarge: the text is longer than any that a compiler writes.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        size, count, is_wide = 0, 0, False
        begun: list[str] = []
        for part in self.stream(address) if self.stream else (self.read(address),):
            size, count = size + len(part), count + part.count(b"\n")
            is_wide = is_wide or _WIDE_CHARACTER.search(part) is not None
            _check_text(size, count, is_wide)
            first, *others = decoder.decode(part).split("\n")
            begun.append(first)
            if others:
                yield "".join(begun)
                yield from others[:-1]
                begun = others[-1:]
        if last := "".join([*begun, decoder.decode(b"", True)]):
            yield last

    def stage(self, name: str) -> StageEntry:
        """Return a stage by name.

        Raises:
            NotFound: there is no such stage, or not yet.
        """
        stages = self.result.stages
        if name not in stages:
            raise NotFound(f"This compilation has no stage {name!r}. It has {_list(stages)}.")
        return stages[name]

    @cached_property
    def source_numbers(self) -> SourceLines:
        """The numbers of the lines of the source and of its files."""
        return SourceLines.of(self.request)

    def source_lines(self, stage: StageEntry) -> list[tuple[LineNumber, ...]]:
        """Return for each line of a stage the lines of the user's source that it comes from."""
        return self.locations(stage).source_lines(self.source_numbers)

    def locations(self, stage: StageEntry) -> StageLocations:
        """Return the source locations of the lines of a stage.

        Raises:
            ResultTooLarge: the locations are larger than any that a compiler writes.
        """
        data = self.read(stage.locations)
        if len(data) > MOST_LOCATION_BYTES:
            raise _forged(f"{len(data):,} bytes of source locations", f"{MOST_LOCATION_BYTES:,}")
        return msgspec.json.decode(data, type=StageLocations)

    def measurement(self, name: str) -> bytes:
        """Return the document of a measurement as JSON.

        Raises:
            NotFound: there is no such measurement, or not yet.
        """
        measurements = self.result.measurements
        if name not in measurements:
            raise NotFound(
                f"This run has no measurement {name!r}. It has {', '.join(measurements) or 'none so far'}."
            )
        return self.read(measurements[name].document)

    def measured(self, name: str, document: type[Document]) -> Document | None:
        """Return a measurement as an object, or None if it was not measured."""
        if name not in self.result.measurements:
            return None
        return msgspec.json.decode(self.measurement(name), type=document)

    def compiler_pass(self, index: int) -> PassEntry:
        """Return a pass by index.

        Raises:
            NotFound: there is no such pass, or not yet.
        """
        passes = self.result.passes
        if index not in passes:
            raise NotFound(f"This compilation has no pass {index}. It has {len(passes)} passes.")
        return passes[index]

    def text_after_pass(self, index: int) -> str:
        """Return the snapshot after a pass: its text, or the text of the last earlier pass that has one.

        Raises:
            NotFound: there is no such pass, or the module after it is not known.
        """
        address = self.address_after_pass(index)
        return "" if address is None else self.text(address)

    def address_after_pass(self, index: int) -> Address | None:
        """Return the address of the snapshot after a pass; None if no pass so far has one."""
        return self._latest_snapshot(self.compiler_pass(index).index + 1)

    def lines_after_pass(self, index: int) -> Iterator[str]:
        """Yield the lines of the snapshot after a pass, which is never in memory as a whole."""
        address = self.address_after_pass(index)
        return iter(()) if address is None else self.lines(address)

    def text_before_pass(self, index: int) -> str:
        """Return the snapshot before a pass; empty for the first pass."""
        address = self._latest_snapshot(self.compiler_pass(index).index)
        return "" if address is None else self.text(address)

    def _latest_snapshot(self, end: int) -> Address | None:
        """Return the address of the last snapshot before the index `end`.

        Raises:
            NotFound: the snapshot is not known.
        """
        position = bisect_left(self._snapshots, end)
        if not position:
            return None
        entry = self.result.passes[self._snapshots[position - 1]]
        if entry.omitted:
            raise NotFound(f"The module after the pass {entry.name} is not known: {entry.omitted}.")
        return entry.text

    @cached_property
    def _snapshots(self) -> list[int]:
        """The passes that changed the module or may have changed it, in order."""
        passes = self.result.passes
        return sorted(index for index, each in passes.items() if each.text is not None or each.omitted)


def _check_text(size: int, lines: int, is_wide: bool) -> None:
    """Check the number of bytes and lines of a text. `is_wide`: it has characters beyond U+00FF.

    Raises:
        ResultTooLarge: no compiler writes so much.
    """
    if size > MOST_TEXT_BYTES:
        raise _forged(f"a text of {size:,} bytes", f"{MOST_TEXT_BYTES:,}")
    if is_wide and size > MOST_WIDE_TEXT_BYTES:
        what = f"a text of {size:,} bytes with characters beyond U+00FF"
        raise _forged(what, f"{MOST_WIDE_TEXT_BYTES:,}")
    if lines > MOST_TEXT_LINES:
        raise _forged(f"a text of {lines:,} lines", f"{MOST_TEXT_LINES:,}")


def _forged(what: str, most: str) -> ResultTooLarge:
    return ResultTooLarge(
        f"The stored result has {what}; a compiler produces at most {most}. "
        "The code that was compiled has forged it. Change the source and compile it again."
    )


def _list(names: dict[str, StageEntry]) -> str:
    return ", ".join(names) or "none so far"
