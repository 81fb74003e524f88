"""The command line: serve the page, compile, run or inspect a file without it, and say what there is.

`compile` goes through the same sandbox and prints the same documents as the server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import msgspec

from explorer.analyses import ANALYSES, Analysis
from explorer.analyses.changes import counted_changes
from explorer.analysis.diff import unified_diff
from explorer.cli_runs import add_profile, add_record
from explorer.cli_tools import (
    add_command,
    add_source,
    add_unsafe,
    make_folder,
    open_services,
    read_source,
    report,
    tell_written,
)
from explorer.documents import CompilationDocument, InspectionDocument
from explorer.errors import ExplorerError
from explorer.explanations import explanations, vocabularies
from explorer.export import FileLinks, write_folder
from explorer.lexers import highlight_ansi
from explorer.model import Request, Scalar
from explorer.pipeline.targets import TARGETS
from explorer.services import Services
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
    if options.output or options.html:
        make_folder(options.output or options.html.parent)
    with open_services(options) as services:
        record = services.queue.complete(_request(options, services))
        if options.output:
            write_folder(record, counted_changes(services.analyst, record), options.output)
            tell_written(options.output)
        elif options.html:
            from explorer.views.html_file import html_file  # the page's half of the program, for this alone

            options.html.write_bytes(html_file(record, services))
            tell_written(options.html)
        elif options.compiler_pass is not None:
            _print_pass(record, options.compiler_pass)
        elif options.analysis:
            document = services.analyst.answer(options.analysis, record, dict(options.parameter))
            sys.stdout.buffer.write(document + b"\n")
        elif options.json:
            changes = counted_changes(services.analyst, record)
            index = CompilationDocument.of(record, FileLinks(), changes)
            sys.stdout.buffer.write(msgspec.json.encode(index) + b"\n")
        elif record.result.stages:
            _print_stage(record, options.stage)
    return report(record, options.file)


def _inspect(options: argparse.Namespace) -> int:
    with open_services(options) as services:
        request = Request(
            source=read_source(options.file),
            target=services.target_name(options.target),
            triton=services.triton_version(options.triton),
            task="inspect",
        )
        record = services.queue.ask(request)
    document = msgspec.json.encode(InspectionDocument.of(record))
    sys.stdout.buffer.write(msgspec.json.format(document, indent=2) + b"\n")
    return report(record, options.file)


def _explain(options: argparse.Namespace) -> int:
    found = {
        vocabulary: words[options.word]
        for vocabulary in vocabularies()
        if options.word in (words := explanations(vocabulary))
    }
    for vocabulary, text in found.items():
        print(f"{vocabulary}: {text}")
    if not found:
        print(f"There is no explanation of {options.word!r}.", file=sys.stderr)
    return 0 if found else 1


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


def _request(options: argparse.Namespace, services: Services) -> Request:
    compiler_options: dict[str, Scalar] = {
        name: getattr(options, name)
        for name in ("num_warps", "num_stages", "num_ctas", "maxnreg")
        if getattr(options, name) is not None
    }
    return Request(
        source=read_source(options.file),
        target=services.target_name(options.target),
        triton=services.triton_version(options.triton),
        kernel=options.kernel,
        launch=options.launch,
        arguments=options.signature,
        config=options.config,
        options=compiler_options,
        task="llvm-passes" if options.llvm_passes else "compile",
    )


def _print_stage(record: Record, name: str | None) -> None:
    """Print a stage, the last one when none is asked for."""
    stage = record.stage(name or list(record.result.stages)[-1])
    _print(record.text(stage.text), stage.language)


def _print_pass(record: Record, index: int) -> None:
    """Print what a pass has changed."""
    difference = unified_diff(record.text_before_pass(index), record.text_after_pass(index))
    if difference:
        _print(difference, "diff")
    else:
        print(f"Pass {index}, {record.compiler_pass(index).name}, changed nothing.", file=sys.stderr)


def _print(text: str, language: str) -> None:
    """Print a text, in colour on a terminal."""
    if sys.stdout.isatty():
        text = highlight_ansi(text, language)
    print(text, end="" if text.endswith("\n") else "\n")


# --- the parser -----------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="triton-explorer", description="See everything the Triton compiler does to a kernel."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = add_command(commands, "serve", _serve, "serve the page and the API")
    serve.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to listen on (default: 8000)")
    serve.add_argument("--data-dir", type=Path, help="folder of the results (default: data)")
    add_unsafe(serve)

    compile_ = add_command(
        commands, "compile", _compile, "compile a kernel and print a stage, or write all of them"
    )
    add_source(compile_)
    compile_.add_argument("--kernel", help="name of the kernel (default: the only one)")
    how = compile_.add_mutually_exclusive_group()
    how.add_argument("--launch", type=int, help="which launch of the file, from 0 on")
    how.add_argument("--signature", help='arguments without a launch, such as "*fp16:16, i32:16, 128"')
    compile_.add_argument("--config", type=int, help="which autotune configuration, from 0 on")
    compile_.add_argument("--num-warps", type=int)
    compile_.add_argument("--num-stages", type=int)
    compile_.add_argument("--num-ctas", type=int)
    compile_.add_argument(
        "--llvm-passes",
        action="store_true",
        help="watch LLVM's own passes: --pass and --json are about these",
    )
    compile_.add_argument("--maxnreg", type=int, help="most registers a thread may have")
    what = compile_.add_mutually_exclusive_group()
    what.add_argument("--stage", help="stage to print (default: the last one)")
    what.add_argument("--output", type=Path, metavar="DIR", help="write result.json and a file a stage")
    what.add_argument(
        "--pass",
        dest="compiler_pass",
        type=int,
        metavar="INDEX",
        help="print what a compiler pass has changed; --json lists the passes",
    )
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

    inspect = add_command(commands, "inspect", _inspect, "list the kernels and launches of a file")
    add_source(inspect)

    explain = add_command(
        commands, "explain", _explain, "say what a pass, an operation or an instruction does"
    )
    explain.add_argument("word", metavar="WORD", help="such as ttg.convert_layout, cp.async or HGMMA")

    add_profile(commands)
    add_record(commands)
    add_command(commands, "targets", _targets, "list the GPUs that can be compiled for")
    add_command(commands, "settings", _settings, "list the settings, as a Markdown table")
    add_command(commands, "version", _version, "print the version")
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
