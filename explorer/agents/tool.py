"""The type of tools, and the pages of their answers."""

from __future__ import annotations

import inspect
import re
import typing
from array import array
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec

from explorer.agents.api import Api
from explorer.documents import shortened

Row = TypeVar("Row")

#: A tool answers before the client gives up; most clients wait for a minute.
WAIT_SECONDS = 45.0
#: The size of the rows of one answer, as JSON: with the rest of the answer, some thousand tokens of a model.
MOST_BYTES = 16_000

Id = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{1,100}$", description="ID of a compilation")]
First = Annotated[int, msgspec.Meta(ge=0, description="Index of the first row to return, from 0 on")]
FirstLine = Annotated[int, msgspec.Meta(ge=1, description="First line to return, from 1 on")]
Stage = Annotated[
    str, msgspec.Meta(pattern=r"^[a-z0-9_-]{1,40}$", description='Name of a stage, such as "ttgir" or "sass"')
]
PassIndex = Annotated[int, msgspec.Meta(ge=0, description="Index of a pass, as list_passes returns it")]


@dataclass(frozen=True)
class Tool:
    """A tool: its parameters and its answer are types of msgspec."""

    name: str
    description: str
    parameters: type[msgspec.Struct]
    answer: type[msgspec.Struct]
    function: Callable[..., Awaitable[msgspec.Struct]]

    async def call(self, api: Api, arguments: dict[str, Any]) -> msgspec.Struct:
        """Check the arguments and return the answer.

        Raises:
            msgspec.ValidationError: an argument is missing, unknown or of another type.
            ExplorerError: the API refuses.
        """
        given = msgspec.convert(arguments, self.parameters)
        return await self.function(api, **msgspec.structs.asdict(given))

    @classmethod
    def of(cls, function: Callable[..., Awaitable[Any]]) -> Tool:
        """Make a tool of a function: its docstring describes the tool, its annotations the parameters."""
        types = typing.get_type_hints(function, include_extras=True)
        fields = [
            (each.name, types[each.name])
            if each.default is each.empty
            else (each.name, types[each.name], each.default)
            for each in inspect.signature(function).parameters.values()
            if each.name != "api"
        ]
        parameters = msgspec.defstruct("Parameters", fields, frozen=True, forbid_unknown_fields=True)
        description = inspect.cleandoc(function.__doc__ or "")
        return cls(function.__name__, description, parameters, types["return"], function)


def page_of(rows: Iterable[Row], first: int = 0) -> list[Row]:
    """Return the rows from `first` on that fit into one answer, at least one if there are any."""
    found: list[Row] = []
    size = 0
    for index, row in enumerate(rows):
        if index < first:
            continue
        size += len(msgspec.json.encode(row))
        if found and size > MOST_BYTES:
            break
        found.append(row)
    return found


def page_from(rows: Iterable[Row], total: int, first: int, call: str) -> tuple[list[Row], str]:
    """Return the rows from `first` on that fit into one answer, of `total`, and how to get the rest."""
    found = page_of(rows, first)
    end = first + len(found)
    return found, more(call, "first", end, total - end)


def more(call: str, parameter: str, next_: int, left: int) -> str:
    """Return how to get the `left` rows that do not fit into an answer; "" if there are none."""
    return f"{left} more: call {call} again with {parameter}={next_}." if left > 0 else ""


class TextPage(msgspec.Struct, frozen=True):
    """Lines of a text. `first_line` counts from 1; `next` says how to get the lines that follow."""

    first_line: int
    lines: list[str]
    total_lines: int
    next: str


def text_page(lines: Iterable[str], total: int, first_line: int, call: str) -> TextPage:
    """Return the lines that fit into one answer. `lines` begin at `first_line`; `total` is the length."""
    shown = page_of(map(shortened, lines))
    left = total - (first_line - 1 + len(shown))
    return TextPage(first_line, shown, total, more(call, "first_line", first_line + len(shown), left))


class Lines:
    """The lines of a text, decoded one by one: a list of all lines would take three times as much memory."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._ends = array("q", (each.start() for each in re.finditer(rb"\n", text)))
        if text and not text.endswith(b"\n"):
            self._ends.append(len(text))

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        start = self._ends[index - 1] + 1 if index else 0
        return self._text[start : self._ends[index]].decode("utf-8", "replace")

    def page(self, first_line: int, call: str) -> TextPage:
        """Return the lines from `first_line` on that fit into one answer."""
        wanted = (self[index] for index in range(first_line - 1, len(self)))
        return text_page(wanted, len(self), first_line, call)
