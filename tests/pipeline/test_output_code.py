"""Test output code of PyTorch's compiler, and scripts that use what only a real GPU has."""

from typing import Any

import pytest
import torch

from explorer.model import AssumedNumber, Diagnostic, Inspection, Request, Specialized, Stage
from explorer.model.hardware import find_target
from explorer.model.source_lines import SourceLines
from explorer.pipeline.fake_gpu import fake_gpu
from explorer.pipeline.job import perform
from explorer.pipeline.module import load

HOPPER = find_target("cuda:90")

KERNEL = """\
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
triton_helpers.set_driver_to_gpu()

@triton_heuristics.pointwise(
    size_hints={'x': 4096},
    filename=__file__,
    triton_meta={'signature':
            {'in_ptr0': '*fp16', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'},
        'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9,
            regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=32),
        'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_scaled_0', 'mutated_arg_names': []},
    min_elem_per_thread=0,
)
@triton.jit
def triton_poi_scaled_0(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    index = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    x = tl.load(in_ptr0 + index, index < xnumel).to(tl.float32)
    tl.store(out_ptr0 + index, x * 2.0, index < xnumel)
"""

OUTPUT_CODE = f"""\
import torch
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
async_compile = AsyncCompile()

triton_poi_scaled_0 = async_compile.triton('triton_poi_scaled_0', '''
{KERNEL}''', device_str='cuda')

async_compile.wait(globals())

def call(args):
    with torch.cuda._DeviceGuard(0):
        product = empty_strided_cuda((60, 50), (50, 1), torch.float16)
        extern_kernels.mm(args[0], args[1], out=product)
        out = empty_strided_cuda((60, 50), (50, 1), torch.float32)
        triton_poi_scaled_0.run(product, out, 3000, stream=get_raw_stream(0))
    return out

def benchmark(times, repeat):
    from torch._dynamo.testing import rand_strided
    from torch._inductor.utils import print_performance
    args = [rand_strided(shape, (shape[1], 1), device='cuda:0', dtype=torch.float16)
            for shape in ((60, 40), (40, 50))]
    return print_performance(lambda: call(args), times=times, repeat=repeat)

if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    compiled_module_main('None', benchmark)
"""


def performed(source):
    events: list[Any] = []
    perform(Request(source, "cuda:90", ""), events.append)
    assert [e for e in events if isinstance(e, Diagnostic) and e.severity == "error"] == []
    assert events[-1].status == "complete"
    return events


def one(events, kind):
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


@pytest.mark.slow
def test_output_code_is_compiled_as_its_compiler_would():
    events = performed(OUTPUT_CODE)
    (kernel,) = one(events, Inspection).kernels
    (launch,) = one(events, Inspection).launches
    line = OUTPUT_CODE[: OUTPUT_CODE.index("def triton_poi_scaled_0(")].count("\n") + 1
    assert (kernel.name, kernel.line) == ("triton_poi_scaled_0", line)
    block = kernel.configs[0].arguments["XBLOCK"]
    assert launch.grid == (-(-3000 // block), 1, 1)
    arguments = one(events, Specialized).arguments
    assert [argument.type for argument in arguments] == ["*fp16", "*fp32", "i32", "constexpr"]
    assert [argument.specialization for argument in arguments[:3]] == ["divisible by 16"] * 2 + [""]
    assert arguments[0].shape == (60, 50)
    stages = {event.name: event for event in events if isinstance(event, Stage)}
    assert "FunctionDef" in stages["ast"].text
    lines = {
        frame.line for location in stages["ttir"].locations for frame in location.frames if not frame.file
    }
    assert line + 1 in lines


def test_a_kernel_of_output_code_without_its_launch_is_compiled_from_its_decorator():
    found = load(KERNEL, HOPPER)
    assert [kernel.info.name for kernel in found.kernels] == ["triton_poi_scaled_0"]
    assert [launch.info.grid for launch in found.launches] == [None]
    assert found.launches[0].recorded.signature["in_ptr0"] == "*fp16"


SCALE = """\
import torch, triton
import triton.language as tl

@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * n)

x = torch.randn(64, device="cuda")
"""


def test_an_operator_of_pytorch_is_replaced_by_a_kernel():
    found = load(
        SCALE
        + "def rms_norm(x, shape, weight=None, eps=None):\n"
        + "    y = torch.empty_like(x)\n    scale[(1,)](y, 3, BLOCK=64)\n    return y\n"
        + "lib = torch.library.Library('aten', 'IMPL')\n"
        + "lib.impl('aten::rms_norm', rms_norm, 'CUDA')\n"
        + "torch.nn.functional.rms_norm(x, (64,))\n",
        HOPPER,
    )
    assert found.diagnostics == []
    assert len(found.launches) == 1
    with fake_gpu(HOPPER) as recorder:
        torch.nn.functional.rms_norm(torch.empty(64, device="cuda"), (64,))
        assert recorder.launches == []


def test_a_script_reads_the_machine_code_of_its_launch():
    found = load(SCALE + "print('EXIT' in scale[(1,)](x, 3, BLOCK=64).asm['sass'])\n", HOPPER)
    assert found.diagnostics == []
    assert found.output == "True\n"


#: The stop may come while a callback of the garbage collector is executed, which reports it.
MAY_BE_IGNORED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def short_time(monkeypatch):
    """Half a second for a script, without what the first script of a process imports."""
    assert load(SCALE + "scale[(1,)](x, 3, BLOCK=64)\n", HOPPER).diagnostics == []
    monkeypatch.setattr("explorer.pipeline.time_limit._script_seconds", 0.5)


@MAY_BE_IGNORED
@pytest.mark.usefixtures("short_time")
def test_a_script_that_takes_long_is_stopped_and_its_launches_are_kept():
    found = load(SCALE + "while True:\n    scale[(1,)](x, 3, BLOCK=64)\n", HOPPER)
    (note,) = found.diagnostics
    assert note.severity == "note"
    assert "stopped after 0.5 seconds. Its launches until then are kept." in note.message
    assert len(found.launches) == 1


@MAY_BE_IGNORED
@pytest.mark.usefixtures("short_time")
def test_a_line_that_takes_long_is_named_and_not_marked():
    found = load(SCALE + "while True: pass\n", HOPPER)
    (error,) = found.diagnostics
    assert error.message == (
        "The script was stopped after 0.5 seconds. It had made no launch. "
        f"Line {SCALE.count(chr(10)) + 1} of the source was being executed."
    )
    assert (error.severity, error.line) == ("error", 0)


@MAY_BE_IGNORED
@pytest.mark.usefixtures("short_time")
def test_a_script_is_stopped_although_a_finalizer_has_ignored_it():
    finalizer = "import time\nclass Slow:\n    def __del__(self):\n        time.sleep(0.9)\nSlow()\n"
    found = load(SCALE + finalizer + "while True: pass\n", HOPPER)
    (error,) = found.diagnostics
    assert f"Line {(SCALE + finalizer).count(chr(10)) + 1} of the source" in error.message


@pytest.mark.slow
@pytest.mark.usefixtures("short_time")
def test_a_script_may_wait_for_a_processor(monkeypatch):
    clock = iter([0.0, 0.1])
    monkeypatch.setattr("explorer.pipeline.script.own_seconds", lambda: next(clock, 0.2))
    found = load(SCALE + "import time\ntime.sleep(0.9)\nscale[(1,)](x, 3, BLOCK=64)\n", HOPPER)
    assert found.diagnostics == []
    assert len(found.launches) == 1


def test_an_assumed_number_is_named_on_its_line():
    found = load(
        SCALE
        + "scale[(1,)](x, 3, BLOCK=64)\nn = x.to(torch.int32).sum().item()\nscale[(1,)](x, n, BLOCK=32)\n",
        HOPPER,
    )
    (note,) = found.diagnostics
    assert note.line == 11
    assert "is assumed" in note.message
    assert len(found.launches) == 2
    n = found.launches[1].recorded.bound_arguments["n"]
    assert found.assumed == (AssumedNumber("11", 11, n),)


READS = "def size(x):\n    return x.new_empty(3, dtype=torch.int32).sum().item()\nimport torch\n"


def test_a_requested_number_is_taken_in_place_of_the_assumed_one():
    source = f"{SCALE}from tools import size\nscale[(1,)](x, size(x), BLOCK=64)\n"
    source += "scale[(1,)](x, int(torch.empty_like(x).long().max()), BLOCK=32)\n"
    line = source.count("\n")
    requested = {"tools.py:2": 48, str(line): -5}
    found = load(source, HOPPER, {"tools.py": READS}, "main.py", requested)
    assert [launch.recorded.bound_arguments["n"] for launch in found.launches] == [48, -5]
    numbers = [(each.place, each.value, each.is_given) for each in found.assumed]
    assert numbers == [("tools.py:2", 48, True), (str(line), -5, True)]
    assert SourceLines(source, "main.py", {"tools.py": READS}).place(found.assumed[0].line) == ("tools.py", 2)
