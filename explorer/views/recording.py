"""All that the API answers about one finished result, by address: what a page without a server needs.

The answers are made by the functions that the views call, so that they cannot differ from the views' own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from explorer.documents import Changes, CompilationDocument
from explorer.explanations import explanations
from explorer.store import Record
from explorer.views.lines import all_lines
from explorer.views.links import API, ApiLinks
from explorer.views.meta import TritonsDocument, target_rows
from explorer.views.passes import alignment_of
from explorer.views.stages import locations_of


def recorded_answers(record: Record, changes: Changes) -> Iterator[tuple[str, bytes]]:
    """Every answer by its address. An address of lines has them all, whatever range is asked for."""
    links = ApiLinks(record.id)
    triton = record.request.triton
    yield f"{API}/targets", _json(target_rows())
    yield f"{API}/tritons", _json(TritonsDocument((triton,), triton))
    yield f"{API}/gallery", _json([])
    yield f"{API}/explanations/passes", _json(explanations("passes"))
    yield links.api, _json(CompilationDocument.of(record, links, changes))
    yield f"{links.api}/source", record.request.source.encode("utf-8", errors="replace")
    for stage in record.result.stages.values():
        address = links.stage(stage)
        yield address, record.read(stage.text)
        if stage.raw is not None:
            yield f"{address}?raw=1", record.read(stage.raw)
        yield f"{address}/lines", _json(all_lines(record.text(stage.text), stage.language))
        yield f"{address}/locations", _json(locations_of(record, stage.name))
    for index in record.result.passes:
        address = links.compiler_pass(index)
        yield address, record.text_after_pass(index).encode()
        yield f"{address}/alignment", _json(alignment_of(record, index))


def _json(document: Any) -> bytes:
    return msgspec.json.encode(document)
