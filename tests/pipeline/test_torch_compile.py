"""Test programs with `torch.compile`, whose kernels PyTorch's compiler writes."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.model import Diagnostic, Inspection, Log, Progress, Request, Specialized, Stage
from explorer.model.source_lines import SourceLines
from explorer.pipeline import time_limit
from explorer.pipeline.job import perform
from explorer.pipeline.module import ON_CPU, UNMEASURED

pytestmark = pytest.mark.slow

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "torch_compile.md"


def performed(request):
    events: list[Any] = []
    perform(request, events.append)
    return events


def one(events, kind):
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


def test_the_program_of_the_documentation_leads_to_the_kernels_of_its_compiler():
    program = re.findall(r"```python\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)[0]
    lines = program.splitlines()
    events = performed(Request(program, "cuda:90", "", path="program.py", task="inspect"))
    assert [event for event in events if isinstance(event, Diagnostic)] == []
    code = one(events, Inspection).output_code
    assert code.files == {"program.py": program}

    kernel = next(
        name for name in re.findall(r"^(triton_\w+) = ", code.source, re.MULTILINE) if "exp" in name
    )
    events = performed(Request(code.source, "cuda:90", "", kernel=kernel, path=code.path, files=code.files))
    found = one(events, Inspection)
    assert [launch.kernel for launch in found.launches] == [kernel.name for kernel in found.kernels]
    assert {launch.grid for launch in found.launches} != {None}
    assert "triton_per_fused_native_layer_norm_0" in {kernel.name for kernel in found.kernels}
    fused = next(kernel.name for kernel in found.kernels if "gelu" in kernel.name)
    assert "add" in fused  # `x + y` is in the kernel of gelu: the assertion between them breaks no graph.
    assert events[-1].status == "complete"
    assert one(events, Specialized).arguments[0].shape == (1024, 512)

    stages = {event.name: event for event in events if isinstance(event, Stage)}
    for name in ("ttir", "ttgir", "sass"):
        stage = stages[name]
        origins = {
            frame.line
            for line in stage.line_locations
            for index in line
            for frame in stage.locations[index].frames
            if frame.file == "program.py"
        }
        softmax = {
            number for number, line in enumerate(lines, 1) if "e = torch.exp" in line or "return e" in line
        }
        assert origins == softmax


STREAMS = """\
import torch

given = torch.cuda.Stream()

@torch.compile
def f(x):
    own, begin, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event()
    begin.record()
    own.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(own):
        y = x * 2
    given.record_event(end)
    torch.cuda.current_stream().wait_event(end)
    torch.cuda.current_stream().wait_stream(own)
    y.record_stream(own)
    return y + 1

f(torch.randn(1024, device="cuda"))
"""


def test_streams_and_events_in_a_compiled_function_are_compiled():
    events = performed(Request(STREAMS, "cuda:90", "", path="program.py", task="inspect"))
    assert [event for event in events if isinstance(event, Diagnostic)] == []
    assert "triton_poi_fused_add" in one(events, Inspection).output_code.source


TRAINING = """\
import torch

linear = torch.nn.Linear(256, 384).cuda().half()

@torch.compile(mode="max-autotune")
def layer(x):
    return torch.relu(linear(x))

x = torch.randn(1024, 256, device="cuda", dtype=torch.float16)
layer(x).sum().backward()
"""


@pytest.mark.nightly
def test_kernels_of_the_backward_pass_and_of_templates_have_their_graph_nodes():
    events = performed(Request(TRAINING, "cuda:90", "", path="train.py", task="inspect"))
    assert [event.message for event in events if isinstance(event, Diagnostic)] == [UNMEASURED]
    code = one(events, Inspection).output_code
    product = next(name for name in re.findall(r"^(triton_tem_\w+) = ", code.source, re.MULTILINE))
    events = performed(Request(code.source, "cuda:90", "", kernel=product, path=code.path, files=code.files))
    assert events[-1].status == "complete"
    found = one(events, Inspection)
    kernels = {kernel.name: kernel for kernel in found.kernels}
    lines = SourceLines(code.source, code.path, code.files)

    nodes = {node.operation: node for node in kernels[product].graph_nodes}
    assert lines.place(nodes["aten.addmm.default"].line) == ("train.py", 7)
    assert nodes["aten.addmm.default"].output == "f16[1024, 384]"
    assert not any(node.is_backward for node in nodes.values())
    (launch,) = [launch for launch in found.launches if launch.kernel == product]
    assert launch.grid == (8 * 2, 1, 1)  # Tiles of 128 x 256.

    backward = [kernel for kernel in kernels.values() if any(node.is_backward for node in kernel.graph_nodes)]
    operations = {(node.operation, lines.place(node.line)) for each in backward for node in each.graph_nodes}
    assert ("aten.mm.default", ("train.py", 7)) in operations
    assert ("aten.sum.dim_IntList", ("train.py", 7)) in operations
    assert {launch.kernel for launch in found.launches} == set(kernels)


def test_a_program_with_a_kernel_of_its_own_is_not_compiled():
    program = (
        "import torch, triton\n@triton.jit\ndef nothing(x):\n    pass\n"
        "torch.compile(torch.sin)(torch.ones(8, device='cuda'))\n"
    )
    found = one(performed(Request(program, "cuda:90", "", task="inspect")), Inspection)
    assert (len(found.kernels), found.output_code) == (1, None)


def test_a_function_that_cannot_be_compiled_is_executed_and_the_reason_is_told():
    program = (
        "import torch\ndef twice(x):\n    print('here')\n    return x * 2\n"
        "torch.compile(twice, fullgraph=True)(torch.ones(8, device='cuda'))\n"
    )
    events = performed(Request(program, "cuda:90", ""))
    warning = next(each for each in events if isinstance(each, Diagnostic) and each.severity == "warning")
    assert warning.message.startswith(
        "twice is executed without torch.compile, which fails here: Unsupported"
    )
    assert one(events, Log).text == "here\n"
    assert one(events, Inspection).output_code is None
    assert events[-1].status == "failed"


ON_THE_CPU = """\
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64))

@torch.compile
def twice(x):
    return torch.cat([torch.tensor([], device=x.device), x.flatten()]) * torch.tensor(2.0, device=x.device)

twice(torch.compile(model)(torch.randn(8, 64)))
"""


def test_a_program_for_the_cpu_is_compiled_for_the_gpu():
    events = performed(Request(ON_THE_CPU, "cuda:90", "", task="inspect"))
    assert [event.message for event in events if isinstance(event, Diagnostic)] == [ON_CPU]
    kernels = re.findall(r"^(triton_\w+) = ", one(events, Inspection).output_code.source, re.MULTILINE)
    for operation in ("batch_norm", "mul"):
        assert any(operation in name for name in kernels)
    reported = [event.text for event in events if isinstance(event, Progress)]
    assert "torch.compile: compiling Sequential" in reported
    assert reported[-1] == f"Kernels so far: {len(kernels)}"


def test_what_a_package_registers_remains_for_the_next_execution(tmp_path, monkeypatch):
    (tmp_path / "made_up_operators.py").write_text(
        "import torch\nlibrary = torch.library.Library('made_up_operators', 'DEF')\n"
        "library.define('same(Tensor x) -> Tensor')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    own = "import torch, made_up_operators\nown = torch.library.Library('made_up_by_the_script', 'DEF')\n"
    own += "own.define('same(Tensor x) -> Tensor')\n"
    for _ in range(2):
        events = performed(Request(own, "cuda:90", "", task="inspect"))
        assert [event for event in events if isinstance(event, Diagnostic)] == []
        assert hasattr(torch.ops.made_up_operators, "same")
        assert not hasattr(torch.ops.made_up_by_the_script, "same")


# The stop may come while a callback of the garbage collector is executed, which reports it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.nightly
def test_a_program_that_takes_too_long_keeps_its_kernels_and_names_the_capture(monkeypatch):
    monkeypatch.setattr(time_limit, "_script_seconds", 8.0)
    program = (
        "import torch, time\n@torch.compile\ndef twice(x):\n    return x * 2\n"
        "twice(torch.ones(8, device='cuda'))\ntime.sleep(60)\n"
    )
    events = performed(Request(program, "cuda:90", "", path="train.py"))
    (stop,) = [each for each in events if isinstance(each, Diagnostic) and "stopped" in each.message]
    assert stop.message == "The script was stopped after 8 seconds. The kernels until then are kept."
    command = "triton-explorer capture --target cuda:90 --output kernels -- python train.py"
    assert (stop.severity, stop.line, command in stop.hint) == ("note", 6, True)
    assert one(events, Inspection).output_code.kernels == ("triton_poi_fused_mul_0",)
    assert events[-1].status == "kernels_found"
