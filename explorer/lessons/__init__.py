"""The common parts of tours and exercises: a launch of a kernel, and claims about its result.

A claim is a statement about a number. `explorer.queries.claims` reads the number from a result.
"""

from __future__ import annotations

from typing import Literal

import msgspec

#: The numbers of a run in Triton's interpreter for claims; see `explorer.queries.claims`.
RunNumber = Literal["matches", "bytes_per_distinct_byte", "loaded_bytes", "stored_bytes"]
#: The selection among several numbers.
Taken = Literal["first", "least", "most", "sum"]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A statement about a number of a result.

    `says` is the statement in words. The number is one of these:
    the number of the lines of `stage` in which `pattern`, a regular expression, is found;
    the metric of the compilation with the name `metric`;
    the field `occupancy` of its occupancy, such as `active_warps`;
    the field `access` of the accesses of tensors to global memory whose operation `pattern` matches, or the
    field `shared_access` of accesses to shared memory: the first, the least, the most, or the sum, by
    `taken`;
    the number `run` of a run in Triton's interpreter.
    The number must be from `least` to `most`; None: no bound. `exactly` stands for both. `tritons` are the
    Triton versions that the claim is about; empty: all.
    """

    says: str = ""
    stage: str = ""
    pattern: str = ""
    metric: str = ""
    occupancy: str = ""
    access: str = ""
    shared_access: str = ""
    taken: Taken = "first"
    run: RunNumber | None = None
    exactly: float | None = None
    least: float | None = None
    most: float | None = None
    tritons: tuple[str, ...] = ()

    def holds(self, found: float | None) -> bool:
        """Return whether the claim holds for the number. None: the result does not have the number."""
        if found is None:
            return False
        least, most = (self.least, self.most) if self.exactly is None else (self.exactly, self.exactly)
        return (least is None or found >= least) and (most is None or found <= most)

    def is_about(self, triton: str) -> bool:
        """Return whether the claim is about results of a Triton version."""
        return not self.tritons or triton in self.tritons


class LessonLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The compilation of a lesson: a kernel of an example or of `source`, with options that replace those in
    its launch.

    `signature` replaces the launch ("": the launch of the script). `replace` has parts of the source and
    their replacements.
    """

    example: str = ""
    source: str = ""
    kernel: str | None = None
    target: str = "cuda:90"
    options: dict[str, int] = {}
    signature: str = ""
    replace: dict[str, str] = {}
