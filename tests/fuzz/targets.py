"""The parsers of text and files that a stranger may have written: one entry for each.

A target gets bytes. It returns, or raises one of its documented errors. Its seeds are the files of some
folders of `corpus/`; inputs of earlier failures stay there. Links lead to what other tests recorded.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import zstandard

from explorer.analysis.assembly.instruction_mix import instruction_mix
from explorer.analysis.assembly.scoreboards import find_waits
from explorer.analysis.diff import Alignment
from explorer.analysis.graphs import graph_of
from explorer.analysis.graphs.graph import NothingToDraw
from explorer.analysis.mbarriers import NotEvaluated, execute
from explorer.analysis.memory.memory_map import map_functions
from explorer.analysis.memory.tensor_memory import map_tensor_memory
from explorer.analysis.mlir.launch_offsets import launch_offsets
from explorer.analysis.mlir.layout_text import layout_text
from explorer.analysis.mlir.operations import read_functions
from explorer.analysis.mlir.tensor_registers import live_ranges
from explorer.analysis.pipelining import read_loops
from explorer.analysis.ptx_as_c import translate
from explorer.analysis.roofline.static_work import static_work
from explorer.errors import InvalidRequest
from explorer.jobs import uploads
from explorer.lexers.highlight import highlight_lines
from explorer.model.hardware import find_target as find_hardware
from explorer.model.languages import LANGUAGES, Renaming
from explorer.model.source_language import source_language
from explorer.pipeline import signature
from explorer.pipeline.allocation import read_allocations
from explorer.pipeline.errors import UserError
from explorer.pipeline.locations import LocationTable
from explorer.pipeline.stages import amdgcn, llir, mlir, ptx, sass
from explorer.pipeline.stages.stage import Artifact
from explorer.pipeline.tool_output import read_messages
from explorer.profiles.read import ProfileError, checked_document, read_profiles
from explorer.queries.claims import read_claims
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.protocol import EventStream
from explorer.sandbox.settings import SandboxSettings
from explorer.store import blob_compression
from explorer.store.entries import decode_journal

CORPUS = Path(__file__).parent / "corpus"
_BODY_BYTES = 64 << 20


@dataclass(frozen=True)
class Target:
    """A parser. `folders` of the corpus have its seeds, and `errors` are the exceptions that it may raise."""

    name: str
    call: Callable[[bytes], object]
    folders: tuple[str, ...]
    errors: tuple[type[BaseException], ...] = ()

    @property
    def seeds(self) -> list[Path]:
        return sorted(path for folder in self.folders for path in (CORPUS / folder).iterdir())

    def try_(self, data: bytes) -> None:
        """Call it, and expect its errors."""
        with contextlib.suppress(*self.errors):
            self.call(data)


def _on_text(call: Callable[[str], object]) -> Callable[[bytes], object]:
    """Decode as a stored text is decoded."""
    return lambda data: call(data.decode("utf-8", errors="replace"))


def _on_two_texts(call: Callable[[str, str], object]) -> Callable[[bytes], object]:
    """Use both halves."""

    def on_halves(data: bytes) -> object:
        text = data.decode("utf-8", errors="replace")
        return call(text[: len(text) // 2], text[len(text) // 2 :])

    return on_halves


def _on_file(call: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    def on_file(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "upload", name)
            path.parent.mkdir()
            path.write_bytes(data)
            return call(path)

    return on_file


def _align(renaming: Renaming, before: str, after: str) -> object:
    return Alignment(before, after, renaming)


def _import(path: Path) -> None:
    for _ in uploads._messages(path, _BODY_BYTES):
        pass


def _memory_map(text: str) -> None:
    """Map the memory that a report of the compiler describes, in a module that it follows."""
    allocations = read_allocations(text, 0, text)
    map_functions(allocations, text, text, has_barriers=False)


#: The errors of queries, which `isolated_process` turns into answers.
_NESTED = (RecursionError,)
_MLIR = ("mlir",)
_RENAMINGS: tuple[tuple[Renaming, tuple[str, ...]], ...] = (("values", _MLIR), ("registers", ("sass",)))
_LANGUAGE_FOLDERS = {
    "ttgir": _MLIR,
    "llir": ("llvm",),
    "ptx": ("ptx",),
    "sass": ("sass",),
    "amdgcn": ("amdgcn",),
    "python-ast": ("python_ast",),
}


def _launch_offsets(text: str) -> object:
    return launch_offsets(read_functions(text), {"n": 1000, "stride": 8}, (4,))


def _static_work(text: str) -> object:
    return static_work(text, "add_kernel", (4,), {}, find_hardware("cuda:90"))


TARGETS = (
    Target("mlir_functions", _on_text(read_functions), _MLIR, _NESTED),
    Target("mlir_locations", _on_text(lambda text: mlir.read_module(text, LocationTable())), _MLIR, _NESTED),
    Target("mlir_live_ranges", _on_text(lambda text: live_ranges(text, {})), _MLIR, _NESTED),
    Target("memory_map", _on_text(_memory_map), ("allocation",), _NESTED),
    Target("tensor_memory", _on_text(lambda text: map_tensor_memory(text, ())), _MLIR, _NESTED),
    Target("launch_offsets", _on_text(_launch_offsets), _MLIR, _NESTED),
    Target("layout_text", _on_text(layout_text), _MLIR),
    Target(
        "static_work",
        _on_text(_static_work),
        _MLIR,
        _NESTED,
    ),
    *(
        Target(
            f"graph_{language}",
            _on_text(partial(graph_of, language=language)),
            _LANGUAGE_FOLDERS[language],
            (*_NESTED, NothingToDraw),
        )
        for language in ("ttgir", "llir", "ptx", "sass", "amdgcn")
    ),
    Target("ptx_as_c", _on_text(translate), ("ptx",), (*_NESTED, NothingToDraw)),
    Target("schedule", _on_text(read_loops), _MLIR, _NESTED),
    Target(
        "barrier_phases",
        _on_text(lambda text: execute(text, {"K": 256}, {"x": 2}, 100)),
        ("mlir", "mbarriers"),
        (*_NESTED, NotEvaluated),
    ),
    *(
        Target(
            f"lexer_{language}",
            _on_text(partial(highlight_lines, language=language)),
            folders,
        )
        for language, folders in _LANGUAGE_FOLDERS.items()
    ),
    *(
        Target(
            f"diff_{renaming}",
            _on_two_texts(partial(_align, renaming)),
            folders,
        )
        for renaming, folders in _RENAMINGS
    ),
    *(
        Target(
            f"mix_{language}",
            _on_text(partial(instruction_mix, language=language)),
            (language,),
            (NothingToDraw,),
        )
        for language in ("sass", "amdgcn")
    ),
    Target("control_codes", _on_text(find_waits), ("sass",), (NothingToDraw,)),
    Target("stage_llir", _on_text(lambda text: llir.read(Artifact(text))), ("llvm",)),
    Target("stage_ptx", _on_text(lambda text: ptx.read(Artifact(text))), ("ptx",)),
    Target("stage_amdgcn", _on_text(lambda text: amdgcn.read(Artifact(text))), ("amdgcn",)),
    Target("listing", _on_text(lambda text: sass.without_other_kernels(text, "add_kernel")), ("listing",)),
    Target("tool_output", _on_text(lambda text: read_messages(text, "ttgir")), ("tool_output",)),
    Target("claims", _on_text(read_claims), ("claims",), (InvalidRequest,)),
    Target("signature", _on_text(signature.parse), ("signature",), (UserError,)),
    Target(
        "source_language", _on_text(source_language), ("source", "mlir", "ptx", "llvm", "amdgcn", "signature")
    ),
    Target(
        "events",
        lambda data: EventStream(SandboxSettings()).feed(data.rstrip(b"\n") + b"\n"),
        ("events",),
        (ProtocolError,),
    ),
    Target("journal", decode_journal, ("journal",), (msgspec.DecodeError, UnicodeDecodeError, KeyError)),
    Target("frame", blob_compression.decompress, ("frame",), (zstandard.ZstdError,)),
    Target("samples", lambda data: checked_document("samples", data), ("samples",), (ProfileError,)),
    Target("profile", _on_file(read_profiles, "profile.json"), ("profile",), (ProfileError,)),
    *(
        Target(f"import_{name}", _on_file(_import, file), (name,), (InvalidRequest, *_NESTED))
        for name, file in (
            ("tritonparse", "trace.ndjson"),
            ("tritonparse_gz", "trace.ndjson.gz"),
            ("log", "trace.log"),
            ("cubin", "kernel.cubin"),
            ("zip", "kernels.zip"),
        )
    ),
)
assert set(_LANGUAGE_FOLDERS) <= set(LANGUAGES)


def find_target(name: str) -> Target:
    return next(target for target in TARGETS if target.name == name)
