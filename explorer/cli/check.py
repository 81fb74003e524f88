"""`check`: compile kernels and compare their metrics with a committed baseline."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator
from pathlib import Path

from explorer.cli import check_reports
from explorer.cli.api import API, Api, ask
from explorer.cli.baseline import (
    Baseline,
    Checked,
    Key,
    Row,
    compare,
    compared_metrics,
    read_baseline,
    status,
    updated,
    write_baseline,
    write_report,
)
from explorer.cli.kernels import (
    DEFAULT_TARGETS,
    Compiled,
    KernelCompiler,
    Script,
    add_kernels,
    failure_of,
    name_of,
    read_scripts,
)
from explorer.cli.metrics import Threshold, threshold
from explorer.cli.tools import Commands, add_command, add_targets, report_file
from explorer.errors import InvalidRequest
from explorer.model.metrics import METRICS, find_metric
from explorer.settings import github_actions

_BASELINE = "kernels.lock.json"
#: The severities of findings, the highest first.
_SEVERITIES = ("warning", "note")


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "check", run, "compile kernels and compare their metrics with a committed baseline"
    )
    parser.set_defaults(error_status=2)
    add_kernels(parser)
    parser.add_argument(
        "--baseline",
        type=Path,
        default=Path(_BASELINE),
        metavar="FILE",
        help="file with the metrics to compare with (default: %(default)s)",
    )
    parser.add_argument("--update", action="store_true", help="write the metrics into the baseline")
    parser.add_argument(
        "--exact",
        action="store_true",
        help="fail also if a kernel is better or not in the baseline, so that the baseline stays up to date",
    )
    parser.add_argument(
        "--threshold",
        type=_named_threshold,
        action="append",
        default=[],
        metavar="METRIC=AMOUNT",
        help="how much worse a metric may be, such as registers=8 or instructions=5%%; not at all when left "
        "out; may be repeated",
    )
    parser.add_argument(
        "--findings",
        choices=_SEVERITIES,
        help="compare also the numbers of findings of this severity or a higher one",
    )
    add_targets(parser, DEFAULT_TARGETS)
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit's XML")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary in Markdown")
    parser.add_argument(
        "--github",
        action="store_true",
        help="print annotations for GitHub (default: if GITHUB_ACTIONS is true); the summary of the job is "
        "written if GITHUB_STEP_SUMMARY names a file",
    )


def run(options: argparse.Namespace) -> int:
    """Compile, compare and report. The status is 1 if a kernel is worse, and 2 if one cannot be compiled.

    Raises:
        InvalidRequest: a path or the baseline cannot be read, or there is nothing to compile.
    """
    options.triton = None  # the server that answers has the newest version
    stored = read_baseline(options.baseline)
    if stored is None and not options.update:
        raise InvalidRequest(f"There is no baseline {options.baseline}. Write it with --update.")
    baseline = stored or {}
    thresholds: dict[str, Threshold] = dict(options.threshold)
    scripts, damaged = read_scripts(options, options.baseline.parent)

    def question(api: Api) -> list[Checked]:
        compiled = KernelCompiler(api, options, options.tritons).compile(scripts)
        return [each for kernel in compiled for each in _checked(kernel, api, options, thresholds)]

    checked = ask(options, question, is_for_one_job=False)
    checked += [each for kernel in damaged for each in _checked(kernel, None, options, thresholds)]
    if not checked:
        raise InvalidRequest(f"There is no kernel in {', '.join(map(str, options.paths))}.")
    rows = list(compare(baseline, checked, thresholds, _named(baseline, scripts, options)))
    _report(rows, options)
    if options.update:
        write_baseline(options.baseline, updated(baseline, rows))
        report_file(options.baseline)
        return 0 if all(each.metrics is not None or each.is_final for each in checked) else 2
    if options.exact and any(row.state in ("better", "new") for row in rows):
        print(f"{options.baseline} is not up to date. Write it with --update, and review what changes.")
    return status(rows, is_exact=options.exact)


def _report(rows: list[Row], options: argparse.Namespace) -> None:
    """Print the results, and write the requested reports."""
    print("\n".join(check_reports.text_lines(rows)))
    github = github_actions()
    if options.github or github.is_running:
        print("\n".join(check_reports.github_commands(rows)))
    if options.junit:
        write_report(options.junit, check_reports.junit(rows))
        report_file(options.junit)
    if options.markdown:
        write_report(options.markdown, check_reports.markdown(rows).encode())
        report_file(options.markdown)
    if github.summary:
        write_report(github.summary, check_reports.markdown(rows).encode(), is_added=True)


def _named(baseline: Baseline, scripts: list[Script], options: argparse.Namespace) -> Iterator[Key]:
    """Yield the entries that match the paths, targets and versions of the command."""
    folder = options.baseline.parent
    files = {script.name for script in scripts} | {name_of(path, folder) for path in options.paths}
    folders = tuple(f"{name_of(path, folder)}/" for path in options.paths if path.is_dir())
    targets = {
        _target(name, triton)
        for script in scripts
        for name in script.targets
        for triton in options.tritons or [""]
    }
    for key in baseline:
        script, _, target = key
        is_in_folder = script.startswith(folders) or "./" in folders
        if (script in files or is_in_folder) and target in targets:
            yield key


def _checked(
    compiled: Compiled, api: Api | None, options: argparse.Namespace, thresholds: Collection[str]
) -> Iterator[Checked]:
    """Yield the compilations of a kernel to compare: each configuration and version."""
    script, path, line = compiled.script, compiled.path, compiled.line
    if compiled.matrix is None:
        key = (script, compiled.kernel, compiled.target)
        yield Checked(key, path, line, "", None, compiled.error, compiled.is_final)
    for name, cell in compiled.cells:
        error = failure_of(cell)
        yield Checked(
            (script, name, _target(compiled.target, cell["triton"] if options.tritons else "")),
            path,
            line,
            cell["triton"],
            None if error else compared_metrics(cell["metrics"], thresholds),
            error,
            cell["state"] == "failed" and cell["is_final"],
            api.url + cell["url"] if api and api.url and cell["url"] else "",
            None if error or api is None else _findings(api, cell["id"], options.findings),
        )


def _findings(api: Api, compilation: str, lowest: str | None) -> dict[str, list[str]] | None:
    """Return the sentences of the findings about a compilation by their rules, down to a severity."""
    if lowest is None:
        return None
    found: dict[str, list[str]] = {}
    for each in api.document(f"{API}/compilations/{compilation}/findings")["findings"]:
        if _SEVERITIES.index(each["severity"]) <= _SEVERITIES.index(lowest):
            found.setdefault(each["rule"], []).append(each["text"].replace("`", ""))
    return found


def _target(name: str, triton: str) -> str:
    """Return the name of a target in the baseline; `triton` is "" if the newest version is compiled."""
    return f"{name}, Triton {triton}" if triton else name


def _named_threshold(text: str) -> tuple[str, Threshold]:
    name, equals, amount = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form METRIC=AMOUNT")
    if find_metric(name) is None:
        known = ", ".join(each.name for each in METRICS)
        raise argparse.ArgumentTypeError(f"{name!r} is none of {known}")
    return name, threshold(amount)
