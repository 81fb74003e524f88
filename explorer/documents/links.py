"""Addresses of compilations, runs and their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from explorer.model.languages import find_language
from explorer.store import BinaryEntry, Record, StageEntry

API = "/api/v1"


class Links(Protocol):
    """The places of the parts of a compilation: addresses in the API, or files in a folder."""

    @property
    def page(self) -> str: ...

    def stage(self, stage: StageEntry) -> str: ...

    def compiler_pass(self, index: int) -> str: ...

    def binary(self, binary: BinaryEntry) -> str: ...

    def measurement(self, name: str) -> str: ...


@dataclass(frozen=True)
class ApiLinks:
    """The addresses of one compilation, as paths without a host."""

    id: str

    @property
    def page(self) -> str:
        """The permalink."""
        return f"/k/{self.id}"

    @property
    def api(self) -> str:
        """The index."""
        return f"{API}/compilations/{self.id}"

    @property
    def events(self) -> str:
        """The event stream."""
        return f"{self.api}/events"

    def stage(self, stage: StageEntry) -> str:
        return f"{self.api}/stages/{stage.name}"

    def compiler_pass(self, index: int) -> str:
        """Return the address of the snapshot after a pass."""
        return f"{self.api}/passes/{index}"

    def binary(self, binary: BinaryEntry) -> str:  # noqa: ARG002  a result has one
        return f"{self.api}/binary"

    def measurement(self, name: str) -> str:
        return RunLinks().measurement(self.id, name)


class RunLinks:
    """The addresses of runs."""

    def run(self, run_id: str) -> str:
        return f"{API}/runs/{run_id}"

    def measurement(self, run_id: str, name: str) -> str:
        return f"{self.run(run_id)}/measurements/{name}"


class RunFileLinks:
    """The names of the files of a run in its folder."""

    def run(self, run_id: str) -> str:  # noqa: ARG002  a folder has one run
        return "run.json"

    def measurement(self, run_id: str, name: str) -> str:  # noqa: ARG002  a folder has one run
        return f"measurements/{name}.json"


class FileLinks:
    """The names of the files of a compilation in its folder."""

    page = "result.json"

    def stage(self, stage: StageEntry) -> str:
        return f"{stage.name}.{find_language(stage.language).suffix}"

    def compiler_pass(self, index: int) -> str:
        """Return the file of the snapshot after a pass."""
        return f"passes/{index:03}.mlir"

    def binary(self, binary: BinaryEntry) -> str:
        return f"kernel.{binary.name}"

    def measurement(self, name: str) -> str:
        return f"measurements/{name}.json"


def file_stem(record: Record) -> str:
    """Return the name of a file with a whole compilation, without its suffix."""
    kernel = record.kernel
    return f"{kernel if kernel and kernel.isascii() and kernel.isidentifier() else 'kernel'}-{record.id}"
