"""Double precision that no argument asks for: a constant or a function makes values of 64 bits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code, counted

TITLE = "Double precision by accident"
_OPERATION = re.compile(r"^\s*(?:%\S+ = )?((?:arith|math|tt)\.\w+)\b.*(?:\b|x)f64\b")
_POINTER = re.compile(r"!tt\.ptr<f64>|tensordesc<[^>]*f64")


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for the first line that computes in fp64, if no argument has this type."""
    if _POINTER.search(case.ttgir):
        return
    found = [
        (number, match[1])
        for number, line in enumerate(case.ttgir.split("\n"), 1)
        if (match := _OPERATION.match(line)) and match[1] != "arith.constant"
    ]
    if not found:
        return
    number, operation = found[0]
    line = case.source_line(number)
    yield Finding(
        rule="double_precision",
        severity="warning",
        text=f"{code(operation)} computes in fp64, although no argument has this type.",
        evidence=(Value("operations in fp64", len(found), "", "observed"),),
        cause=f"TTGIR has {counted(len(found), 'operation')} with values of 64 bits.",
        advice="Convert the value with `.to(tl.float32)`, or pass the constant as `tl.constexpr`.",
        source_line=line,
        ttgir_line=number,
        lines=case.machine_lines([line]),
    )
