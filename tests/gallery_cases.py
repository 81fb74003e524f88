"""The gallery by every target. A few targets stand for all; cases of other targets are marked `nightly`."""

import pytest

from explorer.examples import EXAMPLES
from explorer.model.hardware import TARGETS

#: NVIDIA's Hopper and Blackwell, whose matrix instructions differ, and AMD's CDNA.
REPRESENTATIVES = ("cuda:90", "cuda:100", "hip:gfx942")

CASES = [
    pytest.param(
        example,
        target,
        id=f"{example}-{target.architecture}",
        marks=() if target.name in REPRESENTATIVES else pytest.mark.nightly,
    )
    for example in EXAMPLES
    for target in TARGETS
]
every_case = pytest.mark.parametrize(("example", "target"), CASES)
