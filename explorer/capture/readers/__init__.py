"""Reads files of programs other than `capture`: one module for each format.

In: a folder or file that is not trusted. Out: the same kernels that the reader of a capture yields.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from explorer.capture.read import CapturedKernel, CaptureReader, Damaged, WrittenKernel
from explorer.capture.readers.binary import BinaryReader
from explorer.capture.readers.kernel_folder import DumpReader, TritonCacheReader
from explorer.capture.readers.source import LocalSources
from explorer.capture.readers.torch_log import TorchLogReader
from explorer.capture.readers.tritonparse import TritonparseReader
from explorer.errors import InvalidRequest

__all__ = ["KernelReader", "open_kernels"]


class KernelReader(Protocol):
    """Reads the kernels of one folder or file. `programs` are the names of the programs, if known."""

    programs: list[str]

    def kernels(self) -> Iterator[CapturedKernel | WrittenKernel | Damaged]:
        """Yield all kernels, one after another."""


class _ImportReader(KernelReader, Protocol):
    def __init__(self, path: Path, sources: LocalSources | None) -> None: ...

    @staticmethod
    def recognizes(path: Path) -> bool: ...


#: The first reader that recognizes a path reads it.
_READERS: tuple[type[_ImportReader], ...] = (
    TritonparseReader,
    TritonCacheReader,
    DumpReader,
    TorchLogReader,
    BinaryReader,
)


def open_kernels(path: Path, sources: LocalSources | None = None) -> KernelReader | None:
    """Return the reader of a folder or file; None if it is a file of another format.

    With `sources`, the source of a kernel is read from the file that its code names.

    Raises:
        InvalidRequest: the folder has no kernels, or is a capture that cannot be read.
    """
    if (path / "capture.json").exists():
        return CaptureReader(path)
    for reader in _READERS:
        if reader.recognizes(path):
            return reader(path, sources)
    if path.is_file():
        return None
    if not path.is_dir():
        raise InvalidRequest(f"There is no folder or file {path}.")
    raise InvalidRequest(
        f"{path} has no kernels. Name a folder that capture has written, Triton's cache, a folder that "
        "TRITON_KERNEL_DUMP has written, the traces of tritonparse (.ndjson, .ndjson.gz), the logs of "
        "TORCH_TRACE or TORCH_LOGS=output_code (.log), or cubins (.cubin)."
    )
