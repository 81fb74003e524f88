"""The query for a step of a tour: where its place is in a result, and which of its claims hold there."""

from __future__ import annotations

import re

import msgspec

from explorer.analysis.occupancy.theoretical import occupancy
from explorer.errors import NotAnswerable
from explorer.queries import layouts
from explorer.queries.query import Parameter, Query, Subject, nothing_saved
from explorer.queries.stage_lines import source_lines
from explorer.store import Record
from explorer.tours import TOURS, TourClaim, TourPlace, find_tour, revision


class FoundPlace(msgspec.Struct, frozen=True):
    """A line of a stage, from 1 on, and the source line that it comes from (0: none)."""

    stage: str
    line: int
    source_line: int


class CheckedClaim(msgspec.Struct, frozen=True):
    """A claim, the number that was found (None: the result does not have it), and whether it holds."""

    says: str
    found: int | None
    holds: bool


class TourStepDocument(msgspec.Struct, frozen=True):
    """A step of a tour in a result. `place` is None if the result has no such place."""

    place: FoundPlace | None
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
    claims = [claim for claim in step.claims if not claim.tritons or version in claim.tritons]
    return TourStepDocument(_place(record, step.look_at), tuple(_checked(subject, claim) for claim in claims))


def _checked(subject: Subject, claim: TourClaim) -> CheckedClaim:
    found = _number(subject, claim)
    return CheckedClaim(claim.says, found, claim.holds(found))


def _number(subject: Subject, claim: TourClaim) -> int | None:
    result = subject.record.result
    if claim.resource:
        return getattr(result.resources, claim.resource, None)
    if claim.occupancy:
        needs = result.resources
        fitting = (
            occupancy(
                subject.record.request.target,
                needs.threads or 0,
                needs.registers or 0,
                needs.shared_bytes or 0,
            )
            if needs
            else None
        )
        return getattr(fitting, claim.occupancy, None)
    if claim.access:
        document = msgspec.json.decode(subject.answer(layouts.QUERY, {}), type=layouts.LayoutsDocument)
        matching = (each for each in document.accesses if re.fullmatch(claim.pattern, each.operation))
        return getattr(next(matching, None), claim.access, None)
    return len(_lines(subject.record, claim.stage, claim.pattern)) if claim.stage in result.stages else None


def _place(record: Record, place: TourPlace) -> FoundPlace | None:
    lines = _lines(record, place.stage, place.pattern)
    if len(lines) < place.number:
        return None
    line = lines[place.number - 1]
    return FoundPlace(place.stage, line, source_lines(record, record.stage(place.stage))[line - 1])


def _lines(record: Record, stage: str, pattern: str) -> list[int]:
    """Return the lines of a stage, from 1 on, in which a pattern is found."""
    if stage not in record.result.stages:
        return []
    text = record.text(record.stage(stage).text)
    return [number for number, line in enumerate(text.split("\n"), 1) if re.search(pattern, line)]


QUERY = Query(
    name="tour-step",
    summary="Where the place of a tour's step is in the result, and which of its claims hold.",
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
