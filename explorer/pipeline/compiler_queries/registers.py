"""The number of live registers at each instruction of a binary, from the disassembler.

In: a cubin. Out: `LiveRegisters`, in the order of the listing that the SASS stage shows.

Source: nvdisasm of CUDA 12.8 and 13.1 (`-plr -lrm wide`): a table in a comment after each instruction. Its
head names the kinds of registers, and its rows have the number of live registers (#) and a field for each
register. An empty field is 0. A register is read (v), written (^), both (x), or only alive (:). In a function
that is called, registers of the caller that no instruction names are alive.
"""

from __future__ import annotations

import base64
import importlib.metadata
import re
import struct
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from explorer.model import Diagnostic, Request
from explorer.model.answers import LiveAt, LiveRegisters, Named
from explorer.model.hardware import Target
from explorer.pipeline.errors import UserError
from explorer.pipeline.targets.elf import NotElf, read_elf

_SECONDS = 60
#: The path of nvdisasm below the folder of the Triton versions.
_TOOL = "*/triton/backends/nvidia/bin/nvdisasm"
#: nvdisasm of CUDA 12.8 and 13.1, with binaries of ptxas 12.8, 13.0 and 13.1 for each target.
_ADVICE = "Install Triton 3.6.0 beside it: its nvdisasm lists them for all GPUs before sm_90."
#: The message of nvdisasm for a kernel with 255 registers.
_REFUSED_COUNT = "Invalid register count"
_MOST_LISTED = 254
#: An attribute in the section `.nv.info`: its form, its kind, and the size of the value that follows, or the
#: value itself. Found with cubins of ptxas 12.8 and 13.1.
_ATTRIBUTE = struct.Struct("<BBH")
_SIZED = 4
_REGISTER_COUNT = 0x2F
#: The number of the kernel's symbol, and its registers.
_COUNT = struct.Struct("<II")
_HEAD = re.compile(r"// \|((?: *[A-Z]+ *\|)+)\s*$")
_NUMBERS = re.compile(r"// \|((?: *# *[\d ]*\|)+)\s*$")
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/.*// \|((?:[^|]*\|)+)\s*$")
_DIGITS = re.compile(r"\d+")
_NAMES = "v^x"
_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")


def live_registers(request: Request, target: Target) -> LiveRegisters:
    """Read the live registers of a cubin, which `request.source` contains in base 64.

    nvdisasm of CUDA 13 lists none for a GPU before sm_90, and nvdisasm of CUDA 12 does. So if the nvdisasm of
    this Triton refuses, the nvdisasm of each other installed Triton is tried.

    Raises:
        UserError: the disassembler did not complete. Another attempt may succeed.
    """
    if target.vendor != "NVIDIA":
        return _untold(f"{target.architecture}: Triton's package has no tool that reports live registers.")
    binary = base64.b64decode(request.source)
    tools = _disassemblers()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        for tool in tools:
            path.write_bytes(binary)
            listing, complaint = _disassemble(tool, path)
            if _REFUSED_COUNT in complaint:
                path.write_bytes(_with_fewer_registers(binary))
                listing, complaint = _disassemble(tool, path)
            if not complaint:
                return replace(_read(listing), tool=f"nvdisasm of {_triton_of(tool)}")
    names = " and of ".join(dict.fromkeys(map(_triton_of, tools)))
    return _untold(
        f"{target.architecture}: nvdisasm of {names} lists no live registers of this binary. {_ADVICE}"
    )


def _disassemblers() -> list[Path]:
    """Return the nvdisasm of this Triton, and of each other Triton that is installed.

    They are beside this Triton, beside the interpreter's packages, or the interpreter's own.
    """
    import triton
    from triton import knobs

    own = Path(knobs.nvidia.nvdisasm.path)
    roots = [
        Path(triton.__file__).parents[2],
        Path(sys.prefix) / "tritons",
        Path(sysconfig.get_path("purelib")).parent,
    ]
    return list(dict.fromkeys([own, *(tool for root in roots for tool in sorted(root.glob(_TOOL)))]))


def _triton_of(tool: Path) -> str:
    """Return the name and the version of the Triton that a tool belongs to."""
    folder = tool.parents[len(Path(_TOOL).parts) - 2] if tool.match(_TOOL) else tool.parent
    found = importlib.metadata.distributions(name="triton", path=[str(folder)])
    return next((f"Triton {each.version}" for each in found), str(tool))


def _with_fewer_registers(cubin: bytes) -> bytes:
    """Return a cubin that states 254 registers for each kernel with 255.

    nvdisasm refuses the largest number of registers that a kernel can have, and only this: it reads the live
    registers from the instructions.
    """
    try:
        elf = read_elf(cubin)
    except NotElf:
        return cubin
    changed = bytearray(cubin)
    for section in (each for each in elf.sections if each.name == ".nv.info"):
        position, end = section.offset, section.offset + section.size
        while position + _ATTRIBUTE.size <= end:
            form, kind, size = _ATTRIBUTE.unpack_from(cubin, position)
            position += _ATTRIBUTE.size
            if form != _SIZED:
                continue
            if kind == _REGISTER_COUNT and size == _COUNT.size and position + size <= end:
                symbol, count = _COUNT.unpack_from(cubin, position)
                _COUNT.pack_into(changed, position, symbol, min(count, _MOST_LISTED))
            position += size
    return bytes(changed)


def _disassemble(tool: Path, path: Path) -> tuple[str, str]:
    """Return the listing and "", or "" and the message of the disassembler."""
    command = [str(tool), "-c", "-plr", "-lrm", "wide", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603  # ours
    except subprocess.CalledProcessError as error:
        if error.returncode < 0:
            raise _ended(f"nvdisasm was killed by signal {-error.returncode}. Try again.") from error
        return "", error.stderr.decode(errors="replace") or f"exit code {error.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _ended(f"nvdisasm could not be executed: {error}. Try again.") from error
    return done.stdout.decode(errors="replace"), ""


def _read(listing: str) -> LiveRegisters:
    kinds: list[str] = []
    found: list[LiveAt] = []
    named: dict[str, int] = {}
    columns: dict[int, int] = {}
    function = ""
    for line in listing.splitlines():
        if section := _SECTION.match(line):
            function = section[1]
        elif instruction := _INSTRUCTION.match(line):
            fields = instruction[2].split("|")[:-1]
            counts = [_count(field) for field in fields]
            named[function] = max(named.get(function, 0), _highest(fields[0], columns) + 1)
            by_kind = dict(zip(kinds, counts, strict=True))
            found.append(
                LiveAt(
                    function,
                    int(instruction[1], 16),
                    by_kind.get("GPR", 0),
                    by_kind.get("UGPR", 0),
                    by_kind.get("PRED", 0),
                    by_kind.get("UPRED", 0),
                )
            )
        elif head := _HEAD.search(line):
            kinds = [kind.strip() for kind in head[1].split("|")[:-1]]
        elif numbers := _NUMBERS.search(line):
            columns = {each.end() - 1: int(each[0]) for each in _DIGITS.finditer(numbers[1].split("|")[0])}
    if not found:
        return _untold("nvdisasm listed no live registers.")
    return LiveRegisters(tuple(found), tuple(Named(*each) for each in named.items()))


def _highest(field: str, columns: Mapping[int, int]) -> int:
    """Return the highest register that the instruction names, by the last column of its number; -1: none."""
    return max((columns[at] for at, mark in enumerate(field) if mark in _NAMES and at in columns), default=-1)


def _count(field: str) -> int:
    """Return the number of live registers in a field. The marks after it name the registers."""
    first = field.split()[:1]
    return int(first[0]) if first and first[0].isdecimal() else 0


def _untold(reason: str) -> LiveRegisters:
    return LiveRegisters((), (), reason)


def _ended(message: str) -> UserError:
    return UserError(Diagnostic("error", message, "sass"))
