"""Fills the memory that `torch.empty` returns, so that kernels that read it behave deterministically.

The pattern is NaN in nearly every floating-point type and -1 in integers. Its effects are visible in the
result, and a float with all bits set has not been written. PyTorch's own option
(`torch.use_deterministic_algorithms`) would also select other algorithms, and reject operations without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

UNINITIALIZED_BYTE = 0xFF

_MAKERS = frozenset(
    (
        torch.empty,
        torch.empty_like,
        torch.empty_permuted,
        torch.empty_strided,
        torch.Tensor.new_empty,
        torch.Tensor.new_empty_strided,
    )
)
#: In 1-byte floats, a calculation may set all bits: this is the largest number or NaN. They are left out.
_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
#: Tensors are scanned in pieces, which needs little memory.
_PIECE_ELEMENTS = 1 << 24


class FilledMemoryMode(TorchFunctionMode):  # type: ignore[misc]  # torch is untyped here
    """While active, memory that the user's code allocates without initialization is filled.

    Memory of custom operators and backward passes is not filled: PyTorch leaves the mode before it runs
    these.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return filled(func, func(*args, **(kwargs or {})))


def filled(func: Any, made: Any) -> Any:
    """Return the result of `func`, filled if `func` does not initialize memory."""
    if func in _MAKERS:
        with torch._C.DisableTorchFunction():
            if made.layout == torch.strided and made.untyped_storage().device.type != "meta":
                # Only the lowest bit of a bool may be set.
                made.untyped_storage().fill_(1 if made.dtype == torch.bool else UNINITIALIZED_BYTE)
    return made


def uninitialized_elements(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return which elements of the tensor's whole storage are uninitialized. None: unknown."""
    whole = _whole(tensor)
    return None if whole is None else whole == -1


def is_uninitialized(tensor: torch.Tensor) -> bool:
    """Return whether all elements of its storage are uninitialized; False also if this is unknown."""
    whole = _whole(tensor)
    if whole is None or not whole.numel():
        return False
    return all(bool((piece == -1).all()) for piece in whole.split(_PIECE_ELEMENTS))


def fill_uninitialized(tensors: Iterable[torch.Tensor], seed: int) -> None:
    """Fill floating-point tensors that are uninitialized as a whole with random numbers.

    Results of two kernels from such tensors would otherwise be equal, because both are NaN.
    """
    generator = torch.Generator().manual_seed(seed)
    for tensor in tensors:
        if is_uninitialized(tensor):
            storage = tensor.untyped_storage()
            whole = torch.empty(0, dtype=tensor.dtype, device=storage.device)
            whole.set_(storage, 0, (storage.nbytes() // tensor.element_size(),))
            whole.copy_(torch.randn(whole.shape, generator=generator))


def _whole(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the elements of the tensor's storage as integers. None: their bits are not conclusive."""
    integer, storage = _INTEGERS.get(tensor.element_size()), tensor.untyped_storage()
    if integer is None or not tensor.is_floating_point():
        return None
    elements = torch.empty(0, dtype=integer, device=storage.device)
    return elements.set_(storage, 0, (storage.nbytes() // tensor.element_size(),))
