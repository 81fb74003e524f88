"""Test recorded samples against the profiler's sums for each source line."""

from pathlib import Path

import msgspec
import pytest

from explorer.analysis.assembly.heat import heat
from explorer.model import Request
from explorer.model.measurements import Samples
from explorer.queries.stage_lines import source_lines

RECORDED = Path(__file__).parents[1] / "analysis/recorded"


@pytest.mark.parametrize(
    ("name", "by_line"),
    [
        # What `ncu --page source --print-source cuda,sass` says of each line of the file.
        ("vector_add", {16: 70, 17: 7371, 18: 90, 19: 2850, 20: 1252, 21: 80930}),
        ("matmul", {63: 45235, 64: 43502, 65: 13850, 66: 40265}),
    ],
)
def test_source_lines_have_the_samples_that_the_profiler_gives_them(services, name, by_line):
    source = (RECORDED / f"{name}.source.txt").read_text()
    request = Request(source, "cuda:90", services.triton_version("3.6.0"))
    record = services.queue.complete(request)
    samples = msgspec.json.decode((RECORDED / f"{name}.samples.json").read_bytes(), type=Samples)
    stage = record.stage("sass")
    found = heat(samples, record.kernel, record.text(stage.text), source_lines(record, stage))
    assert (found.reason, found.unplaced) == ("", 0)
    assert found.samples == sum(each.samples for each in samples.instructions)
    told = {each.line: each.samples for each in found.source}
    assert {line: told[line] for line in by_line} == by_line
