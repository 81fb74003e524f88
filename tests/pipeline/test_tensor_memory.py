"""Test the rows and columns of tensor memory against where the compiler places buffers, and its layouts."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.analysis.layouts.linear_layout import LinearLayout
from explorer.analysis.memory.tensor_memory import map_tensor_memory

MATRIX = "#ttng.tensor_memory_encoding<blockM = {}, blockN = {}, colStride = {}{}>"
SCALES = "#ttng.tensor_memory_scales_encoding<{}>"
#: Of a cluster of two blocks, by version.
BY_BLOCK_ROWS = {"3.6.0": "CTASplitM = 2", "3.9.0": "CGALayout = [[1, 0]]"}
BY_BLOCK_COLUMNS = {"3.6.0": "CTASplitN = 2", "3.9.0": "CGALayout = [[0, 1]]"}

#: A type, its layout, and the rows and columns that it takes, by hand from the PTX documentation.
CASES = [
    ("128x128xf32", MATRIX.format(128, 128, 1, ""), 128, 128),
    ("128x256xf32", MATRIX.format(128, 64, 1, ""), 128, 256),
    ("256x128xf32", MATRIX.format(128, 128, 1, ""), 128, 256),
    ("128x128xf16", MATRIX.format(128, 128, 1, ""), 128, 64),
    ("128x128xf16", MATRIX.format(128, 128, 2, ""), 128, 128),
    ("128x128xf8E4M3FN", MATRIX.format(128, 128, 1, ""), 128, 32),
    ("3x128x64xf32", MATRIX.format(128, 64, 1, ""), 128, 192),
    ("64x128xf32", MATRIX.format(64, 128, 1, ""), 64, 128),
    ("64x8xf32", MATRIX.format(64, 8, 1, ""), 64, 8),
    ("64x128xf16", MATRIX.format(64, 128, 1, ""), 64, 64),
    ("64x128xf16", MATRIX.format(64, 128, 2, ""), 64, 128),
    ("2x64x128xf32", MATRIX.format(64, 128, 1, ""), 64, 256),
    ("64x256xf32", MATRIX.format(64, 128, 1, ""), 128, 128),
    ("128x128xf32", MATRIX.format(64, 128, 1, ""), 128, 128),
    ("128x256xf32", MATRIX.format(64, 128, 1, ""), 128, 256),
    ("128x8xi8", SCALES.format(""), 128, 8),
    ("256x16xi8", SCALES.format(""), 128, 32),
    ("64x8xi8", SCALES.format(""), 128, 4),
]
CASES_OF_CLUSTERS = [
    ("128x128xf32", 64, BY_BLOCK_ROWS, "", 64, 128),
    ("256x128xf32", 64, BY_BLOCK_ROWS, "", 128, 128),
    ("256x128xf32", 128, BY_BLOCK_ROWS, "", 128, 128),
    ("64x256xf32", 64, BY_BLOCK_COLUMNS, "", 64, 128),
    ("128x256xf32", 128, BY_BLOCK_COLUMNS, "", 128, 128),
    ("128x128xf32", 64, BY_BLOCK_ROWS, ", twoCTAs = true", 128, 64),
    ("256x128xf32", 128, BY_BLOCK_ROWS, ", twoCTAs = true", 128, 128),
]


def cases_of(triton):
    """Return the cases that a version of Triton has."""
    for matrix, block_rows, split, more, rows, columns in CASES_OF_CLUSTERS:
        encoding = MATRIX.format(block_rows, 128, 1, f", {split[triton]}{more}")
        yield matrix, encoding, rows, columns
    yield from CASES
    yield "128x16xi8", SCALES.format(BY_BLOCK_ROWS[triton]), 128, 8
    if triton == "3.9.0":
        yield "128x128xi8", MATRIX.format(128, 128, 1, ", fp4Padded = true"), 128, 64


@pytest.fixture(scope="module")
def placed(gallery):
    """The compiler's answer for each case."""
    cases = list(cases_of(gallery.triton))
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("place_tensor_memory.py"))],
        input=json.dumps([case[:2] for case in cases]),
        env=gallery.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return list(zip(cases, json.loads(done.stdout), strict=True))


def buffers_of(told):
    (function,) = map_tensor_memory(told["module"], ())
    return function.buffers


def taken(buffer):
    """The cells that a buffer takes, as pairs of a row and a column."""
    rows = [row for first, last in buffer.row_ranges for row in range(first, last + 1)]
    assert len(rows) == buffer.rows
    assert rows[0] == buffer.row
    return set(itertools.product(rows, range(buffer.column, buffer.column + buffer.columns)))


def test_rows_and_columns(placed):
    for case, told in placed:
        for buffer in buffers_of(told):
            assert (buffer.rows, buffer.columns) == case[2:], case


def test_the_compiler_leaves_no_gap_and_no_two_buffers_share_a_cell(placed):
    """The compiler places each buffer at the first free place, with columns that are multiples of 4."""
    for case, told in placed:
        buffers = buffers_of(told)
        cells = [taken(buffer) for buffer in buffers]
        assert len(set().union(*cells)) == sum(map(len, cells)), case
        first, second, third = [(each.column, each.row) for each in buffers]
        assert first == (0, 0)
        columns = -(-case[3] // 4) * 4
        if case[2] == 64:
            assert (second, third) == ((0, 16), (columns, 0)), case
        else:
            assert (second, third) == ((columns, 0), (2 * columns, 0)), case


def test_the_rows_are_those_of_the_compilers_layout(placed, gallery):
    """A bit of the row that leads to no other element stands for rows that hold nothing, or a copy.

    The scales are copied for each warp: these rows are taken.
    """
    compared = 0
    for case, told in placed:
        bases = told["bases"]
        if bases is None:
            continue
        layout = LinearLayout(
            tuple((each["name"], tuple(map(tuple, each["bases"]))) for each in bases["inputs"]),
            tuple(bases["shape"]),
        )
        zeros = [1 << bit for bit, basis in enumerate(layout.bases("row")) if not any(basis)]
        unused = [] if "scales" in case[1] else zeros
        rows = {row for row in range(128) if not any(row & bit for bit in unused)}
        buffer = buffers_of(told)[0]
        assert {row for row, _ in taken(buffer)} == rows, case
        compared += 1
    # Triton 3.6 gives no linear layouts of tensor memory.
    assert compared == (0 if gallery.triton == "3.6.0" else len(placed))


def test_a_layout_that_is_unknown_has_no_rows_and_columns(placed):
    module = placed[0][1]["module"].replace("tensor_memory_encoding<", "tensor_memory_linear_encoding<")
    (function,) = map_tensor_memory(module, ())
    assert [(each.rows, each.columns, each.row_ranges) for each in function.buffers] == [(None, None, ())] * 3
