"""Test the alternatives after a failed compilation."""

import pytest
from sources import STAGED
from tritons import TRITONS

from explorer.documents.alternatives import alternatives_to
from explorer.model import Request

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
#: 3.9 has no block pointers.
REMOVED = f"""{HEAD}@triton.jit
def removed(x, n):
    block = tl.make_block_ptr(x, (n,), (1,), (0,), (64,), (0,))
    tl.store(x + tl.arange(0, 64), tl.load(block))
"""
#: 3.9 has no index of rank 0.
INDEXED = f"""{HEAD}@triton.jit
def removed(x, n):
    tl.store(x + tl.arange(0, 64), tl.sum(tl.load(x + tl.arange(0, 64)))[:])
"""


@pytest.fixture
def names(services):
    """Return the names of the alternatives to the compilation of a source."""

    def names(source):
        record = services.queue.complete(Request(source, "cuda:90", TRITONS[0]))
        return record.status, [each.name for each in alternatives_to(record, TRITONS)]

    return names


@pytest.mark.parametrize("source", [REMOVED, INDEXED], ids=["block pointers", "index at rank 0"])
def test_before_ttgir_another_version_may_help(names, source):
    assert names(source) == ("failed", ["Triton 3.6.0"])


def test_after_ttir_fewer_stages_and_warps_may_help_too(names):
    expected = ["Triton 3.6.0", "num_stages=4", "num_stages=3", "num_stages=2", "num_stages=1", "num_warps=4"]
    assert names(STAGED.replace("num_stages=3", "num_stages=5")) == ("failed", expected)


@pytest.mark.nightly
def test_only_a_few_numbers_of_stages_are_offered(names):
    status, found = names(STAGED.replace("num_stages=3", "num_stages=20"))
    assert status == "failed"
    assert found == ["Triton 3.6.0", *(f"num_stages={count}" for count in range(8, 0, -1)), "num_warps=4"]


def test_an_error_of_the_script_is_not_the_compilers(names):
    assert names("import triton\n\nx = = 1\n") == ("failed", [])


def test_what_compiles_needs_no_alternative(names):
    assert names(REMOVED.replace("tl.make_block_ptr(x, (n,), (1,), (0,), (64,), (0,))", "x")) == (
        "complete",
        [],
    )
