"""`compile`: compile a kernel, and print or write the result."""

from __future__ import annotations

import argparse
import io
import json
import shlex
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from explorer.capture.read import CapturedKernel, Damaged
from explorer.capture.readers.binary import BinaryReader, is_binary
from explorer.capture.readers.bodies import request_of
from explorer.cli import finding_reports
from explorer.cli.api import API, Api, ask
from explorer.cli.tools import (
    Commands,
    add_command,
    add_launch,
    add_source,
    lines_of,
    make_folder,
    print_json,
    printable,
    read_files,
    read_given_source,
    read_source,
    report,
    report_file,
    report_output_code,
    with_output_code,
)
from explorer.errors import ExplorerError, InvalidRequest
from explorer.model import Diagnostic
from explorer.model.hardware import DEFAULT_TARGET

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ptx_options", "enable_fp_fusion")
_MOST_LAUNCHES = 8
#: The options that do not apply to a binary.
_NOT_OF_BINARIES = (
    *_OPTIONS,
    "triton",
    "launch",
    "signature",
    "config",
    "assume",
    "root",
    "edit",
    "without_pass",
    "pass_option",
    "llvm_passes",
)


def add(commands: Commands) -> None:
    parser = add_command(commands, "compile", run, "compile a kernel; print one stage or write all of them")
    add_source(parser)
    add_kernel(parser)
    parser.add_argument(
        "--edit",
        type=_edited_stage,
        metavar="STAGE=FILE",
        help="compile the stages after STAGE from the text in FILE",
    )
    parser.add_argument(
        "--without-pass",
        action="append",
        default=[],
        metavar="NAME",
        help='leave a pass out; "NAME#2" is the second pass of the name; may be repeated',
    )
    parser.add_argument(
        "--pass-option",
        type=_pass_option,
        action="append",
        default=[],
        metavar="NAME:OPTION=VALUE",
        help="run a pass with another option, such as tritongpu-pipeline:num-stages=4; may be repeated",
    )
    parser.add_argument(
        "--llvm-passes",
        action="store_true",
        help="record the passes of LLVM; --pass and --json then refer to them",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--stage", help="stage to print (default: the last one)")
    what.add_argument(
        "--output", type=Path, metavar="DIR", help="write result.json and one file for each stage"
    )
    what.add_argument(
        "--pass",
        dest="compiler_pass",
        type=int,
        metavar="INDEX",
        help="print what a compiler pass changed; --json lists the passes",
    )
    what.add_argument("--html", type=Path, metavar="FILE", help="write one page that works offline")
    what.add_argument("--json", action="store_true", help="print result.json")
    what.add_argument(
        "--findings",
        nargs="?",
        const="text",
        choices=("text", "sarif"),
        help="print what costs speed, with cause and advice: as text, or as SARIF 2.1.0",
    )
    what.add_argument(
        "--query",
        "--analysis",
        dest="query",
        metavar="NAME",
        help="print the answer to a query, as JSON; an unknown name is answered with the list",
    )
    parser.add_argument(
        "--parameter",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter of the query; may be repeated",
    )


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """Add the options that select the kernel of the file, its arguments and its options."""
    add_launch(parser)
    parser.add_argument(
        "--private", action="store_true", help="store the result at an address that nobody can guess"
    )
    parser.add_argument("--config", type=int, help="index of the autotune configuration, from 0 on")
    parser.add_argument("--num-warps", type=int, metavar="NUMBER")
    parser.add_argument("--num-stages", type=int, metavar="NUMBER")
    parser.add_argument("--num-ctas", type=int, metavar="NUMBER")
    parser.add_argument("--maxnreg", type=int, metavar="NUMBER", help="limit of registers per thread")
    parser.add_argument(
        "--enable-fp-fusion",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="fuse multiplications with additions",
    )
    parser.add_argument(
        "--ptxas-options",
        dest="ptx_options",
        metavar="OPTIONS",
        help='options of the assembler, such as "--opt-level 1"; NVIDIA only',
    )


def run(options: argparse.Namespace) -> int:
    """Compile, and print or write the output that the options select."""
    is_from_binary = is_binary(options.file)
    address = "captures" if is_from_binary else "compilations"
    body = _body_of_binary(options) if is_from_binary else _body_of_source(options)
    method, query = _address_of_query(options) if options.query else ("GET", "")
    if options.output or options.html:
        make_folder(options.output or options.html.parent)

    def question(api: Api) -> tuple[dict[str, Any], bytes | None, list[str]]:
        made, index = compile_kernel(api, body, address)
        part = query or _address(options, index)
        answer = api.read(method, made + part) if part else None
        alternatives = [] if is_from_binary else index["alternatives"]
        return index, answer, list(_helpful(api, body, alternatives))

    index, answer, helpful = ask(options, question)
    diagnostics = [Diagnostic(**each) for each in index["diagnostics"]]
    if answer is not None:
        _show(options, index, answer)
    elif options.findings == "sarif":
        print_json(_sarif(options, index).failure(diagnostics))
    if options.findings and answer is not None:  # warnings are findings
        diagnostics = [each for each in diagnostics if each.severity != "warning" and not each.rule]
    status = report(index["status"], diagnostics, options, lines_of(index["request"]))
    if not is_from_binary:
        report_output_code(body, index, options)
    for note in (*_guesses(index["specialization"]), *_other_launches(options, index), *helpful):
        print(f"{options.file}: note: {printable(note)}", file=sys.stderr)
    if not is_from_binary and not query and _is_stage(options) and index["resources"]:
        for line in _figures(index):
            print(printable(line), file=sys.stderr)
    return status


def compile_kernel(
    api: Api, body: dict[str, Any], address: str = "compilations"
) -> tuple[str, dict[str, Any]]:
    """Compile, or read the result of another program. Return the address of the compilation and its index.

    For a program with `torch.compile`, this is the compilation of its output code.
    """
    ticket = api.post(f"{API}/{address}", body)
    api.get(ticket["events"])  # the events end with the compilation
    index = api.document(ticket["api"])
    if index["output_code"] is not None:
        return compile_kernel(api, with_output_code(body, index["output_code"]))
    return ticket["api"], index


def _helpful(api: Api, body: dict[str, Any], alternatives: list[dict[str, Any]]) -> Iterator[str]:
    """Compile the alternatives to a failed compilation. Yield the first of each kind that succeeds."""
    seen = set()
    for each in alternatives:
        triton, chosen = each["triton"], each["options"]
        kind, value = ("triton", triton) if triton else next(iter(chosen.items()))
        if kind in seen:
            continue
        other = {"triton": triton} if triton else {"options": body["options"] | chosen}
        if compile_kernel(api, body | other)[1]["status"] == "complete":
            seen.add(kind)
            yield f"no error with --{kind.replace('_', '-')} {value}"


def _guesses(specialized: dict[str, Any] | None) -> Iterator[str]:
    """Yield each guessed argument with its reason, and how to pass other arguments."""
    guesses = specialized["guesses"] if specialized else {}
    if not specialized or not guesses:
        return
    for argument in specialized["arguments"]:
        if reason := guesses.get(argument["name"]):
            is_constant = argument["type"] == "constexpr"
            guess = argument["value"] if is_constant else argument["type"]
            yield f"{argument['name']} is guessed: {guess}. {reason}"
    yield f"to choose the arguments, change --signature {shlex.quote(specialized['signature'])}"


def _other_launches(options: argparse.Namespace, index: dict[str, Any]) -> Iterator[str]:
    """Yield how to choose another launch of the file, if none was chosen."""
    specialized = index["specialization"]
    if options.launch is not None or not specialized or specialized["launch"] is None:
        return
    others = [
        each
        for each in index["launches"]
        if each["index"] != specialized["launch"] and options.kernel in (None, each["kernel"])
    ]
    if others:
        shown = [f"--launch {each['index']} ({each['kernel']})" for each in others[:_MOST_LAUNCHES]]
        more = ", …" * (len(others) > len(shown))
        yield (
            f"launch {specialized['launch']} ({index['kernel']}) is compiled. "
            f"{len(others)} other launch{'es' * (len(others) > 1)}: {', '.join(shown)}{more}"
        )


def _figures(index: dict[str, Any]) -> Iterator[str]:
    """Yield the kernel and its resources in two lines."""
    resources = index["resources"]
    occupancy, spilled = (
        resources["occupancy"],
        [resources[f"spill_{each}_bytes"] for each in ("stores", "loads")],
    )
    figures = {
        "registers": resources["registers"],
        "bytes spilled": None if None in spilled else sum(spilled),
        "bytes of shared memory": resources["shared_bytes"],
    }
    yield f"{index['kernel']}, {index['target']['name']}, Triton {index['triton']}"
    yield ", ".join(
        [f"{value:,} {name}" for name, value in figures.items() if value is not None]
        + ([] if occupancy is None else [f"occupancy {occupancy:.0%}, limited by {resources['limited_by']}"])
    )


def _is_stage(options: argparse.Namespace) -> bool:
    """Whether the output is the last stage, because no option selects another."""
    selected = (options.stage, options.output, options.html, options.compiler_pass, options.findings)
    return not options.json and all(each is None for each in selected)


def _body_of_source(options: argparse.Namespace) -> dict[str, Any]:
    """Return the body of the request that compiles a source."""
    body = request_body(options, read_given_source(options.file))
    body["llvm_passes"] = options.llvm_passes or None
    body["edits"] = _edits(options) or None
    return body


def _body_of_binary(options: argparse.Namespace) -> dict[str, Any]:
    """Return the body of the request that shows a kernel of a binary, which is not compiled.

    Raises:
        InvalidRequest: an option applies to sources only, or the binary has no such kernel, or several.
    """
    file = options.file
    given = [name for name in _NOT_OF_BINARIES if getattr(options, name) not in (None, False, [])]
    if given:
        flag = given[0].replace("_", "-").replace("ptx-options", "ptxas-options")
        raise InvalidRequest(f"{file} is a binary, which is not compiled. Leave out --{flag}.")
    found = list(BinaryReader(file, None).kernels())
    for each in found:
        if isinstance(each, Damaged):
            raise InvalidRequest(f"{file} cannot be read: {each.reason}.")
    kernels = {each.file.kernel: each for each in found if isinstance(each, CapturedKernel)}
    names = ", ".join(map(printable, kernels))
    if options.kernel is None and len(kernels) > 1:
        raise InvalidRequest(f"{file} has {len(kernels)} kernels: {names}. Choose one with --kernel.")
    kernel = kernels.get(options.kernel or next(iter(kernels)))
    if kernel is None:
        raise InvalidRequest(f"{file} has no kernel {options.kernel!r}. It has {names}.")
    target = kernel.file.target.name
    if options.target not in (DEFAULT_TARGET, target):
        raise InvalidRequest(f"{file} is for {target}, not for {options.target}. Leave out --target.")
    return request_of(kernel, is_compiled=False)[1] | {"private": options.private or None}


def request_body(options: argparse.Namespace, source: str) -> dict[str, Any]:
    chosen = {name: getattr(options, name) for name in _OPTIONS}
    return {
        "source": source,
        "target": options.target,
        "triton": options.triton,
        "kernel": options.kernel,
        "launch": options.launch,
        "arguments": options.signature,
        "config": options.config,
        "private": options.private or None,
        "options": {name: value for name, value in chosen.items() if value is not None},
        **read_files(options),
    }


def _edits(options: argparse.Namespace) -> dict[str, Any]:
    edits: dict[str, Any] = {}
    if options.edit is not None:
        stage, file = options.edit
        edits |= {"stage": stage, "text": read_source(file)}
    if options.without_pass:
        edits["without_passes"] = options.without_pass
    for name, option, value in options.pass_option:
        edits.setdefault("pass_options", {}).setdefault(name, {})[option] = value
    return edits


def _address(options: argparse.Namespace, index: dict[str, Any]) -> str:
    """Return the address of the requested output below the compilation; "": there is none."""
    if options.output:
        return "/archive.zip"
    if options.html:
        return "/export.html"
    if options.compiler_pass is not None:
        return f"/passes/{options.compiler_pass}/diff"
    if options.json:
        return "?links=files"
    if options.findings:
        return "/findings" if index["status"] == "complete" else ""
    stages = [each["name"] for each in index["stages"]]
    wanted = options.stage or (stages[-1] if stages else "")
    # The reason why a compilation stopped before a stage is reported in any case.
    if not wanted or (wanted not in stages and index["status"] == "failed"):
        return ""
    return f"/stages/{quote(wanted, safe='')}"


def _address_of_query(options: argparse.Namespace) -> tuple[str, str]:
    """Return the method of a query, and its address below the address of the compilation.

    Raises:
        InvalidRequest: there is no such query; the message lists all.
    """
    from explorer.queries import QUERIES  # slow to import

    known = {query.name: query for query in QUERIES if query.about == "compilation"}
    if options.query not in known:
        raise InvalidRequest(f"There is no query {options.query!r}. Known are {', '.join(known)}.")
    query = known[options.query]
    parameters = dict(options.parameter)
    try:
        return query.method, query.address(parameters)
    except KeyError as error:  # a variable of the path
        raise InvalidRequest(f"The query {options.query} needs --parameter {error.args[0]}=VALUE.") from error


def _show(options: argparse.Namespace, index: dict[str, Any], answer: bytes) -> None:
    """Print or write the requested output."""
    if options.output:
        _write_files(answer, options.output)
        report_file(options.output)
    elif options.html:
        options.html.write_bytes(answer)
        report_file(options.html)
    elif options.findings:
        _print_findings(options, index, answer)
    elif options.query or options.json:
        sys.stdout.buffer.write(answer + b"\n")
    elif options.compiler_pass is not None and not answer:
        name = next(each["name"] for each in index["passes"] if each["index"] == options.compiler_pass)
        print(f"Pass {options.compiler_pass}, {name}, changed nothing.", file=sys.stderr)
    elif options.compiler_pass is not None:
        _print(answer.decode(), "diff")
    else:
        stages = {stage["name"]: stage for stage in index["stages"]}
        _print(answer.decode(), stages[options.stage or list(stages)[-1]]["language"])


def _write_files(archive: bytes, folder: Path) -> None:
    """Write the files of an archive, whose names have the compilation as their first part."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for name in files.namelist():
            parts = PurePosixPath(name).parts[1:]
            if ".." in parts:
                raise ExplorerError(f"The server's archive has a file outside of its folder: {name}.")
            path = folder.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.read(name))


def _print_findings(options: argparse.Namespace, index: dict[str, Any], answer: bytes) -> None:
    document = json.loads(answer)
    if options.findings == "sarif":
        print_json(_sarif(options, index).findings(document))
    else:
        lines = lines_of(index["request"])
        print("\n".join(finding_reports.text_lines(document, index["kernel"], lines, options.file)))


def _sarif(options: argparse.Namespace, index: dict[str, Any]) -> finding_reports.Sarif:
    source = index["request"]["source"]
    return finding_reports.Sarif(index["kernel"], lines_of(index["request"]), options.file, source)


def _print(text: str, language: str) -> None:
    """Print a text, in color on a terminal."""
    if sys.stdout.isatty():
        from explorer.lexers import highlight_ansi  # slow to import

        text = highlight_ansi(text, language)
    print(text, end="" if text.endswith("\n") else "\n")


def _edited_stage(text: str) -> tuple[str, Path]:
    stage, equals, file = text.partition("=")
    if not equals or not file:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form STAGE=FILE")
    return stage, Path(file)


def _pass_option(text: str) -> tuple[str, str, str]:
    name, colon, rest = text.partition(":")
    option, equals, value = rest.partition("=")
    if not colon or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME:OPTION=VALUE")
    return name, option, value


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE")
    return name, value
