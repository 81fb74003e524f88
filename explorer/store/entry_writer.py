"""Events in, entries out: texts become blobs, everything else stays as it is."""

from __future__ import annotations

import base64

import msgspec

from explorer.lexers import count_lines
from explorer.model import Binary, Event, Measurement, Pass, Stage
from explorer.store.batches import BlobBatch
from explorer.store.entries import (
    BinaryEntry,
    Entry,
    MeasurementEntry,
    PassEntry,
    StageEntry,
    StageLocations,
)


class EntryWriter:
    """Turns the events of one job into entries and adds their texts to a batch."""

    def __init__(self, batch: BlobBatch) -> None:
        self._batch = batch

    def write(self, event: Event) -> Entry:
        if isinstance(event, Stage):
            return self._write_stage(event)
        if isinstance(event, Pass):
            return self._write_pass(event)
        if isinstance(event, Binary):
            data = base64.b64decode(event.data)
            return BinaryEntry(event.name, len(data), self._batch.add(data), event.milliseconds)
        if isinstance(event, Measurement):
            return MeasurementEntry(event.name, self._batch.add(event.document))
        return event

    def _write_stage(self, stage: Stage) -> StageEntry:
        text = stage.text.encode("utf-8", errors="replace")
        locations = StageLocations(stage.locations, stage.line_locations)
        return StageEntry(
            name=stage.name,
            title=stage.title,
            language=stage.language,
            milliseconds=stage.milliseconds,
            lines=count_lines(stage.text),
            bytes=len(text),
            text=self._batch.add(text),
            raw=None if stage.raw is None else self._batch.add(stage.raw),
            locations=self._batch.add(msgspec.json.encode(locations)),
        )

    def _write_pass(self, compiler_pass: Pass) -> PassEntry:
        return PassEntry(
            index=compiler_pass.index,
            stage=compiler_pass.stage,
            name=compiler_pass.name,
            title=compiler_pass.title,
            options=compiler_pass.options,
            milliseconds=compiler_pass.milliseconds,
            text=None if compiler_pass.text is None else self._batch.add(compiler_pass.text),
            failed=compiler_pass.failed,
            omitted=compiler_pass.omitted,
        )
