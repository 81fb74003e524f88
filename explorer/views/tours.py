"""Tours: guided readings of results of the gallery."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, current_app, request

from explorer.documents import API
from explorer.errors import NotFinished, NotFound
from explorer.examples import find_example
from explorer.lessons import LessonLaunch
from explorer.model import Request
from explorer.queries import Parameter
from explorer.services import services
from explorer.store import Record
from explorer.tours import TOURS, Tour, find_tour, load_tours
from explorer.views.http import attachment, json_response, let_server_keep
from explorer.views.operation import documented
from explorer.views.saved_page import saved_tour

TRITON = Parameter("triton", str, "The Triton version of the results (default: that of the server).")
blueprint = Blueprint("tours", __name__, url_prefix=f"{API}/tours")


class TourRow(msgspec.Struct, frozen=True):
    """A tour in the list, with the examples that its steps compile, and the step that teaches each topic."""

    name: str
    title: str
    question: str
    steps: int
    examples: tuple[str, ...]
    teaches: dict[str, int]


@blueprint.get("")
@documented({200: tuple[TourRow, ...]})
def show_all() -> Response:
    """Return the tours, in order."""
    return let_server_keep(json_response(tuple(map(_row, load_tours()))))


@blueprint.get("/<name>")
@documented({200: Tour})
def show(name: str) -> Response:
    """Return a tour with its steps."""
    return let_server_keep(json_response(_known(name)))


@blueprint.get("/<name>/results")
@documented({200: tuple[str | None, ...]}, None, TRITON)
def results(name: str) -> Response:
    """Return for each step the ID of its result. Null: nobody has compiled it on this server."""
    return json_response([record and record.id for record in _stored(_known(name))])


@blueprint.get("/<name>/export.html")
@documented({200: "text/html"}, None, TRITON)
def html(name: str) -> Response:
    """Return a tour with the results of its steps as one HTML page that works without a server."""
    tour = _known(name)
    records = _stored(tour)
    complete = [record for record in records if record is not None and record.is_finished]
    if len(complete) < len(records):
        raise NotFinished(
            f"{len(records) - len(complete)} of the {len(records)} steps have no result on this server. "
            "Take the tour to its end, then save it."
        )
    services().rates.count("exports")
    return attachment(Response(saved_tour(current_app, tour, complete), mimetype="text/html"), f"{name}.html")


def request_of(launch: LessonLaunch, triton: str) -> Request:
    """Return the request of a step's compilation."""
    example = find_example(launch.example)
    assert example is not None  # tests read all tours
    source = example.source
    for old, new in launch.replace.items():
        source = source.replace(old, new)
    return Request(
        source,
        launch.target,
        triton,
        kernel=launch.kernel,
        options=dict(launch.options),
        arguments=launch.signature or None,
    )


def _known(name: str) -> Tour:
    tour = find_tour(name)
    if tour is None:
        raise NotFound(f"There is no tour {name!r}. Known are {', '.join(TOURS)}.")
    return tour


def _stored(tour: Tour) -> list[Record | None]:
    """Return the records of the steps; None for steps that were not compiled."""
    triton = services().triton_version(request.args.get("triton") or None)
    store = services().store
    return [store.known(request_of(step.launch, triton)) for step in tour.steps]


def _row(tour: Tour) -> TourRow:
    examples = dict.fromkeys(step.launch.example for step in tour.steps)
    teaches = {topic: number for number, step in enumerate(tour.steps, 1) for topic in step.teaches}
    return TourRow(tour.name, tour.title, tour.question, len(tour.steps), tuple(examples), teaches)
