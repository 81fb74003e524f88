"""The query for a step of a tour: its place in a result, and whether its claims hold there."""

from __future__ import annotations

import msgspec

from explorer.errors import NotAnswerable
from explorer.queries.claims import CheckedClaim, check, lines_of
from explorer.queries.query import Parameter, Query, Subject, nothing_saved
from explorer.queries.stage_lines import source_lines
from explorer.store import Record
from explorer.tours import TOURS, TourPlace, find_tour, revision


class FoundPlace(msgspec.Struct, frozen=True):
    """A line of a stage, from 1 on, and the source line that it comes from (0: none)."""

    stage: str
    line: int
    source_line: int


class TourStepDocument(msgspec.Struct, frozen=True):
    """A step of a tour in a result. `beside` is None if the step names no second line.

    Otherwise both are None if the result has no such line.
    """

    place: FoundPlace | None
    beside: FoundPlace | None
    claims: tuple[CheckedClaim, ...]


def _find(subject: Subject) -> TourStepDocument:
    record, name = subject.record, subject.parameters.get("tour", "")
    tour, number = find_tour(name), int(subject.parameters.get("step", "1"))
    if tour is None:
        raise NotAnswerable(f"There is no tour {name!r}. Known are {', '.join(TOURS)}.")
    if not 1 <= number <= len(tour.steps):
        raise NotAnswerable(f"The tour {name!r} has steps 1 to {len(tour.steps)}, got {number}.")
    step = tour.steps[number - 1]
    version = record.request.triton
    claims = (claim for claim in step.claims if claim.is_about(version))
    return TourStepDocument(
        _place(record, step.look_at),
        _place(record, step.beside) if step.beside else None,
        tuple(check(subject, claim) for claim in claims),
    )


def _place(record: Record, place: TourPlace) -> FoundPlace | None:
    lines = lines_of(record, place.stage, place.pattern)
    if len(lines) < place.number:
        return None
    line = lines[place.number - 1]
    return FoundPlace(place.stage, line, source_lines(record, record.stage(place.stage))[line - 1])


QUERY = Query(
    name="tour-step",
    summary="The place of a tour's step in the result, and whether its claims hold.",
    version=revision(),
    document=TourStepDocument,
    find=_find,
    parameters=(
        Parameter("tour", str, "The name of the tour."),
        Parameter("step", int, "The number of the step, from 1 on (1 when left out)."),
    ),
    path="/tours/<tour>/<int:step>",
    saved=nothing_saved,
)
