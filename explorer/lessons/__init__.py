"""What tours and exercises share: a launch of a kernel, and claims about its result.

A claim is a statement about a number. `explorer.queries.claims` reads the number from a result; nothing here
knows where numbers come from.
"""

from __future__ import annotations

from typing import Literal

import msgspec

#: What a claim can say of a run in Triton's interpreter; see `explorer.queries.claims`.
RunNumber = Literal["matches", "bytes_per_distinct_byte", "loaded_bytes", "stored_bytes"]
#: Which of several numbers a claim is about.
Taken = Literal["first", "least", "most", "sum"]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A statement about a number of a result.

    `says` is the statement in words. The number is one of these:
    that of the lines of `stage` in which `pattern`, a regular expression, is found;
    the metric of the compilation with the name `metric`;
    the field `occupancy` of its occupancy, such as `active_warps`;
    the field `access` of the accesses of tensors to global memory whose operation `pattern` matches, or the
    field `shared_access` of those to shared memory: as `taken` says of the first, the least, the most, or the
    sum;
    `run`, of a run in Triton's interpreter.
    It must be from `least` to `most`; None: no bound. `exactly` stands for both. `tritons` are the Triton
    versions that the claim is about; empty: all.
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
        """Return whether the number is as claimed. None: the result does not have it."""
        if found is None:
            return False
        least, most = (self.least, self.most) if self.exactly is None else (self.exactly, self.exactly)
        return (least is None or found >= least) and (most is None or found <= most)

    def is_about(self, triton: str) -> bool:
        """Return whether the claim is about results of a Triton version."""
        return not self.tritons or triton in self.tritons


class LessonLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a lesson compiles: a kernel of an example or of `source`, with options in place of its launch's.

    `signature` stands in place of a launch ("": that of the script). `replace` are parts of the source and
    what stands in their places.
    """

    example: str = ""
    source: str = ""
    kernel: str | None = None
    target: str = "cuda:90"
    options: dict[str, int] = {}
    signature: str = ""
    replace: dict[str, str] = {}
