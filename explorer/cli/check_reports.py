"""The reports of `check`: text, annotations of GitHub, a summary in Markdown, and JUnit's XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree

from explorer.cli.baseline import FINDINGS, Change, Row, State
from explorer.cli.metrics import show
from explorer.cli.tools import printable

_WORDS: dict[State, str] = {
    "worse": "worse",
    "failed": "failed",
    "gone": "not found",
    "new": "not in the baseline",
    "better": "better",
    "same": "not worse",
    "failing": "failing as before",
}
#: The states that are only counted.
_AS_EXPECTED = ("same", "failing")
#: The levels of GitHub's annotations; other states have no annotation.
_LEVELS: dict[State, str] = {
    "worse": "error",
    "failed": "error",
    "gone": "error",
    "new": "warning",
    "better": "notice",
}


def text_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each row that is not the same, its new findings, and the number of all rows."""
    for row in rows:
        if row.state not in _AS_EXPECTED:
            checked = row.checked
            place = checked.path + (f":{checked.line}" if checked.line else "")
            page = f" {checked.page}" if checked.page else ""
            yield printable(f"{place}: {_WORDS[row.state]}: {_title(row)}{_reason(row)}{page}")
            for sentence in _more_findings(row):
                yield printable(f"    {sentence}")
    yield summary(rows)


def _more_findings(row: Row) -> Iterator[str]:
    """Yield the findings of the rules that have more of them than before."""
    for each in row.changes:
        if each.verdict == "worse" and each.metric.startswith(FINDINGS) and row.checked.findings:
            yield from row.checked.findings[each.metric.removeprefix(FINDINGS)]


def summary(rows: Sequence[Row]) -> str:
    """Return the number of compilations in each state."""
    counts = Counter(row.state for row in rows)
    parts = (f"{counts[state]} {words}" for state, words in _WORDS.items() if counts[state])
    return f"{len(rows)} compilation{'' if len(rows) == 1 else 's'}: {', '.join(parts) or 'none'}."


def github_commands(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the workflow commands that make GitHub annotate the lines of the kernels.

    Source: GitHub's documentation of workflow commands, and `command.ts` of its toolkit for the escapes.
    """
    for row in rows:
        level = _LEVELS.get(row.state)
        if level is not None:
            checked = row.checked
            line = f",line={checked.line}" if checked.line else ""
            title = _property(f"{_WORDS[row.state].capitalize()}: {_title(row)}")
            message = printable(_reason(row).removeprefix(": ") or _WORDS[row.state])
            yield f"::{level} file={_property(checked.path)}{line},title={title}::{_data(message)}"


def markdown(rows: Sequence[Row]) -> str:
    """Return a heading and a table with a row for each change."""
    from explorer.matrix.tables import escaped  # slow to import

    lines = ["## Kernels", "", summary(rows)]
    cells = []
    for row in rows:
        if row.state in _AS_EXPECTED:
            continue
        checked = row.checked
        kernel = escaped(f"{checked.key[0]}: {checked.key[1]}")
        name = f"[{kernel}]({checked.page})" if checked.page else kernel
        head = [name, checked.key[2], _WORDS[row.state]]
        if row.changes:
            cells += [[*head[:2], each.verdict, *_numbers(each)] for each in row.changes]
        else:
            cells.append([*head, escaped(checked.error), "", ""])
    if cells:
        lines += [
            "",
            "| Kernel | Target | | Metric | Before | After |",
            "| --- | --- | --- | --- | --: | --: |",
        ]
        lines += [f"| {' | '.join(each)} |" for each in cells]
    return "\n".join([*lines, ""])


def junit(rows: Sequence[Row]) -> bytes:
    """Return the rows as test cases of one suite."""
    counts = Counter(row.state for row in rows)
    suite = ElementTree.Element(
        "testsuite",
        name="triton-explorer check",
        tests=str(len(rows)),
        failures=str(counts["worse"] + counts["gone"]),
        errors=str(counts["failed"]),
    )
    for row in rows:
        checked = row.checked
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=printable(checked.key[0]),
            name=printable(_title(row)),
            file=printable(checked.path),
            line=str(checked.line),
        )
        kind = "error" if row.state == "failed" else "failure"
        message = printable(_reason(row).removeprefix(": "))
        if row.state in ("worse", "gone", "failed"):
            ElementTree.SubElement(case, kind, message=message, type=row.state).text = checked.page or message
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _title(row: Row) -> str:
    _, kernel, target = row.checked.key
    return ", ".join(filter(None, (kernel or "the script", target)))


def _reason(row: Row) -> str:
    """Return the changes, or the error, after a colon."""
    if row.checked.error:
        return f": {' '.join(row.checked.error.split())}"
    if not row.changes:
        return ": it compiles, and failed before" if row.state == "better" else ""
    numbers = {
        verdict: ", ".join(
            f"{each.metric} {_after(each)} after {show(each.before)}"
            for each in row.changes
            if each.verdict == verdict
        )
        for verdict in ("worse", "better")
    }
    is_mixed = all(numbers.values())
    text = f"{numbers['worse']}; better: {numbers['better']}" if is_mixed else "".join(numbers.values())
    before, after = row.triton_before, row.checked.triton
    versions = f" (Triton {after} after {before})" if before != after else ""
    return f": {text}{versions}"


def _numbers(change: Change) -> list[str]:
    return [change.metric.replace("_", "\\_"), show(change.before), _after(change)]


def _after(change: Change) -> str:
    return "unknown" if change.after is None else show(change.after)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
