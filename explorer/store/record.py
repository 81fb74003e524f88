"""One compilation as the views see it, whether it waits, runs or was stored years ago."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, TypeVar

import msgspec

from explorer.errors import NotFound
from explorer.model import Request
from explorer.store.blobs import Address
from explorer.store.entries import Entry, PassEntry, Result, StageEntry, StageLocations

Document = TypeVar("Document")
Status = Literal["queued", "running", "complete", "failed"]


def compilation_of(request: Request) -> Request:
    """The request that compiles the kernel which `request` compiles or runs."""
    return replace(request, task="compile", run=None)


@dataclass(frozen=True)
class Record:
    """A compilation at one moment.

    `journal` is where the entries are stored; None before they are. `is_final` says that it will never
    change: it is finished, and not by an accident of this server (a time limit, a cancellation, a broken
    sandbox), which another attempt may cure.
    """

    id: str
    request: Request
    created: datetime
    status: Status
    entries: tuple[Entry, ...]
    is_final: bool
    journal: Address | None
    read: Callable[[Address], bytes]

    @property
    def is_finished(self) -> bool:
        """Whether the last entry is there."""
        return self.status in ("complete", "failed")

    @property
    def kernel(self) -> str | None:
        """The kernel's name: of the one that was compiled, or as asked for."""
        specialized = self.result.specialized
        return specialized.kernel if specialized else self.request.kernel

    @cached_property
    def result(self) -> Result:
        """What the entries add up to."""
        return Result.of(self.entries)

    def text(self, address: Address) -> str:
        """A text that one of the entries refers to."""
        return self.read(address).decode("utf-8", errors="replace")

    def stage(self, name: str) -> StageEntry:
        """A stage by name.

        Raises:
            NotFound: there is no such stage (yet).
        """
        stages = self.result.stages
        if name not in stages:
            raise NotFound(f"This compilation has no stage {name!r}. It has {_list(stages)}.")
        return stages[name]

    def locations(self, stage: StageEntry) -> StageLocations:
        """Where the lines of a stage come from."""
        return msgspec.json.decode(self.read(stage.locations), type=StageLocations)

    def measurement(self, name: str) -> bytes:
        """The document of a measurement, as JSON.

        Raises:
            NotFound: it was not measured (yet).
        """
        measurements = self.result.measurements
        if name not in measurements:
            raise NotFound(f"This run has no {name!r}. It has {', '.join(measurements) or 'nothing so far'}.")
        return self.read(measurements[name].document)

    def measured(self, name: str, document: type[Document]) -> Document | None:
        """A measurement as the type that it has; None: it was not measured (yet)."""
        if name not in self.result.measurements:
            return None
        return msgspec.json.decode(self.measurement(name), type=document)

    def compiler_pass(self, index: int) -> PassEntry:
        """A pass by index.

        Raises:
            NotFound: there is no such pass (yet).
        """
        passes = self.result.passes
        if index not in passes:
            raise NotFound(f"This compilation has no pass {index}. It has {len(passes)} passes.")
        return passes[index]

    def text_after_pass(self, index: int) -> str:
        """The module after a pass: its own text, or that of the nearest earlier pass with one."""
        last = self.compiler_pass(index).index
        texts = {entry.index: entry.text for entry in self.result.passes.values() if entry.text is not None}
        latest = max((earlier for earlier in texts if earlier <= last), default=None)
        return "" if latest is None else self.text(texts[latest])

    def text_before_pass(self, index: int) -> str:
        """The module that a pass was given; empty for the first one."""
        earlier = [other for other in self.result.passes if other < self.compiler_pass(index).index]
        return self.text_after_pass(max(earlier)) if earlier else ""


def _list(names: dict[str, StageEntry]) -> str:
    return ", ".join(names) or "none so far"
