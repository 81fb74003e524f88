"""Test changes of single lines of a source."""

import pytest

from explorer.analysis.block_sizes import block_uses
from explorer.analysis.source_edits import EditableSource, edited
from explorer.errors import InvalidRequest
from explorer.model import LineEdit

HEAD = "import triton.language as tl\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for k in range(0, K):", "for k in tl.range(0, K, num_stages=3):"),
        ("for k in range(K):  # é", "for k in tl.range(K, num_stages=3):  # é"),
        ("for ä in tl.range(0, K, 2, ):", "for ä in tl.range(0, K, 2, num_stages=3):"),
        ("for k in tl.range(K, num_stages=2):", None),
        ("for k in tl.static_range(K):", None),
        ("for k in ranges(K):", None),
        ("for k in values:", None),
        ("while k:", None),
    ],
)
def test_the_stages_of_a_loop(before, after):
    found = EditableSource(f"{HEAD}{before}\n    pass\n").with_stages(2, 3)
    assert (found and found.text) == after


def test_a_loop_over_several_lines_is_left_alone():
    source = f"{HEAD}for k in range(\n    K\n):\n    pass\n"
    assert EditableSource(source).with_stages(2, 3) is None


@pytest.mark.parametrize(
    ("line", "column", "after"),
    [
        ("x + row * stride", 5, "x + tl.cast(row, tl.int64) * stride"),
        ("tl.program_id(0) * n + k", 1, "tl.cast(tl.program_id(0), tl.int64) * n + k"),
        ("(a + b) * n", 1, "tl.cast(a + b, tl.int64) * n"),
        ("p = (a + b) * n", 5, "p = tl.cast(a + b, tl.int64) * n"),
        ("r[:, None] * n", 1, "tl.cast(r[:, None], tl.int64) * n"),
        ("é = a - b", 6, "é = tl.cast(a, tl.int64) - b"),
        ("-a * n", 1, "tl.cast(-a, tl.int64) * n"),
        ("a * b * n", 1, "tl.cast(a, tl.int64) * b * n"),
        ("x + a * n", 9, "x + tl.cast(a, tl.int64) * n"),
        ("a * m + b * n", 5, None),
        ("a * m + b * n", 12, "a * m + tl.cast(b, tl.int64) * n"),
        ("4 * n", 1, None),
        ("a / n", 1, None),
    ],
)
def test_an_operation_in_64_bits(line, column, after):
    found = EditableSource(f"{HEAD}{line}\n").in_64_bits([(2, column)])
    assert [each.text for each in found] == ([] if after is None else [after])


def test_equal_operations_of_a_function_are_in_64_bits_together():
    """The compiler computes the product once, and names the first line."""
    head = f"{HEAD}def kernel(x, n):\n"
    body = """    a = x + row * n + 4 * (row - n)
    b = x + (row
             + i) * n  # n * row
    c = n*row + row*n - (n - row)
    d = row * m + row.to(tl.int64) * n
"""
    other = "def other(x, n):\n    return row * n\n"
    source = f"{head}{body}{other}"
    found = EditableSource(source).in_64_bits([(3, 13)])
    assert (
        edited(source, found)
        == head
        + body.replace("+ row * n", "+ tl.cast(row, tl.int64) * n").replace(
            "n*row + row*n", "tl.cast(n, tl.int64)*row + tl.cast(row, tl.int64)*n"
        )
        + other
    )
    found = EditableSource(source).in_64_bits([(3, 28), (4, 13)])
    assert [(each.line, each.text.strip()) for each in found] == [
        (3, "a = x + row * n + 4 * (tl.cast(row, tl.int64) - n)"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = a // n", "y = (tl.cast(a, tl.int32) // tl.cast(n, tl.int32)).to(tl.int64)"),
        (
            "y = x + (a + b) % (n * m)",
            "y = x + (tl.cast(a + b, tl.int32) % tl.cast(n * m, tl.int32)).to(tl.int64)",
        ),
        ("y = a // (N * 2)", "y = (tl.cast(a, tl.int32) // (N * 2)).to(tl.int64)"),
        ("y = a // 2", "y = (tl.cast(a, tl.int32) // 2).to(tl.int64)"),
        ("y = a // n // m", None),
    ],
)
def test_a_division_in_32_bits(before, after):
    found = EditableSource(f"{HEAD}{before}\n").in_32_bits(2, {"N"})
    assert (found and found.text) == after


KERNEL = f"""{HEAD}
def kernel(x, n, steps, N: tl.constexpr):
    pid = tl.program_id(0)
    programs = tl.num_programs(axis=0)
    lanes = tl.arange(0, N)
    twice = tl.program_id(0)
    twice += 1
    for i in range(steps):
        OFFSETS
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = pid + lanes * programs", "y = pid * N + lanes"),
        ("y = lanes * programs + pid", "y = pid * N + lanes"),
        ("y = x + pid + programs * tl.arange(0, N)  # é", "y = x + pid * N + tl.arange(0, N)  # é"),
        ("y = tl.program_id(1) + lanes * 8", None),
        ("y = pid + lanes * n", "y = pid * N + lanes"),
        ("y = i + lanes * steps", "y = i * N + lanes"),
        ("y = tl.load(x + i + steps * lanes)", "y = tl.load(x + i * N + lanes)"),
        ("y = tl.program_id(1) + lanes * programs", None),
        ("y = twice + lanes * programs", None),
        ("y = pid + lanes * steps", None),
        ("y = i + lanes * programs", None),
        ("y = pid + tl.arange(1, N) * programs", None),
        ("y = (x + pid) + lanes * programs", None),
        ("y = pid - lanes * programs", None),
    ],
)
def test_offsets_in_blocks(before, after):
    source = EditableSource(KERNEL.replace("OFFSETS", before))
    found = [edits for _, edits in source.in_blocks("kernel", {"n": 64, "steps": 3}, (64, 1, 1))]
    assert [[each.text.strip() for each in edits] for edits in found] == ([] if after is None else [[after]])


def test_equal_offsets_change_together():
    both = "z = tl.load(x + i + lanes * steps) + tl.load(y + i + lanes * steps)"
    source = EditableSource(KERNEL.replace("OFFSETS", f"{both}\n        w = i + lanes * steps"))
    ((text, edits),) = source.in_blocks("kernel", {}, (1,))
    assert text == "i * N + lanes"
    assert [each.text.strip() for each in edits] == [
        "z = tl.load(x + i * N + lanes) + tl.load(y + i * N + lanes)",
        "w = i * N + lanes",
    ]


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("def kernel(x, n, N: tl.constexpr):  # é", "def kernel(x, n: tl.constexpr, N: tl.constexpr):  # é"),
        ("def kernel(x, n: int, *, N):", "def kernel(x, n: tl.constexpr, *, N):"),
        ("def kernel(x, N, *, n=8):", "def kernel(x, N, *, n: tl.constexpr=8):"),
        ("def kernel(\n    x,  # é\n    n,  # the length\n):", "    n: tl.constexpr,  # the length"),
        ("@triton.jit(do_not_specialize=['n'])\ndef kernel(x, n):", None),
        ("@triton.jit(do_not_specialize=[1])\ndef kernel(x, n):", None),
        ("@triton.jit(do_not_specialize=[0])\ndef kernel(x, n):", "def kernel(x, n: tl.constexpr):"),
        ("@triton.autotune(configs, key=['n'])\ndef kernel(x, n):", "def kernel(x, n: tl.constexpr):"),
        ("def kernel(x, m):", None),
        ("def other(x, n):", None),
    ],
)
def test_an_argument_as_a_constant(head, after):
    found = EditableSource(f"{HEAD}{head}\n    pass\n").as_constants("kernel", ["n"])
    assert [each.text for each in found] == ([] if after is None else [after])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tl.load(x + pid * n)  # é", "tl.load(x + pid * (n // 8 * 8))  # é"),
        ("y = x + (a + b) * n", "y = x + (a + b) * (n // 8 * 8)"),
        ("y = n * 2 * pid", "y = (n // 8 * 8) * 2 * pid"),
        ("y = pid * n * m", "y = pid * (n // 8 * 8) * (m // 4 * 4)"),
        ("y = rows[:, None] * n + i", "y = rows[:, None] * (n // 8 * 8) + i"),
        ("y = é + n * rows[None, :, None]", "y = é + (n // 8 * 8) * rows[None, :, None]"),
        ("mask = i < n", "mask = i < n // 8 * 8"),
        ("mask = (i < n) & (j[:, None] < n)", "mask = (i < n // 8 * 8) & (j[:, None] < n // 8 * 8)"),
        ("mask = i < n - k", "mask = i < n // 8 * 8 - k"),
        ("mask = i < k * n", "mask = i < k * (n // 8 * 8)"),
        ("mask = 0 <= i < n", "mask = 0 <= i < n // 8 * 8"),
        ("y = i // n + i % n", "y = i // (n // 8 * 8) + i % (n // 8 * 8)"),
        ("y = tl.multiple_of(pid * n, 8)", None),
        ("mask = i < n // 8 * 8", None),
        ("y = i + n", None),
        ("y = f(n)", None),
        ("set_again = i < set_again", None),
    ],
)
def test_what_arguments_are_multiples_of(before, after):
    head = f"{HEAD}def kernel(x, n, m, set_again):\n"
    found = EditableSource(f"{head}    if pid < n:\n        {before}\n").with_multiples(
        "kernel", {"n": 8, "m": 4, "set_again": 8}
    )
    assert [each.text.strip() for each in found] == ([] if after is None else [after])


def test_a_product_of_several_lines_is_a_multiple():
    source = f"{HEAD}def kernel(x, n):\n    y = (pid  # é\n         * n)\n"
    found = EditableSource(source).with_multiples("kernel", {"n": 16})
    assert [each.text for each in found] == ["         * (n // 16 * 16))"]


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ("kernel[8](x, n, N=64, num_warps=4)  # é", "kernel[8](x, n, N=32, num_warps=8)  # é", ""),
        ("kernel[8](x, n, 64)", "kernel[8](x, n, 32, num_warps=8)", ""),
        ("kernel[8](\n    x, n,\n    N=64,  # é\n)", "    N=32, num_warps=8,  # é", ""),
        ("kernel[8](x, N=64, n=(3))", "kernel[8](x, N=32, n=(3), num_warps=8)", ""),
        ("kernel[8](x, n, N=f(n))", "kernel[8](x, n, N=f(n), num_warps=8)", "N"),
        ("kernel[8](x, n, N=64, **more)", "kernel[8](x, n, N=32, **more)", "num_warps"),
        ("kernel[8](*both, N=64)", "kernel[8](*both, N=32)", "num_warps"),
        ("kernel[8](x, n, N=64) or kernel[9](x, n, N=64)", None, "num_warps N"),
        ("kernel.run(x, n, N=64)", None, "num_warps N"),
        ("other[8](x, n, N=64)", None, "num_warps N"),
    ],
)
def test_options_and_constants_of_a_launch(before, after, left):
    head = f"{HEAD}@triton.jit\ndef kernel(x, n, N: tl.constexpr):\n    pass\nkernel[8](x, n, N=64)\n"
    found, missing = EditableSource(f"{head}{before}\n").in_launch("kernel", 6, {"num_warps": 8, "N": 32})
    assert ([each.text for each in found], missing) == ([after] if after else [], left.split())


@pytest.mark.parametrize(
    ("decorators", "line", "is_written"),
    [
        ("@triton.jit(do_not_specialize=['n'])\n", 5, True),
        ("@jit\n", 5, True),
        ("@triton.jit\n", 4, False),
        ("@triton.jit\n", None, False),
        ("@triton.autotune(configs, key=['n'])\n@triton.jit\n", 6, False),
    ],
)
def test_a_launch_whose_options_another_place_decides(decorators, line, is_written):
    source = f"{HEAD}{decorators}def kernel(x, n):\n    pass\nkernel[8](x, n)\n"
    edits, missing = EditableSource(source).in_launch("kernel", line, {"num_warps": 8})
    assert [each.text for each in edits] == ["kernel[8](x, n, num_warps=8)"] * is_written
    assert missing == ["num_warps"] * (not is_written)


def test_single_precision_in_place_of_double():
    source = (
        f"{HEAD}x = tl.float64\ndef kernel(x):\n    y = x.to(tl.float64) + tl.zeros((8,), tl.float64)  # é\n"
    )
    found = EditableSource(source).in_fp32("kernel")
    assert [each.text.strip() for each in found] == ["y = x.to(tl.float32) + tl.zeros((8,), tl.float32)  # é"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x + rows.to(tl.int64) * n  # é", "y = x + rows * n  # é"),
        ("é = (a + b).to(tl.int64)", "é = (a + b)"),
        ("y = r[:, None].to(tl.int64) + f(c).to( tl.int64 )", "y = r[:, None] + f(c)"),
        ("y = tl.cast(row, tl.int64) * n + tl.cast(é + (b), tl.int64)", "y = row * n + (é + (b))"),
        ("y = tl.cast(a, tl.int32)", None),
        ("y = a.to(tl.int32)", None),
        ("y = a.to(tl.int64, bitcast=True)", None),
        ("y = to(tl.int64)", None),
    ],
)
def test_an_operation_without_64_bits(before, after):
    found = EditableSource(f"{HEAD}{before}\nz = a.to(tl.int64)\n").without_64_bits({2})
    assert [each.text for each in found] == ([] if after is None else [after])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = tl.load(x + i, mask=i < n, other=0.0)  # é", "y = tl.load(x + i)  # é"),
        (
            "é = tl.load((x), (i < n) & (m), 0.0, cache_modifier='.cg')",
            "é = tl.load((x), cache_modifier='.cg')",
        ),
        ("tl.store(x, tl.load(z, mask=m), mask=m)  # é", "tl.store(x, tl.load(z))  # é"),
        ("tl.store(x, y, m)", "tl.store(x, y)"),
        ("tl.store(x, y)", None),
        ("y = tl.load(\n    x, mask=(m), other=0.0\n)", "    x"),
        ("y = tl.load(x,\n    mask=(m)\n    ,)", None),
        ("y = tl.load(x,\n    mask=(m), other=0.0)", "    )"),
        ("y = tl.load(x,\n    mask=(m), other=0.0, eviction_policy='x')", "    eviction_policy='x')"),
        ("tl.store(x, y,\n    mask=(m) & (\n    n))", None),
        ("y = tl.load(x,\n    mask=(m),\n)", "    "),
        ("y = tl.load(x, mask=(m\n))", None),
        ("y = table.load(x, mask=m)", None),
        ("y = tl.load(mask=m, pointer=x)", None),
        ("y = tl.load(x, m, 0.0, ())", None),
        ("y = tl.load(x, mask=f('('))", None),
    ],
)
def test_an_access_without_a_mask(before, after):
    found = EditableSource(f"{HEAD}{before}\nw = tl.load(x, mask=m)\n").without_masks({2})
    assert [each.text for each in found] == ([] if after is None else [after])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = tl.dot(a, b, input_precision='ieee')  # é", "y = tl.dot(a, b, PRECISION)  # é"),
        ("é = tl.dot(a, b, c, allow_tf32=False, out_dtype=t)", "é = tl.dot(a, b, c, PRECISION, out_dtype=t)"),
        ("y = tl.dot(a, b, c, 'ieee')", "y = tl.dot(a, b, c, PRECISION)"),
        ("y = tl.dot(a, b, c)", None),
        ("y = f(a, b, c, input_precision='ieee')", None),
    ],
)
def test_the_precision_of_a_product(before, after):
    found = EditableSource(f"{HEAD}{before}\n").with_precision(2, "tf32")
    assert [each.text for each in found] == (
        [] if after is None else [after.replace("PRECISION", 'input_precision="tf32"')]
    )


@pytest.mark.parametrize("terms", [1_200, 2_000, 5_000])
def test_long_expressions_are_read(terms):
    """CPython 3.11 parses no sum of 3,000 terms: a source with one has no changes."""
    long = " + ".join(["n * i"] * terms)
    source = f"""{HEAD}def kernel(x, n, BLOCK: tl.constexpr):
    y = ({long}).to(tl.int64)
    mask = {long} < n
    z = ({long}) // n
    for i in tl.static_range({long}):
        for j in range({long}):
            pass
"""
    found = EditableSource(source)
    is_read = found.function("kernel") is not None
    assert is_read or terms >= 3_000
    assert [each.line for each in found.with_multiples("kernel", {"n": 8})] == [3, 4, 5, 6, 7] * is_read
    assert bool(found.in_32_bits(5, ())) == is_read
    assert list(found.in_blocks("kernel", {}, (1,))) == []
    assert [each.copies for each in found.copied_loops("kernel", {"n": 1, "i": 1})] == [None] * is_read
    assert set(block_uses(source, "kernel")) == ({"x", "n", "BLOCK"} if is_read else set())


@pytest.mark.parametrize("head", ["", "import triton\n", "def f(:\n"])
def test_a_source_without_the_language_is_left_alone(head):
    source = EditableSource(f"{head}for k in range(K):\n    row * n\n")
    line = head.count("\n") + 1
    assert source.with_stages(line, 3) is None
    assert source.in_64_bits([(line + 1, 5)]) == []
    assert source.with_multiples("f", {"n": 8}) == source.in_fp32("f") == []


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("from triton import language", "language"),
        ("from triton import jit, language as L", "L"),
        ("import triton.language", "triton.language"),
    ],
)
def test_the_name_of_the_language(head, name):
    found = EditableSource(f"{head}\nfor k in range(K):\n    pass\n").with_stages(2, 3)
    assert found is not None
    assert found.text == f"for k in {name}.range(K, num_stages=3):"


def test_edits_of_lines():
    assert edited("a\nb\nc", [LineEdit(2, "B")]) == "a\nB\nc"
    assert edited("a\r\nb", []) == "a\r\nb"


@pytest.mark.parametrize("line", [-9, 0, 3])
def test_lines_that_a_source_does_not_have_are_refused(line):
    with pytest.raises(InvalidRequest, match=f"no line {line}: its lines are 1 to 2"):
        edited("a\nb", [LineEdit(line, "c")])


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_other_ends_of_lines_count_as_in_python(end):
    source = f"{HEAD}for k in range(K):\n    pass\n".replace("\n", end)
    found = EditableSource(source).with_stages(2, 3)
    assert found == LineEdit(2, "for k in tl.range(K, num_stages=3):")
    assert edited(source, [found]) == f"{HEAD}{found.text}\n    pass\n"


def test_a_long_name_is_no_problem():
    name = "x" + ".a" * 2_000
    source = f"{HEAD}def kernel(x):\n    y = {name}.float64\n    for k in {name}(K):\n        pass\n"
    found = EditableSource(source)
    assert found.in_fp32("kernel") == []
    assert found.with_stages(4, 3) is None
