"""Other Triton versions and options with which a failed compilation may succeed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from explorer.model import Scalar
from explorer.store import Record

#: The stages that no option has an influence on.
_FRONT_END = ("ttir", "glir")
_FEWER_WARPS = 4
#: The most stages to offer. A request may ask for any number of them.
_MOST_STAGES = 8


class Alternative(msgspec.Struct, frozen=True):
    """A change of the request: the Triton version, or options. `name` is for the user."""

    name: str
    triton: str | None
    options: dict[str, Scalar]


def alternatives_to(record: Record, versions: Sequence[str]) -> tuple[Alternative, ...]:
    """Return the changes that may help a compilation that failed in the compiler, the likeliest first.

    `versions` are the available Triton versions. Only a compilation shows whether a change helps.
    """
    errors = (each for each in record.result.diagnostics if each.severity == "error" and each.stage)
    error = next(errors, None)
    if record.status != "failed" or error is None or error.stage_line:  # an error in an edited text
        return ()
    others = tuple(
        Alternative(f"Triton {version}", version, {})
        for version in versions
        if version != record.request.triton
    )
    return others if error.stage in _FRONT_END else (*others, *_options(record))


def _options(record: Record) -> Iterator[Alternative]:
    specialized = record.result.specialized
    options = specialized.options if specialized else {}
    stages, warps = options.get("num_stages"), options.get("num_warps")
    if isinstance(stages, int):
        for fewer in range(min(stages - 1, _MOST_STAGES), 0, -1):
            yield Alternative(f"num_stages={fewer}", None, {"num_stages": fewer})
    if isinstance(warps, int) and warps > _FEWER_WARPS:
        yield Alternative(f"num_warps={_FEWER_WARPS}", None, {"num_warps": _FEWER_WARPS})
