"""A compilation as files: `result.json`, the source, and the text of every stage and pass."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from explorer.documents import Changes, CompilationDocument
from explorer.store import BinaryEntry, Record, StageEntry

_SUFFIXES = {"python-ast": "txt", "llir": "ll", "amdgcn": "s"}
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # a ZIP of the same result is the same ZIP


class FileLinks:
    """The files of a compilation, by their names in its folder."""

    page = "result.json"

    def stage(self, stage: StageEntry) -> str:
        """The text of a stage."""
        return f"{stage.name}.{_SUFFIXES.get(stage.language, stage.language)}"

    def compiler_pass(self, index: int) -> str:
        """The text after a pass."""
        return f"passes/{index:03}.mlir"

    def binary(self, binary: BinaryEntry) -> str:
        """The binary."""
        return f"kernel.{binary.name}"

    def measurement(self, name: str) -> str:
        """What a run has measured."""
        return f"measurements/{name}.json"


def file_stem(record: Record) -> str:
    """What a file that holds all of a compilation is called, without its suffix."""
    kernel = record.kernel
    return f"{kernel if kernel and kernel.isascii() and kernel.isidentifier() else 'kernel'}-{record.id}"


def files(record: Record, changes: Changes) -> Iterator[tuple[str, bytes]]:
    """Every file by its name. A pass that changed nothing has the text of an earlier one."""
    links = FileLinks()
    document = CompilationDocument.of(record, links, changes)
    yield "result.json", msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    yield "source.py", record.request.source.encode("utf-8", errors="replace")
    for stage in record.result.stages.values():
        yield links.stage(stage), record.read(stage.text)
    if record.result.binary:
        yield links.binary(record.result.binary), record.read(record.result.binary.data)
    for index in record.result.passes:
        yield links.compiler_pass(index), record.text_after_pass(index).encode()


def write_folder(record: Record, changes: Changes, folder: Path) -> None:
    """Write all files into a folder, which is made if need be."""
    for name, data in files(record, changes):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def zip_archive(record: Record, changes: Changes) -> bytes:
    """All files in one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data in files(record, changes):
            archive.writestr(zipfile.ZipInfo(f"{record.id}/{name}", _EARLIEST), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
