"""How many registers are alive at each instruction of a binary, as the disassembler counts them.

In: a cubin. Out: `LiveRegisters`, in the order of the listing that the SASS stage shows.

Source: nvdisasm of CUDA 12.8 and 13.1 (`-plr -lrm wide`): a table in a comment behind each instruction, whose
head names the kinds of registers, and below them how many are alive (#) and each register that is ever used
by its number. An empty field is 0.
"""

from __future__ import annotations

import base64
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from explorer.model import Diagnostic, Request
from explorer.pipeline.errors import UserError
from explorer.pipeline.targets import Target

_SECONDS = 60
_HEAD = re.compile(r"// \|((?: *[A-Z]+ *\|)+)\s*$")
_NUMBERS = re.compile(r"// \|((?: *# *[\d ]*\|)+)\s*$")
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/.*// \|((?:[^|]*\|)+)\s*$")
_SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+)")


@dataclass(frozen=True)
class LiveAt:
    """The registers that are alive at the instruction at `address`, a byte offset, of `function`."""

    function: str
    address: int
    general: int
    uniform: int
    predicate: int
    uniform_predicate: int


@dataclass(frozen=True)
class Named:
    """How many general registers `function` has names for: one more than the highest number that occurs."""

    function: str
    general: int


@dataclass(frozen=True)
class LiveRegisters:
    """Live registers by instruction, and what the functions name; or `reason`: why no tool tells."""

    instructions: tuple[LiveAt, ...]
    named: tuple[Named, ...]
    reason: str = ""


def live_registers(request: Request, target: Target) -> LiveRegisters:
    """Read the live registers of a cubin, which `request.source` has in base 64.

    Raises:
        UserError: the disassembler did not come to its end: this time, which says nothing of the next.
    """
    if target.vendor != "NVIDIA":
        return _untold(f"{target.architecture}: no tool in Triton's package tells which registers are alive.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(base64.b64decode(request.source))
        listing, complaint = _disassemble(path)
    return _untold(complaint) if complaint else _read(listing)


def _disassemble(path: Path) -> tuple[str, str]:
    """The listing, or what the disassembler says instead."""
    from triton import knobs

    command = [knobs.nvidia.nvdisasm.path, "-c", "-plr", "-lrm", "wide", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603  # ours
    except subprocess.CalledProcessError as error:
        if error.returncode < 0:
            raise _ended(f"nvdisasm was ended by signal {-error.returncode}. Try again.") from error
        said = error.stderr.decode(errors="replace").replace(str(path), "the binary")
        lines = " ".join(line.strip().rstrip(".") + "." for line in said.splitlines() if line.strip())
        return "", f"The nvdisasm of this Triton cannot tell which registers are alive here. It says: {lines}"
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _ended(f"nvdisasm did not run: {error}. Try again.") from error
    return done.stdout.decode(errors="replace"), ""


def _read(listing: str) -> LiveRegisters:
    kinds: list[str] = []
    found: list[LiveAt] = []
    named: dict[str, int] = {}
    function = ""
    for line in listing.splitlines():
        if section := _SECTION.match(line):
            function = section[1]
        elif instruction := _INSTRUCTION.match(line):
            counts = [_count(field) for field in instruction[2].split("|")[:-1]]
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
            highest = [int(each.split()[-1]) for each in numbers[1].split("|")[:1] if each.split()[1:]]
            named[function] = highest[0] + 1 if highest else 0
    if not found:
        return _untold("nvdisasm has listed no live registers.")
    return LiveRegisters(tuple(found), tuple(Named(*each) for each in named.items()))


def _count(field: str) -> int:
    """The number of live registers; the marks behind it say which."""
    first = field.split()[:1]
    return int(first[0]) if first and first[0].isdecimal() else 0


def _untold(reason: str) -> LiveRegisters:
    return LiveRegisters((), (), reason)


def _ended(message: str) -> UserError:
    return UserError(Diagnostic("error", message, "sass"))
