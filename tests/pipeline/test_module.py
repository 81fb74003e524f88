"""Test the kernels and launches found in realistic scripts, for every Triton version and target."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sources import HEAD
from tritons import TRITONS

from explorer.model.hardware import find_target
from explorer.pipeline.module import load
from explorer.pipeline.user_source import SOURCE_FILE
from explorer.sandbox.versions import installed_versions

SCRIPTS = Path(__file__).with_name("scripts")
HOPPER = find_target("cuda:90")
TARGETS = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100")


@pytest.fixture(scope="module", params=TRITONS)
def scripts(request, tmp_path_factory):
    """Return a function from a script and a target to the inspection."""
    output = tmp_path_factory.mktemp("scripts") / "loaded.pickle"
    folder = installed_versions()[request.param]
    paths = [str(path) for path in (folder, Path(__file__).parents[2]) if path is not None]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    program = Path(__file__).with_name("load_scripts.py")
    done = subprocess.run([sys.executable, program, output], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = pickle.loads(output.read_bytes())
    return lambda name, target="cuda:90": SimpleNamespace(**loaded[name, target])


def line_of(script, text):
    """The number of the line of `script` that begins with `text`."""
    lines = (SCRIPTS / f"{script}.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


def names(launches):
    return [launch.kernel for launch in launches]


def errors(found):
    return [diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"]


EVERYWHERE = [
    "vector_add",
    "softmax_occupancy",
    "matmul_autotuned",
    "layer_norm_autograd",
    "dropout_seeded",
    "attention_descriptors",
    "grouped_products",
    "persistent_descriptors",
    "math_functions",
    "library_operators",
    "gluon_copies",
    "special_arguments",
    "needs_a_value",
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("script", EVERYWHERE)
def test_script_runs_to_its_end_and_launches(scripts, script, target):
    found = scripts(script, target)
    assert errors(found) == []
    assert found.launches
    assert len(found.specialized) == len(found.launches)
    assert {launch.kernel for launch in found.launches} <= {kernel.name for kernel in found.kernels}


def test_vector_add(scripts):
    found = scripts("vector_add")
    (launch,) = found.launches
    assert (launch.kernel, launch.grid) == ("add_kernel", (97,))
    assert launch.line == line_of("vector_add", "add_kernel[grid]")
    assert found.specialized[0].signature == "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024"
    assert launch.arguments[0].shape == (98432,)
    assert launch.arguments[0].strides == (1,)
    assert "device='cuda:0'" in found.output


def test_occupancy_is_computed_from_the_real_gpus_figures(scripts):
    (launch,) = scripts("softmax_occupancy").launches
    assert launch.line == line_of("softmax_occupancy", "kernel[(num_programs, 1, 1)]")
    multiprocessors = 132
    assert launch.grid[0] % multiprocessors == 0


def test_autotuned_kernel_lists_its_configurations(scripts):
    found = scripts("matmul_autotuned")
    assert [config.arguments["BLOCK_K"] for config in found.kernels[0].configs] == [64, 32, 128]
    assert found.kernels[0].configs[1].options["num_stages"] == 4
    assert [launch.config for launch in found.launches] == [0, 0]
    half, quarter = (launch.arguments for launch in found.launches)
    assert half[0].type == "*fp16"
    assert quarter[0].type == "*fp8e5"
    assert "leaky_relu" not in [kernel.name for kernel in found.kernels]


def test_amd_takes_its_own_branch(scripts):
    found = scripts("matmul_autotuned", "hip:gfx942")
    assert len(found.kernels[0].configs) == 2
    assert found.launches[0].options["waves_per_eu"] == 2


def test_backward_kernels_are_found(scripts):
    found = scripts("layer_norm_autograd")
    assert names(found.launches)[:3] == ["_forward", "_backward", "_reduce"]
    assert [kernel.name for kernel in found.kernels] == ["_forward", "_backward", "_reduce"]


def test_pruning_and_the_hooks_of_configurations_are_respected(scripts):
    found = scripts("attention_descriptors")
    launch = found.launches[0]
    chosen = found.kernels[0].configs[launch.config]
    assert chosen.arguments["BLOCK_M"] == 128
    types = {argument.name: argument.type for argument in launch.arguments}
    assert types["desc_q"] == "tensordesc<fp16[128, 64]>"
    assert types["desc_k"] == f"tensordesc<fp16[{chosen.arguments['BLOCK_N']}, 64]>"


def test_without_descriptors_the_fallback_is_taken(scripts):
    types = {
        argument.name: argument.type
        for argument in scripts("attention_descriptors", "cuda:80").launches[0].arguments
    }
    assert types["desc_q"] == "*fp16"


def test_operators_of_libraries_run_their_kernels(scripts):
    launched = names(scripts("library_operators").launches)
    assert launched == [
        "_swiglu_forward",
        "_swiglu_backward",
        "_add_bias",
        "_scale_kernel",
        "_add_bias",
        "_scale_kernel",
        "_scale_kernel",
    ]


def test_gluon_kernels_are_kernels_like_any_other(scripts):
    found = scripts("gluon_copies")
    assert {kernel.language for kernel in found.kernels} == {"gluon"}
    assert names(found.launches) == ["copy_scalar", "copy_1d", "copy_1d", "copy_tuned", "copy_tile"]
    assert found.launches[-1].arguments[0].type.startswith("tensordesc<fp16[64, 64],NVMMASharedLayout")


def test_arguments_of_every_kind(scripts):
    first, second = (specialized.signature for specialized in scripts("special_arguments").specialized)
    assert first == (
        "(*fp32, i32), (*fp32, *fp16), None, u1, 1, i64:16, i32:16, fp32, "
        "fp16, 'apply', (2, 4), double, 4, 64"
    )
    assert second.startswith("(*fp32, i32), (*fp32, *fp16), *fp32:16, u1, i32, i32:16, i32, fp32, fp16")
    assert [kernel.name for kernel in scripts("special_arguments").kernels] == ["kernel"]


def test_a_value_that_decides_what_happens_next_is_named(scripts):
    found = scripts("needs_a_value")
    assert names(found.launches) == ["fill"]
    needed, skipped = found.diagnostics
    assert needed.severity == skipped.severity == "note"
    assert needed.line == line_of("needs_a_value", "if x.sum()")
    assert skipped.line == line_of("needs_a_value", "assert")
    assert found.output == "largest nan\n"


def test_a_file_of_a_package_still_lists_its_kernels(scripts):
    found = scripts("package_file")
    assert errors(found) == []
    (note,) = found.diagnostics
    assert "The package mypackage is not installed here" in note.message
    assert "@mypackage.utils.input_guard of scaled_rows" in note.message
    assert note.line == line_of("package_file", "from mypackage")
    (kernel,) = found.kernels
    assert [parameter.guess.type for parameter in kernel.parameters] == [
        "*fp32", "*fp32", "*fp32", "fp32", "i32", "constexpr", "constexpr", "constexpr",
    ]  # fmt: skip


# --- failures ---------------------------------------------------------------------------------


def test_syntax_error_has_its_place():
    (error,) = load("import torch\nx = 1\ny = = 2\n", HOPPER).diagnostics
    assert error.severity == "error"
    assert error.message.startswith("SyntaxError")
    assert (error.line, error.column) == (3, 5)
    assert error.end_column == 6


@pytest.mark.parametrize(
    ("tail", "line", "message"),
    [
        ("kernel[(1,)](x, BLOCK=64)\n", 9, "kernel() missing 1 required positional argument: 'n'"),
        (
            "kernel[(1,)](x, 1, SIZE=64, num_warps=4)\n",
            9,
            "kernel() missing 1 required positional argument: 'BLOCK'. The kernel has no argument 'SIZE'",
        ),
        ("kernel[(1,)](x, 1, 2, 3, 4)\n", 9, "kernel() takes 3 positional arguments but 5 were given"),
        ("kernel[(1,)](x, 1, BLOCK=64, num_warp=4)\n", 9, "num_warp"),
        ("kernel[(1,)](x, object(), BLOCK=64)\n", 9, "failed to specialize argument"),
        ("def f():\n    return undefined\nf()\n", 10, "NameError: name 'undefined' is not defined"),
        (
            "torch.empty(3, device='cuda') + torch.empty(4, device='cuda')\n",
            9,
            "broadcast a dimension of length 4",
        ),
        ("raise ValueError\n", 9, "ValueError"),
        ("exec('1 +')\n", 9, "SyntaxError"),
    ],
)
def test_errors_are_on_the_users_line(tail, line, message):
    found = load(HEAD + tail, HOPPER)
    (error,) = errors(found)
    assert message in error.message
    assert error.line == line
    assert [kernel.info.name for kernel in found.kernels] == ["kernel"]


def test_launches_before_an_error_are_kept():
    found = load(HEAD + "kernel[(1,)](x, 1, BLOCK=64)\n1 / 0\nkernel[(1,)](x, 1, BLOCK=32)\n", HOPPER)
    assert len(found.launches) == 1
    assert errors(found)[0].line == 10


def test_equal_specialisations_are_one_launch_and_others_are_not():
    tail = "for n in (5, 7, 16, 32, 1):\n    kernel[(n,)](x, n, BLOCK=64)\n"
    found = load(HEAD + tail, HOPPER)
    assert [launch.info.grid for launch in found.launches] == [(5,), (16,), (1,)]


def test_the_number_of_launches_is_limited():
    tail = "for i in range(100):\n    kernel[(1,)](x, 0, BLOCK=64, num_stages=i + 1)\n"
    found = load(HEAD + tail, HOPPER)
    assert len(found.launches) == 64
    (note,) = found.diagnostics
    assert (note.severity, note.line) == ("note", 10)


@pytest.mark.parametrize("ending", ["raise SystemExit(0)", "import sys; sys.exit()", "exit()"])
def test_leaving_is_no_error(ending):
    found = load(f"{HEAD}kernel[(1,)](x, 1, BLOCK=64)\n{ending}\n", HOPPER)
    assert errors(found) == []
    assert len(found.launches) == 1


def test_what_only_reports_on_results_is_skipped():
    tail = (
        "def main():\n"
        "    close = torch.allclose(x, x)\n"
        "    status = 'passed' if close else 'failed'\n"
        "    print(status)\n"
        "    if not close:\n"
        "        print('different')\n"
        "        raise ValueError\n"
        "    torch.testing.assert_close(x, x)\n"
        "    assert (x == x).all(), 'different'\n"
        "    kernel[(1,)](x, 1, BLOCK=64)\n"
        "if __name__ == '__main__':\n"
        "    main()\n"
    )
    found = load(HEAD + tail, HOPPER)
    assert len(found.launches) == 1
    assert found.output == "unknown\n"
    (note,) = found.diagnostics
    assert note.message.endswith("(lines 11, 13, 16, 17).")


def test_an_assertion_about_shapes_still_fails():
    (error,) = errors(load(f"{HEAD}assert x.shape == (65,), 'wrong shape'\n", HOPPER))
    assert (error.message, error.line) == ("AssertionError: wrong shape", 9)


def test_leaving_with_a_failure_says_so():
    source = "import argparse\np = argparse.ArgumentParser()\np.add_argument('size')\np.parse_args()\n"
    found = load(source, HOPPER)
    (error,) = errors(found)
    assert error.line == 4
    assert error.message == "The script's arguments: the following arguments are required: size."
    assert "--script-args" in error.hint


def test_a_script_whose_arguments_click_refuses_says_which_are_missing():
    command = "import click\n@click.command()\n@click.option('--rows', required=True)\ndef main(rows): pass\n"
    (error,) = errors(load(f"{command}main()\n", HOPPER))
    assert error.message == "The script's arguments: Missing option '--rows'."
    assert "--script-args" in error.hint


ARGUMENTS = (
    "import argparse\n"
    "def main():\n"
    "    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--rows', type=int, required=True)\n"
    "    parser.add_argument('--name', choices=['a b'])\n"
    "    options = parser.parse_args()\n"
    "    kernel[(1,)](x, options.rows, BLOCK=64)\n"
)


def test_a_script_gets_its_arguments():
    found = load(f"{HEAD}{ARGUMENTS}main()\n", HOPPER, arguments="--rows 48 --name 'a b'")
    assert found.diagnostics == []
    assert found.launches[0].info.arguments[1].value == 48


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "the following arguments are required: --rows"),
        ("--rows", "argument --rows: expected one argument"),
        ("--rows 1 --columns 2", "unrecognized arguments: --columns 2"),
    ],
)
def test_a_refused_argument_is_named_and_the_kernels_are_listed(arguments, message):
    script = f"x = 1\n{ARGUMENTS}main()\n"
    found = load(f"{script}{HEAD}", HOPPER, arguments=arguments)
    assert [kernel.info.name for kernel in found.kernels] == ["kernel"]
    (error,) = errors(found)
    assert error.message == f"The script's arguments: {message}."
    assert "parse_args()" in script.splitlines()[error.line - 1]


@pytest.mark.slow
def test_a_compile_by_the_script_is_a_launch_without_a_grid(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    tail = (
        "source = triton.compiler.ASTSource(kernel, {'x_ptr': '*fp32', 'n': 'i32', 'BLOCK': 'constexpr'},"
        " {'BLOCK': 64}, {(0,): [['tt.divisibility', 16]]})\n"
        "compiled = triton.compile(source, options={'num_warps': 2})\n"
        "print(compiled.asm['ttir'].count('tt.store'))\n"
    )
    found = load(HEAD + tail, HOPPER)
    assert errors(found) == []
    (launch,) = found.launches
    assert (launch.info.line, launch.info.grid, launch.info.options["num_warps"]) == (10, None, 2)
    assert [argument.specialization for argument in launch.info.arguments] == [
        "divisible by 16",
        "",
        "constexpr",
    ]
    assert found.output == "1\n"


def test_a_script_for_the_interpreter_is_compiled_like_any_other():
    source = (
        f"import os\nos.environ['TRITON_INTERPRET'] = '1'\n{HEAD}kernel[(1,)](torch.empty(64), 1, BLOCK=64)\n"
    )
    found = load(source, HOPPER)
    assert errors(found) == []
    assert len(found.launches) == 1


def test_the_script_is_the_main_program():
    source = "import sys\nif __name__ == '__main__':\n    print(sys.argv, __file__)\n"
    previous = sys.modules["__main__"]
    assert load(source, HOPPER).output == f"['{SOURCE_FILE}'] {SOURCE_FILE}\n"
    assert sys.modules["__main__"] is previous


def test_output_is_kept_up_to_a_limit():
    found = load(
        "while True:\n    print('x' * 1000)\n    y = globals().get('y', 0) + 1\n    if y > 200: break\n",
        HOPPER,
    )
    assert len(found.output) == 1 << 16


def test_helpers_are_no_kernels_unless_nothing_else_is_left():
    helper = "import triton\n@triton.jit\ndef helper(x):\n    return x + 1\n"
    assert [kernel.info.name for kernel in load(helper, HOPPER).kernels] == ["helper"]
    both = f"{helper}@triton.jit\ndef kernel(p):\n    helper(1)\n"
    assert [kernel.info.name for kernel in load(both, HOPPER).kernels] == ["kernel"]


def test_kernels_made_in_functions_are_found_by_their_launch():
    source = HEAD + (
        "def make(width):\n"
        "    @triton.jit\n"
        "    def inner(p):\n"
        "        tl.store(p + tl.arange(0, width), 0)\n"
        "    return inner\n"
        "make(tl.constexpr(32))[(1,)](x)\n"
    )
    found = load(source, HOPPER)
    assert [kernel.info.name for kernel in found.kernels] == ["kernel", "inner"]
    assert found.launches[0].info.kernel == "inner"
    assert found.kernels[1].info.line == 11
