"""The query about two compilations for the findings that vanished and appeared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from explorer.queries import findings
from explorer.queries.findings.finding import Finding
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.store import Record


class FindingChanges(msgspec.Struct, frozen=True):
    """The findings of the first compilation that the second does not have, and the reverse.

    A finding is the same if it has the same rule and the same text of its source line. `worse` are the rules
    of findings that both have and that cost more in the second.
    """

    vanished: list[Finding]
    appeared: list[Finding]
    worse: list[str]


def _find(subject: Subject) -> FindingChanges:
    before, after = (_by_key(each, _findings(subject, each)) for each in subject.pair)
    return FindingChanges(
        [each for key, each in before.items() if key not in after],
        [each for key, each in after.items() if key not in before],
        [key[0] for key, each in before.items() if key in after and _cost(after[key]) > _cost(each)],
    )


def _findings(subject: Subject, record: Record) -> list[Finding]:
    """Return the findings about one of the two compilations."""
    alone = replace(subject, records=(record,), parameters={})

    def answer(query: Query, parameters: Mapping[str, str]) -> bytes:
        return msgspec.json.encode(query.find(replace(alone, parameters=parameters, answer=answer)))

    return findings.find(replace(alone, answer=answer)).findings


def _by_key(record: Record, found: list[Finding]) -> dict[tuple[str, str, int], Finding]:
    """Return the findings by rule, text of the source line, and number among equals."""
    texts = record.source_numbers.texts
    seen: Counter[tuple[str, str]] = Counter()
    keyed = {}
    for each in found:
        text = texts[each.source_line - 1].strip() if 0 < each.source_line <= len(texts) else ""
        keyed[each.rule, text, seen[each.rule, text]] = each
        seen[each.rule, text] += 1
    return keyed


def _cost(finding: Finding) -> float:
    return finding.cost.share if finding.cost else 0.0


QUERY = Query(
    name="finding_changes",
    about="pair",
    path="/findings",
    summary="The findings that vanished and appeared between two compilations.",
    version=1,
    document=FindingChanges,
    find=_find,
    saved=nothing_saved,
)
