"""What an analysis is, and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import msgspec

from explorer.errors import NotAnswerable
from explorer.model import Request, Scalar
from explorer.store import Record

Document = TypeVar("Document")


@dataclass(frozen=True)
class Parameter:
    """A part of what is asked: a field of the query string."""

    name: str
    type: type
    description: str


class Asked(Protocol):
    """Those parts of the queue that an analysis uses."""

    def ask(self, request: Request) -> Record: ...

    def complete(self, request: Request) -> Record: ...


@dataclass(frozen=True)
class Subject:
    """A compilation that something is asked about, and the parameters of the question by name."""

    record: Record
    parameters: Mapping[str, str]
    queue: Asked = field(repr=False)

    def ask(
        self, question: str, text: str, wanted: type[Document], options: Mapping[str, Scalar] | None = None
    ) -> Document:
        """Ask the compiler's own tools about a text, in the sandbox.

        Raises:
            NotAnswerable: they cannot say; the message is theirs.
        """
        request = self.record.request
        result = self.queue.ask(
            Request(text, request.target, request.triton, options=dict(options or {}), task=question)
        ).result
        if result.answer is None:
            errors = [each.message for each in result.diagnostics if each.severity == "error"]
            raise NotAnswerable(" ".join(errors) or "The compiler did not answer.")
        try:
            return msgspec.json.decode(result.answer.document, type=wanted)
        except (msgspec.DecodeError, RecursionError) as error:
            raise NotAnswerable(f"The answer cannot be understood: {error}.") from error


#: Answers a question about a compilation, by its parameters, as JSON. Raises what `Analyst.answer` raises.
Answer = Callable[[Mapping[str, str]], bytes]


def nothing_saved(_record: Record, _answer: Answer) -> Iterable[Mapping[str, str]]:
    """Of an analysis that no file brings along."""
    return ()


def _without_parameters(_record: Record, _answer: Answer) -> Iterable[Mapping[str, str]]:
    return ({},)


@dataclass(frozen=True)
class Analysis:
    """Something that can be found out about a compilation.

    `name` is its address and its name in the command line; `document` the type of what `find` returns.
    Raise `version` when `find` comes to other results: what was stored by an older one is found anew.
    `find` runs in a process with limits; with `is_bounded` it sees to these itself, and stays in this one.
    `saved` names the questions whose answers a page brings along that is saved as a file: their parameters,
    in the order in which the page gives them. It is handed a function that answers them.
    """

    name: str
    summary: str
    version: int
    document: Any
    find: Callable[[Subject], Any]
    parameters: tuple[Parameter, ...] = ()
    is_bounded: bool = False
    saved: Callable[[Record, Answer], Iterable[Mapping[str, str]]] = _without_parameters
