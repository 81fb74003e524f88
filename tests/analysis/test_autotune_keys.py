"""Test which arguments that bound the work of a kernel its key leaves out."""

import pytest

from explorer.analysis.autotune_keys import left_out_keys
from explorer.analysis.source_edits import EditableSource

KERNEL = """
@triton.autotune(configs=configs, key=["M"])
@triton.jit
def kernel(x, M, N, K, stride, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    own = at[:, None] * stride
    {body}
"""


def left_out(body, key='key=["M"]'):
    source = KERNEL.format(body=body).replace('key=["M"]', key)
    found = left_out_keys(EditableSource(source), "kernel", ["M", "N", "K", "stride"], {"BLOCK"})
    return found and (found.keys, found.bounds, found.edit and found.edit.text)


@pytest.mark.parametrize(
    "body",
    [
        "for k in range(N): pass",
        "for k in tl.range(0, N, BLOCK): pass",
        "for k in range(tl.cdiv(N, SIZE)): pass",
        "blocks = tl.cdiv(N, BLOCK)",
        "tl.store(x + own, 0, mask=own < N)",
        "tl.store(x + own, 0, mask=(at < N)[:, None])",
    ],
)
def test_an_argument_that_bounds_a_loop_or_shared_work_is_left_out(body):
    edit = '@triton.autotune(configs=configs, key=["M", "N"])'
    assert left_out(body) == (("M",), {"N": [7]}, edit)


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ("for k in range(M): pass", 'key=["M"]'),
        ("for k in range(N): pass", 'key=["M", "N"]'),
        ("for k in range(N): pass", "key=keys"),
        ("for k in range(N): pass", 'key=["M", *names]'),
        ("for k in range(N, BLOCK): pass", 'key=["M"]'),
        ("N = tl.load(x)\n    for k in range(N): pass", 'key=["M"]'),
        ("blocks = tl.cdiv(N, SIZE)", 'key=["M"]'),
        ("mask = tl.arange(0, SIZE) < N", 'key=["M"]'),
        ("tl.store(x + at, own > N)", 'key=["M"]'),
        ("y = at * N", 'key=["M"]'),
    ],
)
def test_an_argument_in_the_key_or_of_an_unknown_use_is_not_left_out(body, key):
    assert left_out(body, key) is None


def test_an_empty_key_gets_its_first_name():
    assert left_out("for k in range(N): pass", "key=[]") == (
        (),
        {"N": [7]},
        '@triton.autotune(configs=configs, key=["N"])',
    )


def test_the_first_argument_of_another_kernel_is_not_read():
    source = KERNEL.format(body="for k in range(N): pass")
    assert left_out_keys(EditableSource(source), "other", ["N"], {"BLOCK"}) is None
    assert left_out_keys(EditableSource("no python ("), "kernel", ["N"], {"BLOCK"}) is None


def test_a_mask_is_found_behind_many_assignments_in_any_order_and_long_names():
    count = 1_600
    lines = [f"v{index} = v{index - 1} + 1" for index in range(count, 0, -1)]
    name = "tl" + ".a" * 2_000
    body = "\n    ".join([*lines, "v0 = at", f"{name}(x)", f"tl.store(x, 0, mask=v{count} < N)"])
    found = left_out(body)
    assert found
    assert list(found[1]) == ["N"]
