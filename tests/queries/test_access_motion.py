"""Test the steps of an access: the lanes need the sectors that they need when the PTX is executed."""

import json

import numpy as np
import pytest
from ptx_as_c.cases import cases, run_ptx
from tritons import TRITONS

from explorer.model import Request
from explorer.queries import layouts
from explorer.services import services_of

CASES = {case.name: case for case in cases() if case.name in ("exchange", "floats", "loops", "reduction")}


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("name", CASES)
def test_a_warp_needs_the_sectors_that_are_shown(query_service, app, name, triton):
    services, case = services_of(app), CASES[name]
    version = services.triton_version(triton)
    record = services.queue.complete(Request(case.source, "cuda:90", version, kernel=case.kernel))
    executed = list[tuple[str, int, np.ndarray]]()
    run_ptx(case, record.text(record.stage("ptx").text), executed)
    whole = [each for each in executed if (each[2][:32] >= 0).all()]
    seen = {(kind, size, pattern(offsets[:32])) for kind, size, offsets in whole}
    document = json.loads(query_service.answer(layouts.QUERY, (record,), {}))
    compared = 0
    for row in document["accesses"]:
        kind = {"tt.load": "ld", "tt.store": "st"}.get(row["operation"])
        if kind is None or not row["lane_offsets"]:
            continue
        offsets, size = np.array(row["lane_offsets"]), row["lane_bytes"]
        sectors = {byte // 32 for start in offsets for byte in range(start, start + size)}
        assert len(sectors) == row["sectors"]
        assert (kind, size, pattern(offsets)) in seen, row
        compared += 1
    assert compared >= 1


def pattern(offsets):
    """Return which lanes share a sector, and the place of each in it, whatever the order of the sectors."""
    order = dict[int, int]()
    return tuple((order.setdefault(int(each) // 32, len(order)), int(each) % 32) for each in offsets)
