"""What this server can do, and how it is."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from flask import Blueprint, Response, current_app
from prometheus_client import CONTENT_TYPE_LATEST

from explorer.documents import TargetDocument
from explorer.errors import NotFound
from explorer.examples import Example, find_example, load_examples
from explorer.pipeline.targets import TARGETS
from explorer.run_documents import DevicesDocument
from explorer.services import services
from explorer.views.http import json_response
from explorer.views.links import API
from explorer.views.openapi import describe
from explorer.views.operation import documented

blueprint = Blueprint("meta", __name__)


class TritonsDocument(msgspec.Struct, frozen=True):
    """The Triton versions, the newest first, and the one that is taken when none is asked for."""

    versions: tuple[str, ...]
    default: str | None


class ExampleRow(msgspec.Struct, frozen=True):
    """A script of the gallery."""

    name: str
    title: str
    summary: str


class HealthDocument(msgspec.Struct, frozen=True):
    """`sandbox` is the tier that this machine really has; `problem` says why it has none.

    `devices` are what kernels can be run on; that one is missing does not keep the rest from working.
    """

    status: Literal["ok", "starting", "unavailable"]
    sandbox: str
    tritons: tuple[str, ...]
    problem: str | None
    devices: DevicesDocument


@blueprint.get(f"{API}/targets")
@documented({200: list[TargetDocument]})
def list_targets() -> Response:
    """The GPUs that kernels can be compiled for."""
    return json_response(target_documents())


def target_documents() -> list[TargetDocument]:
    """All targets, in the order of their menu."""
    return [TargetDocument.of(target) for target in TARGETS]


@blueprint.get(f"{API}/tritons")
@documented({200: TritonsDocument})
def list_tritons() -> Response:
    """The Triton versions that kernels can be compiled with."""
    versions = services().versions
    return json_response(TritonsDocument(versions, versions[0] if versions else None))


@blueprint.get(f"{API}/gallery")
@documented({200: list[ExampleRow]})
def list_examples() -> Response:
    """The gallery, in the order of its menu."""
    return json_response([ExampleRow(e.name, e.title, e.summary) for e in load_examples()])


@blueprint.get(f"{API}/gallery/<name>")
@documented({200: Example})
def show_example(name: str) -> Response:
    """A script of the gallery, complete with a launch and a reference."""
    example = find_example(name)
    if example is None:
        known = ", ".join(other.name for other in load_examples())
        raise NotFound(f"The gallery has no {name!r}. It has {known}.")
    return json_response(example)


@blueprint.get(f"{API}/openapi.json")
@documented({200: dict[str, Any]})
def show_openapi() -> Response:
    """What you are reading: the description of the API."""
    return json_response(describe(current_app))


@blueprint.get("/healthz")
def show_health() -> Response:
    """Whether this server can work, for whoever watches it."""
    tier, problem = services().sandbox.tier, services().problem
    status: Literal["ok", "starting", "unavailable"] = "starting" if tier == "none" else "ok"
    if problem is not None:
        status = "unavailable"
    document = HealthDocument(status, tier, services().versions, problem, services().devices)
    return json_response(document, 200 if problem is None else 503)


@blueprint.get("/metrics")
def show_metrics() -> Response:
    """Counters for Prometheus."""
    return Response(services().metrics.exposition(), content_type=CONTENT_TYPE_LATEST)
