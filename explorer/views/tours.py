"""Tours: guided readings of results of the gallery."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response

from explorer.documents import API
from explorer.errors import NotFound
from explorer.tours import TOURS, Tour, find_tour, load_tours
from explorer.views.http import json_response, let_server_keep
from explorer.views.operation import documented

blueprint = Blueprint("tours", __name__, url_prefix=f"{API}/tours")


class TourRow(msgspec.Struct, frozen=True):
    """A tour in the list, with the examples that its steps compile."""

    name: str
    title: str
    question: str
    steps: int
    examples: tuple[str, ...]


@blueprint.get("")
@documented({200: tuple[TourRow, ...]})
def show_all() -> Response:
    """Return the tours, in order."""
    return let_server_keep(json_response(tuple(map(_row, load_tours()))))


@blueprint.get("/<name>")
@documented({200: Tour})
def show(name: str) -> Response:
    """Return a tour with its steps."""
    tour = find_tour(name)
    if tour is None:
        raise NotFound(f"There is no tour {name!r}. Known are {', '.join(TOURS)}.")
    return let_server_keep(json_response(tour))


def _row(tour: Tour) -> TourRow:
    examples = dict.fromkeys(step.launch.example for step in tour.steps)
    return TourRow(tour.name, tour.title, tour.question, len(tour.steps), tuple(examples))
