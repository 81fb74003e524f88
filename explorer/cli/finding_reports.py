"""The reports of findings: text, and SARIF for code hosts and editors."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from explorer.cli.tools import printable
from explorer.model import Diagnostic
from explorer.model.source_lines import SourceLines

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def text_lines(document: dict[str, Any], kernel: str, lines: SourceLines, file: Path) -> Iterator[str]:
    """Yield the findings of a kernel as a compiler prints messages: place, severity, text; then the cause."""
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
    yield printable(f"{checked} of {len(document['checked'])} rules were checked for the kernel {kernel}.")
    for each in unchecked:
        yield printable(f"    {each['title']}: {each['reason']}")


class Sarif:
    """A log of SARIF 2.1.0 with one run, about a kernel of a file; `kernel` is None if it is not known.

    The standard input has no address, so that the log has its text.
    """

    def __init__(self, kernel: str | None, lines: SourceLines, file: Path, source: str) -> None:
        self._kernel, self._lines, self._file = kernel, lines, file
        self._artifacts = [{"contents": {"text": source}}] if str(file) == "-" else []

    def findings(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the log of the findings about a complete compilation."""
        from explorer.queries.findings import RULES  # slow to import

        about = {each.__name__.rpartition(".")[2]: each.__doc__ or "" for each in RULES}
        advice = {each["rule"]: each["advice"] for each in reversed(document["findings"]) if each["advice"]}
        rules = []
        for each in document["checked"]:
            text = about[each["rule"]].partition("\n")[0]
            rules.append(_rule(each["rule"], each["title"], text, _plain(advice.get(each["rule"], text))))
        results = []
        for each in document["findings"]:
            words = " ".join(filter(None, (each["text"], each["cause"], each["advice"])))
            place = _place(each, self._lines, self._file)
            result = self._result(each["rule"], each["severity"], _plain(words), *place)
            result["properties"] = {"evidence": each["evidence"], "cost": each["cost"]}
            results.append(result)
        return self._log(rules, results, is_successful=True)

    def failure(self, diagnostics: list[Diagnostic]) -> dict[str, Any]:
        """Return the log of a compilation that is not complete."""
        text = "The kernel does not compile."
        results = []
        for each in diagnostics:
            path, line = self._lines.place(each.line)
            place = str(self._file.parent / path) if path else str(self._file)
            words = " ".join(filter(None, (each.message, each.hint)))
            level = each.severity if each.severity in ("error", "warning") else "note"
            results.append(self._result("compilation", level, words, place, line))
        rules = [_rule("compilation", "Compilation", text, text)]
        return self._log(rules, results, is_successful=False)

    def _result(self, rule: str, level: str, text: str, path: str, line: int) -> dict[str, Any]:
        location: dict[str, Any] = {"physicalLocation": {"artifactLocation": self._address(path)}}
        if line:
            location["physicalLocation"]["region"] = {"startLine": line}
        if self._kernel:
            location["logicalLocations"] = [{"name": self._kernel, "kind": "function"}]
        return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [location]}

    def _address(self, path: str) -> dict[str, Any]:
        if path == "-":
            return {"index": 0}
        absolute = Path(path).is_absolute()
        return {"uri": Path(path).as_uri() if absolute else quote(Path(path).as_posix())}

    def _log(
        self, rules: list[dict[str, Any]], results: list[dict[str, Any]], *, is_successful: bool
    ) -> dict[str, Any]:
        version = importlib.metadata.version("triton-explorer")
        run = {
            "tool": {"driver": {"name": "triton-explorer", "version": version, "rules": rules}},
            "invocations": [{"executionSuccessful": is_successful}],
            "results": results,
        }
        if self._artifacts:
            run["artifacts"] = self._artifacts
        return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, title: str, about: str, advice: str) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": about},
        "help": {"text": advice},
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
