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
        ("x + row * stride", 5, "x + row.to(tl.int64) * stride"),
        ("tl.program_id(0) * n + k", 1, "tl.program_id(0).to(tl.int64) * n + k"),
        ("(a + b) * n", 1, "(a + b).to(tl.int64) * n"),
        ("p = (a + b) * n", 5, "p = (a + b).to(tl.int64) * n"),
        ("r[:, None] * n", 1, "r[:, None].to(tl.int64) * n"),
        ("é = a - b", 6, "é = a.to(tl.int64) - b"),
        ("-a * n", 1, None),
        ("a * b * n", 1, "a.to(tl.int64) * b * n"),
        ("x + a * n", 9, "x + a.to(tl.int64) * n"),
        ("a * m + b * n", 5, None),
        ("a * m + b * n", 12, "a * m + b.to(tl.int64) * n"),
        ("4 * n", 1, None),
        ("a / n", 1, None),
    ],
)
def test_an_operation_in_64_bits(line, column, after):
    found = EditableSource(f"{HEAD}{line}\n").in_64_bits(2, column)
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
        ("tl.load(x + pid * n)  # é", "tl.load(x + tl.multiple_of(pid * n, 8))  # é"),
        ("y = x + (a + b) * n", "y = x + tl.multiple_of((a + b) * n, 8)"),
        ("y = n * 2 * pid", "y = tl.multiple_of(n * 2, 8) * pid"),
        ("y = pid * n * m", "y = tl.multiple_of(pid * n * m, 4)"),
        ("y = rows[:, None] * n + i", "y = tl.multiple_of(rows[:, None] * n, (8, 8)) + i"),
        ("y = é + n * rows[None, :, None]", "y = é + tl.multiple_of(n * rows[None, :, None], (8, 8, 8))"),
        ("mask = i < n", "mask = i < n // 8 * 8"),
        ("mask = (i < n) & (j[:, None] < n)", "mask = (i < n // 8 * 8) & (j[:, None] < n // 8 * 8)"),
        ("mask = i < n - k", "mask = i < n // 8 * 8 - k"),
        ("mask = i < k * n", "mask = i < tl.multiple_of(k * n, 8)"),
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
    assert [each.text for each in found] == ["    y = (tl.multiple_of(pid  # é", "         * n, 16))"]


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
        ("y = tl.load(x,\n    mask=(m)\n    ,)", "    "),
        ("y = tl.load(x,\n    mask=(m),\n)", "    "),
        ("y = tl.load(x, mask=(m\n))", None),
        ("y = table.load(x, mask=m)", None),
        ("y = tl.load(mask=m, pointer=x)", None),
        ("y = tl.load(x, m, 0.0, ())", None),
        ("y = tl.load(x, mask=f('('))", "y = tl.load(x"),
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
    assert source.in_64_bits(line + 1, 5) is None
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
