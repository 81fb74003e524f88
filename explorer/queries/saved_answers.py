"""The queries for everything that the API answers about a finished compilation: the data of a saved page."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Mapping
from contextlib import suppress

import msgspec

from explorer.documents import ApiLinks, CompilationDocument, LinesDocument, LocationsDocument, Problem
from explorer.errors import NotAnswerable, NotFound
from explorer.queries import changes, pass_diff, registers
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.store import Record
from explorer.store.address import Address

_GZIP_LEVEL = 6


class SavedAnswers(msgspec.Struct):
    """The answers by address: the number of each body, and the status of errors.

    `bodies` are base64 of gzip.
    """

    numbers: dict[str, int] = {}
    problems: dict[str, int] = {}
    bodies: list[str] = []


class _Writer:
    """Adds answers; equal bodies are written once."""

    def __init__(self, record: Record) -> None:
        self.written = SavedAnswers()
        self._record = record
        self._numbers: dict[bytes, int] = {}
        self._texts: dict[Address, int] = {}

    def add(self, address: str, body: bytes, status: int = 200) -> None:
        number = self._numbers.setdefault(body, len(self._numbers))
        if number == len(self.written.bodies):
            self.written.bodies.append(packed(body))
        self.written.numbers[address] = number
        if status != 200:
            self.written.problems[address] = status

    def add_text(self, address: str, text: Address) -> None:
        """Add a text of the record. Most passes change nothing, and share an earlier text."""
        if text not in self._texts:
            self.add(address, self._record.text(text).encode("utf-8", errors="replace"))
            self._texts[text] = self.written.numbers[address]
        self.written.numbers[address] = self._texts[text]


def packed(body: bytes) -> str:
    """Return a body in the form of the page: base64 of gzip."""
    return base64.b64encode(gzip.compress(body, _GZIP_LEVEL, mtime=0)).decode()


def joined(parts: Iterable[SavedAnswers]) -> SavedAnswers:
    """Return the answers of several parts."""
    whole = SavedAnswers()
    for part in parts:
        first = len(whole.bodies)
        whole.numbers |= {address: first + number for address, number in part.numbers.items()}
        whole.problems |= part.problems
        whole.bodies += part.bodies
    return whole


def _find_changes(subject: Subject) -> SavedAnswers:
    record = subject.record
    links = ApiLinks(record.id)
    writer = _Writer(record)
    _add_queries(writer, subject, of_changes=True)
    counted = changes.by_index(subject.answer(changes.QUERY, {}))
    writer.add(links.api, msgspec.json.encode(CompilationDocument.of(record, links, counted)))
    return writer.written


def _find_all_else(subject: Subject) -> SavedAnswers:
    record = subject.record
    links = ApiLinks(record.id)
    writer = _Writer(record)
    registers.prepare(subject)
    writer.add(f"{links.api}/source", record.request.source.encode("utf-8", errors="replace"))
    for stage in record.result.stages.values():
        address = links.stage(stage)
        writer.add_text(address, stage.text)
        writer.add_text(f"{address}?raw=1", stage.raw or stage.text)
        # The address of lines has all lines, for any range that the page requests.
        lines = LinesDocument.all(record.text(stage.text), stage.language)
        writer.add(f"{address}/lines", msgspec.json.encode(lines))
        writer.add(f"{address}/locations", msgspec.json.encode(LocationsDocument.of(record, stage)))
    for index in record.result.passes:
        with suppress(NotFound):  # a module that is too large is not known
            text = record.address_after_pass(index)
            if text is None:
                writer.add(links.compiler_pass(index), b"")
            else:
                writer.add_text(links.compiler_pass(index), text)
    _add_queries(writer, subject, of_changes=False)
    return writer.written


def _add_queries(writer: _Writer, subject: Subject, *, of_changes: bool) -> None:
    from explorer.queries import QUERIES

    links = ApiLinks(subject.record.id)
    for query in sorted(QUERIES, key=lambda query: query is registers.QUERY):  # it is prepared until then
        if query.about != "compilation" or (query in _OF_CHANGES) != of_changes:
            continue

        def answer(parameters: Mapping[str, str], query: Query = query) -> bytes:
            return subject.answer(query, parameters)

        for parameters in query.saved(subject.record, answer):
            address = f"{links.api}{query.address(parameters)}"
            try:
                writer.add(address, answer(parameters))
            except (NotAnswerable, NotFound) as error:
                writer.add(address, msgspec.json.encode(Problem.of(error)), error.status)


_OF_CHANGES = (changes.QUERY, pass_diff.PASS_ALIGNMENT)
#: Two halves, which take about as long, for two processes at the same time.
PARTS = tuple(
    Query(
        name=f"saved_{name}",
        summary=f"Answer everything that a saved page asks about {what}.",
        version=2,
        document=SavedAnswers,
        find=find,
        saved=nothing_saved,
    )
    for name, what, find in (
        ("passes", "the changes of the passes", _find_changes),
        ("stages", "a compilation, without the changes of its passes", _find_all_else),
    )
)
