"""Generated accesses to global memory: sectors against the executed PTX, and limits against the compiler.

Each access copies a block between two matrices. Its lanes need as many sectors as the model says when the PTX
is executed. The limits of its width are lifted in the source and compiled again: the width grows if all named
limits are lifted, and stays if another limit alone is lifted.
"""

import json
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from ptx_as_c.cases import Case, run_ptx
from tritons import TRITONS

from explorer.model import Request
from explorer.queries import layouts
from explorer.services import services_of

#: The further cases are of `make nightly`.
FEW, MANY = 8, 300
SECTOR_BYTES = 32
DTYPES = ["float16", "float32", "float64"]
#: What the sentence about an access says of each limit that the source can lift.
REASONS = {
    "contiguity": "consecutive addresses",
    "divisibility": "the address is a multiple",
    "mask": "the mask is equal",
}
KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, stride, n):
    rows = tl.arange(0, {rows})[:, None]
    columns = tl.arange(0, {columns})[None, :]
    mask = {mask}
    x = tl.load(x_ptr + {offset} + {place}, mask=mask)
    tl.store(y_ptr + rows * {columns} + columns, x)


x = torch.empty({size}, dtype=torch.{dtype}, device="cuda")
y = torch.empty({rows} * {columns}, dtype=torch.{dtype}, device="cuda")
copy[(1,)](x, y, {stride}, {n}, num_warps={warps})
"""


@dataclass(frozen=True)
class Access:
    """An access of `rows` × `columns` elements. With `is_transposed`, columns are far apart."""

    dtype: str
    rows: int
    columns: int
    warps: int
    inner_stride: int
    stride: int
    offset: int
    n: int
    has_mask: bool
    is_transposed: bool

    @property
    def size(self):
        return self.offset + (max(self.rows, self.columns) + 1) * self.stride + 512 * self.inner_stride

    @property
    def source(self):
        far, near = ("columns", "rows") if self.is_transposed else ("rows", "columns")
        step = "" if self.inner_stride == 1 else f" * {self.inner_stride}"
        return KERNEL.format(
            rows=self.rows,
            columns=self.columns,
            mask=f"({near} < n) & (rows >= 0)" if self.has_mask else "(rows >= 0) & (columns >= 0)",
            place=f"{far} * stride + {near}{step}",
            offset=self.offset,
            size=self.size,
            dtype=self.dtype,
            stride=self.stride,
            n=self.n,
            warps=self.warps,
        )

    def without(self, limit):
        """Return the access without a limit, or None if it has another reason than the source."""
        if limit == "contiguity":
            return replace(self, inner_stride=1) if self.inner_stride > 1 else None
        if limit == "divisibility":
            lifted = replace(self, stride=self.stride // 16 * 16 + 16, offset=self.offset // 16 * 16)
            return lifted if self.stride % 16 or self.offset % 16 else None
        return replace(self, has_mask=False) if self.has_mask else None


def access_of(seed):
    choose = random.Random(seed)
    near = choose.choice([64, 128, 256])
    is_transposed = choose.random() < 0.3
    far = choose.choice([4, 8, 16])
    rows, columns = (near, far) if is_transposed else (far, near)
    return Access(
        dtype=choose.choice(DTYPES),
        rows=rows,
        columns=columns,
        warps=choose.choice([1, 2, 4]),
        inner_stride=choose.choice([1, 1, 1, 2, 3]),
        stride=choose.choice([1024, 1040, 1036, 1026, 1151]),
        offset=choose.choice([0, 0, 0, 8, 2, 1]),
        n=near - choose.choice([0, 4, 7, 16]),
        has_mask=choose.random() < 0.5,
        is_transposed=is_transposed,
    )


@pytest.fixture(scope="module")
def compile_access(app):
    """Return the record of an access and the analysis of its load, for a Triton version."""
    services = services_of(app)

    def compile_access(access, triton):
        request = Request(access.source, "cuda:90", services.triton_version(triton))
        record = services.queue.complete(request)
        assert record.status == "complete", record.result.error_messages
        document = json.loads(services.query_service.answer(layouts.QUERY, (record,), {}))
        (load,) = (row for row in document["accesses"] if row["operation"] == "tt.load")
        return record, load

    return compile_access


CASES = [
    pytest.param(seed, id=str(seed), marks=() if seed < FEW else pytest.mark.nightly) for seed in range(MANY)
]


def limits_of(load):
    """Return the limits that the first sentence about an access names."""
    words = load["words"].partition(". ")[0]
    return [limit for limit, reason in REASONS.items() if reason in words]


def sectors_of(size, offsets):
    return len({byte // SECTOR_BYTES for start in offsets for byte in range(start, start + size)})


@pytest.mark.parametrize("seed", CASES)
def test_the_sectors_are_executed_and_the_limits_bind(compile_access, seed):
    access, triton = access_of(seed), TRITONS[seed % len(TRITONS)]
    record, load = compile_access(access, triton)
    assert load["lane_offsets"], load["words"]

    executed = list[tuple[str, int, np.ndarray]]()
    numpy_type = np.dtype(access.dtype)
    arrays = [np.zeros(size, numpy_type) for size in (access.size, access.rows * access.columns)]
    numbers = [np.int32(access.stride), np.int32(access.n)]
    run_ptx(
        Case("", "copy", [*arrays, *numbers], (1, 1, 1), []), record.text(record.stage("ptx").text), executed
    )
    loads = [(size, offsets[:32]) for kind, size, offsets in executed if kind == "ld"]
    assert {size for size, _ in loads} == {load["lane_bytes"]}, load["words"]
    counts = {sectors_of(size, offsets) for size, offsets in loads if (offsets >= 0).all()}
    # The launch determines the offset of each element. Other instructions may begin elsewhere in a sector.
    assert load["launch_values"] is not None
    assert not counts or load["sectors"] in counts, f"{counts} sectors are executed: {load['words']}"

    limits = limits_of(load)
    assert not limits or {*limits} == {*load["limits"]}
    lifted = access
    for limit in REASONS:
        alone = access.without(limit)
        if alone is not None and limits != [limit]:
            assert compile_access(alone, triton)[1]["vector"] <= load["vector"], f"{limit} alone is lifted"
        if limit in limits:
            lifted = lifted and lifted.without(limit)
    if limits and lifted is not None:
        wider = compile_access(lifted, triton)[1]
        # The other limits are of contiguous ranges: the limits of longer ranges were not known before.
        is_new = "contiguity" in limits and "contiguity" not in limits_of(wider)
        assert wider["vector"] > load["vector"] or is_new, f"{limits} are lifted: {wider['words']}"
