"""The queries for claims about a compilation or a run: the number of each claim, and whether it holds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import fields

import msgspec

from explorer.analysis.occupancy.theoretical import Occupancy, occupancy_of
from explorer.errors import InvalidRequest
from explorer.lessons import Claim
from explorer.model.measurements import Check, Counts
from explorer.model.metrics import find_metric
from explorer.queries import layouts
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.layout_conversions import SharedAccessRow
from explorer.queries.metrics import metrics_of
from explorer.queries.query import Parameter, Query, Subject, nothing_saved
from explorer.store import Record

_SECTOR_BYTES = 32
#: The length of the text of claims: a server reads a request line of 4,094 bytes.
MOST_CLAIMS_CHARACTERS = 2_000
_MOST_CLAIMS = 12


class CheckedClaim(msgspec.Struct, frozen=True):
    """A claim, the number that was found (None: the result does not have it), and whether it holds.

    `reason` says why there is no number, where that is known.
    """

    says: str
    found: float | None
    holds: bool
    reason: str = ""


def check(subject: Subject, claim: Claim) -> CheckedClaim:
    """Read the number of a claim from a compilation, and compare it."""
    return _compared(claim, _number(subject, claim))


def lines_of(record: Record, stage: str, pattern: str) -> list[int]:
    """Return the lines of a stage, from 1 on, in which a pattern is found."""
    if stage not in record.result.stages:
        return []
    text = record.text(record.stage(stage).text)
    found = re.compile(pattern).search
    return [number for number, line in enumerate(text.split("\n"), 1) if found(line)]


def _number(subject: Subject, claim: Claim) -> float | None:
    record = subject.record
    if claim.metric:
        number: float | None = getattr(metrics_of(record), claim.metric)
        return number
    if claim.occupancy:
        fitting = occupancy_of(record.result.resources, record.request.target)
        return getattr(fitting, claim.occupancy, None)
    if claim.access or claim.shared_access:
        return _of_accesses(subject, claim)
    if claim.stage not in record.result.stages:
        return None
    return len(lines_of(record, claim.stage, claim.pattern))


def _of_accesses(subject: Subject, claim: Claim) -> float | None:
    """Return a number of the accesses whose operation a pattern matches.

    Scalars have no layout, and are left out. None: there are no such accesses, or an access lacks the number.
    """
    if "ttgir" not in subject.record.result.stages:
        return None
    document = msgspec.json.decode(subject.answer(layouts.QUERY, {}), type=layouts.LayoutsDocument)
    is_named = re.compile(claim.pattern).fullmatch
    if claim.access:
        rows = (each for each in document.accesses if each.layout is not None)
        numbers = [getattr(each, claim.access, None) for each in rows if is_named(each.operation)]
    else:
        numbers = [
            getattr(each, claim.shared_access, None)
            for each in document.shared_accesses
            if is_named(each.operation)
        ]
    known = [each for each in numbers if isinstance(each, int | float)]
    if not known or len(known) < len(numbers):
        return None
    return _TAKE[claim.taken](known)


_TAKE: dict[str, Callable[[list[float]], float]] = {
    "first": lambda numbers: numbers[0],
    "least": min,
    "most": max,
    "sum": sum,
}


def check_run(run: Record, claim: Claim) -> CheckedClaim:
    """Read the number of a claim from a run in Triton's interpreter, and compare it."""
    return _compared(claim, *_of_run(run, claim))


def _compared(claim: Claim, found: float | None, reason: str = "") -> CheckedClaim:
    number = None if found is None else float(found)
    return CheckedClaim(claim.says, number, claim.holds(number), reason)


def _of_run(run: Record, claim: Claim) -> tuple[float | None, str]:
    """Return the number of a claim, or the reason why there is none.

    "matches": 1 if all programs were run and every output matches the reference, 0 otherwise.
    "bytes_per_distinct_byte": the bytes that all programs load and store, divided by the distinct bytes of
    the grid.
    """
    counts, result = run.measured("counts", Counts), run.measured("check", Check)
    failure = next(iter(run.result.error_messages), "")
    if counts is None or result is None:
        return None, failure or "The run is not finished, or was cancelled."
    if claim.run in ("loaded_bytes", "stored_bytes"):
        return getattr(counts, claim.run), ""
    if claim.run == "bytes_per_distinct_byte":
        touched = _SECTOR_BYTES * (counts.loaded_sectors_in_grid + counts.stored_sectors_in_grid)
        return (counts.loaded_bytes + counts.stored_bytes) / touched if touched else None, ""
    if result.reason or not result.outputs:
        return None, result.reason or "The kernel stores nothing that could be compared."
    wrong = next((each for each in result.outputs if not each.matches), None)
    if failure and wrong is None:
        return None, failure
    is_whole = counts.programs == counts.grid_programs
    reason = f"{wrong.name} differs from the reference." if wrong else ""
    return float(wrong is None and is_whole), reason


def read_claims(text: str) -> list[Claim]:
    """Read the claims of a page or a link.

    Raises:
        InvalidRequest: the text has no valid claims; the message names the error.
    """
    if len(text) > MOST_CLAIMS_CHARACTERS:
        raise InvalidRequest(f"`claims` must have at most {MOST_CLAIMS_CHARACTERS:,} characters.")
    try:
        claims = msgspec.json.decode(text, type=list[Claim])
        for claim in claims:
            _check_kind(claim)
            # A set within a set, which a later Python may interpret differently.
            with warnings.catch_warnings(action="ignore"):
                re.compile(claim.pattern)
    except (msgspec.MsgspecError, OverflowError, RecursionError, re.error) as error:
        raise InvalidRequest(f"`claims` must be a list of claims as JSON: {error}.") from error
    if len(claims) > _MOST_CLAIMS:
        raise InvalidRequest(f"`claims` must be at most {_MOST_CLAIMS}, got {len(claims)}.")
    return claims


def _check_kind(claim: Claim) -> None:
    kinds = (claim.stage, claim.metric, claim.occupancy, claim.access, claim.shared_access, claim.run)
    if sum(map(bool, kinds)) != 1:
        raise InvalidRequest(
            "A claim must have one of `stage`, `metric`, `occupancy`, `access`, `shared_access` and `run`."
        )
    if claim.metric and find_metric(claim.metric) is None:
        raise InvalidRequest(f"There is no metric {claim.metric[:50]!r}.")
    if claim.occupancy and claim.occupancy not in {field.name for field in fields(Occupancy)}:
        raise InvalidRequest(f"The occupancy has no number {claim.occupancy[:50]!r}.")
    for name, row in ((claim.access, AccessRow), (claim.shared_access, SharedAccessRow)):
        if name and name not in row.__struct_fields__:
            raise InvalidRequest(f"An access has no number {name[:50]!r}.")


def _find(subject: Subject) -> list[CheckedClaim]:
    return [check(subject, claim) for claim in read_claims(subject.parameters.get("claims", "[]"))]


def _find_of_run(subject: Subject) -> list[CheckedClaim]:
    return [check_run(subject.record, claim) for claim in read_claims(subject.parameters.get("claims", "[]"))]


_CLAIMS = (Parameter("claims", str, "The claims, a list as JSON: at most 12, and 2,000 characters."),)

QUERY = Query(
    name="claims",
    summary="Whether claims about the compilation hold, and their numbers.",
    version=2,
    document=list[CheckedClaim],
    find=_find,
    parameters=_CLAIMS,
    saved=nothing_saved,
)

RUN_QUERY = Query(
    name="run-claims",
    about="run",
    path="/claims",
    summary="Whether claims about the run hold, and their numbers.",
    version=2,
    document=list[CheckedClaim],
    find=_find_of_run,
    parameters=_CLAIMS,
    saved=nothing_saved,
)
