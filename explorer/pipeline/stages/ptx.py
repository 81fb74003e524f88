"""PTX: NVIDIA's virtual assembly, the input of the assembler.

`.loc … inlined_at` names the direct call site only. The rest of the chain comes from the earlier `.loc` of
the call site. Triton 3.6 writes no `inlined_at`, so the call sites come from its comments.

LLVM counts the lines of an inline assembly text as if they were source lines, each with a `.loc`. These are
not locations, and they are removed before the assembler runs.

Source: LLVM's NVPTX assembly printer, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import dataclasses
import re

from explorer.pipeline.locations import Frames, frame
from explorer.pipeline.stages.assembly import call_sites, read_assembly
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

_INLINE_ASSEMBLY = re.compile(
    r"^[ \t]*+// begin inline asm$.*?^[ \t]*+// end inline asm$", re.MULTILINE | re.DOTALL
)
_LOC_LINE = re.compile(r"^[ \t]*+\.loc\s.*\n", re.MULTILINE)
_INLINED_AT = re.compile(r"inlined_at\s+(\d+)\s+(\d+)\s+(\d+)")


def correct_line_information(ptx: str) -> str:
    """Return `ptx` without the `.loc` directives inside of inline assembly."""
    return _INLINE_ASSEMBLY.sub(lambda found: _LOC_LINE.sub("", found.group()), ptx)


def read(artifact: Artifact) -> StageText:
    """Read PTX."""
    announced: dict[tuple[str, int, int], Frames] = {}

    def chain(path: str, line: int, column: int, rest: str, paths: dict[str, str]) -> Frames:
        frames: Frames = (frame(path, line, column),)
        inlined_at = _INLINED_AT.search(rest)
        if inlined_at:
            number, call_line, call_column = inlined_at.groups()
            site = (paths.get(number, ""), int(call_line), int(call_column))
            frames += announced.get(site) or (frame(*site),)
        elif line > 0:
            frames += tuple(frame(*site) for site in call_sites(rest, paths))
        announced[path, line, column] = frames
        return frames

    read_text = read_assembly(
        dataclasses.replace(artifact, value=correct_line_information(artifact.value)),
        chain=chain,
        is_hidden=re.compile(r"^\s*\.file\s|^\$L__(?:tmp|func_begin|func_end)\d+:"),
        is_instruction=re.compile(r"^\s+(?:@!?[%\w$]+\s+)?(?:[a-z]|\{ |\})"),
        starts_over=re.compile(r"^\s*\.(?:visible|weak|func|entry)\b"),
        debug_section=re.compile(r"^\s*\.section\s+\.debug"),
        shown_section=re.compile(r"^\s*(?:\.visible|\.func|\.extern|//)"),
    )
    return dataclasses.replace(read_text, raw=artifact.value)


STAGE = StageKind(
    name="ptx",
    title="PTX",
    summary="virtual ISA",
    language="ptx",
    produced_by="ptx",
    read=read,
    kernel=re.compile(r"\.visible \.entry ([\w$]+)"),
    backends=("cuda",),
)
