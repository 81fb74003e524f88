"""The runs in a saved file: what the panes ask about those of a compilation, as the API answers it.

How much there may be of them is limited, so that the file can be sent to somebody. A run is there with all of
its documents or not at all; the profilers' own files, which are only to be kept, may be missing.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote

import msgspec

from explorer.errors import NotAnswerable, StoreError
from explorer.recordings import Recording
from explorer.run_documents import (
    DeviceDocument,
    DevicesDocument,
    GpusDocument,
    RunRow,
    RunsDocument,
    run_document,
    run_row,
)
from explorer.run_files import (
    FileRow,
    FilesDocument,
    autotuning_table,
    files_document,
    profile_file,
    sweep_table,
)
from explorer.services import Services
from explorer.store import Record
from explorer.views.links import ApiLinks
from explorer.views.problems import Problem
from explorer.views.recording import Answer
from explorer.views.run_analyses import heat_document, roofline_document
from explorer.views.runs import LINKS, MOST_RUNS

#: What the answers about all runs may take in a file.
MOST_PACKED_BYTES = 2_000_000
_NOT_HERE = "Nothing can be run in a file. Open the result on its server to run the kernel."
_DEVICES = DevicesDocument(DeviceDocument(False, _NOT_HERE), GpusDocument(False, _NOT_HERE, []))
#: Asked for in another form: samples on the lines of a compilation, files without their data.
_OTHER_FORM = ("samples", "files")
_TABLES = {"sweep": sweep_table, "autotuning": autotuning_table}
#: What is not in a file: one of them, and several.
_RUNS = ("run", "runs")
_UNFINISHED = ("run that was under way", "runs that were under way")
_FILES = ("file of a profiler", "files of profilers")


@dataclass(frozen=True)
class SavedRuns:
    """The answers about the runs of a compilation; `has_plots`: some of them are drawn by Plotly."""

    answers: list[Answer]
    has_plots: bool


def saved_runs(compilation: Record, services: Services) -> SavedRuns:
    """Collect them: those made here, the newest first, then recordings, the closest first."""
    collection = _Collection(compilation, services)
    runs = [services.queue.latest(run) for run in services.store.runs(compilation.request, MOST_RUNS)]
    recordings = [recording for recording, _ in services.recordings.matching(compilation)]
    rows = [row for run in runs if (row := collection.add(run)) is not None]
    recorded = [row for each in recordings if (row := collection.add(each.record, each)) is not None]
    collection.add_files()
    document = RunsDocument(rows, recorded, _DEVICES, collection.left_out)
    index = _json(f"{ApiLinks(compilation.id).api}/runs", document)
    return SavedRuns([*collection.answers, index], collection.has_plots)


class _Collection:
    """Answers about runs, as many as there is room for."""

    def __init__(self, compilation: Record, services: Services) -> None:
        self.answers: list[Answer] = []
        self.has_plots = False
        self._compilation = compilation
        self._services = services
        self._room_bytes = MOST_PACKED_BYTES
        self._missing: Counter[tuple[str, str]] = Counter()
        self._taken: list[Record] = []

    def add(self, run: Record, recording: Recording | None = None) -> RunRow | None:
        """Take a run, and say how it is listed; None: it is left out."""
        if not run.is_finished:
            self._missing[_UNFINISHED] += 1
            return None
        has_plots, answers = self._answers(run, recording)
        if not self._take(answers):
            self._missing[_RUNS] += 1
            return None
        self.has_plots |= has_plots
        self._taken.append(run)
        return run_row(run, LINKS, self._compilation, recording=recording)

    def add_files(self) -> None:
        """Take the files of the runs, as far as these have left room for them."""
        for run in self._taken:
            files = FilesDocument([row for row in files_document(run).files if self._take_file(run, row)])
            self.answers.append(_json(f"{LINKS.run(run.id)}/files", files))

    @property
    def left_out(self) -> str:
        """What is not in the file, and why; "" when all is."""
        missing = [
            f"{count} {several if count > 1 else one}"
            for (one, several), count in self._missing.items()
            if count
        ]
        if not missing:
            return ""
        limit = f"{MOST_PACKED_BYTES // 1_000_000} MB of runs that are done"
        return f"Not in this file, which holds at most {limit}: {', '.join(missing)}."

    def _answers(self, run: Record, recording: Recording | None) -> tuple[bool, list[Answer]]:
        """Whether there is something to plot, and all answers about a run but for its files."""
        api, query = LINKS.run(run.id), f"?compilation={self._compilation.id}"
        roofline = roofline_document(self._services, run, self._compilation)
        answers = [
            _json(f"{api}{query}", run_document(run, LINKS, self._compilation, recording=recording)),
            _json(f"{api}/roofline{query}", roofline),
        ]
        names = list(run.result.measurements)
        answers += [
            Answer(LINKS.measurement(run.id, name), run.measurement(name))
            for name in names
            if name not in _OTHER_FORM
        ]
        tables = [name for name in names if name in _TABLES]
        answers += [Answer(f"{api}/{name}.csv", _TABLES[name](run).encode()) for name in tables]
        if "samples" in names:
            answers.append(_heat(f"{api}/heat{query}", run, self._compilation))
        return bool(roofline.dots or tables), answers

    def _take_file(self, run: Record, row: FileRow) -> bool:
        """Take a file of a profiler, if there is room and it is sound."""
        try:
            data = profile_file(run, row.name)
        except StoreError:  # a run's own code may have forged it
            return False
        is_taken = self._take([Answer(f"{LINKS.run(run.id)}/files/{quote(row.name, safe='')}", data)])
        self._missing[_FILES] += not is_taken
        return is_taken

    def _take(self, answers: list[Answer]) -> bool:
        packed_bytes = sum(len(gzip.compress(answer.body)) * 4 // 3 for answer in answers)
        if packed_bytes > self._room_bytes:
            return False
        self._room_bytes -= packed_bytes
        self.answers += answers
        return True


def _heat(address: str, run: Record, compilation: Record) -> Answer:
    try:
        return _json(address, heat_document(run, compilation))
    except NotAnswerable as error:
        return _json(address, Problem.of(error), error.status)


def _json(address: str, document: msgspec.Struct, status: int = 200) -> Answer:
    return Answer(address, msgspec.json.encode(document), status)
