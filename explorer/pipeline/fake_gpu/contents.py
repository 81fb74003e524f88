"""The contents of small tensors on the fake GPU, where the script itself determines them.

A tensor without a real device has no content. A small tensor that the script fills with data, zeros or random
numbers has a copy on the CPU, and PyTorch's own operations are applied to the copy, too. Once a kernel may
have written the tensor, the copy is only a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import torch

META = torch.device("meta")

#: Larger tensors have no content.
MOST_ELEMENTS = 1 << 16

#: Functions that leave the content open.
_OPEN = frozenset(("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_"))

#: Methods that replace the whole content.
_FILLING = frozenset(
    ("copy_", "fill_", "zero_", "uniform_", "normal_", "random_", "exponential_", "bernoulli_")
)

#: Python functions of these modules compute only. Functions of C always do.
_COMPUTING = ("torch.functional", "torch.nn.functional", "torch._tensor")
_OF_C = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)

#: The methods that return the parts of a sparse tensor, by layouts.
_PARTS: dict[torch.layout, tuple[str, ...]] = {
    torch.sparse_coo: ("_indices", "_values"),
    **dict.fromkeys((torch.sparse_csr, torch.sparse_bsr), ("crow_indices", "col_indices", "values")),
    **dict.fromkeys((torch.sparse_csc, torch.sparse_bsc), ("ccol_indices", "row_indices", "values")),
}

_ATTRIBUTE = "_explorer_content"


class _Unknown(Exception):
    """The content of an argument is not known."""


class Contents:
    """The contents of the tensors of one fake GPU."""

    def __init__(self) -> None:
        self._written: dict[int, torch.UntypedStorage] = {}
        self._random_state = torch.Generator().manual_seed(0).get_state()

    def of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Return the content of a tensor on the GPU, or None if it is not known."""
        content: torch.Tensor | None = vars(tensor).get(_ATTRIBUTE)
        return content

    def is_guess(self, content: torch.Tensor) -> bool:
        """Return whether a kernel may have written the content in the meantime."""
        return any(storage._cdata in self._written for storage in _storages(content))

    def like(self, copy: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
        """Return `copy`, which is a guess if it was made from a guess."""
        if self.is_guess(content):
            self._guess(copy)
        return copy

    def note_written(self, values: Iterable[Any]) -> None:
        """Note that a kernel was given `values`, among them tensors that it may have written."""
        for value in values:
            tensor = getattr(value, "base", value)
            if isinstance(tensor, torch.Tensor) and (content := self.of(tensor)) is not None:
                self._guess(content)

    def attach(self, result: Any, content: Any) -> Any:
        """Give a result on the GPU its content. Return the result."""
        if isinstance(result, torch.Tensor) and isinstance(content, torch.Tensor):
            if result.is_meta and result.shape == content.shape and result.dtype == content.dtype:
                vars(result)[_ATTRIBUTE] = content.detach()
        elif isinstance(result, tuple | list) and isinstance(content, tuple | list):
            for each, own in zip(result, content, strict=False):
                self.attach(each, own)
        return result

    def forget(self, tensor: Any) -> None:
        """Remove the content of a tensor that is overwritten with an unknown value."""
        if isinstance(tensor, torch.Tensor):
            vars(tensor).pop(_ATTRIBUTE, None)

    def compute(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply `func` to contents. Return None if a content is unknown or too large, or if `func` fails.

        The arguments are the arguments on the GPU. The random numbers of the GPU are separate from those on
        the CPU.
        """
        name = getattr(func, "__name__", "")
        if name in _OPEN or not (isinstance(func, _OF_C) or getattr(func, "__module__", "") in _COMPUTING):
            return None
        if name in _FILLING and args[0].is_meta and args[0].numel() <= MOST_ELEMENTS:
            vars(args[0])[_ATTRIBUTE] = torch.empty(
                args[0].shape,
                dtype=args[0].dtype,
                device="cpu",  # independent of the default device
            )
        used: list[torch.Tensor] = []
        try:
            known = [self._known(value, used) for value in args]
            options = {key: self._known(value, used) for key, value in kwargs.items()}
        except _Unknown:
            return None
        if options.get("device") == META:
            options["device"] = torch.device("cpu")
        options = {key: None if key == "generator" else value for key, value in options.items()}
        outer_state = torch.get_rng_state()
        torch.set_rng_state(self._random_state)
        try:
            with torch.no_grad():
                result = func(*known, **options)
        except Exception:  # The operation on the GPU reports the error.
            return None
        finally:
            self._random_state = torch.get_rng_state()
            torch.set_rng_state(outer_state)
        if any(map(self.is_guess, used)):
            for each in result if isinstance(result, tuple | list) else (result,):
                if isinstance(each, torch.Tensor):
                    self._guess(each)
        return result

    def _known(self, value: Any, used: list[torch.Tensor]) -> Any:
        if isinstance(value, torch.Tensor):
            content = self.of(value) if value.is_meta else value
            if content is None or content.numel() > MOST_ELEMENTS:
                raise _Unknown
            used.append(content)
            return content
        if type(value) in (list, tuple):
            return type(value)(self._known(item, used) for item in value)
        return value

    def _guess(self, content: torch.Tensor) -> None:
        for storage in _storages(content):
            self._written[storage._cdata] = storage  # Kept, so that no other storage gets its identity.


def _storages(content: torch.Tensor) -> list[torch.UntypedStorage]:
    return [part.untyped_storage() for part in parts_of(content) or [content]]


def parts_of(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the indices and values of a sparse tensor; none of another tensor."""
    return [getattr(tensor, name)() for name in _PARTS.get(tensor.layout, ())]


def is_small(result: Any) -> bool:
    """Return whether all tensors of a result are small enough to have contents."""
    if isinstance(result, torch.Tensor):
        return bool(result.numel() <= MOST_ELEMENTS)
    return isinstance(result, tuple | list) and all(
        is_small(each) for each in result if isinstance(each, torch.Tensor)
    )
