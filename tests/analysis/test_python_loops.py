"""Test the copied loops of a source, and the expression at a position."""

import pytest
from processor_time import check_processor_seconds

from explorer.analysis.python_loops import PythonSource

SOURCE = """
@triton.jit
def helper(x, N: tl.constexpr):
    for i in tl.static_range(N):
        x += i
    return x

@triton.jit
def kernel(x_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for i in tl.static_range(N):
        for j in gl.static_range(0, BLOCK // 16, 2):
            pass
    for k in tl.range(0, x_ptr, loop_unroll_factor=4):
        pass
    for k in tl.range(0, x_ptr, num_stages=4):
        pass
    for k in range(8):
        pass
"""


def test_loops_with_the_number_of_their_copies():
    loops = PythonSource(SOURCE).copied_loops("kernel", {"N": 16, "BLOCK": 128})
    assert {(each.line, each.last_line, each.call, each.copies) for each in loops} == {
        (4, 5, "tl.static_range", None),  # the callers decide
        (11, 13, "tl.static_range", 16),
        (12, 13, "gl.static_range", 4),
        (14, 15, "tl.range", 4),
    }


def test_the_innermost_loop_of_a_line():
    source = PythonSource(SOURCE)
    assert [source.loop_at(line) for line in (3, 5, 10, 11, 13, 15, 19)] == [0, 1, 0, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("bounds", "copies"),
    [
        ("N", None),
        ("0, 8, 0", None),
        ("2 ** 9", None),
        ("8 % 0", None),
        ("10**9 * 10**9 * 10**9 * 10**9", None),
        ("9223372036854775807 * 4", None),
        ("'a'", None),
        ("*steps", None),
        ("end=4", None),
        ("-2, 2", 4),
        ("0", 0),
    ],
)
def test_numbers_that_a_source_does_not_say_are_not_known(bounds, copies):
    source = f"def kernel():\n    for i in tl.static_range({bounds}):\n        pass\n"
    assert [each.copies for each in PythonSource(source).copied_loops("kernel", {})] == [copies]


@pytest.mark.parametrize(
    "source", ["#blocked = #ttg.blocked<{}>", "def (", "\0", "(" * 10_000, "-" * 100_000]
)
def test_a_source_that_is_no_python_has_no_loops(source):
    tree = PythonSource(source)
    assert list(tree.copied_loops("kernel", {})) == []
    assert tree.expression_at(1, 1, is_call=False) == ""


def test_the_expression_at_a_position():
    tree = PythonSource(SOURCE)
    assert tree.expression_at(10, 42, is_call=True) == "tl.arange(0, BLOCK)"
    assert tree.expression_at(10, 15, is_call=True) == "tl.program_id(0)"
    assert tree.expression_at(10, 15, is_call=False) == "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"
    assert tree.expression_at(5, 9, is_call=True) == "x"
    assert tree.expression_at(1, 1, is_call=True) == ""


def test_the_expressions_of_a_long_source_are_read_fast():
    """`ast.get_source_segment` splits the whole source, for each of the sums that begin at one position."""
    total = " + ".join(f"x{number}" for number in range(40))
    source = PythonSource(f"{'#' * 20}\n" * 10_000 + f"total = {total}\n")
    assert source.expression_at(10_001, 9, is_call=False) == total
    check_processor_seconds(0.1, lambda: source.expression_at(10_001, 9, is_call=False))
