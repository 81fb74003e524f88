"""The query for a compilation as files: `result.json`, the source, and the text of every stage and pass."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from explorer.documents import Changes, CompilationDocument, FileLinks
from explorer.errors import NotFound
from explorer.queries import changes
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.store import Record

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # equal results give equal archives


def _files(record: Record, changes: Changes) -> Iterator[tuple[str, bytes]]:
    """Yield all files with their names."""
    links = FileLinks()
    document = CompilationDocument.of(record, links, changes)
    yield "result.json", msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    yield "source.py", record.request.source.encode("utf-8", errors="replace")
    for path, text in record.request.files.items():
        yield f"files/{path}", text.encode("utf-8", errors="replace")
    for stage in record.result.stages.values():
        yield links.stage(stage), record.read(stage.text)
    if record.result.binary:
        yield links.binary(record.result.binary), record.read(record.result.binary.data)
    for index in record.result.passes:
        with suppress(NotFound):  # a module that is too large is not known
            yield links.compiler_pass(index), record.text_after_pass(index).encode()


def _find(subject: Subject) -> bytes:
    record = subject.record
    counted = changes.by_index(subject.answer(changes.QUERY, {})) if record.is_finished else {}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data in _files(record, counted):
            archive.writestr(zipfile.ZipInfo(f"{record.id}/{name}", _EARLIEST), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


QUERY = Query(
    name="archive",
    summary="Write a ZIP archive of `result.json`, the source, and the text of every stage and pass.",
    version=1,
    document="application/zip",
    find=_find,
    saved=nothing_saved,
)
