"""SASS: the machine code of the binary, from the disassembler of the Triton version that made it.

Each instruction is shown with its control code, decoded from the encoding: the barriers it waits for, the
read and write barrier it sets, whether it yields, and the cycles until the next one is issued. `//## File`
comments apply to the instructions after them, until the next group. Binaries of Triton 3.6 have no call sites
of inlined library code. These are taken from the PTX, line by line.

Source: nvdisasm of CUDA 12.8 and 13.1 (`-c -gi -hex`); the position of the control bits (bits 105 to 125 of
the 128-bit encoding, Volta and later) was checked against the scheduling in the listings.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from explorer.model import Frame, Location
from explorer.pipeline.locations import Frames, LocationTable, frame
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText
from explorer.pipeline.warm_disassembler import ARGUMENTS, ARGUMENTS_WITH_DATA_FLOW, warm_listing

_ORIGIN = re.compile(r'^\s*//## File "((?:[^"\\]|\\.)*)", line (\d+)')
_INLINED = re.compile(r'^[ \t]*+//## File .* inlined at "', re.MULTILINE)
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?;)\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_ENCODING = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/\s*$")
_INDIRECT_BRANCH = re.compile(r"\b(?:BRXU?|JMXU?|RET|CALL)\b")
_LABEL = re.compile(r"^[.\w$]+:\s*$")
_SECTION = re.compile(r"^(?=[ \t]*+\.section\s)", re.MULTILINE)
_ENTRY = re.compile(r'^[ \t]*+\.other\s+([^\s,]+),@"STO_CUDA_ENTRY\b', re.MULTILINE)
_DISASSEMBLER_SECONDS = 60


class DisassemblerError(RuntimeError):
    """The disassembler failed. The message comes from the disassembler."""


def control_code(encoding: int) -> str:
    """Return the control code of a 128-bit instruction: waits, read, write, yield, stall.

    `B0-2---:R1:W-:Y:S04` waits for barriers 0 and 2, sets barrier 1 when its operands have been read, sets
    none for its result, yields, and the next instruction is issued after 4 cycles.
    """
    control = encoding >> 105
    stall, no_yield = control & 0xF, control >> 4 & 1
    write, read, waits = control >> 5 & 7, control >> 8 & 7, control >> 11 & 0x3F
    waited = "".join(str(barrier) if waits >> barrier & 1 else "-" for barrier in range(6))
    return (
        f"B{waited}:R{'-' if read == 7 else read}:W{'-' if write == 7 else write}"
        f":{'-' if no_yield else 'Y'}:S{stall:02}"
    )


def disassemble(binary: bytes) -> str:
    """Return nvdisasm's listing of a cubin.

    Raises:
        DisassemblerError: nvdisasm failed, is missing, or took more than a minute.
    """
    listing = warm_listing(binary)
    if listing is not None and not _INDIRECT_BRANCH.search(listing):
        return listing
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(binary)
        if listing is None:
            listing = _run_tool("nvdisasm", *ARGUMENTS, str(path))
        if _INDIRECT_BRANCH.search(listing):
            # Only the data-flow analysis finds the targets of indirect branches.
            listing = _run_tool("nvdisasm", *ARGUMENTS_WITH_DATA_FLOW, str(path))
        return listing


def resource_usage(binary: bytes) -> str:
    """Return cuobjdump's list of the resources of each kernel of a cubin.

    Raises:
        DisassemblerError: cuobjdump failed, is missing, or took more than a minute.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(binary)
        return _run_tool("cuobjdump", "-res-usage", str(path))


def without_other_kernels(listing: str, kernel: str) -> str:
    """Return a listing without the sections of other kernels, if it has this kernel."""
    sections = _SECTION.split(listing)
    entries = [_ENTRY.search(section) for section in sections]
    if not any(entry and entry[1] == kernel for entry in entries):
        return listing
    kept = zip(sections, entries, strict=True)
    return "".join(section for section, entry in kept if entry is None or entry[1] == kernel)


def _run_tool(name: str, *arguments: str) -> str:
    from triton import knobs

    command = [getattr(knobs.nvidia, name).path, *arguments]
    try:
        done = subprocess.run(  # noqa: S603  # our own command; the file holds what the assembler made
            command, capture_output=True, text=True, timeout=_DISASSEMBLER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DisassemblerError(f"{name} could not be executed: {error}") from error
    if done.returncode != 0:
        raise DisassemblerError(f"{name} failed: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def _inlined(locations: tuple[Location, ...]) -> dict[tuple[str, int], list[Frames]]:
    """Return the inlined locations by their innermost file and line."""
    found: dict[tuple[str, int], list[Frames]] = {}
    for location in locations:
        frames = location.frames
        if len(frames) > 1:
            # The binary has lines without columns: locations that differ only in their columns are merged.
            lines = tuple(Frame(inner.file, inner.line) for inner in frames)
            chains = found.setdefault((frames[0].file, frames[0].line), [])
            if lines not in chains:
                chains.append(lines)
    return found


def read(artifact: Artifact) -> StageText:
    """Disassemble a cubin and read the listing."""
    raw = without_other_kernels(disassemble(artifact.value), artifact.kernel)
    table = LocationTable()
    known = {} if _INLINED.search(raw) else _inlined(artifact.known_locations)
    shown: list[str] = []
    current: Frames = ()
    in_group = False
    pending: tuple[str, str, str] | None = None
    for line in raw.splitlines():
        origin = _ORIGIN.match(line)
        if origin:
            named = frame(origin.group(1), int(origin.group(2)))
            current = (*current, named) if in_group else (named,)
            in_group = True
            continue
        in_group = False
        instruction = _INSTRUCTION.match(line)
        if instruction:
            pending = (instruction.group(1), instruction.group(2), instruction.group(3))
            continue
        high = _ENCODING.match(line)
        if high and pending:
            offset, text, low = pending
            pending = None
            code = control_code(int(high.group(1), 16) << 64 | int(low, 16))
            shown.append(f"{code}  /*{offset}*/  {text}")
            table.add_line(known.get((current[0].file, current[0].line), [current]) if current else ())
        elif _LABEL.match(line):
            shown.append(line.rstrip())
            table.add_line()
        elif line.lstrip().startswith(".section"):
            current = ()
    return StageText("\n".join(shown) + "\n", raw, table)


STAGE = StageKind(
    name="sass",
    title="SASS",
    summary="machine code",
    language="sass",
    produced_by="cubin",
    read=read,
    backends=("cuda",),
)
