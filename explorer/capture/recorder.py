"""Receives the compilations of Triton, and writes them to the folder of the capture.

Triton calls `knobs.compilation.listener` after each compilation and after each hit in its cache, with the
files of all stages. Triton reports no failure: `compile` is wrapped to record failures. A launch that finds
its kernel in memory reaches neither. Source: triton/compiler/compiler.py and runtime/jit.py, 3.6.0 and 3.9.0.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.capture.folder import VERSION, CaptureFolder, CaptureFull
from explorer.capture.inductor import present_nodes
from explorer.capture.launch import CallWriter, Launch, current_launch, describe
from explorer.capture.script import CannotWrite, ScriptWriter
from explorer.model.limits import MOST_TEXT_BYTES

#: How often at most the document of the process is written while it works.
_PROCESS_SECONDS = 5.0
_LONGEST_ERROR = 100_000
_LONGEST_SOURCE_BYTES = 256 << 10


class Recorder:
    """Records the compilations of one process."""

    def __init__(self, folder: CaptureFolder) -> None:
        """Write the document of the process."""
        self._folder = folder
        self._identities: dict[str, str] = {}
        self.begin_process()
        self.note_process(at_once=True)

    def begin_process(self) -> None:
        """Reset the counts, also in a forked process: the counts of its parent do not apply to it."""
        self._lock = threading.Lock()  # another thread of the parent may hold the present lock
        self._counts: Counter[str] = Counter()
        self._launches: Counter[str] = Counter()
        self._written_at = 0.0
        self._pid = os.getpid()
        self._started = time.time()
        self.seconds = 0.0
        self._folder.begin_process()

    # --- what Triton calls ------------------------------------------------------------------------

    def compiled(
        self,
        *,
        src: Any,
        metadata: dict[str, Any],
        metadata_group: dict[str, str],
        times: Any,
        cache_hit: bool,
    ) -> None:
        """Record a kernel that was compiled, or that Triton's cache had: the listener of Triton."""
        self._guarded(
            lambda: self._record(
                src,
                metadata["target"],
                metadata,
                _stage_files(metadata_group),
                _milliseconds(times, cache_hit),
                cache_hit,
            )
        )

    def failed(self, src: Any, target: Any, options: dict[str, Any], error: BaseException) -> None:
        """Record a kernel that does not compile."""
        self._guarded(lambda: self._record(src, target, dict(options), {}, None, False, error))

    def output_code_loaded(self, path: Path) -> None:
        """Record the output code of a graph of PyTorch that is about to be loaded."""
        self._guarded(lambda: self._record_graph(path))

    def launched(self, compilation: str) -> None:
        """Count a launch of a kernel by Triton's hash of its compilation."""
        identity = self._identities.get(compilation)
        if identity is not None:
            self._launches[identity] += 1

    def note_process(self, *, at_once: bool = False) -> None:
        """Write the document of this process, unless it was written a moment ago."""
        now = time.monotonic()
        if not at_once and now - self._written_at < _PROCESS_SECONDS:
            return
        self._written_at = now
        document = {
            "version": VERSION,
            "program": Path(sys.argv[0]).name if getattr(sys, "argv", None) else "",
            "host": platform.node(),
            "pid": self._pid,
            "started": self._started,
            "python": platform.python_version(),
            "counts": dict(self._counts),
            "launches": dict(self._launches),
            "milliseconds": round(self.seconds * 1000, 3),
        }
        self._folder.write_process(f"{platform.node()}-{self._pid}-{int(self._started * 1000)}", document)

    def summary(self) -> str:
        """Summarize the capture in a sentence."""
        counts = self._counts
        parts = [f"{counts['kernels']} kernel{'' if counts['kernels'] == 1 else 's'}"]
        for name, words in (
            ("failed", "failed to compile"),
            ("full", "left out at the size limit"),
            ("errors", "not captured"),
        ):
            if counts[name]:
                parts.append(f"{counts[name]} {words}")
        return f"triton-explorer: captured {', '.join(parts)} in {self._folder.path}"

    @property
    def has_seen_kernels(self) -> bool:
        """Whether there is anything to report."""
        return bool(self._counts)

    # --- recording ----------------------------------------------------------------------------------

    def _guarded(self, record: Callable[[], None]) -> None:
        """Call a recording function, and count its failures: a capture must not disturb the program."""
        start = time.perf_counter()
        try:
            record()
        except CaptureFull:
            self._count("full")
        except Exception:  # A capture must not change the behavior of the program.
            self._count("errors")
            if self._counts["errors"] == 1:
                print("triton-explorer: a kernel is not captured:", file=sys.stderr)
                traceback.print_exc()
        finally:
            self.seconds += time.perf_counter() - start

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def _record(
        self,
        src: Any,
        target: Any,
        metadata: dict[str, Any],
        files: dict[str, str],
        times: dict[str, float] | None,
        cache_hit: bool,
        error: BaseException | None = None,
    ) -> None:
        from triton import __version__
        from triton.runtime.jit import JITFunction

        function = getattr(src, "fn", None)
        if function is None:
            self._count("without source")  # compiled from a text of IR
            return
        options = _options(src, target, metadata)
        key = json.dumps(
            [
                VERSION, function.cache_key, str(function), _text(src.signature), _text(src.constants),
                _text(src.attrs), _text(options), str(target), __version__, error is not None,
            ]
        )  # fmt: skip
        identity = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
        self._count("failed" if error is not None else "kernels")
        self._identities[str(metadata.get("hash", ""))] = identity
        if self._folder.has_kernel(identity):
            return
        launch = current_launch(_run_code(JITFunction), function)
        document = self._describe(function, src, target, options, launch)
        document |= {
            "cache_hit": cache_hit,
            "milliseconds": times,
            "error": "" if error is None else _error_text(error),
            "metadata": {name: _plain(value) for name, value in metadata.items()},
            "stages": {name: self._folder.add_blob(Path(file).read_bytes()) for name, file in files.items()},
        }
        self._folder.add_kernel(identity, document)
        self.note_process()

    def _record_graph(self, path: Path) -> None:
        """Store output code with kernels, the nodes of its graph, and the files that these come from."""
        code = path.read_bytes()
        if b"async_compile.triton(" not in code or len(code) > MOST_TEXT_BYTES:
            return
        nodes = present_nodes()
        texts = {file: _source(file) for file in sorted({node[3] for node in nodes.values()} - {""})}
        with contextlib.suppress(CaptureFull):  # only kernels are counted
            code_digest = self._folder.add_blob(code)
            files = {file: self._folder.add_blob(text) for file, text in texts.items() if text}
            document = {"version": VERSION, "code": code_digest, "nodes": nodes, "files": files}
            self._folder.add_graph(document)

    def _describe(
        self, function: Any, src: Any, target: Any, options: dict[str, Any], launch: Launch | None
    ) -> dict[str, Any]:
        """Return the data about a kernel that is known before it is compiled."""
        from triton import __version__

        writer = ScriptWriter()
        name = writer.function(function)
        statement = _launch_statement(writer, name, src, options, launch)
        script = writer.write(statement)
        names = list(src.signature)
        return {
            "version": VERSION,
            "kernel": name,
            "module": str(function.__module__),
            "file": str(function.fn.__code__.co_filename),
            "language": "gluon" if function.is_gluon() else "triton",
            "triton": __version__,
            "build": _build(),
            "target": {"backend": target.backend, "arch": str(target.arch), "warp_size": target.warp_size},
            "signature": {key: str(kind) for key, kind in src.signature.items()},
            "constants": {
                _argument_name(names, path): _plain(value) for path, value in src.constants.items()
            },
            "attributes": {
                _argument_name(names, path): _plain(value) for path, value in src.attrs.items() if value
            },
            "options": {key: _plain(value) for key, value in options.items()},
            "environment": _environment(),
            "grid": None if launch is None or launch.grid is None else list(launch.grid),
            "arguments": None
            if launch is None
            else [
                describe(key, value, src.signature.get(key, "")) for key, value in launch.arguments.items()
            ],
            "script": script,
            "origins": [list(origin) for origin in writer.origins],
            "problems": writer.problems[:100],
        }


def _launch_statement(
    writer: ScriptWriter, name: str, src: Any, options: dict[str, Any], launch: Launch | None
) -> str:
    """Return the statement that compiles the kernel as the program did: its launch, or a compilation."""
    names = list(src.signature)
    if launch is not None:
        aligned = {
            names[path[0]]
            for path, attributes in src.attrs.items()
            if path and any(each[0] == "tt.divisibility" for each in attributes)
        }
        try:
            return CallWriter(writer).call(name, launch, aligned, options)
        except CannotWrite as error:
            writer.problems.append(f"launch: {error}")
    try:
        attributes = {path: [list(each) for each in value] for path, value in src.attrs.items()}
        given = [
            f"fn={name}",
            f"signature={writer.value({key: _types(kind) for key, kind in src.signature.items()})}",
            f"constexprs={writer.value(dict(src.constants))}",
            f"attrs={writer.value(attributes)}",
        ]
        source = "triton.compiler.ASTSource(\n        " + ",\n        ".join(given) + ",\n    )"
        return f"triton.compile(\n    {source},\n    options={writer.value(options)},\n)"
    except CannotWrite as error:
        writer.problems.append(f"compilation: {error}")
        return ""


def _types(kind: Any) -> Any:
    return tuple(map(_types, kind)) if isinstance(kind, tuple | list) else str(kind)


def _options(src: Any, target: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the compiler options that differ from the defaults of their backend."""
    from triton.compiler.compiler import make_backend

    defaults = make_backend(target).parse_options({}).__dict__
    extra = src.parse_options()
    return {
        name: metadata[name]
        for name, default in defaults.items()
        if name in metadata
        and name not in ("arch", "backend_name", "extern_libs")
        and name not in extra
        and _comparable(metadata[name]) != _comparable(default)
    }


def _comparable(value: Any) -> Any:
    """Return a value after a round trip through JSON."""
    return [_comparable(each) for each in value] if isinstance(value, tuple | list) else value


def _stage_files(metadata_group: dict[str, str]) -> dict[str, str]:
    """Return the file of each stage, by Triton's name of it."""
    found = {name.rpartition(".")[2]: file for name, file in metadata_group.items()}
    return {name: file for name, file in found.items() if name not in ("json", "source")}


def _milliseconds(times: Any, cache_hit: bool) -> dict[str, float] | None:
    """Return the time of each step; None if nothing was compiled. Triton counts microseconds."""
    if cache_hit or times is None:
        return None
    steps = {"ir": times.ir_initialization, **dict(times.lowering_stages), "store": times.store_results}
    return {name: round(microseconds / 1000, 3) for name, microseconds in steps.items()}


def _argument_name(names: list[str], path: tuple[int, ...]) -> str:
    """Return the name of an argument, or of an item of a tuple."""
    return ".".join([names[path[0]], *map(str, path[1:])])


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent, otherwise its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return str(getattr(value, "__name__", None) or repr(value))[:1000]


def _source(file: str) -> bytes:
    """Return the text of a file of the program; empty if it does not exist, or is too long to be shown."""
    path = Path(file)
    try:
        return path.read_bytes() if path.stat().st_size <= _LONGEST_SOURCE_BYTES else b""
    except OSError:
        return b""


def _text(value: Any) -> str:
    return json.dumps(_plain({str(key): each for key, each in value.items()}), sort_keys=True)


def _error_text(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error))[:_LONGEST_ERROR]


def _environment() -> dict[str, str]:
    """Return the variables of the environment that change the output of the compiler."""
    from triton.compiler import compiler

    return {str(name): str(value) for name, value in compiler.get_cache_invalidating_env_vars().items()}


def _build() -> str:
    """Return the digest of Triton's own code. Triton computes it to access its cache."""
    from triton.runtime.cache import triton_key

    return hashlib.sha256(triton_key().encode()).hexdigest()


def _run_code(jit_function: Any) -> Any:
    """Return the code of the function that launches, also if another function wraps it."""
    return _RUN_CODES.setdefault(jit_function, jit_function.run.__code__)


_RUN_CODES: dict[Any, Any] = {}


def note_run_code() -> None:
    """Store the code of Triton's own `run`, before anything replaces it."""
    from triton.runtime.jit import JITFunction

    _run_code(JITFunction)
