"""The answers of the API about the runs of a compilation: data of a saved page.

Their size is limited, so that the page can be sent by mail. A run is in the page with all of its documents
or not at all; files of profilers may be left out.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from explorer.documents import ApiLinks
from explorer.offline.answers import Answer, Fetch, json_answer
from explorer.store import Record, is_over

#: The most that answers about runs may add to a page.
MOST_BYTES = 2_000_000
_NO_DEVICE = "A saved page cannot run kernels. Open the result on its server."
_DEVICES = {
    "interpreter": {"available": False, "reason": _NO_DEVICE},
    "gpu": {"available": False, "reason": _NO_DEVICE, "names": [], "target": None},
}
#: Measurements that the page reads in another form: samples by line, files one by one.
_OTHER_FORM = ("samples", "files")
_TABLES = ("sweep", "autotuning")
#: The parts that may be left out, in the singular and the plural.
_RUNS = ("run", "runs")
_UNFINISHED = ("unfinished run", "unfinished runs")
_FILES = ("file of a profiler", "files of profilers")


@dataclass(frozen=True)
class RunAnswers:
    """The answers about the runs of a compilation. `has_plots`: Plotly is needed to draw some."""

    answers: list[Answer]
    has_plots: bool


def run_answers(compilation: Record, fetch: Fetch, most_bytes: int = MOST_BYTES) -> RunAnswers:
    """Fetch the answers: runs, newest first, then recorded profiles, closest first, while there is room."""
    listing = fetch(f"{ApiLinks(compilation.id).api}/runs").expect_success()
    collection = _Collection(compilation, fetch, most_bytes)
    index = listing.document()
    for rows in ("runs", "imported", "recordings"):
        index[rows] = [row for row in index[rows] if collection.add(row)]
    collection.add_files()
    index["devices"] = _DEVICES
    index["left_out"] = " ".join(filter(None, (index["left_out"], collection.left_out)))
    return RunAnswers([*collection.answers, json_answer(listing.address, index)], collection.has_plots)


class _Collection:
    """Answers about runs, as many as there is room for."""

    def __init__(self, compilation: Record, fetch: Fetch, most_bytes: int) -> None:
        self.answers: list[Answer] = []
        self.has_plots = False
        self._compilation = compilation
        self._fetch = fetch
        self._most_bytes = most_bytes
        self._room_bytes = most_bytes
        self._missing: Counter[tuple[str, str]] = Counter()
        self._added: list[str] = []

    def add(self, row: dict[str, Any]) -> bool:
        """Add the answers about a run of the listing; return whether there was room for them."""
        if not is_over(row["status"]):
            self._missing[_UNFINISHED] += 1
            return False
        has_plots, answers = self._fetch_run(row)
        if not self._add(answers):
            self._missing[_RUNS] += 1
            return False
        self.has_plots |= has_plots
        self._added.append(row["api"])
        return True

    def add_files(self) -> None:
        """Add the profilers' files of the runs while there is room."""
        for api in self._added:
            files = self._fetch(f"{api}/files").expect_success().document()
            files["files"] = [file for file in files["files"] if self._add_file(api, file["name"])]
            self.answers.append(json_answer(f"{api}/files", files))

    @property
    def left_out(self) -> str:
        """The parts that are left out of the page, and why; "" if the page is complete."""
        missing = [
            f"{count} {several if count > 1 else one}"
            for (one, several), count in self._missing.items()
            if count
        ]
        if not missing:
            return ""
        megabytes = f"{self._most_bytes / 1_000_000:g} MB"
        return f"This page holds at most {megabytes} of finished runs. Left out: {', '.join(missing)}."

    def _fetch_run(self, row: dict[str, Any]) -> tuple[bool, list[Answer]]:
        """Return whether the run has plots, and all answers about the run except the answers of its files."""
        api, query = row["api"], f"?compilation={self._compilation.id}"
        names = [measurement["name"] for measurement in row["measurements"]]
        tables = [name for name in names if name in _TABLES]
        addresses = [f"{api}{query}"]
        addresses += [each["url"] for each in row["measurements"] if each["name"] not in _OTHER_FORM]
        addresses += [f"{api}/{name}.csv" for name in tables]
        if "samples" in names:
            addresses.append(f"{api}/heat{query}")
        roofline = self._fetch(f"{api}/roofline{query}")
        has_dots = roofline.status == 200 and bool(roofline.document()["dots"])
        return has_dots or bool(tables), [roofline, *map(self._fetch, addresses)]

    def _add_file(self, api: str, name: str) -> bool:
        """Add a file of a profiler, if it can be read and there is room."""
        answer = self._fetch(f"{api}/files/{quote(name, safe='')}")
        if answer.status != 200:  # the code of the run may have forged it
            return False
        has_room = self._add([answer])
        self._missing[_FILES] += not has_room
        return has_room

    def _add(self, answers: list[Answer]) -> bool:
        size_bytes = sum(len(gzip.compress(answer.body)) * 4 // 3 for answer in answers)
        if size_bytes > self._room_bytes:
            return False
        self._room_bytes -= size_bytes
        self.answers += answers
        return True
