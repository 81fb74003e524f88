"""AMDGCN: AMD's machine code as assembly.

The comment behind `.loc` names the call sites of inlined code, by the names of their files alone:
`standard.py:43:13 @[ kernel.py:11:23 ]`.

Source: LLVM's AMDGPU assembly printer, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re

from explorer.pipeline.locations import Frames
from explorer.pipeline.stages.assembly import read_assembly
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

_CALL_SITE = re.compile(r"@\[ ([^\[\]]*?):(\d+):(\d+)")


def read(artifact: Artifact) -> StageText:
    """Read AMDGCN assembly."""
    frame = artifact.table().frame

    def chain(path: str, line: int, column: int, rest: str, paths: dict[str, str]) -> Frames:
        def path_of(name: str) -> str:
            return next((known for known in paths.values() if known.rsplit("/", 1)[-1] == name), name)

        callers = (
            frame(path_of(name), int(call_line), int(call_column))
            for name, call_line, call_column in _CALL_SITE.findall(rest)
        )
        return (frame(path, line, column), *callers)

    return read_assembly(
        artifact,
        chain=chain,
        is_hidden=re.compile(r"^\s*\.(?:file|cfi_\w+)\s|^\.L(?:tmp|func_begin|func_end)\d+:|^\s*\.cfi_"),
        is_instruction=re.compile(r"^\s+[a-z]"),
        ends_function=re.compile(r"^\s*\.section"),
        debug_section=re.compile(r"^\s*\.section\s+\.(?:debug|note\.GNU)"),
        shown_section=re.compile(r"^\s*(?:\.section\s+\.(?!debug|note\.GNU)|\.text|\.amdgpu_metadata)"),
    )


STAGE = StageKind(name="amdgcn", title="AMDGCN", language="amdgcn", produced_by="amdgcn", read=read)
