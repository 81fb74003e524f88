"""The bases of a layout: the coordinates of each bit of register, lane, warp and block, or of an offset.

Source: `get_gluon_layout_from_…` and `to_linear_layout` of python/src/gluon_ir.cc, Triton 3.6 and 3.9.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from explorer.model.answers import Bases, Coordinates, Input, Padding
from explorer.pipeline.compiler_queries.layout_types import LayoutType, read_type

_LINEAR = "#ttg.shared_linear"
_UNKNOWN_TO_GLUON = "Unhandled encoding"
_WITHOUT_MEMORY_LAYOUTS = "this Triton version has linear layouts of registers and shared memory only."


def bases_of(builder: Any, value: Any, layout_type: LayoutType, block: Any) -> Bases:
    """Query the compiler for the linear layout of a value's type.

    `block` is a block in which operations on the value may be inserted.

    Raises:
        Exception: any exception of the bindings for a layout that they do not support. Some cases abort.
    """
    if layout_type.memory == "registers":
        layout = builder.get_gluon_layout_from_tensor(value)
        linear = builder.to_linear_layout(layout._to_ir(builder), list(layout_type.shape))
        return _distributed(linear, layout_type.shape)
    shape = layout_type.layout_shape
    if math.prod(shape) == 1:
        return _inputs((("offset", ()),), shape)
    if layout_type.memory == "tensor memory":
        if not _names_memory_layouts():
            raise ValueError(_WITHOUT_MEMORY_LAYOUTS)
        linear = _linear(builder, builder.get_gluon_layout_from_memdesc(value), shape)
        return _inputs((("row", linear.rows), ("column", linear.cols)), shape)
    try:
        layout = builder.get_gluon_layout_from_memdesc(value)
    except (RuntimeError, ValueError) as error:
        if _UNKNOWN_TO_GLUON not in str(error):
            raise
        return _by_reshaping(builder, value, shape, block)
    if hasattr(layout, "interval_padding_pairs"):
        return _padded(layout, shape)
    if not _names_memory_layouts():
        return _by_reshaping(builder, value, shape, block)
    return _shared(_linear(builder, layout, shape), shape)


def _linear(builder: Any, layout: Any, shape: tuple[int, ...]) -> Any:
    return builder.to_linear_layout(layout._to_ir(builder), list(shape))


def _names_memory_layouts() -> bool:
    """Return whether `to_linear_layout` supports layouts of memory. In Triton 3.6 it aborts."""
    from triton._C.libtriton import gluon_ir

    return hasattr(gluon_ir, "get_layout_view")


def _distributed(linear: Any, shape: tuple[int, ...]) -> Bases:
    return _inputs(
        (
            ("register", linear.reg_bases),
            ("lane", linear.lane_bases),
            ("warp", linear.warp_bases),
            ("block", linear.block_bases),
        ),
        shape,
    )


def _shared(linear: Any, shape: tuple[int, ...]) -> Bases:
    return _inputs((("offset", linear.offset_bases), ("block", linear.block_bases)), shape)


def _padded(layout: Any, shape: tuple[int, ...]) -> Bases:
    pairs = tuple(Padding(interval, padding) for interval, padding in layout.interval_padding_pairs)
    inputs = (("offset", layout.offset_bases), ("block", getattr(layout, "cga_layout", None) or ()))
    return Bases(_inputs(inputs, shape).inputs, shape, pairs)


def _by_reshaping(builder: Any, value: Any, shape: tuple[int, ...], block: Any) -> Bases:
    """Reshape to one more dimension: the compiler then infers a linear layout, which Gluon supports."""
    type_text = str(value.get_type())
    read = read_type(type_text)
    if read is None or read.shape != shape:
        raise ValueError(
            "only the layout of a single buffer is known, and the module has no buffer of this shape."
        )
    builder.set_insertion_point_to_end(block)
    for reshaped_shape, dimension in _with_a_dimension_more(shape):
        reshaped = builder.create_memdesc_reshape(value, list(reshaped_shape))
        if _LINEAR not in str(reshaped.get_type()):
            continue
        linear = builder.get_gluon_layout_from_memdesc(reshaped)
        inner = reshaped_shape[dimension + 1]
        offsets, blocks = (
            [_merged(basis, dimension, inner) for basis in bases]
            for bases in (linear.offset_bases, linear.block_bases)
        )
        return _inputs((("offset", offsets), ("block", blocks)), shape)
    raise ValueError("the compiler infers no linear layout for any of its reshaped types.")


def _with_a_dimension_more(shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield shapes of the same size, and the new dimension, the outer part of one in `shape`."""
    yield (1, *shape), 0
    for dimension in reversed(range(len(shape))):
        if shape[dimension] > 1:
            yield (*shape[:dimension], 2, shape[dimension] // 2, *shape[dimension + 1 :]), dimension


def _merged(basis: Any, dimension: int, inner: int) -> Coordinates:
    coordinates = tuple(map(int, basis))
    whole = coordinates[dimension] * inner + coordinates[dimension + 1]
    return (*coordinates[:dimension], whole, *coordinates[dimension + 2 :])


def _inputs(inputs: tuple[tuple[str, Any], ...], shape: tuple[int, ...]) -> Bases:
    return Bases(
        tuple(Input(name, tuple(tuple(map(int, basis)) for basis in bases)) for name, bases in inputs),
        shape,
    )
