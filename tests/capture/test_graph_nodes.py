"""Test the kernels of `torch.compile` in a capture: their graph nodes, and the lines of the program."""

import json
from typing import Any

import msgspec
import pytest
from captured import kernels_of

from explorer.capture.graphs import GraphFile, GraphKernels
from explorer.capture.readers.bodies import request_of
from explorer.model import Inspection, Request, Stage
from explorer.model.source_lines import SourceLines
from explorer.pipeline.job import perform

pytestmark = pytest.mark.slow

PROGRAM = """\
import torch

def shifted(x):
    return x - x.amax(1, keepdim=True)

@torch.compile
def softmax(x):
    e = torch.exp(shifted(x))
    return e / e.sum(1, keepdim=True)

x = torch.randn(1024, 512, device="cuda", requires_grad=True)
softmax(x).sum().backward()
"""


@pytest.fixture(scope="module")
def program(capture):
    ended = capture(PROGRAM)
    assert ended.status == 0, ended.errors
    return ended


@pytest.mark.nightly
def test_the_nodes_of_a_captured_kernel_lead_to_the_lines_of_the_program(program):
    passes = set()
    for kernel in kernels_of(program.folder):
        assert kernel.files == {"program.py": PROGRAM}
        _, body = request_of(kernel, is_compiled=False)
        assert body["files"] == kernel.files
        request = Request(
            kernel.file.script,
            "cuda:90",
            "",
            kernel=kernel.file.kernel,
            task="captured",
            captured=kernel.captured,
            files=kernel.files,
        )
        events: list[Any] = []
        perform(request, events.append)
        (inspection,) = [event for event in events if isinstance(event, Inspection)]
        (described,) = [each for each in inspection.kernels if each.name == kernel.file.kernel]
        lines = SourceLines.of(request)
        places = {(node.operation, lines.place(node.line)) for node in described.graph_nodes if node.line}
        assert ("aten.sub.Tensor", ("program.py", 4)) in places
        assert ("aten.div.Tensor", ("program.py", 9)) in places
        assert "f32[1024, 512]" in {node.output for node in described.graph_nodes}
        passes |= {node.is_backward for node in described.graph_nodes}
        (machine_code,) = [event for event in events if isinstance(event, Stage) and event.name == "sass"]
        frames = {frame for each in machine_code.locations for frame in each.frames}
        assert {4, 9} <= {frame.line for frame in frames if frame.file == "program.py"}
    assert passes == {False, True}


@pytest.mark.nightly
def test_a_graph_from_the_cache_of_inductor_has_the_nodes_that_its_output_code_names(program):
    (path, *_) = (program.folder / "graphs").iterdir()
    graph = msgspec.json.decode(path.read_bytes(), type=GraphFile)
    code = (program.folder / "blobs" / graph.code).read_text()
    graphs = GraphKernels()
    graphs.add(msgspec.structs.replace(graph, nodes={}, files={}), code, lambda digest: "")
    scripts = [json.loads(each.read_text()) for each in (program.folder / "kernels").iterdir()]
    completed = [graphs.complete(each["kernel"], each["script"]) for each in scripts]
    changed = [text for (text, _), each in zip(completed, scripts, strict=True) if text != each["script"]]
    (text,) = changed
    assert "'aten.div.Tensor', '', 'f32[1024, 512]', ('', 0)" in text
    assert all(files == {} for _, files in completed)


def test_a_kernel_of_another_graph_with_the_same_name_is_not_taken(program):
    (path, *_) = (program.folder / "graphs").iterdir()
    graph = msgspec.json.decode(path.read_bytes(), type=GraphFile)
    code = (program.folder / "blobs" / graph.code).read_text()
    graphs = GraphKernels()
    graphs.add(graph, code.replace("xnumel = 1024", "xnumel = 2048"), lambda digest: "")
    for each in (program.folder / "kernels").iterdir():
        document = json.loads(each.read_text())
        assert graphs.complete(document["kernel"], document["script"]) == (document["script"], {})


def test_a_damaged_graph_is_named_and_the_kernels_are_read(program, tmp_path):
    from explorer.capture.read import CaptureReader, Damaged

    for name in ("blobs", "kernels", "processes"):
        (tmp_path / name).mkdir()
    for path in program.folder.glob("*/*"):
        if path.parent.name != "graphs":
            (tmp_path / path.parent.name / path.name).write_bytes(path.read_bytes())
    (tmp_path / "capture.json").write_bytes((program.folder / "capture.json").read_bytes())
    count = len(kernels_of(program.folder))
    assert [each.files for each in kernels_of(tmp_path)] == [{}] * count  # an older capture
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "torn.json").write_text('{"version": 1')
    first, *rest = CaptureReader(tmp_path).kernels()
    assert isinstance(first, Damaged)
    assert first.name == "graphs/torn.json"
    assert len(rest) == count
