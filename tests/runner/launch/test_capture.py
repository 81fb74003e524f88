"""Test the selection and execution of a script's launch."""

from dataclasses import replace

import pytest

from explorer.model import RunInput

ADD = """
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < size
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def reference(x, y):
    return x + y


"""
INPUTS = (
    RunInput("x_ptr", "*fp16", ("n",)),
    RunInput("y_ptr", "*fp16", ("n",), distribution="uniform"),
    RunInput("out_ptr", "*fp16", ("n",)),
    RunInput("size", "i32", None, "n"),
    RunInput("BLOCK", "constexpr", None, "64"),
)
SEVERAL = """
@triton.jit
def scale(x_ptr, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * factor)


@triton.jit
def shift(x_ptr, amount):
    tl.store(x_ptr, tl.load(x_ptr) + amount)


x = torch.ones(256, device="cuda")
scale[(4,)](x, 2.0, BLOCK=64)
scale[(4,)](x, 3.0, BLOCK=64)
shift[(1,)](x, 5.0)
scale[(2,)](x, 2.0, BLOCK=128)
print(x[0].item())
"""
AUTOTUNED = """
@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=8)], key=["size"]
)
@triton.jit
def fill(x_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < size)


x = torch.zeros(1000, device="cuda")
fill[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, 1000)
assert bool((x == 1).all())
"""
BENCHMARK = """
def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out


@triton.testing.perf_report(triton.testing.Benchmark(
    x_names=["size"], x_vals=[300, 100, 200], line_arg="provider", line_vals=["torch", "triton"],
    line_names=["PyTorch", "Triton"], plot_name="add", args={},
))
def benchmark(size, provider):
    x, y = torch.randn(size, device="cuda"), torch.randn(size, device="cuda")
    run = {"triton": lambda: add(x, y), "torch": lambda: x + y}[provider]
    return triton.testing.do_bench(run, quantiles=[0.5, 0.2, 0.8])


if __name__ == "__main__":
    raise SystemExit("what the script does when it is started is not wanted here")
"""


def arguments(told):
    return {argument["name"]: argument for argument in told.launch["arguments"]}


def test_the_first_launch_is_taken(interpret):
    told = interpret(SEVERAL)
    assert told.status == "complete"
    assert told.launch["kernel"] == "scale"
    assert told.launch["grid"] == [4, 1, 1]
    assert told.launch["line"] == 17
    assert arguments(told)["x_ptr"] == {
        "name": "x_ptr", "type": "*fp32", "value": None, "shape": [256], "strides": [1]
    }  # fmt: skip
    assert arguments(told)["BLOCK"]["value"] == 64
    assert told.log == "22.0\n"  # all launches are really made


@pytest.mark.parametrize(
    ("launch", "kernel", "line", "grid"),
    [(0, "scale", 17, [4, 1, 1]), (1, "shift", 19, [1, 1, 1]), (2, "scale", 20, [2, 1, 1])],
)
def test_launches_are_numbered_as_when_they_are_compiled(interpret, launch, kernel, line, grid):
    """Each kernel runs once per specialization; the second launch equals the first."""
    told = interpret(SEVERAL, request={"launch": launch})
    taken = told.launch
    assert (taken["kernel"], taken["line"], taken["grid"]) == (kernel, line, grid)


def test_a_kernel_can_be_named(interpret):
    assert interpret(SEVERAL, request={"kernel": "shift"}).launch["line"] == 19


def test_a_launch_that_is_not_there(interpret):
    told = interpret(SEVERAL, request={"launch": 7})
    assert told.status == "failed"
    assert "The source has no launch 7: it makes 3 launches." in told.errors[0]["message"]


def test_output_code_is_refused_with_what_to_do(interpret):
    told = interpret("from torch._inductor.async_compile import AsyncCompile\n")
    assert told.status == "failed"
    (error,) = told.errors
    assert "cannot launch the kernels of output code" in error["message"]
    assert "kernel[grid](…)" in error["hint"]


def test_autotuned_kernels_run_one_configuration(interpret):
    told = interpret(AUTOTUNED)
    assert (told.launch["config"], told.launch["grid"]) == (0, [16, 1, 1])
    told = interpret(AUTOTUNED, request={"config": 1, "options": {"num_stages": 5}})
    assert told.status == "complete"
    assert (told.launch["config"], told.launch["grid"]) == (1, [8, 1, 1])
    assert told.launch["options"] == {"num_warps": 8, "num_stages": 5, "num_ctas": 1}
    assert told.errors == []


def test_heuristics(interpret):
    told = interpret("""
@triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["size"])})
@triton.jit
def fill(x_ptr, size, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0, mask=tl.arange(0, BLOCK) < size)


fill[(1,)](torch.zeros(100, device="cuda"), 100)
""")
    assert arguments(told)["BLOCK"]["value"] == 128


def test_what_was_compiled_before_can_be_launched(interpret):
    """Triton's softmax tutorial does this to find the kernel's number of registers."""
    told = interpret("""
@triton.jit
def fill(x_ptr, value, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)


x = torch.zeros(128, device="cuda")
kernel = fill.warmup(x, 2.5, BLOCK=64, grid=(1,))
kernel._init_handles()
assert kernel.n_regs > 0
kernel[(2, 1, 1)](x, 2.5, 64)
assert bool((x == 2.5).all())
""")
    assert told.errors == []
    assert told.launch["grid"] == [2, 1, 1]


def test_what_the_kernel_says_of_itself_is_stated(interpret):
    told = interpret("""
def metadata(grid, kernel, arguments):
    return {"name": "fill", "bytes": arguments["size"] * 4, "flops32": 0.5}


@triton.jit(launch_metadata=metadata)
def fill(x_ptr, size, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


fill[(1,)](torch.zeros(64, device="cuda"), 64, BLOCK=64)
""")
    assert told.launch["stated"] == {"bytes": 256.0, "flops32": 0.5}


def test_what_is_no_number_is_not_stated_and_no_more_than_there_are_kinds_of_work(interpret):
    told = interpret("""
def metadata(grid, kernel, arguments):
    odd = {"bytes": float("inf"), "flops": float("nan"), "flops8": 10**400, "flops16": True}
    return {**odd, **{f"flops{number}": number for number in range(100, 300)}}


@triton.jit(launch_metadata=metadata)
def fill(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


fill[(1,)](torch.zeros(64, device="cuda"), BLOCK=64)
""")
    assert told.errors == []
    assert told.launch["stated"] == {f"flops{number}": number for number in range(100, 200)}


def test_the_script_finds_a_gpu(interpret):
    told = interpret("""
device = triton.runtime.driver.active.get_active_torch_device()
assert torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
x = torch.arange(8).cuda()
assert x.is_cuda and x.device == device and x.to("cpu").tolist() == list(range(8))
with torch.device("cuda"):
    y = torch.ones(8)
z = x.to(torch.float32).to(device, torch.float16) + torch.full_like(y, 2, device="cuda:0")
before = z.cpu()
z += torch.randn(8, generator=torch.Generator(device="cuda").manual_seed(0), device=device)
assert not torch.equal(before, z) and before.tolist() == [float(each) for each in range(2, 10)]
torch.cuda.synchronize()


@triton.jit
def copy(x_ptr, y_ptr):
    tl.store(y_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.arange(0, 8)))


copy[(1,)](z, y)
""")
    assert told.errors == []
    assert told.status == "complete"


def test_custom_operators_and_backward_passes(interpret):
    told = interpret("""
@triton.jit
def double(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, 2 * tl.load(x_ptr + offsets))


@torch.library.custom_op("measure_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(x.shape, device="cuda")
    double[(1,)](x, y, BLOCK=64)
    return y


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return twice(x)

    @staticmethod
    def backward(ctx, gradient):
        out = torch.empty(64, device="cuda")
        double[(1,)](gradient.contiguous(), out, BLOCK=64)
        return out


x = torch.randn(64, device="cuda", requires_grad=True)
Twice.apply(x).sum().backward()
torch.testing.assert_close(x.grad, torch.full((64,), 2.0, device="cuda"))
""")
    assert told.errors == []
    assert told.launch["kernel"] == "double"


# --- benchmarks and inputs --------------------------------------------------------------------


def test_a_benchmark_is_called_at_its_smallest_size(interpret):
    told = interpret(ADD + BENCHMARK, is_benchmark=True)
    assert arguments(told)["x_ptr"]["shape"] == [100]
    assert told.check["reference"] == "reference(x, y)"
    assert told.check["outputs"][0]["matches"]


def test_a_benchmark_is_called_at_the_sizes_asked_for(interpret):
    told = interpret(ADD + BENCHMARK, is_benchmark=True, sizes={"size": 130})
    assert told.launch["grid"] == [3, 1, 1]
    told = interpret(ADD + BENCHMARK, is_benchmark=True, sizes={"length": 130})
    assert told.errors[0]["message"] == "The benchmark has no size 'length'."
    assert told.errors[0]["hint"] == "Its sizes are: size."


def test_the_line_of_a_benchmark_that_launches_the_kernel_is_found(interpret):
    other = ADD.replace("add_kernel", "unused_kernel").replace("reference", "another") + ADD
    lines = BENCHMARK.replace('["torch", "triton"]', '["torch", "ours"]').replace(
        '{"triton": lambda', '{"ours": lambda'
    )
    told = interpret(other + lines, is_benchmark=True, request={"kernel": "add_kernel"})
    assert told.launch["kernel"] == "add_kernel"


def test_without_a_reference_the_other_line_is_one(interpret):
    told = interpret((ADD + BENCHMARK).replace("def reference", "def another"), is_benchmark=True)
    assert told.check["reference"] == "the benchmark's line PyTorch"
    assert told.check["outputs"][0]["matches"]
    wrong = (
        (ADD + BENCHMARK).replace("def reference", "def another").replace("lambda: x + y", "lambda: x - y")
    )
    assert not interpret(wrong, is_benchmark=True).check["outputs"][0]["matches"]


LAUNCHED = (
    ADD
    + """
x = torch.randn(64, device="cuda")
out = torch.empty_like(x)
add_kernel[(1,)](x, x, out, 64, BLOCK=64)
assert out[0] == 2 * x[0]
"""
)


def test_inputs_are_run_in_place_of_what_the_script_launches(interpret):
    inputs = [replace(each, type=each.type.replace("fp16", "fp32")) for each in INPUTS]
    told = interpret(LAUNCHED, inputs=tuple(inputs), grid=("cdiv(n, BLOCK)",), sizes={"n": 1024})
    assert told.errors == []
    assert told.launch["grid"] == [16, 1, 1]
    assert told.launch["line"] == 6  # of the kernel: no line of the script launches it
    assert arguments(told)["x_ptr"]["shape"] == [1024]
    assert told.check["outputs"][0]["shape"] == [1024]


def test_a_benchmark_is_run_in_place_of_what_the_script_launches(interpret):
    told = interpret(LAUNCHED + BENCHMARK, is_benchmark=True, sizes={"size": 130})
    assert told.errors == []
    assert told.launch["grid"] == [3, 1, 1]


def test_inputs_are_made_from_expressions(interpret):
    options = {"inputs": INPUTS, "grid": ("cdiv(n, BLOCK)",), "sizes": {"n": 1003}}
    told = interpret(ADD, **options)
    assert told.launch["grid"] == [16, 1, 1]
    assert arguments(told)["size"] == {
        "name": "size", "type": "i32", "value": 1003, "shape": None, "strides": None
    }  # fmt: skip
    output = told.check["outputs"][0]
    assert output["matches"] and output["shape"] == [1003] and output["worst_reference"] != 0
    again, other = interpret(ADD, **options), interpret(ADD, seed=1, **options)
    assert again.check == told.check
    assert other.check["outputs"][0]["worst_reference"] != output["worst_reference"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid": ("cdiv(n, SIZE)",)}, "grid: 'cdiv(n, SIZE)': NameError: name 'SIZE' is not defined"),
        ({"grid": ("n / 3",)}, "grid: 'n / 3' is 33.333333333333336, which is not an integer."),
        ({"grid": ()}, "The run has no grid."),
        ({"inputs": INPUTS[:3]}, "add_kernel() missing 2 required positional arguments: 'size' and 'BLOCK'"),
        ({"inputs": (RunInput("z", "i32", None, "1"),)}, "add_kernel has no parameter 'z'."),
        ({"inputs": (RunInput("size", "*i32", None, "1"),)}, "size is a pointer: it needs a shape."),
        ({"inputs": (RunInput("x_ptr", "*fp7", ("n",)),)}, "x_ptr: '*fp7' is not a valid type of a tensor."),
        ({"inputs": (RunInput("x_ptr", "*fp32", ("-n",)),)}, "x_ptr: the shape (-100,) has a negative"),
        ({"inputs": (RunInput("x_ptr", "*fp32", ("2**30", "2**30")),)}, "x_ptr: a tensor of the shape"),
        (
            {"inputs": (RunInput("x_ptr", "*fp32", ("math.inf",)),)},
            "'math.inf' is inf, which is not an integer",
        ),
        ({"inputs": (RunInput("x_ptr", "*fp32", (" ",)),)}, "x_ptr, dimension 0 is empty."),
        (
            {"inputs": (RunInput("size", "i32", None, "2**31"),)},
            "2,147,483,648, which is out of the range of i32.",
        ),
        (
            {"inputs": (RunInput("size", "i64", None, "1e30"),)},
            "size: '1e30' has more than 64 bits",
        ),
        ({"inputs": (RunInput("BLOCK", "constexpr", None, "10**5000"),)}, "has more than 64 bits"),
        ({"inputs": (RunInput("size", "i32", None, "exit()"),)}, "size: 'exit()': SystemExit: None"),
        ({"inputs": (RunInput("size", "i32", None, "n +"),)}, "size: 'n +': SyntaxError: invalid syntax"),
        ({"grid": ("-1",)}, "grid: '-1' is -1."),
        ({"grid": ("0",)}, "grid: '0' is 0."),
        ({"grid": ("2**31",)}, "grid: '2**31' is 2,147,483,648."),
    ],
)
def test_inputs_that_cannot_be_made(interpret, changes, message):
    options = {"inputs": INPUTS, "grid": ("1",), "sizes": {"n": 100}, **changes}
    told = interpret(ADD, **options)
    assert told.status == "failed"
    assert message in told.errors[0]["message"]


def test_what_a_configuration_sets_is_no_input(interpret):
    decorated = ADD.replace(
        "@triton.jit", '@triton.autotune([triton.Config({"BLOCK": 64})], key=["size"])\n@triton.jit'
    )
    told = interpret(decorated, inputs=INPUTS, grid=("1",), sizes={"n": 100})
    assert told.errors[0]["message"] == "'BLOCK' is set by the configurations of add_kernel."
    assert "Remove it" in told.errors[0]["hint"]


@pytest.mark.parametrize("distribution", ["normal", "uniform", "integers", "ascending", "ones"])
@pytest.mark.parametrize("element", ["fp32", "bf16", "fp8e5", "i8", "u8", "i64", "i1"])
def test_distributions_of_every_type(interpret, distribution, element):
    source = """
@triton.jit
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))


def reference(x):
    assert bool((x.float() != 0).any())
    return x
"""
    inputs = (
        RunInput("x_ptr", f"*{element}", ("64",), distribution=distribution),
        RunInput("y_ptr", f"*{element}", ("64",)),
        RunInput("BLOCK", "constexpr", None, "64"),
    )
    told = interpret(source, inputs=inputs, grid=("1",))
    assert told.check["reason"] == ""
    assert told.check["outputs"][0]["matches"]


# --- failures ---------------------------------------------------------------------------------


def test_a_kernel_that_leaves_its_tensors_is_told_its_line(interpret):
    launch = (
        'x = torch.randn(100, device="cuda")\nadd_kernel[(2,)](x, x, torch.empty_like(x), 108, BLOCK=64)\n'
    )
    told = interpret(ADD + launch)
    assert told.status == "failed"
    (error,) = told.errors
    assert error["line"] == 9
    assert "Program (1, 0, 0) reads outside of its tensors, 4 bytes past the end" in error["message"]
    assert "8 elements" in error["message"] and "Mask" in error["hint"]


def test_a_launch_before_the_wanted_one_that_leaves_its_tensors(interpret):
    """The process does not crash, and the message names the line."""
    told = interpret(SEVERAL.replace("scale[(4,)]", "scale[(9,)]"), request={"kernel": "shift"})
    assert told.status == "failed"
    assert told.errors[0]["line"] == 8


def test_a_check_of_the_script_that_fails_is_told_beside_the_measurements(interpret):
    told = interpret(SEVERAL + "assert x[0].item() == 0, 'x is not zero'\n")
    assert told.status == "complete"
    assert told.errors[0]["message"] == "AssertionError: x is not zero"
    assert told.errors[0]["line"] == 22
    assert told.counts["programs"] == 4


def test_scripts_that_launch_nothing(interpret):
    told = interpret(ADD)
    assert told.errors[0]["message"] == "The script does not launch add_kernel, so there is nothing to run."
    assert told.errors[0]["line"] == 6
    assert "The source has no kernel." in interpret("x = 1\n").errors[0]["message"]
    assert interpret("def (:\n").errors[0]["line"] == 4


def test_tensors_that_are_too_large(interpret):
    told = interpret(ADD + 'x = torch.randn(10**13, device="cuda")\nadd_kernel[(1,)](x, x, x, 1, BLOCK=64)\n')
    assert told.errors[0]["message"] == "The tensors exceed the memory limit of a run."
    assert "Reduce the sizes" in told.errors[0]["hint"]


def test_gluon_needs_a_gpu(interpret):
    told = interpret("""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def fill(x_ptr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.store(x_ptr + gl.arange(0, 128, layout), 0.0)


fill[(1,)](torch.empty(128, device="cuda"))
""")
    assert (
        told.errors[0]["message"] == "fill is written in Gluon, which Triton's interpreter does not support."
    )
    assert told.errors[0]["hint"] == "Run it on a GPU."


def test_measures_that_need_a_gpu_are_named(interpret):
    told = interpret(SEVERAL, measures=("time", "counts"))
    assert [each["message"] for each in told.diagnostics] == [
        "The interpreter does not have the measure time."
    ]
    assert told.counts["programs"] == 4


def test_several_targets_of_one_assignment(interpret):
    """Triton's interpreter rewrites assignments and rejects assignments with several targets."""
    told = interpret("""
@triton.jit
def fill(x_ptr, BLOCK: tl.constexpr):
    first = second = tl.arange(0, BLOCK)
    tl.store(x_ptr + first, second)


x = torch.empty(64, device="cuda", dtype=torch.int32)
fill[(1,)](x, BLOCK=64)
assert x.tolist() == list(range(64))
""")
    assert told.errors == []


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ('tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.float32, True, 1)', "Run it on a GPU"),
        ("libdevice.asin(x)", "Use a GPU"),
    ],
)
def test_what_the_interpreter_does_not_know(interpret, line, hint):
    told = interpret(f"""
from triton.language.extra import libdevice

@triton.jit
def compute(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), {line})


compute[(1,)](torch.ones(64, device="cuda"), BLOCK=64)
""")
    assert told.status == "failed"
    assert told.errors[0]["line"] in (9, 10) and hint in told.errors[0]["hint"]
