"""Reads cubins: files with machine code of NVIDIA, from any compiler.

A cubin names its GPU architecture, its kernels, and the number of threads of a block of each kernel. Its
instructions and registers are read by NVIDIA's tools, in the sandbox.

Source: cubins of CUDA 12.8, 12.9 and 13.1, as nvdisasm and cuobjdump show them.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from pathlib import Path

from explorer.capture.read import LONGEST_KERNEL_NAME, CannotRead, CapturedKernel, Damaged, read_file
from explorer.capture.readers.imported import imported_kernel
from explorer.capture.readers.lines import files_of
from explorer.capture.readers.source import LocalSources, write_script
from explorer.model.limits import MOST_CAPTURED_KERNELS, MOST_TEXT_BYTES
from explorer.pipeline.targets.elf import MAGIC, ElfFile, read_elf, text_at

_SUFFIX = ".cubin"
_NVIDIA, _AMD = 190, 224  # EM_CUDA, EM_AMDGPU
#: From this version of the format on, a different byte of the flags has the architecture.
_FLAGS_MOVED = 8
_SYMBOL = struct.Struct("<IBBHQQ")
_FUNCTION = 2  # STT_FUNC
_ENTRY = 0x10  # STO_CUDA_ENTRY
_WARP_SIZE = 32
_MOST_WARPS = 32
_MOST_SYMBOLS = 100_000
#: Each kernel is sent with the whole file, so a file with several kernels is sent several times. This limits
#: the bytes of these repetitions, of all files together.
_MOST_REPEATED_BYTES = 256 << 20

_SIZED = 4  # EIFMT_SVAL: an attribute with the number of its bytes in front of it
_REQUIRED_THREADS = 0x10  # EIATTR_REQNTID


class BinaryReader:
    """Reads one cubin, or all cubins in a folder. A cubin with several kernels is as many kernels."""

    def __init__(self, path: Path, sources: LocalSources | None) -> None:
        del sources  # the debug information of a cubin is read by its disassembler
        self.programs: list[str] = []
        self._paths = [path] if path.is_file() else files_of(path, (_SUFFIX,))

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Return whether a file is ELF or named as a cubin, or a folder has cubins."""
        return is_binary(path) or bool(files_of(path, (_SUFFIX,)))

    def kernels(self) -> Iterator[CapturedKernel | Damaged]:
        """Yield all kernels, in the order of the files' names."""
        left = _MOST_REPEATED_BYTES
        for path in self._paths:
            try:
                data = read_file(path, MOST_TEXT_BYTES)
                for number, kernel in enumerate(_kernels(path.name, data)):
                    left -= len(data) if number else 0
                    if left < 0:
                        raise CannotRead(
                            "it has too many kernels for its size: each one is sent with the whole file. "
                            "The rest is not read"
                        )
                    yield kernel
            except CannotRead as error:
                yield Damaged(path.name, str(error))


def is_binary(path: Path) -> bool:
    """Return whether a path names an ELF file."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _kernels(place: str, data: bytes) -> Iterator[CapturedKernel | Damaged]:
    """Yield the kernels of a file.

    Raises:
        CannotRead: the file is not a cubin, is damaged, or has no kernel.
    """
    try:
        elf = read_elf(data)
        architecture = _architecture(elf)
        warps = {name: _required_warps(elf.find(f".nv.info.{name}")) for name in _entries(elf)}
    except (ValueError, struct.error) as error:
        raise CannotRead(f"it is no cubin, or is damaged: {error}") from error
    if not warps:
        raise CannotRead("it has no kernel. Link it first if it is an object of a larger program")
    encoded = base64.b64encode(data).decode("ascii")
    for name, count in warps.items():
        if len(name) > LONGEST_KERNEL_NAME:
            yield Damaged(f"{place}:{name}", f"its name has more than {LONGEST_KERNEL_NAME} characters")
            continue
        metadata = {
            "target": {"backend": "cuda", "arch": str(architecture), "warp_size": _WARP_SIZE},
            **({} if count is None else {"num_warps": count}),
        }
        script = write_script(name, "", "a cubin does not have it", {}, {})
        yield imported_kernel(f"{place}:{name}", name, metadata, {"cubin": encoded}, script)


def _architecture(elf: ElfFile) -> int:
    """Return the number of the architecture, such as 90.

    Raises:
        CannotRead: the file is for another machine.
    """
    if elf.machine == _AMD:
        raise CannotRead(
            "it is an hsaco of AMD, which is not disassembled here. Use the AMDGCN of the kernel"
        )
    if elf.machine != _NVIDIA:
        raise CannotRead("it is not for a GPU of NVIDIA")
    return elf.flags >> 8 & 0xFF if elf.abi_version >= _FLAGS_MOVED else elf.flags & 0xFF


def _entries(elf: ElfFile) -> Iterator[str]:
    """Yield the names of the kernels, in the order of the symbols.

    Raises:
        ValueError: there are too many symbols, or one has no name.
    """
    symbols, names = elf.find(".symtab"), elf.find(".strtab")
    count = len(symbols) // _SYMBOL.size
    if count > _MOST_SYMBOLS:
        raise ValueError(f"it has more than {_MOST_SYMBOLS:,} symbols")
    found: dict[str, None] = {}
    for name, info, other, section, _, _ in _SYMBOL.iter_unpack(symbols[: count * _SYMBOL.size]):
        if info & 0xF == _FUNCTION and other & _ENTRY and section:
            found[text_at(names, name)] = None
        if len(found) > MOST_CAPTURED_KERNELS:
            raise ValueError(f"it has more than {MOST_CAPTURED_KERNELS:,} kernels")
    yield from found


def _required_warps(attributes: bytes) -> int | None:
    """Return the warps of each block of a kernel; None: a launch chooses them."""
    at = 0
    while at + 4 <= len(attributes):
        form, name, size = struct.unpack_from("<BBH", attributes, at)
        at += 4
        if form != _SIZED:
            continue
        if name == _REQUIRED_THREADS:
            x, y, z = struct.unpack_from("<III", attributes, at)
            warps, rest = divmod(x * y * z, _WARP_SIZE)
            return warps if 0 < warps <= _MOST_WARPS and not rest else None
        at += size
    return None
