"""Tracks the 32-byte sectors that are touched, the elements written, and the uninitialized elements read."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import torch

from explorer.model.hardware import SECTOR_BYTES
from explorer.runner.launch.uninitialized_memory import uninitialized_elements

#: A sector is the unit in which a GPU moves memory between its caches.
SECTOR_SHIFT = SECTOR_BYTES.bit_length() - 1

#: Addresses that span at most this many sectors per address are marked in a bitmap. Others are sorted.
_MAP_SECTORS_PER_ADDRESS = 32

Addresses = np.ndarray[Any, np.dtype[np.int64]]


def sectors_of(addresses: Addresses, size_bytes: int) -> Addresses:
    """Return the distinct sectors that elements of `size_bytes` at `addresses` touch, in order."""
    sectors = addresses >> SECTOR_SHIFT
    if size_bytes > 1 and bool((addresses & (size_bytes - 1)).any()):
        sectors = np.concatenate((sectors, (addresses + (size_bytes - 1)) >> SECTOR_SHIFT))
    return different(sectors)


def different(sectors: Addresses) -> Addresses:
    """Return the distinct values, in order."""
    if not sectors.size:
        return sectors
    low, high = int(sectors.min()), int(sectors.max())
    if high - low > _MAP_SECTORS_PER_ADDRESS * sectors.size:
        return np.unique(sectors)
    is_touched = np.zeros(high - low + 1, dtype=np.bool_)
    is_touched[sectors - low] = True
    found: Addresses = np.flatnonzero(is_touched) + low
    return found


class Memory:
    """The memory of one tensor's storage: the sectors that the grid touches, the elements that it writes.

    `name` is the name of the tensor, or the names of all tensors in the storage.
    """

    def __init__(self, name: str, tensor: torch.Tensor) -> None:
        self.name = name
        storage = tensor.untyped_storage()
        self.begin = storage.data_ptr()
        self.end = self.begin + storage.nbytes()
        self.first_sector = self.begin >> SECTOR_SHIFT
        count = ((max(self.end, self.begin + 1) - 1) >> SECTOR_SHIFT) - self.first_sector + 1
        self.is_loaded = np.zeros(count, dtype=np.bool_)
        self.is_stored = np.zeros(count, dtype=np.bool_)
        self.is_written: np.ndarray[Any, np.dtype[np.bool_]] | None = None
        self._is_unset = _first_bytes_unset(tensor)

    def touch(self, operation: str, sectors: Addresses) -> None:
        """Record that an operation ("load", "store", "atomic") accesses sectors. "atomic" means both."""
        places = sectors - self.first_sector
        if operation != "store":
            self.is_loaded[places] = True
        if operation != "load":
            self.is_stored[places] = True

    def write(self, addresses: Addresses) -> None:
        """Record that elements are written, by their first byte."""
        if self.is_written is None:
            self.is_written = np.zeros(self.end - self.begin, dtype=np.bool_)
        self.is_written[addresses - self.begin] = True
        if self._is_unset is not None:
            self._is_unset[addresses - self.begin] = False

    def read(self, addresses: Addresses) -> int:
        """Count the uninitialized elements among these, by their first byte. Each counts once."""
        if self._is_unset is None:
            return 0
        places = addresses - self.begin
        unset = different(places[self._is_unset[places]])
        self._is_unset[unset] = False
        return int(unset.size)

    def written(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return which elements of a tensor in this memory were written."""
        if self.is_written is None:
            return torch.zeros(tensor.shape, dtype=torch.bool, device="cpu")
        size = tensor.element_size()
        first_bytes = torch.from_numpy(self.is_written[: (self.end - self.begin) // size * size])
        elements = first_bytes.reshape(-1, size)[:, 0].contiguous()
        return elements.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def memories_of(tensors: dict[str, torch.Tensor]) -> list[Memory]:
    """Return the memory of each storage once, by address."""
    by_address: defaultdict[int, list[str]] = defaultdict(list)
    for name, tensor in tensors.items():
        by_address[tensor.untyped_storage().data_ptr()].append(name)
    return [Memory(", ".join(names), tensors[names[0]]) for _, names in sorted(by_address.items())]


def _first_bytes_unset(tensor: torch.Tensor) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Mark the first byte of each uninitialized element of a tensor's storage. None: all are initialized."""
    unset = uninitialized_elements(tensor)
    if unset is None or not bool(unset.any()):
        return None
    size = tensor.element_size()
    marks = np.zeros(tensor.untyped_storage().nbytes(), dtype=np.bool_)
    marks[: unset.numel() * size : size] = unset.numpy()
    return marks
