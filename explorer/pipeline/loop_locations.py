"""Locations of the arguments of loops, which MLIR does not print: the text of a module does not have them.

Source: the printers of `scf.for` and `scf.while`, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_LOOP_NAMES = ("scf.for", "scf.while")
_LOOP_LINE = re.compile(r"^\s*(?:%[\w:]+ = )?scf\.(?:for|while)\s")


def copy_loop_locations(original: Any, module: Any, text: str, lines: Sequence[int]) -> None:
    """Give the arguments of the loops of a module the locations that they have in the original.

    `module` was parsed from `text`, whose line i is line `lines[i]` of the original's text, both from 0 on;
    -1: it is new. Both modules have the same context.
    """
    own = _loops_by_line(text, module)
    if not own:
        return
    originals = _loops_by_line(str(original), original)
    for line, blocks in own.items():
        if line >= len(lines):  # The text has its own locations, and comes from no other text.
            continue
        for block, from_block in zip(blocks, originals.get(lines[line], ()), strict=False):
            for index in range(min(block.get_num_arguments(), from_block.get_num_arguments())):
                block.get_argument(index).set_loc(from_block.get_argument(index).get_loc())


def _loops_by_line(text: str, module: Any) -> dict[int, list[Any]]:
    """Return the first blocks of the regions of each loop, by the line of its start in the module's text."""
    lines = [number for number, line in enumerate(text.splitlines()) if _LOOP_LINE.match(line)]
    loops = _loops(module) if lines else []
    # A text written by hand may have several operations in a line.
    return dict(zip(lines, loops, strict=True)) if len(lines) == len(loops) else {}


def _loops(module: Any) -> list[list[Any]]:
    """Return the first blocks of the regions of each loop, in the order of the module's text."""
    first_blocks: dict[int, Any] = {}
    inside: dict[int, list[list[Any]]] = {}
    found: list[list[Any]] = []

    def visit(operation: Any) -> None:
        """Collect the loops up to this operation, which is visited after the operations of its regions."""
        nonlocal found
        regions = [operation.get_region(index).id() for index in range(operation.get_num_regions())]
        found = [loop for region in regions for loop in inside.pop(region, ())]
        if operation.get_name() in _LOOP_NAMES:
            found.insert(0, [first_blocks[region] for region in regions])
        if (block := operation.get_block()) is not None:
            region = block.get_parent().id()
            first_blocks.setdefault(region, block)
            inside.setdefault(region, []).extend(found)

    module.walk(visit)
    return found
