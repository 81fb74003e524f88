"""Test that uninitialized memory is the same in every run, and that reads of it are reported."""

import pytest
import torch

from explorer.runner.launch.uninitialized_memory import (
    FilledMemoryMode,
    is_uninitialized,
    uninitialized_elements,
)

SCALE = """
@triton.jit
def scale(x_ptr, out_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < size, other=0.0)
    tl.store(out_ptr + offsets, 2 * x, mask=offsets < size)


def reference(x):
    return 2 * x


"""
USED_MEMORY = 'old = [torch.full((100,), 7.0 + n, device="cuda") for n in range(50)]\ndel old\n'
ADD_UP = """
@triton.jit
def add_up(x_ptr, out_ptr):
    tl.atomic_add(out_ptr, tl.load(x_ptr + tl.program_id(0)))


add_up[(5,)](torch.ones(5, device="cuda"), torch.empty(1, device="cuda"))
"""
SCRATCH = """
@triton.jit
def there_and_back(x_ptr, scratch_ptr, out_ptr):
    offsets = tl.arange(0, 64)
    tl.store(scratch_ptr + offsets, tl.load(x_ptr + offsets))
    tl.store(out_ptr + offsets, tl.load(scratch_ptr + offsets))


x = torch.randn(64, device="cuda")
there_and_back[(1,)](x, torch.empty_like(x), x.new_empty(64))
"""


def unset(told):
    return [(each["line"], each["message"].partition(":")[0]) for each in told.diagnostics]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_what_is_read_before_it_is_set_is_said_with_its_line(interpret, dtype):
    source = SCALE + USED_MEMORY + f'x = torch.empty(100, device="cuda", dtype=torch.{dtype})\n'
    told = interpret(source + "scale[(2,)](x, torch.empty_like(x), 100, BLOCK=64)\n")
    assert unset(told) == [(8, "The kernel reads 100 uninitialized elements of x_ptr")]
    (output,) = told.check["outputs"]
    assert output["matches"] and output["worst_value"] is None, "all is NaN on both sides"


def test_only_the_elements_that_are_read_and_not_set_count(interpret):
    source = SCALE + 'x = torch.empty(200, device="cuda")\nx[:60] = 1.0\n'
    told = interpret(source + "scale[(2,)](x, torch.empty_like(x), 61, BLOCK=64)\n")
    assert unset(told) == [(8, "The kernel reads 1 uninitialized element of x_ptr")]


def test_memory_that_is_passed_twice_has_both_names(interpret):
    told = interpret(SCALE + 'x = torch.empty(8, device="cuda")\nscale[(1,)](x, x, 8, BLOCK=64)\n')
    assert unset(told) == [(8, "The kernel reads 8 uninitialized elements of x_ptr, out_ptr")]


def test_whole_numbers_are_the_same_in_every_run(interpret):
    source = SCALE + USED_MEMORY + 'x = torch.empty(100, device="cuda", dtype=torch.int32)\n'
    source += "out = torch.empty_like(x)\nscale[(2,)](x, out, 100, BLOCK=64)\nprint(out.unique().tolist())\n"
    told = interpret(source)
    assert told.log == "[-2]\n" and told.check["outputs"][0]["matches"]
    assert told.diagnostics == [], "-1 is a number like others"


def test_what_programs_add_to_must_be_set(interpret):
    assert unset(interpret(ADD_UP)) == [(7, "The kernel reads 1 uninitialized element of out_ptr")]
    assert unset(interpret(ADD_UP.replace("torch.empty", "torch.zeros"))) == []


def test_what_the_kernel_sets_itself_is_set(interpret):
    told = interpret(SCRATCH, reference="x")
    assert told.diagnostics == [] and told.check["outputs"][0]["matches"]


def test_an_operator_of_the_scripts_own_gets_filled_memory_too(interpret):
    source = """
@torch.library.custom_op("test::made", mutates_args=(), device_types="cuda")
def made(like: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(like)


print(bool(made(torch.ones(3, device="cuda")).isnan().all()))
"""
    told = interpret(SCRATCH.replace("\nx = ", source + "\nx = "))
    assert told.log == "True\n"


@pytest.mark.parametrize(
    "make",
    [
        lambda like: torch.empty(7, 5),
        lambda like: torch.empty((7, 5), dtype=torch.float16, requires_grad=True),
        lambda like: torch.empty_like(like),
        lambda like: torch.empty_strided((7, 5), (1, 9)),
        lambda like: torch.empty_permuted((7, 5), (1, 0)),
        lambda like: like.new_empty(7, 5),
        lambda like: like.new_empty_strided((7, 5), (10, 2)),
    ],
)
def test_every_way_to_make_a_tensor_without_setting_it(make):
    like = torch.zeros(7, 5)
    with FilledMemoryMode():
        made = make(like)
    assert made.shape == (7, 5) and bool(made.isnan().all()) and is_uninitialized(made)
    made.detach()[3, 2] = 1.0
    assert not is_uninitialized(made)
    count = made.untyped_storage().nbytes() // made.element_size()
    assert int(uninitialized_elements(made).sum()) == count - 1


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(torch.int64, -1), (torch.uint8, 255), (torch.bool, True), (torch.float8_e4m3fnuz, -240.0)],
)
def test_other_types_hold_one_value(dtype, value):
    with FilledMemoryMode():
        made = torch.empty(9, dtype=dtype)
    assert set(made.tolist()) == {value}
    assert not is_uninitialized(made), "it may have been set to that"


def test_what_has_no_memory_stays_without():
    with FilledMemoryMode():
        assert torch.empty(3, device="meta").device.type == "meta"
        assert torch.empty((3, 3), layout=torch.sparse_coo).layout == torch.sparse_coo
        assert torch.empty(0).numel() == 0
        given = torch.full((3,), 5.0)
    assert given.tolist() == [5.0] * 3 and not is_uninitialized(torch.empty(0))
