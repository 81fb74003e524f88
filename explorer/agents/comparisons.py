"""Compare two compilations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from explorer.agents.api import Api, document
from explorer.agents.texts import read_lines
from explorer.agents.tool import MOST_BYTES, FirstLine, Id, Stage, TextPage, page_of, text_page
from explorer.queries.comparison import (
    ComparisonDocument,
    DifferenceDocument,
    PassPairDocument,
    ResourceDocument,
    SourcePairDocument,
    StagePairDocument,
)
from explorer.queries.finding_changes import FindingChanges
from explorer.queries.findings.finding import Finding, Severity
from explorer.queries.line_diff import DiffDocument


class FindingRow(msgspec.Struct, frozen=True):
    """A finding that only one side has."""

    rule: str
    severity: Severity
    text: str
    source_line: int


class Comparison(msgspec.Struct, frozen=True):
    """The differences between two compilations: `page` is the permanent link.

    `passes` are passes that only one side has, or that changed the module on one side only. `worse` are the
    rules of findings that both have and that cost more after. The findings of incomplete compilations are
    not compared.
    """

    page: str
    differences: list[DifferenceDocument]
    resources: list[ResourceDocument]
    stages: list[StagePairDocument]
    source: SourcePairDocument
    passes: list[PassPairDocument]
    total_passes: int
    vanished: list[FindingRow]
    appeared: list[FindingRow]
    worse: list[str]
    next: str


async def compare(api: Api, before: Id, after: Id) -> Comparison:
    """Compare two compilations: options, resources, sizes of stages and of the diff, passes, findings.

    Resources and passes that are the same are left out. For the lines that differ, call compare_stage.
    """
    address = f"/compilations/{before}/compare/{after}"
    found = await document(api, address, ComparisonDocument)
    vanished: list[FindingRow] = []
    appeared: list[FindingRow] = []
    worse: list[str] = []
    if found.before.status == found.after.status == "complete":
        changes = await document(api, f"{address}/findings", FindingChanges)
        vanished, appeared, worse = _rows(changes.vanished), _rows(changes.appeared), changes.worse
    passes = [
        each
        for each in found.passes
        if each.before is None or each.after is None or each.before.changed != each.after.changed
    ]
    return Comparison(
        f"{api.url}/compare/{before}..{after}" if api.url else "",
        found.differences,
        [each for each in found.resources if each.verdict != "same"],
        found.stages,
        found.source,
        page_of(passes),
        len(passes),
        vanished,
        appeared,
        worse,
        "Call compare_stage with a stage of both.",
    )


def _rows(findings: list[Finding]) -> list[FindingRow]:
    return page_of(FindingRow(each.rule, each.severity, each.text, each.source_line) for each in findings)


async def compare_stage(api: Api, before: Id, after: Id, stage: Stage, first_line: FirstLine = 1) -> TextPage:
    """Return the differences of a stage of two compilations, as a diff. Renamed values do not count."""
    diff = await document(api, f"/compilations/{before}/compare/{after}/stages/{stage}", DiffDocument)
    shown: list[str] = []
    total, is_full = 0, False
    for part in _parts(diff):
        begin = max(first_line - 1 - total, 0)
        total += part.lines
        if begin < part.lines and not is_full:
            found = await part.read(api, {"-": before, "+": after}, stage, begin)
            shown += found
            is_full = len(found) < part.lines - begin or sum(map(len, shown)) > MOST_BYTES
    return text_page(shown, total, first_line, "compare_stage")


@dataclass(frozen=True)
class _Part:
    """Lines of a diff: the head of a difference, or lines from `first` on of one side."""

    mark: str
    first: int
    lines: int
    head: str = ""

    async def read(self, api: Api, sides: dict[str, str], stage: str, begin: int) -> list[str]:
        """Return the lines from index `begin` on, as many as the API returns at once."""
        if self.head:
            return [self.head]
        first, last = self.first + begin, self.first + self.lines - 1
        found = await read_lines(api, sides[self.mark], stage, first, last)
        return [f"{self.mark}{line}" for line in found.lines]


def _parts(diff: DiffDocument) -> Iterator[_Part]:
    for span in diff.spans:
        if not span.same:
            head = f"@@ -{span.before_line},{span.before_lines} +{span.after_line},{span.after_lines} @@"
            yield _Part("", 0, 1, head)
            yield _Part("-", span.before_line, span.before_lines)
            yield _Part("+", span.after_line, span.after_lines)
