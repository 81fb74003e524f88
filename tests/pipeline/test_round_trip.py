"""Test that the unchanged text of any stage gives the same result: gallery × stages × Triton versions."""

from dataclasses import replace

import pytest

from explorer.examples import EXAMPLES
from explorer.model.hardware import TARGETS
from explorer.pipeline.stages import STAGES
from explorer.pipeline.stages.ptx import correct_line_information

#: With layouts, reductions and a loop; and Gluon's own first stage.
REPRESENTATIVES = (("softmax", "cuda:90"), ("softmax", "hip:gfx942"), ("gluon_copy", "cuda:90"))
CASES = [
    pytest.param(
        example,
        target.name,
        id=f"{example}-{target.architecture}",
        marks=() if (example, target.name) in REPRESENTATIVES else pytest.mark.nightly,
    )
    for example in EXAMPLES
    for target in TARGETS
]


@pytest.mark.parametrize(("example", "target"), CASES)
def test_an_unchanged_text_gives_the_same_binary_and_stages(gallery, example, target):
    captured = gallery(example, target)
    editable = [kind.name for kind in STAGES if kind.kernel and kind.name in captured.stages]
    assert len(editable) >= 4
    for stage in editable:
        again = gallery(example, target, stage)
        assert [event.message for event in again.of("diagnostic") if event.severity == "error"] == []
        assert [each.data for each in again.of("binary")] == [each.data for each in captured.of("binary")], (
            stage
        )
        assert again.of("resources") == captured.of("resources"), stage
        for name, original in captured.stages.items():
            edited = replace(again.stages[name], milliseconds=original.milliseconds)
            if name == "ptx":  # An edited text has only the directives that the assembler reads.
                edited = replace(edited, raw=correct_line_information(edited.raw))
                original = replace(original, raw=correct_line_information(original.raw))
            assert edited == original, (stage, name)
