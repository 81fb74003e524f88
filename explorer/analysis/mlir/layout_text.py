"""The layout of an operation's last tensor, as the text of a module has it.

In: the text of an operation, with the definitions of aliases in place of the aliases. Out: the kind of the
layout, such as "blocked", and the texts of its parameters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LAYOUT = re.compile(r"tensor<[^#<>]*(?:<[^<>]*>)?, #\w+\.([\w.]+)<\{")
_PARAMETER = re.compile(r"(\w+) = ")


@dataclass(frozen=True)
class LayoutText:
    """A layout: its kind, and its parameters by name."""

    kind: str
    parameters: dict[str, str]


def layout_text(operation: str) -> LayoutText | None:
    """Return the layout of the last tensor; None if it has none."""
    found = list(_LAYOUT.finditer(operation))
    if not found:
        return None
    parameters: dict[str, str] = {}
    start, depth = found[-1].end(), 0
    for index in range(start, len(operation)):
        character = operation[index]
        if not depth and character in ",}":
            if match := _PARAMETER.match(operation[start:index].strip()):
                parameters[match[1]] = operation[start:index].strip()[match.end() :]
            start = index + 1
            if character == "}":
                break
        depth += (character in "[{<(") - (character in "]}>)")
    return LayoutText(found[-1][1], parameters)
