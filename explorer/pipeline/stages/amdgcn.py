"""AMDGCN: AMD's machine code as assembly.

The comment after `.loc` names the call sites of inlined code.

Source: LLVM's AMDGPU assembly printer, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re

from explorer.pipeline.locations import Frames, frame
from explorer.pipeline.stages.assembly import call_sites, read_assembly
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText


def read(artifact: Artifact) -> StageText:
    """Read AMDGCN assembly."""

    def chain(path: str, line: int, column: int, rest: str, paths: dict[str, str]) -> Frames:
        return (frame(path, line, column), *(frame(*site) for site in call_sites(rest, paths)))

    return read_assembly(
        artifact,
        chain=chain,
        is_hidden=re.compile(r"^\s*\.(?:file|cfi_\w+)\s|^\.L(?:tmp|func_begin|func_end)\d+:|^\s*\.cfi_"),
        is_instruction=re.compile(r"^\s+[a-z]"),
        starts_over=re.compile(r"^\s*\.section"),
        debug_section=re.compile(r"^\s*\.section\s+\.(?:debug|note\.GNU)"),
        shown_section=re.compile(r"^\s*(?:\.section\s+\.(?!debug|note\.GNU)|\.text|\.amdgpu_metadata)"),
    )


STAGE = StageKind(
    name="amdgcn",
    title="AMDGCN",
    summary="machine code",
    language="amdgcn",
    produced_by="amdgcn",
    read=read,
    kernel=re.compile(r"^\s*\.amdhsa_kernel ([\w$.]+)", re.MULTILINE),
    backends=("hip",),
)
