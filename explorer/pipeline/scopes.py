"""Finds the scopes that a script marks in its kernels with `triton.profiler.language`, for a timeline.

Marks generate code only while Proton instruments kernels, which needs a GPU. Otherwise they have no effect.
"""

from __future__ import annotations

import ast

from explorer.model import Diagnostic, LineNumber
from explorer.pipeline.pasted import find_code
from explorer.pipeline.user_source import normalize, parse

_LANGUAGE = "triton.profiler.language"
#: The functions that mark a scope or a part of it. Source: triton/profiler/language.py, 3.6.0 and 3.9.0.
MARKS = ("enter_scope", "exit_scope", "scope", "record", "start_event", "end_event", "allocate_event")


def marked_lines(source: str) -> list[LineNumber]:
    """Return the lines on which `source` marks scopes.

    Raises:
        UserError: the source cannot be parsed.
    """
    tree = parse(find_code(normalize(source)).text)
    names = _names(tree)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            module, _, function = _whole_name(node.func, names).rpartition(".")
            if module == _LANGUAGE and function in MARKS:
                found.add(node.lineno)
    return sorted(found)


def scopes_ignored_by_compiler(lines: list[LineNumber]) -> Diagnostic:
    """Return the note that the stages do not contain the scopes marked on `lines`."""
    return Diagnostic(
        "note",
        "The stages do not contain the scopes that the kernel marks, because the launch is not traced.",
        line=lines[0],
        hint="Run the kernel on a GPU with the measure timeline to see the scopes of each warp.",
    )


def scopes_ignored_by_interpreter(lines: list[LineNumber]) -> Diagnostic:
    """Return the note that the interpreter ignores the scopes marked on `lines`."""
    return Diagnostic(
        "note",
        "The interpreter ignores the scopes that the kernel marks: a timeline needs a GPU.",
        line=lines[0],
        hint="Run the kernel on a GPU with the measure timeline to see the scopes of each warp.",
    )


def _names(tree: ast.Module) -> dict[str, str]:
    """Return the full name that each imported name refers to."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({each.asname: each.name for each in node.names if each.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return names


def _whole_name(called: ast.expr, names: dict[str, str]) -> str:
    """Return the full name of a called function, from its package on; "" if it has none."""
    attributes: list[str] = []
    while isinstance(called, ast.Attribute):
        attributes.insert(0, called.attr)
        called = called.value
    if not isinstance(called, ast.Name):
        return ""
    return ".".join([names.get(called.id, called.id), *attributes])
