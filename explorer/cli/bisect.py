"""`bisect`: find the first Triton version that makes a kernel worse, and the pass where both diverge."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from explorer import tritons
from explorer.cli.api import API, Api, ask
from explorer.cli.compile import add_kernel, compile_kernel, request_body
from explorer.cli.metrics import Measure, Threshold, measure, show, threshold
from explorer.cli.tools import (
    Commands,
    add_command,
    add_source,
    make_folder,
    print_json,
    read_given_source,
)
from explorer.errors import ExplorerError, InvalidRequest
from explorer.model.metrics import METRICS
from explorer.sandbox.versions import installed_versions, version_key
from explorer.settings import Settings


def add(commands: Commands) -> None:
    parser = add_command(commands, "bisect", run, "find the first Triton version that makes a kernel worse")
    add_source(parser, has_triton=False)
    add_kernel(parser)
    parser.add_argument("--good", required=True, metavar="VERSION", help="Triton version to start from")
    parser.add_argument("--bad", required=True, metavar="VERSION", help="Triton version that is worse")
    parser.add_argument(
        "--metric",
        type=measure,
        required=True,
        help="what to compare: STAGE:PATTERN, the number of matches of a regular expression, or one of "
        + ", ".join(each.name for each in METRICS),
    )
    parser.add_argument(
        "--threshold",
        type=threshold,
        metavar="AMOUNT",
        help="how much worse a version may be, such as 8 or 5%% (default: 0, and 20%% for the compile time)",
    )
    parser.add_argument(
        "--fewer",
        action="store_true",
        help="a smaller number is worse (default: this follows from the metric)",
    )
    parser.add_argument("--install", action="store_true", help="install versions that are needed and missing")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


@dataclass(frozen=True)
class VersionResult:
    """One version: the amount, and whether it is worse. `value` is None if the version does not compile."""

    triton: str
    value: float | None
    is_worse: bool
    id: str
    url: str | None
    error: str | None


@dataclass(frozen=True)
class Result:
    """The answer. `versions` are the compiled versions.

    `missing` are versions between the last good and the first worse version that are not installed.
    """

    metric: str
    last_good: str | None = None
    first_worse: str | None = None
    missing: list[str] = field(default_factory=list)
    versions: list[VersionResult] = field(default_factory=list)
    compare: str | None = None
    divergence: dict[str, Any] | None = None


def run(options: argparse.Namespace) -> int:
    """Search, and print the result. The status is 1 if the second version is not worse.

    Raises:
        InvalidRequest: a version is missing, or the first version does not compile.
    """
    source = read_given_source(options.file)
    tritons_dir = Settings.from_environment().tritons_dir
    options.good, options.bad = map(tritons.check_version, (options.good, options.bad))
    if options.good == options.bad:
        raise InvalidRequest("The good and the bad version are the same. Name two.")
    if options.install:
        make_folder(tritons_dir)  # so that a jail can read versions that are added later
    for version in (options.good, options.bad):
        _make_available(version, options)
    candidates = _between(options.good, options.bad, installed_versions(tritons_dir))
    if options.install:
        candidates = _between(options.good, options.bad, {*candidates, *tritons.SUPPORTED})
    options.triton = options.good
    body = request_body(options, source)
    result = ask(options, lambda api: _search(api, body, options, candidates))
    if options.json:
        print_json(result)
    else:
        print("\n".join(_lines(result, options)))
    return 0 if result.first_worse else 1


def _search(api: Api, body: dict[str, Any], options: argparse.Namespace, candidates: list[str]) -> Result:
    """Compile with both ends, then always with the middle of the remaining versions."""
    found: dict[str, VersionResult] = {}

    def compiled(version: str) -> VersionResult:
        if version not in found:
            _make_available(version, options)
            good = found.get(options.good)
            found[version] = _compile_version(api, body | {"triton": version}, options, good)
        return found[version]

    good, bad = compiled(options.good), compiled(options.bad)
    if good.error is not None:
        raise InvalidRequest(f"With Triton {good.triton}: {good.error}")
    metric: Measure = options.metric
    if not bad.is_worse:
        return Result(metric.name, versions=[good, bad])
    low, high = 0, len(candidates) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if compiled(candidates[middle]).is_worse else (middle, high)
    last, first = compiled(candidates[low]), compiled(candidates[high])
    tritons_dir = Settings.from_environment().tritons_dir
    return Result(
        metric=metric.name,
        last_good=last.triton,
        first_worse=first.triton,
        missing=tritons.missing_between(last.triton, first.triton, tritons_dir),
        versions=[found[each] for each in candidates if each in found],
        compare=f"{api.url}/compare/{last.id}..{first.id}" if api.url else None,
        divergence=_divergence(api, last, first),
    )


def _compile_version(
    api: Api, body: dict[str, Any], options: argparse.Namespace, good: VersionResult | None
) -> VersionResult:
    """Compile with one version, and compare the result with the good version."""
    address, index = compile_kernel(api, body)
    metric: Measure = options.metric
    errors = [each["message"] for each in index["diagnostics"] if each["severity"] == "error"]
    is_complete = index["status"] == "complete"
    # A kernel that needs too much of a resource fails after its resources are known.
    value = metric.value(api, address) if is_complete or index["resources"] else None
    error = None if is_complete and value is not None else (errors or [f"it has no {metric.name}"])[0]
    is_worse = good is not None and (not is_complete or _is_worse(options, good.value, value))
    url = f"{api.url}/k/{index['id']}" if api.url else None
    return VersionResult(body["triton"], value, is_worse, index["id"], url, error)


def _is_worse(options: argparse.Namespace, good: float | None, value: float | None) -> bool:
    if value is None or good is None:
        return good is not None
    metric: Measure = options.metric
    allowed: Threshold = options.threshold or metric.default_threshold
    return allowed.is_exceeded(good, value, "higher" if options.fewer else metric.better)


def _divergence(api: Api, last: VersionResult, first: VersionResult) -> dict[str, Any] | None:
    try:
        document: dict[str, Any] = api.document(f"{API}/compilations/{last.id}/compare/{first.id}/divergence")
    except ExplorerError as error:
        if error.status >= 500:
            raise
        return None  # the kernel is too large to be compared
    return document


def _make_available(version: str, options: argparse.Namespace) -> None:
    """Add a version that is not installed, if the user wants that.

    Raises:
        InvalidRequest: the user does not.
        ToolchainError: the version cannot be added.
    """
    tritons_dir = Settings.from_environment().tritons_dir
    if version in installed_versions(tritons_dir):
        return
    if not options.install:
        raise InvalidRequest(
            f"Triton {version} is not installed. Add it with --install, or with "
            f"`triton-explorer toolchain add {version}`."
        )
    print(f"Adding Triton {version}.", file=sys.stderr)
    tritons.add(version, tritons_dir)


def _between(good: str, bad: str, versions: Iterable[str]) -> list[str]:
    """Return the versions from the good to the bad version, in either direction."""
    low, high = sorted((version_key(good), version_key(bad)))
    found = [each for each in {*versions, good, bad} if low <= version_key(each) <= high]
    return sorted(found, key=version_key, reverse=version_key(good) > version_key(bad))


# --- text ---------------------------------------------------------------------------------------


def _lines(result: Result, options: argparse.Namespace) -> list[str]:
    metric: Measure = options.metric
    rows = [
        [each.triton, show(each.value), "worse" if each.is_worse else "", each.url or each.error or ""]
        for each in result.versions
    ]
    lines = _table([["Triton", metric.name, "", ""], *rows])
    by_version = {each.triton: each for each in result.versions}
    if result.first_worse is None or result.last_good is None:
        good, bad = result.versions
        return [*lines, "", f"Triton {bad.triton} is not worse than {good.triton}."]
    last, first = by_version[result.last_good], by_version[result.first_worse]
    what = f"{metric.name} {show(first.value)} after {show(last.value)}"
    if first.error:
        what = first.error
    lines += ["", f"Triton {first.triton} is the first version that is worse than {last.triton}: {what}."]
    if result.missing:
        lines.append(
            f"Not installed between them: {', '.join(result.missing)}. Add them with --install, or with "
            f"`triton-explorer toolchain add {' '.join(result.missing)}`."
        )
    if result.divergence:
        lines += _divergence_lines(result.divergence, last.triton, first.triton)
    if result.compare:
        lines.append(f"Compare: {result.compare}")
    return lines


def _divergence_lines(document: dict[str, Any], before: str, after: str) -> list[str]:
    def name(pair: dict[str, Any]) -> str:
        old, new = pair["before"], pair["after"]
        where = [
            f"pass {side['index']} of {version}" for side, version in ((old, before), (new, after)) if side
        ]
        only = "only " if len(where) == 1 else ""
        return f"{pair['renamed'] or pair['name']} ({only}{', '.join(where)})"

    last, first, stage = document["last_equal"], document["first_different"], document["stage"]
    if stage is None:
        return ["Their modules and texts have the same operations."]
    lines = [f"Their modules are the same up to {name(last)}." if last else "Their first modules differ."]
    lines.append(f"They part at {name(first)}:" if first else f"They part in {stage}, after the last pass:")
    lines += [f"- {line}" for line in document["removed"]] + [f"+ {line}" for line in document["added"]]
    left_out = document["operations_removed"] + document["operations_added"]
    left_out -= len(document["removed"]) + len(document["added"])
    return [*lines, f"… and {left_out} more operations"] if left_out > 0 else lines


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    cells = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(row).rstrip() for row in cells]
