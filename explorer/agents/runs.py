"""Run a kernel, read a run, and show its roofline."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec

from explorer.agents.api import Api, document, get, post
from explorer.agents.tool import WAIT_SECONDS, Id, page_of
from explorer.analysis.roofline.documents import (
    Floor,
    Hint,
    Loss,
    Missing,
    Resource,
    RooflineDocument,
    TakenTime,
)
from explorer.model import Diagnostic
from explorer.model.measurements import MEASURES
from explorer.runs.documents import RunDocument, RunRow, RunsDocument
from explorer.store import Status, is_over

#: Measurements that are usually short. The page shows the other measurements.
_SHORT = ("environment", "launch", "check", "timings", "autotuning")
_MOST_BYTES_OF_MEASUREMENT = 4_000

_RunId = Annotated[
    str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.:-]{1,200}$", description="ID of a run or profile")
]
_Sizes = Annotated[
    dict[str, int], msgspec.Meta(description="Sizes of the benchmark by name, the x_names of perf_report")
]


class Run(msgspec.Struct, frozen=True):
    """A run. `matches`: whether its result equals the reference; null: not compared, `not_compared` says why.

    `measurements` are the short measurements; `not_shown` names the others. `page` is its permanent link.
    """

    run: str
    page: str
    status: Status
    device: str
    gpu: str
    kernel: str | None
    matches: bool | None
    not_compared: str
    diagnostics: list[Diagnostic]
    measurements: dict[str, Any]
    not_shown: list[str]
    next: str


class RunSummary(msgspec.Struct, frozen=True):
    """A run or a recorded profile of a compilation's kernel, in a list.

    `is_imported`: another machine has measured the run, and any client may have sent it.
    """

    run: str
    status: Status
    device: str
    gpu: str
    matches: bool | None
    is_profile: bool
    is_imported: bool


class Runs(msgspec.Struct, frozen=True):
    """The runs of a compilation, and the profiles that were recorded of its kernel."""

    runs: list[RunSummary]
    total: int
    next: str


class Roofline(msgspec.Struct, frozen=True):
    """The distance of a kernel from the limits of the GPU.

    Times are nanoseconds, shares fractions of 1. `floors` are the shortest times of the binding resource.
    """

    verdict: str
    reason: str
    gpu: str
    is_modelled: bool
    time: TakenTime | None
    floors: list[Floor]
    resources: list[Resource]
    losses: list[Loss]
    hints: list[Hint]
    missing: list[Missing]


async def run(
    api: Api,
    compilation: Id,
    device: Annotated[
        Literal["gpu", "interpreter"],
        msgspec.Meta(description="The interpreter needs no GPU"),
    ] = "interpreter",
    measures: Annotated[
        list[str] | None,
        msgspec.Meta(description=f"Some of {', '.join(MEASURES)}"),
    ] = None,
    is_benchmark: Annotated[
        bool, msgspec.Meta(description="Run the launches of the script's perf_report function")
    ] = False,
    sizes: _Sizes = {},  # noqa: B006  it is not changed
    original: Annotated[
        Id | None,
        msgspec.Meta(description="ID of the compilation of an earlier version that must write the same"),
    ] = None,
) -> Run:
    """Run the kernel of a compilation as its script launches it, check the result and measure it.

    With `original`, `matches` says whether both kernels write the same.
    """
    chosen = measures or (["check", "counts"] if device == "interpreter" else ["check", "time"])
    fields = {"device": device, "measures": chosen, "is_benchmark": is_benchmark, "sizes": sizes}
    ticket = await post(api, "/runs", {"compilation": compilation, "original": original, "run": fields})
    return await read_run(api, ticket["id"])


async def read_run(api: Api, run: _RunId) -> Run:
    """Return a run by its ID. Waits until it is finished."""
    found = await document(api, f"/runs/{run}", RunDocument)
    if not is_over(found.status):
        await api.follow(f"/api/v1/runs/{run}/events", WAIT_SECONDS)
        found = await document(api, f"/runs/{run}", RunDocument)
    names = [each.name for each in found.measurements]
    shown: dict[str, Any] = {}
    for name in _SHORT:
        if name in names:
            body = await get(api, f"/runs/{run}/measurements/{name}", bytes)
            if len(body) <= _MOST_BYTES_OF_MEASUREMENT:
                shown[name] = msgspec.json.decode(body)
    return Run(
        found.id,
        f"{api.url}/k/{found.compilation}#panes=run:{found.id}" if api.url and found.compilation else "",
        found.status,
        found.run.device,
        found.gpu,
        found.kernel,
        found.matches,
        found.not_compared,
        page_of(found.diagnostics),
        shown,
        [name for name in names if name not in shown],
        "Call roofline with this run."
        if is_over(found.status)
        else "The run is not finished. Call read_run again.",
    )


async def list_runs(api: Api, compilation: Id) -> Runs:
    """List the runs of a compilation, runs sent from other machines, and recorded profiles of its kernel."""
    found = await document(api, f"/compilations/{compilation}/runs", RunsDocument)
    rows = [*found.runs, *found.imported, *found.recordings]
    return Runs(page_of(map(_summary, rows)), len(rows), "Call roofline or read_run with a run.")


async def roofline(api: Api, run: _RunId, compilation: Id | None = None) -> Roofline:
    """Return how far a run is from the limits of the GPU, which limit binds, and what would help.

    A profile needs the compilation to compare it with.
    """
    asked = f"?{urlencode({'compilation': compilation})}" if compilation else ""
    found = await document(api, f"/runs/{run}/roofline{asked}", RooflineDocument)
    return Roofline(
        found.verdict,
        found.reason,
        found.gpu,
        found.is_modelled,
        found.time,
        found.floors,
        found.resources,
        found.losses,
        page_of(found.hints),
        found.missing,
    )


def _summary(row: RunRow) -> RunSummary:
    is_profile = row.recorded is not None
    return RunSummary(row.id, row.status, row.run.device, row.gpu, row.matches, is_profile, row.imported)
