"""The variable of the source that each value of a module is.

In: a function. Out: the name of the variable by the name of the value, for the values that are variables.

The compiler names each value that a statement computes after the variable that the statement assigns. The
variable is the last of these values; another value has its name only if it has the same type. What a loop
carries, or a condition chooses, is the variable of what the loop yields or the condition chooses from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from explorer.analysis.mlir.operations import Function, Operation
from explorer.analysis.mlir.texts import variable_of

#: No name is looked for behind more values.
_MOST_ORIGINS = 50
_TYPE = re.compile(r"tensor<([\dx]*)([^,>]+)")


def variables(function: Function, source_lines: Mapping[int, int]) -> dict[str, str]:
    """Return the variables; `source_lines` has the line of the source of each line of the module."""
    last: dict[tuple[str, int], Operation] = {}
    made = {name: each for each in function.operations for name in each.results}
    for each in sorted(function.operations, key=lambda one: one.line):
        for name in each.results:
            last[variable_of(name), source_lines.get(each.line, 0)] = each
    origins = _origins(function)

    def own(value: str) -> str:
        if value not in made or value in origins:
            return ""
        name, each = variable_of(value), made[value]
        final = last[name, source_lines.get(each.line, 0)]
        return name if _type(each) == _type(final) else ""

    def found(value: str) -> str:
        seen, left = {value}, [value]
        for one in islice(left, _MOST_ORIGINS):
            if name := own(one):
                return name
            more = [each for each in origins.get(one, ()) if each not in seen]
            left += more
            seen.update(more)
        return ""

    return {value: name for value in (*made, *origins) if (name := found(value))}


def _origins(function: Function) -> dict[str, list[str]]:
    """For each value that a loop carries, or that is chosen, the values that it can be."""
    origins: dict[str, list[str]] = {}
    for each in function.operations:
        if each.name == "arith.select" and each.results:
            origins[each.results[0]] = list(each.operands[1:])
        if each.name not in ("scf.for", "scf.if"):
            continue
        for region in each.regions:
            yielded = [one for one in region.operations if one.name == "scf.yield"][-1:]
            arguments = region.blocks[0].arguments[1:] if each.name == "scf.for" else ()
            for values in (each.results, arguments):
                for name, value in zip(values, yielded[0].operands if yielded else (), strict=False):
                    origins.setdefault(name, []).append(value)
    return origins


def _type(operation: Operation) -> tuple[str, str] | None:
    """Return the shape and the element of the last tensor in the text of an operation."""
    found = _TYPE.findall(operation.whole_text.partition(" loc(")[0])
    return found[-1] if found else None
