"""The kernels of files, folders of Python files and captures, compiled as matrices."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from explorer.capture.read import CapturedKernel, CaptureReader
from explorer.cli.api import API, Api
from explorer.cli.matrix import compile_matrix
from explorer.cli.tools import (
    add_script_arguments,
    add_unsafe,
    read_files,
    read_given_source,
    read_source,
    with_output_code,
)
from explorer.errors import ExplorerError, UnknownTriton
from explorer.model.hardware import DEFAULT_TARGET, find_target
from explorer.model.source_lines import SourceLines

#: The statuses with which the server refuses one script; the other scripts can still be compiled.
_REFUSED = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY)
_NO_LAUNCH = "The kernel cannot be compiled again, because its launch is unknown."
#: The default targets, for people.
DEFAULT_TARGETS = f"{DEFAULT_TARGET}, or that of the capture"
_SUFFIXES = {"divisible by 16": ":16", "equal to 1": ":1"}


def add_kernels(parser: argparse.ArgumentParser, *, needs_paths: bool = True) -> None:
    """Add the options that name the kernels and their targets."""
    parser.add_argument(
        "paths",
        type=Path,
        nargs="+" if needs_paths else "*",
        metavar="FILE | FOLDER",
        help="Python file, folder of Python files, or folder that capture has written",
    )
    parser.add_argument(
        "--configs", choices=["all"], help="compile each autotune configuration (default: the launch's own)"
    )
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="folder above the files; the files below it that they import are included",
    )
    add_script_arguments(parser)
    add_unsafe(parser)


@dataclass(frozen=True)
class Recorded:
    """A kernel that a program has compiled: its name, and the options that differ from the default.

    Without `options`, the options of the launch identify the kernel.
    """

    kernel: str
    options: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Script:
    """A script to compile. `name` is its path for people, `body` the part of a request that has the source.

    `recorded` is the kernel of a program that the script launches. `is_named`: the user has named the file,
    so the file must have a kernel.
    """

    name: str
    path: Path
    body: dict[str, Any]
    targets: list[str]
    is_named: bool = True
    recorded: Recorded | None = None


@dataclass(frozen=True)
class Compiled:
    """A kernel that was compiled for a target. `script`, `kernel` and `target` are unique.

    `path` and `line` locate the kernel; line 0: unknown. `matrix` is the document of its matrix;
    None: there is none, and `error` says why. If the error `is_final`, another attempt gives the same.
    """

    script: str
    kernel: str
    target: str
    path: str
    line: int
    matrix: dict[str, Any] | None
    error: str = ""
    is_final: bool = True

    @property
    def cells(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each cell of the matrix, with the name of the kernel in its configuration."""
        for cell in self.matrix["cells"] if self.matrix else ():
            settings = self.matrix["configurations"][cell["configuration"]]["settings"] if self.matrix else {}
            config = ", ".join(f"{setting}={value}" for setting, value in settings.items())
            yield f"{self.kernel} [{config}]" if config else self.kernel, cell


@dataclass(frozen=True)
class _Unit:
    """A kernel to compile: its name, its part of the script in a request, and its line."""

    name: str
    choice: dict[str, Any]
    line: int


def read_scripts(options: argparse.Namespace, folder: Path) -> tuple[list[Script], list[Compiled]]:
    """Return the scripts that the paths name, and the parts of a capture that cannot be read.

    The names of the scripts are relative to `folder`.

    Raises:
        InvalidRequest: a file cannot be read.
    """
    scripts: list[Script] = []
    damaged: list[Compiled] = []
    targets = [find_target(name).name for name in options.targets or [DEFAULT_TARGET]]
    for path in options.paths:
        name = name_of(path, folder)
        if not (path / "capture.json").is_file():
            scripts += _scripts(path, targets, options, folder)
            continue
        for kernel in sorted(CaptureReader(path).kernels(), key=_identity):
            if isinstance(kernel, CapturedKernel):
                own = targets if options.targets else [kernel.file.target.name]
                recorded = Recorded(kernel.file.kernel, kernel.file.options)
                scripts.append(Script(name, path, {"source": kernel.file.script}, own, recorded=recorded))
            else:
                damaged.append(
                    Compiled(name, kernel.name, "", str(path), 0, None, kernel.reason, is_final=False)
                )
    return scripts, damaged


def read_session(api: Api, session_id: str, targets: list[str] | None) -> list[Script]:
    """Return the scripts of a session on a server, for given targets or for the targets of the program.

    Raises:
        ExplorerError: the server has no such session.
    """
    document = api.document(f"{API}/sessions/{session_id}")
    chosen = [find_target(name).name for name in targets or ()]
    scripts = []
    for row in document["kernels"]:
        request = api.document(f"{API}/compilations/{row['id']}")["request"]
        recorded = Recorded(row["kernel"])
        body = {"source": request["source"]}
        scripts.append(Script(document["title"], Path(), body, chosen or [row["target"]], recorded=recorded))
    return scripts


def name_of(path: Path, folder: Path) -> str:
    """Return a path for people, relative to a folder."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


def _scripts(path: Path, targets: list[str], options: argparse.Namespace, folder: Path) -> Iterator[Script]:
    """Yield the script of a file, or the scripts of a folder that mention Triton."""
    for file in _python_files(path) if path.is_dir() else [path]:
        is_named = file == path
        source = read_given_source(file) if is_named else read_source(file)
        beside = read_files(argparse.Namespace(**{**vars(options), "file": file, "assume": []}))
        if is_named or any("triton" in text for text in (source, *beside.get("files", {}).values())):
            yield Script(name_of(file, folder), file, {"source": source, **beside}, targets, is_named)


def _identity(kernel: Any) -> str:
    return kernel.identity if isinstance(kernel, CapturedKernel) else kernel.name


def _python_files(folder: Path) -> list[Path]:
    """Return the Python files of a folder, without hidden folders and installed packages."""
    return [
        file
        for file in sorted(folder.rglob("*.py"))
        if not any(part.startswith(".") or part == "site-packages" for part in file.relative_to(folder).parts)
    ]


class KernelCompiler:
    """Compiles scripts by the API: each kernel with every version in `tritons`, or else the newest."""

    def __init__(self, api: Api, options: argparse.Namespace, tritons: list[str]) -> None:
        """Check the versions.

        Raises:
            UnknownTriton: a version is not available.
        """
        for triton in tritons:
            if triton not in (known := api.document(f"{API}/tritons")["versions"]):
                raise UnknownTriton(f"Triton {triton} is not available. Available: {', '.join(known)}.")
        self._api = api
        self._root: Path | None = options.root
        self._configs = options.configs or []
        self._tritons = tritons
        #: How often each name was given to a kernel of a script for a target.
        self._given: Counter[tuple[str, str, str]] = Counter()

    def compile(self, scripts: list[Script]) -> Iterator[Compiled]:
        """Compile all kernels of all scripts for all targets."""
        for index, script in enumerate(scripts):
            for target in script.targets:
                try:
                    yield from self._compile_for(script, target, f"Script {index + 1} of {len(scripts)}: ")
                except ExplorerError as error:
                    if error.status not in _REFUSED:
                        raise
                    yield self._not_compiled(script, target, script.path.as_posix(), 0, error.detail)

    def _not_compiled(self, script: Script, target: str, path: str, line: int, error: str) -> Compiled:
        name = self._numbered(script, script.recorded.kernel if script.recorded else "", target)
        return Compiled(script.name, name, target, path, line, None, error)

    def _compile_for(self, script: Script, target: str, progress: str) -> Iterator[Compiled]:
        body = script.body
        inspection = self._inspect(body, target)
        lines = None
        if inspection["output_code"] is not None:
            body = with_output_code(body, inspection["output_code"])
            inspection = self._inspect(body, target)
        elif script.recorded is None:
            lines = SourceLines(body["source"], body.get("path", ""), body.get("files"))
        errors = [each for each in inspection["diagnostics"] if each["severity"] == "error"]
        units = list(_units(inspection, script.recorded))
        if not units and not errors and script.is_named:
            errors = [{"message": _NO_LAUNCH if script.recorded else "The script has no kernel.", "line": 0}]
        for error in errors[:1]:
            yield self._not_compiled(
                script, target, *self._place(script, lines, error["line"]), error["message"]
            )
        for unit in units:
            document = compile_matrix(
                self._api,
                {
                    "compilation": {**body, "target": target, **unit.choice},
                    "configurations": self._configs,
                    "targets": [target],
                    "tritons": self._tritons,
                },
                progress,
            )
            if any(cell["state"] == "missing" for cell in document["cells"]):  # the user has canceled it
                raise KeyboardInterrupt
            path, line = self._place(script, lines, unit.line)
            yield Compiled(
                script.name, self._numbered(script, unit.name, target), target, path, line, document
            )

    def _inspect(self, body: dict[str, Any], target: str) -> Any:
        return self._api.post(f"{API}/inspect", {**body, "target": target})

    def _place(self, script: Script, lines: SourceLines | None, number: int) -> tuple[str, int]:
        """Return the file and the line for a line of a request. Generated code has no line there."""
        path, line = lines.place(number) if lines else ("", 0)
        file = self._root / path if path and self._root else script.path
        return file.as_posix(), line

    def _numbered(self, script: Script, name: str, target: str) -> str:
        """Return a name, with a number if it was given before."""
        key = (script.name, name, target)
        self._given[key] += 1
        return name if self._given[key] == 1 else f"{name}#{self._given[key]}"


def failure_of(cell: dict[str, Any]) -> str:
    """Return why a cell has no metrics; "" if it has metrics."""
    if cell["state"] == "complete" and cell["metrics"] is not None:
        return ""
    return cell["message"] or "The metrics could not be counted."


def _units(inspection: dict[str, Any], recorded: Recorded | None) -> Iterator[_Unit]:
    """Yield the kernels of a script: each launched specialization, and each kernel without a launch."""
    seen = set()
    launches = inspection["launches"]
    for launch in launches:
        signature = _signature(launch)
        same = json.dumps([launch["kernel"], signature, launch["options"], launch["config"]])
        if same not in seen:
            seen.add(same)
            name = launch["kernel"] if recorded is None else _recorded_name(recorded, launch, signature)
            yield _Unit(name, {"launch": launch["index"]}, launch["line"])
    launched = {launch["kernel"] for launch in launches}
    for kernel in inspection["kernels"]:
        if kernel["name"] not in launched and recorded is None:
            yield _Unit(kernel["name"], {"kernel": kernel["name"]}, kernel["line"])


def _recorded_name(recorded: Recorded, launch: dict[str, Any], signature: str) -> str:
    """Return the name of a kernel of a program, which compiles many specializations of one kernel."""
    given = launch["options"] if recorded.options is None else recorded.options
    options = ", ".join(f"{name}={value}" for name, value in sorted(given.items()))
    return f"{recorded.kernel}({signature})" + (f" [{options}]" if options else "")


def _signature(launch: dict[str, Any]) -> str:
    """Return the assumptions of the compiler about the arguments of a launch."""
    return ", ".join(
        repr(each["value"])
        if each["type"] == "constexpr"
        else each["type"] + _SUFFIXES.get(each["specialization"], "")
        for each in launch["arguments"]
    )
