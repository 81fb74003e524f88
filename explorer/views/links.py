"""Where the parts of a compilation are on this server."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.store import BinaryEntry, StageEntry

API = "/api/v1"


@dataclass(frozen=True)
class ApiLinks:
    """The addresses of one compilation. Absolute paths: no name of a host goes into an answer."""

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
        """The text of a stage."""
        return f"{self.api}/stages/{stage.name}"

    def compiler_pass(self, index: int) -> str:
        """The text after a pass."""
        return f"{self.api}/passes/{index}"

    def binary(self, binary: BinaryEntry) -> str:  # noqa: ARG002  a result has one
        """The binary."""
        return f"{self.api}/binary"

    def measurement(self, name: str) -> str:
        """What a run has measured."""
        return RunLinks().measurement(self.id, name)


class RunLinks:
    """The addresses of runs."""

    def run(self, run_id: str) -> str:
        """A run."""
        return f"{API}/runs/{run_id}"

    def measurement(self, run_id: str, name: str) -> str:
        """What a run has measured."""
        return f"{self.run(run_id)}/measurements/{name}"
