"""Finds the scopes that a script marks in its kernels for a timeline, with `triton.profiler.language`.

Marks become code only while Proton instruments kernels, which takes a GPU; elsewhere they are nothing.
"""

from __future__ import annotations

import ast

from explorer.model import Diagnostic, LineNumber
from explorer.pipeline.user_source import normalize, parse

_LANGUAGE = "triton.profiler.language"
#: What marks a scope, or a part of one that is at work meanwhile. Source: its language, 3.6.0 and 3.9.0.
MARKS = ("enter_scope", "exit_scope", "scope", "record", "start_event", "end_event", "allocate_event")


def marked_lines(source: str) -> list[LineNumber]:
    """The lines on which `source` marks scopes.

    Raises:
        UserError: it cannot be parsed.
    """
    tree = parse(normalize(source))
    names = _names(tree)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            module, _, function = _whole_name(node.func, names).rpartition(".")
            if module == _LANGUAGE and function in MARKS:
                found.add(node.lineno)
    return sorted(found)


def left_out(lines: list[LineNumber]) -> Diagnostic:
    """Say that the stages do not have the scopes that are marked on `lines`."""
    return Diagnostic(
        "note",
        "The scopes that the kernel marks are left out here, as in every launch that is not being traced.",
        line=lines[0],
        hint="Run it on a GPU with the timeline among the measures to see when each warp is in which.",
    )


def passed_over(lines: list[LineNumber]) -> Diagnostic:
    """Say that the interpreter has run a kernel that marks scopes on `lines`, and what a timeline needs."""
    return Diagnostic(
        "note",
        "The interpreter passes over the scopes that the kernel marks: a timeline needs a GPU.",
        line=lines[0],
        hint="Run it on a GPU with the timeline among the measures to see when each warp is in which.",
    )


def _names(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({each.asname: each.name for each in node.names if each.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return names


def _whole_name(called: ast.expr, names: dict[str, str]) -> str:
    """The name of what is called, from its package on; "": it has none."""
    attributes: list[str] = []
    while isinstance(called, ast.Attribute):
        attributes.insert(0, called.attr)
        called = called.value
    if not isinstance(called, ast.Name):
        return ""
    return ".".join([names.get(called.id, called.id), *attributes])
