"""The types of queries: the declaration of a query, and the argument of its `find` function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from explorer.errors import NotAnswerable
from explorer.jobs.fairness import Check
from explorer.model import Request, Scalar
from explorer.store import Record

Document = TypeVar("Document")

#: The subject of a query. It decides which records `Subject.records` has:
#: "compilation": the compilation;
#: "run": the run, the compilation of its kernel (or None), the run that measured the GPU's roofs (or None),
#: and the run that timed the configurations of the same launch (or None);
#: "pair": the compilation before and the compilation after.
Kind = Literal["compilation", "run", "pair"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query: a variable of its path, or a field of the query string."""

    name: str
    type: type
    description: str


class Compiler(Protocol):
    """The part of the job queue that a query may use."""

    def ask(self, request: Request, check: Check = ...) -> Record: ...

    def complete(self, request: Request, check: Check = ...) -> Record: ...


def _no_answer(_query: Query, _parameters: Mapping[str, str]) -> bytes:
    raise AssertionError("no other query is answered here")


@dataclass(frozen=True)
class Subject:
    """The stored results that a query is about, and the parameters of the query by name.

    `answer` returns the answer to another query about the same results, and caches it. `prepare` announces a
    compiler query of another query.
    """

    records: tuple[Record | None, ...]
    parameters: Mapping[str, str]
    compiler: Compiler = field(repr=False)
    answer: Callable[[Query, Mapping[str, str]], bytes] = field(repr=False, default=_no_answer)
    prepare: Callable[[Query, Request], None] = field(repr=False, default=lambda _query, _request: None)

    @property
    def record(self) -> Record:
        """The compilation or the run; of a pair, the compilation before."""
        first = self.records[0]
        assert first is not None
        return first

    @property
    def pair(self) -> tuple[Record, Record]:
        """The compilation before and the compilation after."""
        before, after = self.records
        assert before is not None
        assert after is not None
        return before, after

    def ask_compiler(
        self, task: str, text: str, wanted: type[Document], options: Mapping[str, Scalar] | None = None
    ) -> Document:
        """Run a task of `explorer.pipeline.compiler_queries` on a text, in the sandbox.

        Raises:
            NotAnswerable: the compiler has no answer; the message is the compiler's.
        """
        result = self.compiler.ask(self._compiler_request(task, text, options)).result
        if result.answer is None:
            raise NotAnswerable(" ".join(result.error_messages) or "The compiler did not answer.")
        try:
            return msgspec.json.decode(result.answer.document, type=wanted)
        except (msgspec.DecodeError, RecursionError) as error:
            raise NotAnswerable(f"The compiler's answer cannot be decoded: {error}.") from error

    def prepare_compiler(self, query: Query, task: str, text: str) -> None:
        """Let the compiler begin a query that `query` will request."""
        self.prepare(query, self._compiler_request(task, text, None))

    def _compiler_request(self, task: str, text: str, options: Mapping[str, Scalar] | None) -> Request:
        request = self.record.request
        return Request(text, request.target, request.triton, options=dict(options or {}), task=task)


#: Answers a query about a compilation with the given parameters. Raises what `QueryService.answer` raises.
Answer = Callable[[Mapping[str, str]], bytes]


def nothing_saved(_record: Record, _answer: Answer) -> Iterable[Mapping[str, str]]:
    """Return no parameters: a saved page contains no answer of the query."""
    return ()


def _without_parameters(_record: Record, _answer: Answer) -> Iterable[Mapping[str, str]]:
    return ({},)


@dataclass(frozen=True)
class Query:
    """A query about stored results.

    `name` is its name on the command line, and its address below the subject unless `path` gives another.
    Variables of the path, as Flask writes them (`<int:index>`), are parameters.
    `document` is the type of the document that `find` returns, "text/plain" for a text, or the media type for
    bytes.
    `find` runs in a process with limits (`explorer.queries.isolated_worker`). Its answer is cached.
    Increase `version` when `find` returns other answers: cached answers of other versions are not used.
    `needs_compilation`: `find` about a run needs the finished compilation of the run's kernel.
    `submits`: `find` submits further compilations, which are stored. The query is sent by POST.
    `is_lasting`: the answer about final results never changes, so that browsers may keep it.
    `saved` returns the parameters of the answers that a saved page contains, in the order in which the page
    asks for them. It applies to queries about a compilation.
    """

    name: str
    summary: str
    version: int
    document: Any
    find: Callable[[Subject], Any]
    parameters: tuple[Parameter, ...] = ()
    about: Kind = "compilation"
    path: str | None = None
    needs_compilation: bool = False
    submits: bool = False
    is_lasting: bool = True
    saved: Callable[[Record, Answer], Iterable[Mapping[str, str]]] = _without_parameters

    def address(self, parameters: Mapping[str, str]) -> str:
        """Return the address of an answer below the address of its subject."""
        path, rest = self.rule, dict(parameters)
        for variable in re.findall(r"<(?:\w+:)?(\w+)>", path):
            path = re.sub(rf"<(?:\w+:)?{variable}>", quote(rest.pop(variable), safe=""), path)
        return f"{path}?{urlencode(rest)}" if rest else path

    @property
    def method(self) -> str:
        """The HTTP method that computes an answer."""
        return "POST" if self.submits else "GET"

    @property
    def rule(self) -> str:
        """The path of the query below the address of its subject, with variables as Flask writes them."""
        return f"/{self.name}" if self.path is None else self.path
