"""The reports of findings: text, and SARIF for code hosts and editors."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.cli.tools import printable
from explorer.model.source_lines import SourceLines

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def text_lines(document: dict[str, Any], lines: SourceLines, file: Path) -> Iterator[str]:
    """Yield the findings as a compiler prints messages: the place, the severity, the text; then the cause."""
    for each in document["findings"]:
        path, line = _place(each, lines, file)
        place = f"{path}:{line}" if line else path
        yield printable(f"{place}: {each['severity']}: {_plain(each['text'])} [{each['rule']}]")
        for words in filter(None, (each["cause"], each["advice"])):
            yield printable(f"    {_plain(words)}")
    if not document["findings"]:
        yield "No static problem found."
    unchecked = [each for each in document["checked"] if each["reason"]]
    checked = len(document["checked"]) - len(unchecked)
    yield f"{checked} of {len(document['checked'])} rules were checked."
    for each in unchecked:
        yield printable(f"    {each['title']}: {each['reason']}")


def sarif(document: dict[str, Any], lines: SourceLines, file: Path) -> dict[str, Any]:
    """Return the findings as a log of SARIF 2.1.0 with one run."""
    rules = [
        {"id": each["rule"], "shortDescription": {"text": each["title"]}} for each in document["checked"]
    ]
    version = importlib.metadata.version("triton-explorer")
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "triton-explorer", "version": version, "rules": rules}},
                "results": [_result(each, lines, file) for each in document["findings"]],
            }
        ],
    }


def _result(finding: dict[str, Any], lines: SourceLines, file: Path) -> dict[str, Any]:
    path, line = _place(finding, lines, file)
    words = " ".join(filter(None, (finding["text"], finding["cause"], finding["advice"])))
    place: dict[str, Any] = {"artifactLocation": {"uri": Path(path).as_posix()}}
    if line:
        place["region"] = {"startLine": line}
    return {
        "ruleId": finding["rule"],
        "level": finding["severity"],
        "message": {"text": _plain(words)},
        "locations": [{"physicalLocation": place}],
        "properties": {"evidence": finding["evidence"], "cost": finding["cost"]},
    }


def _place(finding: dict[str, Any], lines: SourceLines, file: Path) -> tuple[str, int]:
    """Return the path of the finding's file, and the line in it; 0: none."""
    if not finding["source_line"]:
        return str(file), 0
    path, line = lines.place(finding["source_line"])
    return str(file.parent / path) if path else str(file), line


def _plain(text: str) -> str:
    """Return a text without the marks of code."""
    return text.replace("`", "")
