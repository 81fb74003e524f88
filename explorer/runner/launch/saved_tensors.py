"""The tensors among a kernel's arguments, and copies of their values before the launch."""

from __future__ import annotations

from typing import Any

import torch


def tensors_in(names: list[str], arguments: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """Return the tensors of a launch by name; tensors in a tuple are called "name.0", "name.1", …

    A descriptor and a reinterpreted tensor are replaced by their underlying tensor.
    """
    found: dict[str, torch.Tensor] = {}
    for name, value in zip(names, arguments, strict=True):
        base = getattr(value, "base", value)
        if isinstance(base, torch.Tensor):
            found[name] = base
        elif isinstance(value, tuple):
            found |= tensors_in([f"{name}.{index}" for index in range(len(value))], value)
    return found


class SavedTensors:
    """Copies of the memory of tensors, on their own device, or on the CPU if that memory is full."""

    def __init__(self, tensors: dict[str, torch.Tensor]) -> None:
        self._copies: list[tuple[torch.Tensor, torch.Tensor]] = []
        for storage in {tensor.untyped_storage().data_ptr(): tensor for tensor in tensors.values()}.values():
            memory = _bytes_of(storage)
            try:
                copy = memory.clone()
            except torch.cuda.OutOfMemoryError:
                copy = memory.cpu()
            self._copies.append((memory, copy))

    def restore(self) -> None:
        for memory, copy in self._copies:
            memory.copy_(copy)

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the saved values of `tensor`: a tensor of the same shape over the copied memory."""
        address = tensor.untyped_storage().data_ptr()
        for memory, copy in self._copies:
            if memory.data_ptr() == address:
                empty = torch.empty(0, dtype=tensor.dtype, device=copy.device)
                return empty.set_(
                    copy.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
                )
        raise KeyError("the tensor was not saved")


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
