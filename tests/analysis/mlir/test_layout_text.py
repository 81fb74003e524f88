"""Test the layouts that are read from the text of operations."""

import pytest

from explorer.analysis.mlir.layout_text import LayoutText, layout_text

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], order = [1, 0]}>"


@pytest.mark.parametrize(
    ("operation", "layout"),
    [
        (
            f"%x = tt.load %p : tensor<4x8x!tt.ptr<f32>, {BLOCKED}>",
            LayoutText("blocked", {"sizePerThread": "[1, 4]", "order": "[1, 0]"}),
        ),
        (
            f"%x = tt.make_range : tensor<8xi32, #ttg.slice<{{dim = 0, parent = {BLOCKED}}}>>",
            LayoutText("slice", {"dim": "0", "parent": BLOCKED}),
        ),
        (
            f"%y = ttg.convert_layout %x : tensor<4xf32, {BLOCKED}> -> tensor<4x8xf32, #ttng.one<{{a = 1}}>>",
            LayoutText("one", {"a": "1"}),
        ),
        ("%x = tt.load %p : tensor<8xf32>", None),
        ("tensor<8xf32, #ttg.blocked<{order = [", LayoutText("blocked", {})),
    ],
)
def test_the_layout_of_the_last_tensor_is_read(operation, layout):
    assert layout_text(operation) == layout
