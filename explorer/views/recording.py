"""All that the API answers about one finished result, by address: what a page without a server needs.

The answers are made by the functions that the views call, so that they cannot differ from the views' own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import msgspec

from explorer.analyses import ANALYSES, Analyst
from explorer.analyses.changes import counted_changes
from explorer.documents import CompilationDocument
from explorer.errors import NotAnswerable, NotFound
from explorer.explanations import explanations, vocabularies
from explorer.store import Record
from explorer.views.lines import all_lines
from explorer.views.links import API, ApiLinks
from explorer.views.meta import TritonsDocument, target_documents
from explorer.views.passes import alignment_of
from explorer.views.problems import Problem
from explorer.views.stages import locations_of


@dataclass(frozen=True)
class Answer:
    """What the server answers at an address, and with which HTTP status."""

    address: str
    body: bytes
    status: int = 200


def recorded_answers(record: Record, analyst: Analyst) -> Iterator[Answer]:
    """Every answer. An address of lines has them all, whatever range is asked for.

    Raises:
        Unavailable: something has still to be found out, and cannot be just now.
    """
    links = ApiLinks(record.id)
    triton = record.request.triton
    changes = counted_changes(analyst, record)
    yield _json(f"{API}/targets", target_documents())
    yield _json(f"{API}/tritons", TritonsDocument((triton,), triton))
    yield _json(f"{API}/gallery", [])
    for vocabulary in vocabularies():
        yield _json(f"{API}/explanations/{vocabulary}", explanations(vocabulary))
    yield _json(links.api, CompilationDocument.of(record, links, changes))
    yield Answer(f"{links.api}/source", record.request.source.encode("utf-8", errors="replace"))
    for stage in record.result.stages.values():
        address = links.stage(stage)
        yield Answer(address, record.read(stage.text))
        yield Answer(f"{address}?raw=1", record.read(stage.raw or stage.text))
        yield _json(f"{address}/lines", all_lines(record.text(stage.text), stage.language))
        yield _json(f"{address}/locations", locations_of(record, stage.name))
    for index in record.result.passes:
        address = links.compiler_pass(index)
        yield Answer(address, record.text_after_pass(index).encode())
        yield _json(f"{address}/alignment", alignment_of(record, index))
    for analysis in ANALYSES:
        answer = partial(analyst.answer, analysis, record)
        for parameters in analysis.saved(record, answer):
            query = f"?{urlencode(parameters)}" if parameters else ""
            address = f"{links.api}/{analysis.name}{query}"
            try:
                yield Answer(address, answer(parameters))
            except (NotAnswerable, NotFound) as error:
                yield _json(address, Problem.of(error), error.status)


def _json(address: str, document: Any, status: int = 200) -> Answer:
    return Answer(address, msgspec.json.encode(document), status)
