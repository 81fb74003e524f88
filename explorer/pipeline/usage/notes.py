"""Notes the facts about the parameters of the kernel that the expressions of one function show."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from explorer.pipeline.functions import file_of, place_of
from explorer.pipeline.usage.facts import Atom, Fact, Usage
from explorer.pipeline.usage.values import Value
from explorer.pipeline.user_source import is_users


class Notes:
    """Notes facts with the line of an expression of `function`. `names` are the values of its variables."""

    def __init__(self, usage: Usage, function: Any) -> None:
        self.usage = usage
        self.names: dict[str, Value] = {}
        self._function = function
        self._is_users = is_users(file_of(function))

    def note(self, atoms: Iterable[Atom], fact: Fact, node: ast.AST, value: Any = ...) -> None:
        """Note a fact about atoms that `node` shows, with a constant that belongs to it."""
        self.usage.note(atoms, fact, self.line(node), value)

    def note_inputs(self, atoms: Iterable[Atom], fact: Fact, node: ast.AST) -> None:
        """Note a fact about the atoms behind `node`, with an earlier line if `node` does not name them."""
        names = (self.names.get(each.id) for each in ast.walk(node) if isinstance(each, ast.Name))
        named = {atom for value in names if value is not None for atom in value.atoms}
        for atom in atoms:
            line = self.line(node)
            if atom not in named:
                line = self.usage.operand_lines.get(atom, line)
            self.usage.note([atom], fact, line)

    def line(self, node: ast.AST) -> int:
        """Return the line of `node` in the user's source, or 0."""
        return place_of(self._function, node)[0] if self._is_users and hasattr(node, "lineno") else 0
