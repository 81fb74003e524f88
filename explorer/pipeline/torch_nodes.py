"""Descriptions of the nodes of PyTorch's graph, also in a captured program with its own PyTorch.

A description is a tuple of plain values, as the output code of Inductor has it: the name of the node, the
function it calls, the operator it comes from, its output, its line as a pair of a file and a line, and
whether it is in the graph of the backward pass.

Source: torch/_inductor/graph.py and torch/fx/node.py, 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

#: The key of the lines of the program in the metadata of a kernel: pairs of a file and a line.
ORIGINS = "torch_origins"
#: The key of the descriptions of the nodes of a kernel.
NODES = "torch_nodes"

#: A node, as above.
Described = tuple[str, str, str, str, tuple[str, int], bool]

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def traced_lines(trace: str, is_users: Callable[[str], bool]) -> list[tuple[str, int]]:
    """Return the lines of the user's files in a stack trace, the innermost last."""
    return [(file, int(line)) for file, line in _FRAME.findall(trace) if is_users(file)]


def describe_node(node: Any, is_backward: bool, is_users: Callable[[str], bool]) -> Described:
    """Describe a node. Its line is the innermost line in a file of the user, or ("", 0)."""
    import torch
    from torch.utils._dtype_abbrs import dtype_abbrs

    outputs = node.meta.get("val")
    output = ", ".join(
        f"{dtype_abbrs[each.dtype]}[{', '.join(map(str, each.shape))}]"
        for each in (outputs if isinstance(outputs, list | tuple) else [outputs])
        if isinstance(each, torch.Tensor)
    )
    line = (traced_lines(node.meta.get("stack_trace") or "", is_users) or [("", 0)])[-1]
    return (node.name, str(node.target), str(node.meta.get("original_aten", "")), output, line, is_backward)
