"""What `torch.empty` gives is filled, so that a kernel that reads it does the same in every run.

The pattern is NaN in nearly every floating-point type and -1 in whole numbers: what comes of it is seen in
the result, and where a float still has all of its bits set, nothing has written it. PyTorch's own way
(`torch.use_deterministic_algorithms`) would also choose other algorithms, and refuse what has none.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

UNSET_BYTE = 0xFF

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
#: Floats of one byte may have all bits set by a calculation: that is their largest number, or a NaN.
_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
#: Tensors are looked at in pieces, so that a full memory has room for it.
_PIECE_ELEMENTS = 1 << 24


class FilledMemoryMode(TorchFunctionMode):  # type: ignore[misc]
    """While active, memory that the user's code makes and does not set is filled.

    That of an operator of its own, or of a backward pass, before which PyTorch leaves the mode, is not.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return filled(func, func(*args, **(kwargs or {})))


def filled(func: Any, made: Any) -> Any:
    """Return what `func` has made, its memory filled if it is one of those that do not set it."""
    if func in _MAKERS:
        with torch._C.DisableTorchFunction():
            if made.layout == torch.strided and made.untyped_storage().device.type != "meta":
                # No other bits of a truth value than the lowest may be set.
                made.untyped_storage().fill_(1 if made.dtype == torch.bool else UNSET_BYTE)
    return made


def unset_elements(tensor: torch.Tensor) -> torch.Tensor | None:
    """Tell which elements of the tensor's whole storage nothing has written; None: it cannot be told."""
    whole = _whole(tensor)
    return None if whole is None else whole == -1


def is_unset(tensor: torch.Tensor) -> bool:
    """Tell whether nothing has written any element of its storage; False also where it cannot be told."""
    whole = _whole(tensor)
    if whole is None or not whole.numel():
        return False
    return all(bool((piece == -1).all()) for piece in whole.split(_PIECE_ELEMENTS))


def _whole(tensor: torch.Tensor) -> torch.Tensor | None:
    """The elements of the tensor's storage as whole numbers; None: their bits do not tell."""
    integer, storage = _INTEGERS.get(tensor.element_size()), tensor.untyped_storage()
    if integer is None or not tensor.is_floating_point():
        return None
    elements = torch.empty(0, dtype=integer, device=storage.device)
    return elements.set_(storage, 0, (storage.nbytes() // tensor.element_size(),))
