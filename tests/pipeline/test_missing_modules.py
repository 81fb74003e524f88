"""Test scripts that import missing modules: they continue until a launch or a kernel needs the module."""

import sys
from typing import Any

import pytest
from sources import HEAD

from explorer.model import Diagnostic, Inspection, Request, Specialized, Stage
from explorer.model.hardware import find_target
from explorer.model.source_lines import SourceLines
from explorer.pipeline.job import perform
from explorer.pipeline.module import load

HOPPER = find_target("cuda:90")
LAUNCH = "kernel[(1,)](x, 16, BLOCK=64)\n"


def loaded(tail, **options):
    return load(HEAD + tail, HOPPER, **options)


def errors(found):
    return [diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "error"]


def notes(found):
    return [diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "note"]


@pytest.mark.parametrize(
    "tail",
    [
        "import absent_a\n",
        "import absent_a.inner as inner\ninner.configure(level=3)\n",
        "from absent_a.inner import one, two\nprint(one.shape, f'{two:8.2f}')\n",
        "from .sibling import helper\nfrom ..package.other import thing\nhelper(x)\n",
        "import importlib\nimportlib.import_module('03-other-file')\n",
        "from triton.absent_part import something\n",
        "from absent_a import Float\ndef f(x: Float[torch.Tensor, 'n']) -> Float | None: ...\n",
        "import absent_a\nclass Model(absent_a.Module):\n"
        "    def __init__(self):\n        super().__init__(3)\n        self.layer = self.make()\nModel()\n",
        "import absent_a\nfrom absent_a import *\n__all__ = ['kernel', *absent_a.__all__]\n",
        "from absent_a import settings\nfirst, (second, third) = settings(3)\n",
        "import absent_a\nif absent_a.is_enabled():\n    raise ValueError\n",
        "import absent_a\nassert absent_a.version_at_least('2')\n",
        "import absent_a\nfrom packaging.version import parse\nparse(absent_a.__version__).major\n",
        "import absent_a\nprint(x + absent_a.reference(x), torch.cat([x, absent_a.y]))\n",
        "try:\n    import absent_a\nexcept ImportError:\n    raise SystemExit('Install absent_a')\n",
    ],
)
def test_a_script_goes_on_without_a_module(tail):
    found = loaded(tail + LAUNCH)
    assert errors(found) == []
    assert len(found.launches) == 1
    assert any("is not i" in note.message or "not in the paste" in note.message for note in notes(found))
    assert not {name for name in sys.modules if name.startswith(("absent", "folder_above"))}


@pytest.mark.parametrize(
    "attempt",
    [
        "try:\n    import absent_a\nexcept ImportError:\n    absent_a = None\n",
        "try:\n    from absent_a import absent_a\nexcept Exception:\n    absent_a = None\n",
        "import contextlib\nabsent_a = None\nwith contextlib.suppress(ImportError):\n    import absent_a\n",
        "import importlib.util\nabsent_a = importlib.util.find_spec('absent_a')\n",
    ],
)
def test_a_script_that_asks_for_a_module_learns_that_it_is_missing(attempt):
    found = loaded(attempt + "kernel[(1,)](x, 3 if absent_a is None else 5, BLOCK=64)\n")
    assert found.diagnostics == []
    assert found.launches[0].recorded.bound_arguments["n"] == 3


@pytest.mark.parametrize(
    ("condition", "targets"),
    [
        ("HAS_TRITON", "cuda:80 cuda:90 cuda:100 hip:gfx942"),
        ("is_cuda()", "cuda:80 cuda:90 cuda:100"),
        ("platform.is_cuda_alike()", "cuda:80 cuda:90 cuda:100 hip:gfx942"),
        ("is_hip()", "hip:gfx942"),
        ("platform.is_rocm()", "hip:gfx942"),
        ("is_hip_cdna3()", "hip:gfx942"),
        ("is_xpu_supported()", ""),
        ("is_hopper()", "cuda:90"),
        ("is_hopper_or_newer()", "cuda:90 cuda:100"),
        ("is_sm90_supported()", "cuda:90 cuda:100"),
        ("IS_NVIDIA_HOPPER", "cuda:90"),
        ("is_blackwell()", "cuda:100"),
        ("supports_tma()", "cuda:90 cuda:100"),
        ("platform.has_device_capability(90)", "cuda:90 cuda:100 hip:gfx942"),
        ("platform.is_device_capability((9, 0))", "cuda:90"),
        ("platform.get_device_capability().major == 10", "cuda:100"),
        ("platform.get_device_capability() >= (9, 0) and absent_a.is_cuda()", "cuda:90 cuda:100"),
    ],
)
def test_a_condition_of_a_missing_module_holds_as_its_name_tells_for_the_target(condition, targets):
    source = f"{HEAD}import absent_a\nif absent_a.{condition}:\n    kernel[(1,)](x, 16, BLOCK=64)\n"
    names = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942")
    found = {name: load(source, find_target(name)) for name in names}
    assert [name for name in names if errors(found[name])] == []
    assert [name for name in names if found[name].launches] == targets.split()


def test_a_launch_that_needs_a_missing_value_names_it():
    found = loaded(
        "from .utils import settings\nBLOCK, warps = settings(64)\n"
        "kernel[(1,)](x, 1, BLOCK=BLOCK)\nkernel[(1,)](x, 2, BLOCK=128)\n"
    )
    (error,) = errors(found)
    assert "needs .utils.settings(…)[0] for BLOCK" in error.message
    assert error.line == 11
    assert [launch.info.line for launch in found.launches] == [12]


@pytest.mark.parametrize("condition", ["platform.is_hopper()", "IS_NVIDIA_HOPPER", "has_sm90"])
def test_a_launch_passes_the_answer_of_a_condition_of_a_missing_module(condition):
    source = f"{HEAD}import absent_a\nkernel[(1,)](x, n=absent_a.{condition}, BLOCK=64)\n"
    found = {name: load(source, find_target(name)) for name in ("cuda:80", "cuda:90")}
    assert [errors(each) for each in found.values()] == [[], []]
    passed = [each.launches[0].recorded.bound_arguments["n"] for each in found.values()]
    assert passed == [False, True]
    assert f"Taken as true: absent_a.{condition.split('(')[0]}" in notes(found["cuda:90"])[0].message


@pytest.mark.parametrize(
    "name", ["gpu_blocks", "is_causal", "cuda_count()", "has_output_bias", "is_supported"]
)
def test_a_launch_does_not_pass_a_missing_value_that_is_no_condition_about_the_target(name):
    found = loaded(f"import absent_a\nkernel[(1,)](x, absent_a.{name}, BLOCK=64)\n")
    assert f"needs absent_a.{name.split('(')[0]}" in errors(found)[0].message


def test_all_configurations_remain_where_a_missing_module_would_choose_among_them():
    found = load(
        HEAD.replace(
            "@triton.jit",
            "import absent_a\ndef prune(configs, named, **_rest):\n"
            "    return absent_a.prune(configs, named)\n"
            "@triton.autotune([triton.Config({'BLOCK': 64}), triton.Config({'BLOCK': 32})], key=['n'],\n"
            "    prune_configs_by={'early_config_prune': prune})\n@triton.jit",
        )
        + "kernel[(1,)](x, 16)\n",
        HOPPER,
    )
    assert errors(found) == []
    assert [launch.info.config for launch in found.launches] == [0]


@pytest.mark.parametrize(
    "launch", ["(1,)](x, 1, BLOCK=absent_a.size)", "(absent_a.count(),)](x, 1, BLOCK=64)"]
)
def test_a_launch_in_a_printed_expression_that_needs_a_missing_value_is_reported(launch):
    found = loaded(f"import absent_a\nprint(kernel[{launch})\n{LAUNCH}")
    (error,) = errors(found)
    assert error.line == 10
    assert "The package absent_a is not installed here" in error.message
    assert [launch.info.line for launch in found.launches][-1] == 11


def test_a_grid_that_needs_a_missing_value_names_it():
    (error,) = errors(loaded("import absent_a\nkernel[(absent_a.count(),)](x, 1, BLOCK=64)\n"))
    assert "absent_a.count(…)" in error.message
    assert "The package absent_a is not installed here" in error.message


def test_a_tensor_of_a_missing_function_is_named_where_it_is_launched_with():
    found = loaded(
        "import absent_a\ny = absent_a.swap(x).contiguous().view(-1)\nkernel[(1,)](y, 1, BLOCK=64)\n"
    )
    (error,) = errors(found)
    assert "absent_a.swap(…)" in error.message
    assert "x_ptr" in error.message


def test_a_kernel_under_a_missing_decorator_is_found_and_the_decorator_named():
    found = load(
        HEAD.replace("@triton.jit", "import absent_a\n@absent_a.tune(3)\n@triton.jit") + LAUNCH, HOPPER
    )
    assert [kernel.info.name for kernel in found.kernels] == ["kernel"]
    assert len(found.launches) == 1
    assert "@absent_a.tune(…) of kernel" in notes(found)[0].message


def test_an_object_under_a_missing_decorator_has_the_attributes_that_the_script_reads():
    found = load(
        HEAD.replace("@triton.jit", "import absent_a\n@absent_a.pointwise(3)\n@triton.jit")
        + "kernel.register(4)\n@absent_a.operator('a::b')\ndef run(x):\n    kernel[(1,)](x, 1, BLOCK=64)\n"
        "@run.register_fake\ndef _(x):\n    pass\nrun(x)\n",
        HOPPER,
    )
    assert errors(found) == []
    assert len(found.launches) == 1


def test_a_missing_decorator_with_configurations_tunes_the_kernel():
    configs = "configs=[triton.Config({'BLOCK': 64}, num_warps=8), triton.Config({'BLOCK': 32})], key=['m']"
    found = load(
        HEAD.replace("@triton.jit", f"import absent_a\n@absent_a.tune({configs})\n@triton.jit")
        + "kernel[(1,)](x, 16)\n",
        HOPPER,
    )
    assert errors(found) == []
    assert found.launches[0].recorded.options["num_warps"] == 8
    assert len(found.kernels[0].info.configs) == 2
    assert "Taken from Triton: absent_a.tune(…)" in notes(found)[0].message


def test_a_missing_decorator_with_missing_configurations_is_left_out():
    decorator = "import absent_a\n@absent_a.tune(configs=absent_a.configs())\n@triton.jit"
    found = load(HEAD.replace("@triton.jit", decorator) + "kernel[(1,)](x, 16, 64)\n", HOPPER)
    assert errors(found) == []
    assert "Left out: @absent_a.tune(…) of kernel." in notes(found)[0].message
    assert "Taken" not in notes(found)[0].message


@pytest.mark.parametrize(
    "decorator",
    ["absent_a.tune()", "triton.autotune(absent_a.tune(), key=['n'])", "triton.heuristics(absent_a.tune())"],
)
def test_an_error_about_missing_arguments_names_the_missing_object_that_would_give_them(decorator):
    found = load(
        HEAD.replace("@triton.jit", f"import absent_a\n@{decorator}\n@triton.jit") + "kernel[(1,)](x, 16)\n",
        HOPPER,
    )
    (error,) = errors(found)
    assert "'BLOCK'. absent_a.tune(…) would give them, and is not available" in error.message


def test_a_heuristic_without_the_value_of_a_missing_decorator_names_the_decorator():
    found = load(
        HEAD.replace(
            "@triton.jit",
            "import absent_a\n@absent_a.tune()\n"
            "@triton.heuristics({'n': lambda named: named['BLOCK'] // 2})\n@triton.jit",
        )
        + "kernel[(1,)](x)\n",
        HOPPER,
    )
    (error,) = errors(found)
    assert "no value of 'BLOCK'. absent_a.tune(…) would give it, and is not available" in error.message


def test_a_kernel_that_a_missing_decorator_would_make_a_function_says_so():
    found = load(
        HEAD.replace("@triton.jit", "import absent_a\n@absent_a.pointwise\n@triton.jit") + "kernel(x)\n",
        HOPPER,
    )
    (error,) = errors(found)
    assert "called without a grid. absent_a.pointwise is not available, and would allow it" in error.message


def test_a_script_that_asks_for_triton_together_with_a_missing_module_has_both():
    source = HEAD.replace("import torch, triton\n", "import torch\n")
    found = load(
        "try:\n    import triton\n    from absent_a import tools\n    has_triton = True\n"
        f"except ImportError:\n    has_triton = False\n{source}{LAUNCH.replace('16', 'int(has_triton)')}",
        HOPPER,
    )
    assert errors(found) == []
    assert found.launches[0].recorded.bound_arguments["n"] == 1


def test_the_kernels_that_a_missing_function_was_given_are_named():
    found = loaded("from .tools import launch\nlaunch(kernel, (1,), x)\n")
    assert errors(found) == []
    assert "Given, perhaps for launches: kernel to .tools.launch." in notes(found)[0].message


EXPORTED_AGAIN = """\
import torch
{imports}

@{jit}
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), n)

x = torch.empty(64, device="cuda")
"""


@pytest.mark.parametrize(
    ("imports", "jit"),
    [
        ("from vllm.triton_utils import tl, triton", "triton.jit"),
        ("import absent_a.triton_utils as tools\ntl = tools.tl", "tools.triton.jit"),
        ("from .utils import triton, tl", "triton.jit"),
        ("from absent_a import triton\nfrom absent_a.triton import language as tl", "triton.jit"),
        ("import absent_a.triton.ops\nfrom absent_a import tl\nimport triton", "triton.jit"),
    ],
)
def test_triton_is_the_real_module_where_a_missing_package_exports_it_again(imports, jit):
    found = load(EXPORTED_AGAIN.format(imports=imports, jit=jit) + LAUNCH, HOPPER)
    assert errors(found) == []
    assert [launch.info.kernel for launch in found.launches] == ["kernel"]
    (note,) = notes(found)
    assert "Taken from Triton: " in note.message


def test_gluon_is_the_real_module_where_a_missing_package_exports_it_again():
    source = (
        "import torch\nfrom absent_a import gluon, gl\n"
        "@gluon.jit\ndef kernel(x_ptr):\n"
        "    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"
        "    gl.store(x_ptr + gl.arange(0, 128, layout), 0.0)\n"
        "kernel[(1,)](torch.empty(128, device='cuda'))\n"
    )
    found = load(source, HOPPER)
    assert errors(found) == []
    assert [kernel.info.language for kernel in found.kernels] == ["gluon"]
    assert len(found.launches) == 1


@pytest.mark.parametrize("decorator", ["register(str)", "tune(lambda kernel: 3)", "tune(torch.nn.Module)"])
def test_a_function_or_class_given_to_a_missing_decorator_is_not_taken_for_the_kernel(decorator):
    source = HEAD.replace("@triton.jit", f"import absent_a\n@absent_a.{decorator}\n@triton.jit")
    found = load(source + LAUNCH, HOPPER)
    assert errors(found) == []
    assert len(found.launches) == 1


@pytest.mark.parametrize(
    ("bases", "use"),
    [
        ("absent_a.Base", "Operation.create(3)\nOperation(64).run()"),
        ("absent_a.Base", "Operation(64)()"),
        ("absent_a.Base, metaclass=absent_a.Registered", "Operation(64).run()"),
        ("absent_a.Mixin, torch.nn.Module", "Operation(64)()"),
        ("torch.nn.Module, absent_a.Mixin", "Operation(64)()"),
        ("absent_a.Mixin, abc.ABC", "Operation(64).run()"),
    ],
)
def test_launches_in_a_class_with_a_missing_base_are_found(bases, use):
    found = loaded(
        f"import abc, absent_a\nclass Operation({bases}):\n"
        "    def __init__(self, size):\n"
        "        super().__init__()\n"
        "        self.size = torch.nn.Parameter(torch.empty(size)).numel()\n"
        "    def forward(self):\n"
        "        kernel[(1,)](x, 1, BLOCK=self.size)\n"
        f"    run = forward\n{use}\n"
    )
    assert errors(found) == []
    assert [launch.info.line for launch in found.launches] == [15]


def test_a_kernel_that_uses_a_missing_function_says_which():
    source = HEAD.replace("tl.store(x_ptr + tl.arange(0, BLOCK), n)", "ops.write(x_ptr, n)")
    source = source.replace("\n@triton.jit", "\nfrom absent_a import ops\n@triton.jit") + LAUNCH
    events: list[Any] = []
    perform(Request(source, "cuda:90", ""), events.append)
    assert [len(event.launches) for event in events if isinstance(event, Inspection)] == [1]
    (error,) = [e for e in events if isinstance(e, Diagnostic) and e.severity == "error"]
    assert error.message == "The kernel uses absent_a.ops. The package absent_a is not installed here."
    assert error.line == 7
    assert "operator of the server" in error.hint


def test_packages_that_come_with_the_program_are_real():
    found = loaded(
        "import einops\nfrom tabulate import tabulate\n"
        "y = einops.rearrange(torch.empty(4, 8, device='cuda'), 'a b -> (b a)')\n"
        "print(tabulate([[1, 2]]))\nkernel[(1,)](y, y.numel(), BLOCK=64)\n"
    )
    assert found.diagnostics == []
    assert found.launches[0].recorded.bound_arguments["n"] == 32


# --- further files ----------------------------------------------------------------------------

FILES = {
    "pkg/__init__.py": "",
    "pkg/utils.py": "SIZE = 32\ndef launch(kernel, x):\n    kernel[(2,)](x, 5, BLOCK=SIZE)\n",
    "pkg/ops/math.py": "import triton\n@triton.jit\ndef double(x):\n    return x * 2\n",
    "03-lesson.py": "from pkg import utils\nWARPS = utils.SIZE // 16\n",
}
SCRIPT = HEAD.replace(
    "\n@triton", "\nfrom .math import double\nfrom ..utils import launch\n\n@triton", 1
).replace(", n)", ", double(n))")


def test_files_beside_the_script_are_imported_by_name_and_relatively():
    tail = "import importlib\nlesson = importlib.import_module('03-lesson')\nlaunch(kernel, x)\n" + LAUNCH
    source = SCRIPT + tail + "kernel[(1,)](x, 16, BLOCK=64, num_warps=lesson.WARPS)\n"
    found = load(source, HOPPER, files=FILES, path="pkg/ops/script.py")
    assert found.diagnostics == []
    assert [launch.info.grid for launch in found.launches] == [(2,), (1,), (1,)]
    assert found.launches[2].recorded.options["num_warps"] == 2
    assert not {name for name in sys.modules if name.startswith(("pkg.", "03-"))}


def test_relative_imports_above_the_root_are_of_the_root():
    files = {path.removeprefix("pkg/"): text for path, text in FILES.items()}
    found = load(SCRIPT + LAUNCH, HOPPER, files=files, path="ops/script.py")
    assert found.diagnostics == []
    assert len(found.launches) == 1


def test_a_kernel_of_several_files_is_compiled():
    events: list[Any] = []
    request = Request(SCRIPT + LAUNCH, "cuda:90", "", path="pkg/ops/script.py", files=FILES)
    perform(request, events.append)
    assert [e for e in events if isinstance(e, Diagnostic) and e.severity == "error"] == []
    assert events[-1].status == "complete"


def test_an_error_in_a_further_file_is_at_its_line():
    files = {"broken.py": "x = 1\nundefined_name\n", "before.py": "\n\n"}
    source = f"{HEAD}import broken\n"
    (error,) = errors(load(source, HOPPER, files=files))
    assert "undefined_name" in error.message
    assert SourceLines(source, "", files).place(error.line) == ("broken.py", 2)


def test_a_syntax_error_in_a_further_file_is_at_its_line():
    files = {"broken.py": "x = 1\ny = (\n"}
    source = f"{HEAD}import broken\n"
    (error,) = errors(load(source, HOPPER, files=files))
    assert SourceLines(source, "", files).place(error.line) == ("broken.py", 2)


def test_a_kernel_of_a_further_file_has_its_lines_in_every_stage():
    files = {
        "kernels/add.py": HEAD.replace("\n@triton", "from .parts import double\n@triton").replace(
            ", n)", ", double(n))"
        ),
        "kernels/parts.py": "import triton\n\n\n@triton.jit\ndef double(x):\n    return x * 2\n",
        # The name of the script in the compiler.
        "kernel.py": "",
    }
    source = "from kernels.add import kernel, torch\n" + LAUNCH.replace(
        "(x", "(torch.empty(64, device='cuda')"
    )
    request = Request(source, "cuda:90", "", path="main.py", files=files)
    events: list[Any] = []
    perform(request, events.append)
    assert [e for e in events if isinstance(e, Diagnostic)] == []
    lines = SourceLines.of(request)
    (specialized,) = (e for e in events if isinstance(e, Specialized))
    assert lines.place(specialized.line) == ("kernels/add.py", 5)
    assert lines.place(specialized.launch_line or 0) == ("", 2)
    stages = {e.name: e for e in events if isinstance(e, Stage)}
    for name in ("ttir", "ttgir", "llir", "ptx", "sass"):
        found = {lines.place(number) for each in stages[name].locations if (number := lines.number_of(each))}
        assert ("kernels/add.py", 6) in found, name
        assert {path for path, _ in found} <= {"kernels/add.py", "kernels/parts.py"}, name
    assert "name='double'" in stages["ast"].text


def test_an_error_of_the_compiler_in_a_further_file_is_at_its_line():
    files = {"tools.py": "import triton\n@triton.jit\ndef bad(x):\n    return x.nothing\n"}
    source = (
        HEAD.replace("\n@triton", "\nfrom tools import bad\n\n@triton", 1).replace(", n)", ", bad(n))")
        + LAUNCH
    )
    events: list[Any] = []
    request = Request(source, "cuda:90", "", path="main.py", files=files)
    perform(request, events.append)
    (error,) = [e for e in events if isinstance(e, Diagnostic) and e.severity == "error"]
    assert SourceLines.of(request).place(error.line) == ("tools.py", 4)


def test_modules_are_found_in_folders_that_the_script_adds_to_the_path():
    adds = (
        "import importlib, os, sys\n"
        "sys.path.append(os.path.dirname(os.path.abspath(__file__)))\n"
        "SIZE = importlib.import_module('_sizes').SIZE\n"
    )
    files = {"pkg/backend/__init__.py": adds, "pkg/backend/_sizes/__init__.py": "SIZE = 32\n"}
    path = list(sys.path)
    try:
        found = load(f"{HEAD}from pkg.backend import SIZE\nkernel[(1,)](x, SIZE, BLOCK=64)\n", HOPPER, files)
    finally:
        sys.path[:] = path
    assert found.diagnostics == []
    assert found.launches[0].recorded.bound_arguments["n"] == 32


def test_a_package_that_fails_keeps_what_it_has_defined():
    files = {
        "pkg/__init__.py": "SIZE = 32\nopen('absent.yaml')\nWARPS = 2\n",
        "pkg/ops/__init__.py": "",
        "pkg/ops/sizes.py": "from pkg import SIZE, WARPS\n",
    }
    source = f"{HEAD}from pkg.ops.sizes import SIZE, WARPS\nkernel[(1,)](x, SIZE, BLOCK=64)\n"
    found = load(source, HOPPER, files)
    (warning,) = found.diagnostics
    assert warning.severity == "warning"
    assert warning.message.startswith("FileNotFoundError")
    assert SourceLines(source, "", files).place(warning.line) == ("pkg/__init__.py", 2)
    assert found.launches[0].recorded.bound_arguments["n"] == 32
    needing = load(f"{source}kernel[(1,)](x, 1, BLOCK=64, num_warps=WARPS)\n", HOPPER, files)
    (error,) = errors(needing)
    assert "pkg.WARPS" in error.message
    assert "FileNotFoundError" in error.message


def test_a_missing_file_is_called_a_file_and_the_hint_says_how_to_give_it():
    found = loaded(
        "import importlib\nlesson = importlib.import_module('03-lesson')\nkernel[(1,)](lesson.x, 1, 64)\n"
    )
    (error,) = errors(found)
    assert "The file 03-lesson.py is not in the paste." in error.message
    assert "drop it on the editor" in error.hint
    assert "--root" in error.hint


@pytest.mark.parametrize(
    "imported",
    [
        "from triton.language.extra import libdevice",
        "import triton.language.extra.libdevice as libdevice",
        "from triton.language.extra.cuda import libdevice",
        "import triton.language.extra.cuda.libdevice as libdevice",
        "libdevice = tl.extra.cuda.libdevice",
    ],
)
def test_libdevice_is_found_by_all_of_its_names(imported):
    source = HEAD.replace("\n@triton", f"{imported}\n\n@triton", 1).replace(
        ", n)", ", libdevice.rsqrt(n * 1.0))"
    )
    events: list[Any] = []
    perform(Request(source + LAUNCH, "cuda:90", ""), events.append)
    assert [e for e in events if isinstance(e, Diagnostic)] == []
    (ptx,) = (e for e in events if isinstance(e, Stage) and e.name == "ptx")
    assert "rsqrt.approx" in ptx.text


# --- messages ---------------------------------------------------------------------------------


def test_launches_are_said_to_be_kept_only_where_there_are_some():
    tail = "if torch.empty(3, device='cuda').sum() > 0:\n    x = None\n"
    (alone,) = loaded(tail).diagnostics
    assert alone.hint == ""
    (after,) = loaded(LAUNCH + tail).diagnostics
    assert "launches before" in after.hint


def test_messages_do_not_name_folders_of_the_server():
    events: list[Any] = []
    source = HEAD + "import triton._C.libtriton as c\nraise ValueError(c.__file__)\n"
    perform(Request(source, "cuda:90", ""), events.append)
    (error,) = [e for e in events if isinstance(e, Diagnostic) and "ValueError" in e.message]
    assert "triton/_C/libtriton" in error.message
    assert sys.prefix not in error.message
