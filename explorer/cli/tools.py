"""The common parts of commands: services, files, messages and options."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from explorer.errors import InvalidRequest
from explorer.model import Diagnostic, OutputCode, Progress, Request
from explorer.model.hardware import DEFAULT_TARGET
from explorer.model.source_lines import SourceLines
from explorer.sandboxes import compilation_sandbox, single_job_sandbox
from explorer.settings import Settings

if TYPE_CHECKING:  # slow to import; a command that asks a server needs none of them
    from explorer.services import Services
    from explorer.store import Record

#: The return type of `add_subparsers`, for which argparse has no public name.
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


_LIBRARY_BYTES = 16 * 1024 * 1024


@contextmanager
def open_services(
    options: argparse.Namespace, is_for_one_job: bool = True, /, **changes: Any
) -> Iterator[Services]:
    """Start the services with a temporary store, and close them.

    For more than one job, they start as in a server, so later jobs take less time. `changes` replace
    settings of the environment.
    """
    from explorer.sandbox import Sandbox

    with tempfile.TemporaryDirectory(prefix="triton-explorer-") as folder:
        settings = Settings.from_environment()
        settings = replace(
            settings,
            data_dir=Path(folder),
            database_url="",
            blobs_url="",
            broker_url="",
            slots=1,
            tritons="",
            free_disk_bytes=0,  # the folder is removed in the end
            # With --root, the files are the user's own, and may be a whole library.
            source_limit_bytes=max(settings.source_limit_bytes, _LIBRARY_BYTES),
            **changes,
        )
        if is_for_one_job:
            settings = replace(settings, gpu_slots=1)
        if options.unsafe_no_sandbox:
            settings = replace(settings, unsafe_no_sandbox=True)
        sandbox = Sandbox(single_job_sandbox(settings) if is_for_one_job else compilation_sandbox(settings))
        if is_for_one_job:
            # The slot imports torch and Triton while this process imports the application.
            sandbox.begin(getattr(options, "triton", None) or next(iter(sandbox.versions), ""))
        from explorer.services import Services

        services = Services(settings, warm_up=not is_for_one_job, sandbox=sandbox)
        try:
            yield services
        finally:
            services.close()


def read_source(path: Path) -> str:
    """Read a file, or the standard input for "-".

    Raises:
        InvalidRequest: the file cannot be read, or is not UTF-8.
    """
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is not a UTF-8 text: {error}.") from error


def read_given_source(path: Path) -> str:
    """Read the file that a command names, or the standard input for "-".

    Raises:
        InvalidRequest: the file cannot be read, is not UTF-8, or is empty.
    """
    source = read_source(path)
    if not source.strip():
        name = "The standard input" if str(path) == "-" else path
        raise InvalidRequest(f"{name} is empty. Give a file with a Triton kernel.")
    return source


def read_files(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a request for `--assume`, `--script-args` and the files below `--root`.

    These are the files that the file imports.

    Raises:
        InvalidRequest: the file is not below the folder, or a file cannot be read.
    """
    given: dict[str, Any] = {"assumed": dict(options.assume)} if options.assume else {}
    if options.script_args:
        given["script_arguments"] = options.script_args
    if options.root is None:
        return given
    if str(options.file) == "-":
        raise InvalidRequest("With --root, the script must be a file in that folder, not the standard input.")
    from explorer.documents.files import read_imported  # slow to import

    path, files = read_imported(options.file, options.root)
    return {"path": path, "files": files, **given}


def with_output_code(body: dict[str, Any], code: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request with the output code of a program in place of the program."""
    return body | msgspec.convert(code, OutputCode).request_fields()


def report_output_code(body: dict[str, Any], index: dict[str, Any], options: argparse.Namespace) -> None:
    """If a program was given, print the kernels that `torch.compile` writes, and how to choose one."""
    names = [each["name"] for each in index["kernels"]]
    is_output_code = index["request"]["path"] != body.get("path", "")
    if is_output_code and index["status"] == "complete" and len(names) > 1:
        print(
            f"{options.file}: note: a compiler writes {len(names)} kernels for this program: "
            f"{', '.join(map(printable, names))}. This is {index['kernel']}. Choose one with --kernel.",
            file=sys.stderr,
        )


def lines_of(request: dict[str, Any]) -> SourceLines:
    """Return the numbers of the lines of a request's source and files."""
    return SourceLines(request["source"], request["path"], request["files"])


def make_folder(path: Path) -> None:
    """Create a folder, unless it exists.

    Raises:
        InvalidRequest: the folder cannot be created.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(f"Cannot create the folder {path}: {error.strerror}.") from error


def print_json(document: object) -> None:
    """Print a document as JSON, for people and programs."""
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def report_file(path: Path) -> None:
    """Print the path of a written file to the standard error, like diagnostics."""
    print(f"Wrote {path}", file=sys.stderr)


def report(
    status: str, diagnostics: Iterable[Diagnostic], options: argparse.Namespace, lines: SourceLines
) -> int:
    """Print the diagnostics of a job, whose source has `lines`, and return the exit status.

    The status is 1 after an error, also if there is a result beside it.
    """
    exit_status = 0 if status == "complete" else 1
    for diagnostic in diagnostics:
        if diagnostic.severity == "error":
            exit_status = 1
        path, line = lines.place(diagnostic.line)
        # Without a root, only the output code of a program has files beside it.
        file = options.file if not path else options.root / path if options.root else path
        print(format_diagnostic(replace(diagnostic, line=line), str(file)), file=sys.stderr)
    return exit_status


def format_diagnostic(diagnostic: Diagnostic, path: str) -> str:
    """Return a diagnostic in the format of compilers, `kernel.py:12:5: error: …`, with its hint as a note."""
    place = path
    if diagnostic.line:
        place += f":{diagnostic.line}"
        if diagnostic.column:
            place += f":{diagnostic.column}"
    text = f"{place}: {diagnostic.severity}: {diagnostic.message}"
    return f"{text}\n{place}: note: {diagnostic.hint}" if diagnostic.hint else text


def printable(text: str) -> str:
    """Return a text with control characters, which a terminal would obey, as escapes."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def run_and_show_progress(services: Services, request: Request) -> Record:
    """Submit a run and wait for it; show its progress on a terminal."""
    record = services.queue.submit(request)
    with progress_line() as show:
        for entry in services.queue.follow(record.id):
            if isinstance(entry, Progress):
                show(format_progress(entry))
    return services.queue.find(record.id)


def format_progress(progress: Progress) -> str:
    """Return the progress of a run as a line of text."""
    share = progress.done / progress.total if progress.total else 0.0
    return f"{share:4.0%}  {progress.text}"


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Return a function that replaces the last shown text, if the standard error is a terminal.

    The last text is removed at the end.
    """

    def show(text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        show("")


def summarize(services: Services, run: Record, compilation: Record) -> str:
    """Return a run in a few lines of text."""
    from explorer.queries import summary

    records = services.run_records(run, compilation)
    return services.query_service.answer(summary.QUERY, records, {}).decode()


def add_command(
    commands: Commands,
    name: str,
    command: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    parser.set_defaults(command=command)
    return parser


def add_group(commands: Commands, name: str, summary: str) -> Commands:
    """Add a command with subcommands, and return the object to which they are added."""
    parser = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
    return parser.add_subparsers(required=True, metavar="COMMAND")


def add_source(parser: argparse.ArgumentParser, *, has_triton: bool = True) -> None:
    """Add the options that name the file, the target and, unless there are several, the Triton version."""
    add_file(parser)
    parser.add_argument("--target", default=DEFAULT_TARGET, help="GPU to compile for (default: %(default)s)")
    if has_triton:
        parser.add_argument("--triton", metavar="VERSION", help="Triton version (default: the newest)")
    add_unsafe(parser)


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the file, its root folder, its assumed numbers and its arguments."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="Python file, notebook, Markdown or diff with the kernel; - is the standard input",
    )
    parser.add_argument(
        "--root",
        type=Path,
        metavar="DIR",
        help="folder above the file; the files below it that the file imports are included",
    )
    parser.add_argument(
        "--assume",
        type=_assumed,
        action="append",
        default=[],
        metavar="LINE=NUMBER",
        help="number that the script reads at this line from a tensor that only a GPU could compute; "
        "FILE:LINE=NUMBER in a file below --root; may be repeated",
    )
    add_script_arguments(parser)


def add_script_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option that gives a script its own arguments."""
    parser.add_argument(
        "--script-args",
        default="",
        metavar="ARGUMENTS",
        help="arguments of the script, written as in a shell: --script-args='--rows 64'",
    )


def add_launch(parser: argparse.ArgumentParser) -> None:
    """Add the options that select the kernel of the file and its arguments."""
    parser.add_argument("--kernel", help="name of the kernel (default: that of the launch)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--launch", type=int, help="index of the launch in the file, from 0 on (default: the first)"
    )
    how.add_argument("--signature", help='arguments without a launch, such as "*fp16:16, i32:16, 128"')


def add_targets(parser: argparse.ArgumentParser, default: str = DEFAULT_TARGET) -> None:
    """Add the options that name several targets and Triton versions. Each is empty if left out.

    `default` describes the targets that the command then chooses.
    """
    add_target_names(parser, default)
    parser.add_argument(
        "--tritons",
        type=names,
        default=[],
        metavar="VERSIONS",
        help="Triton versions, separated by commas (default: the newest)",
    )


def add_target_names(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the option that names several targets. It is empty if left out; `default` describes that case."""
    parser.add_argument(
        "--targets",
        type=names,
        default=[],
        metavar="NAMES",
        help=f"GPUs to compile for, separated by commas (default: {default})",
    )


def add_unsafe(parser: argparse.ArgumentParser) -> None:
    """Add the option to run without a sandbox."""
    parser.add_argument(
        "--unsafe-no-sandbox",
        action="store_true",
        help="run the code without a sandbox; only for code that you trust",
    )


def names(text: str) -> list[str]:
    """Parse names that are separated by commas."""
    return [name for each in text.split(",") if (name := each.strip())]


def _assumed(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"((?:.+:)?[1-9]\d*)=(-?\d+)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form LINE=NUMBER")
    return found[1], int(found[2])
