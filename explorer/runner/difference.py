"""Compares the results of a kernel with the results of the reference."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from explorer.model.measurements import OutputCheck

#: The limit of norm(difference) / norm(reference) by the type of the output: a few times the rounding error.
#: fp32 allows for TF32, in which tl.dot multiplies by default if the GPU can. Integers must be exact.
TOLERANCES: dict[torch.dtype, float] = {
    torch.float64: 1e-10,
    torch.float32: 1e-3,
    torch.float16: 5e-3,
    torch.bfloat16: 2e-2,
    torch.float8_e4m3fn: 0.1,
    torch.float8_e4m3fnuz: 0.1,
    torch.float8_e5m2: 0.2,
    torch.float8_e5m2fnuz: 0.2,
}

#: Elements are compared in pieces, so that the copies in double precision need little memory.
_PIECE_ELEMENTS = 1 << 24


@dataclass(frozen=True)
class _Piece:
    """Some elements in double precision. `difference` is 0 also if both are the same infinity or NaN."""

    start: int
    actual: torch.Tensor
    expected: torch.Tensor
    difference: torch.Tensor


def compare(
    name: str, actual: torch.Tensor, expected: torch.Tensor, written: torch.Tensor | None = None
) -> OutputCheck:
    """Compare two tensors with the same number of elements. `written` selects the elements; None: all."""
    squares = errors = 0.0
    not_finite, first_not_finite = 0, -1
    for piece in _pieces(actual, expected, written):
        is_number = piece.difference.isfinite()
        squares += float(piece.expected[piece.expected.isfinite()].square().sum())
        errors += float(piece.difference[is_number].square().sum())
        bad = piece.difference.numel() - int(is_number.sum())
        if bad and not not_finite:
            first_not_finite = piece.start + int((~is_number).nonzero()[0])
        not_finite += bad
    compared = actual.numel() if written is None else int(written.sum())
    # If the reference is zero, the error is the difference itself.
    relative_error = math.sqrt(errors) / (math.sqrt(squares) or 1.0)
    mean = math.sqrt(squares / max(compared, 1)) or 1.0
    worst_error: float | None = None
    worst = first_not_finite
    if not not_finite:
        worst_error, worst = _worst(actual, expected, written, mean)
    tolerance = TOLERANCES.get(actual.dtype, 0.0)
    index = _index(worst, actual.shape)
    return OutputCheck(
        name=name,
        type=str(actual.dtype).removeprefix("torch."),
        shape=tuple(actual.shape),
        relative_error=relative_error,
        tolerance=tolerance,
        worst_error=worst_error,
        worst_index=index,
        worst_value=_number(actual[index]) if actual.numel() else None,
        worst_reference=_number(expected.reshape(actual.shape)[index]) if actual.numel() else None,
        not_finite=not_finite,
        matches=not not_finite and relative_error <= tolerance,
        compared=compared,
    )


def _worst(
    actual: torch.Tensor, expected: torch.Tensor, written: torch.Tensor | None, mean: float
) -> tuple[float, int]:
    """Return the largest error of an element, and the index of the element."""
    worst_error, worst = 0.0, 0
    for piece in _pieces(actual, expected, written):
        magnitude = piece.expected.abs().nan_to_num(mean, mean, mean).clamp_(min=mean)
        error, place = (piece.difference / magnitude).max(dim=0)
        if float(error) > worst_error:
            worst_error, worst = float(error), piece.start + int(place)
    return worst_error, worst


def _pieces(actual: torch.Tensor, expected: torch.Tensor, written: torch.Tensor | None) -> Iterator[_Piece]:
    flat_actual, flat_expected = actual.reshape(-1), expected.reshape(-1)
    flat_written = None if written is None else written.reshape(-1)
    for start in range(0, actual.numel(), _PIECE_ELEMENTS):
        part = slice(start, start + _PIECE_ELEMENTS)
        one = flat_actual[part].to(torch.float64)
        other = flat_expected[part].to(one.device, torch.float64)
        is_same = (one == other) | (one.isnan() & other.isnan())
        if flat_written is not None:
            is_same |= ~flat_written[part].to(one.device)
            other = other.masked_fill(~flat_written[part].to(one.device), 0.0)
        yield _Piece(start, one, other, (one - other).abs().masked_fill(is_same, 0.0))


def _index(flat: int, shape: torch.Size) -> tuple[int, ...]:
    index: list[int] = []
    if 0 in shape:
        return ()
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def _number(element: torch.Tensor) -> float | None:
    value = float(element)
    return value if math.isfinite(value) else None
