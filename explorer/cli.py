"""The command line: serve the page, compile or inspect a file without it, and say what there is.

`compile` goes through the same sandbox and prints the same documents as the server.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import msgspec

from explorer.analyses import ANALYSES, Analysis
from explorer.analyses.changes import counted_changes
from explorer.documents import CompilationDocument, InspectionDocument
from explorer.errors import ExplorerError, InvalidRequest
from explorer.export import FileLinks, write_folder
from explorer.lexers import highlight_ansi
from explorer.model import Diagnostic, Request, Scalar
from explorer.pipeline.targets import TARGETS
from explorer.services import DEFAULT_TARGET, Services
from explorer.settings import Settings, settings_table
from explorer.store import Record, Store


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except ExplorerError as error:
        print(f"triton-explorer: {error.title}: {error.detail}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        return 1


# --- the commands -------------------------------------------------------------------------------


def _serve(options: argparse.Namespace) -> int:
    from explorer.server import Server

    settings = Settings.from_environment()
    given = {name: getattr(options, name) for name in ("host", "port", "data_dir")}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    if options.unsafe_no_sandbox:
        settings = replace(settings, unsafe_no_sandbox=True)
    Store(settings).close()  # what is wrong with it is said here, not in the log of a worker
    Server(settings).run()
    return 0


def _compile(options: argparse.Namespace) -> int:
    with _services(options) as services:
        record = services.queue.complete(_request(options, services))
        if options.output:
            write_folder(record, counted_changes(services.analyst, record), options.output)
        elif options.html:
            from explorer.views.html_file import html_file  # the page's half of the program, for this alone

            options.html.write_bytes(html_file(record, services.analyst))
        elif options.analysis:
            document = services.analyst.answer(options.analysis, record, dict(options.parameter))
            sys.stdout.buffer.write(document + b"\n")
        elif options.json:
            changes = counted_changes(services.analyst, record)
            index = CompilationDocument.of(record, FileLinks(), changes)
            sys.stdout.buffer.write(msgspec.json.encode(index) + b"\n")
        elif record.result.stages:
            _print_stage(record, options.stage)
    return _report(record, options.file)


def _inspect(options: argparse.Namespace) -> int:
    with _services(options) as services:
        request = Request(
            source=_read(options.file),
            target=services.target_name(options.target),
            triton=services.triton_version(options.triton),
            task="inspect",
        )
        record = services.queue.ask(request)
    document = msgspec.json.encode(InspectionDocument.of(record))
    sys.stdout.buffer.write(msgspec.json.format(document, indent=2) + b"\n")
    return _report(record, options.file)


def _targets(_options: argparse.Namespace) -> int:
    for target in TARGETS:
        print(f"{target.name:12} {target.architecture:8} {target.title:24} {' → '.join(target.stages)}")
    return 0


def _settings(_options: argparse.Namespace) -> int:
    print(settings_table(), end="")
    return 0


def _version(_options: argparse.Namespace) -> int:
    print(version("triton-explorer"))
    return 0


# --- what they share ------------------------------------------------------------------------------


@contextmanager
def _services(options: argparse.Namespace) -> Iterator[Services]:
    """All that compiles, without a server, and with a store that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="triton-explorer-") as folder:
        settings = replace(Settings.from_environment(), data_dir=Path(folder), database_url="", slots=1)
        if options.unsafe_no_sandbox:
            settings = replace(settings, unsafe_no_sandbox=True)
        services = Services(settings, warm_up=False)
        try:
            yield services
        finally:
            services.close()


def _request(options: argparse.Namespace, services: Services) -> Request:
    compiler_options: dict[str, Scalar] = {
        name: getattr(options, name)
        for name in ("num_warps", "num_stages", "num_ctas", "maxnreg")
        if getattr(options, name) is not None
    }
    return Request(
        source=_read(options.file),
        target=services.target_name(options.target),
        triton=services.triton_version(options.triton),
        kernel=options.kernel,
        launch=options.launch,
        arguments=options.signature,
        config=options.config,
        options=compiler_options,
    )


def _read(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no UTF-8 text: {error}.") from error


def _print_stage(record: Record, name: str | None) -> None:
    """Print a stage, the last one when none is asked for; in colour on a terminal."""
    stage = record.stage(name or list(record.result.stages)[-1])
    text = record.text(stage.text)
    if sys.stdout.isatty():
        text = highlight_ansi(text, stage.language)
    print(text, end="" if text.endswith("\n") else "\n")


def _report(record: Record, path: Path) -> int:
    """Print what went wrong as compilers do; return the exit status."""
    for diagnostic in record.result.diagnostics:
        print(format_diagnostic(diagnostic, str(path)), file=sys.stderr)
    return 0 if record.status == "complete" else 1


def format_diagnostic(diagnostic: Diagnostic, path: str) -> str:
    """`kernel.py:12:5: error: …`, and the hint on a line of its own."""
    place = path
    if diagnostic.line:
        place += f":{diagnostic.line}"
        if diagnostic.column:
            place += f":{diagnostic.column}"
    text = f"{place}: {diagnostic.severity}: {diagnostic.message}"
    return f"{text}\n{place}: note: {diagnostic.hint}" if diagnostic.hint else text


# --- the parser -----------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="triton-explorer", description="See everything the Triton compiler does to a kernel."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = _add(commands, "serve", _serve, "serve the page and the API")
    serve.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to listen on (default: 8000)")
    serve.add_argument("--data-dir", type=Path, help="folder of the results (default: data)")
    _add_unsafe(serve)

    compile_ = _add(commands, "compile", _compile, "compile a kernel and print a stage, or write all of them")
    _add_source(compile_)
    compile_.add_argument("--kernel", help="name of the kernel (default: the only one)")
    how = compile_.add_mutually_exclusive_group()
    how.add_argument("--launch", type=int, help="which launch of the file, from 0 on")
    how.add_argument("--signature", help='arguments without a launch, such as "*fp16:16, i32:16, 128"')
    compile_.add_argument("--config", type=int, help="which autotune configuration, from 0 on")
    compile_.add_argument("--num-warps", type=int)
    compile_.add_argument("--num-stages", type=int)
    compile_.add_argument("--num-ctas", type=int)
    compile_.add_argument("--maxnreg", type=int, help="most registers a thread may have")
    what = compile_.add_mutually_exclusive_group()
    what.add_argument("--stage", help="stage to print (default: the last one)")
    what.add_argument("--output", type=Path, metavar="DIR", help="write result.json and a file a stage")
    what.add_argument("--html", type=Path, metavar="FILE", help="write one page that works offline")
    what.add_argument("--json", action="store_true", help="print result.json")

    what.add_argument(
        "--analysis",
        type=_analysis,
        metavar="NAME",
        help=f"print what an analysis finds out, as JSON: {', '.join(each.name for each in ANALYSES)}",
    )
    compile_.add_argument(
        "--parameter",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the analysis; may be repeated",
    )

    inspect = _add(commands, "inspect", _inspect, "list the kernels and launches of a file")
    _add_source(inspect)

    _add(commands, "targets", _targets, "list the GPUs that can be compiled for")
    _add(commands, "settings", _settings, "list the settings, as a Markdown table")
    _add(commands, "version", _version, "print the version")
    return parser


def _analysis(name: str) -> Analysis:
    for analysis in ANALYSES:
        if analysis.name == name:
            return analysis
    known = ", ".join(each.name for each in ANALYSES)
    raise argparse.ArgumentTypeError(f"unknown analysis {name!r}; there are: {known}")


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    command: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
    parser.set_defaults(command=command)
    return parser


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="Python file with the kernel; - reads the input"
    )
    parser.add_argument("--target", default=DEFAULT_TARGET, help="GPU (default: %(default)s)")
    parser.add_argument("--triton", metavar="VERSION", help="Triton version (default: the newest)")
    _add_unsafe(parser)


def _add_unsafe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unsafe-no-sandbox", action="store_true", help="run the code unconfined; only code that you trust"
    )
