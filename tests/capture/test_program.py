"""Test the content of a capture of a program: specializations, launches, failures, hits in Triton's cache."""

import json
import os
import subprocess
import sys

import pytest
from captured import ROOT, documented_program, kernels_of

pytestmark = pytest.mark.slow

STAGES = {"ttir", "ttgir", "llir", "ptx", "cubin"}


def documents_of(folder):
    return [json.loads(file.read_text()) for file in sorted((folder / "kernels").iterdir())]


def test_each_specialization_is_complete(captured):
    kernels = kernels_of(captured.folder)
    assert sorted(kernel.file.kernel for kernel in kernels) == ["scale_kernel", "scale_kernel", "sum_kernel"]
    for kernel in kernels:
        assert set(kernel.captured.stages) == STAGES
        assert kernel.captured.stages["ptx"].lstrip().startswith("//")
        assert kernel.captured.milliseconds["ttgir"] > 0
        assert kernel.launches == 1
        assert not kernel.file.problems
        compile(kernel.file.script, "script.py", "exec")
    assert "captured 3 kernels" in captured.errors


def test_a_document_has_the_specialization_and_the_launch(captured):
    documents = documents_of(captured.folder)
    (document,) = [each for each in documents if each["constants"].get("BLOCK") == 256]
    assert document["signature"] == {"x_ptr": "*fp32", "y_ptr": "*fp32", "size": "i32", "BLOCK": "constexpr"}
    assert document["attributes"]["x_ptr"] == [["tt.divisibility", 16]]
    assert "size" not in document["attributes"]
    assert document["grid"] == [4]
    tensor = {"name": "x_ptr", "type": "*fp32", "shape": [1000], "strides": [1], "dtype": "float32"}
    assert document["arguments"][0] == tensor
    assert document["target"] == {"backend": "cuda", "arch": "90", "warp_size": 32}
    assert "SCALE = tl.constexpr(2.0)" in document["script"]
    (other,) = [each for each in documents if each["kernel"] == "sum_kernel"]
    assert other["options"] == {"num_warps": 8}
    assert "scaled" not in other["script"]


def test_origins_name_the_lines_of_the_program(captured):
    program = documented_program().splitlines()
    for document in documents_of(captured.folder):
        script = document["script"].splitlines()
        assert document["origins"]
        for _, line, count, script_line in document["origins"]:
            assert program[line - 1 : line - 1 + count] == script[script_line - 1 : script_line - 1 + count]


@pytest.mark.nightly
def test_a_hit_in_the_cache_is_complete_and_compiles_nothing(capture, captured, cache):
    again = capture(documented_program(), cache=cache)
    first, second = kernels_of(captured.folder), kernels_of(again.folder)
    assert len(second) == 3
    assert all(kernel.file.cache_hit and not kernel.captured.milliseconds for kernel in second)

    def stages(kernels):
        return sorted(sorted(kernel.file.stages.items()) for kernel in kernels)

    assert stages(first) == stages(second)


FAILING = """
import torch, triton
import triton.language as tl

@triton.jit
def failing_kernel(x_ptr):
    tl.store(x_ptr, not_defined)

x = torch.empty(16, device="cuda")
try:
    failing_kernel[(1,)](x)
except triton.CompilationError:
    print("the program goes on")
raise SystemExit(7)
"""


def test_a_failed_compilation_is_captured_and_the_program_sees_it(capture):
    ended = capture(FAILING)
    (kernel,) = kernels_of(ended.folder)
    assert (ended.status, ended.output) == (7, "the program goes on\n")
    assert "not_defined is not defined" in kernel.file.error
    assert not kernel.captured.stages
    assert "1 failed to compile" in ended.errors


ODD = """
import torch, triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

SHAPE = (16, 32)
TABLE = {"one": 1}
LIMIT = tl.constexpr(float("inf"))

@triton.jit
def twice(x):
    return x + x

@triton.jit
def odd_kernel(
    descriptor, x_ptr, scale, none, function: tl.constexpr, dtype: tl.constexpr, num_warps: tl.constexpr
):
    block = descriptor.load([0, 0])
    value = tl.sum(tl.sum(block, 0), 0) * scale + tl.load(x_ptr)
    tl.store(x_ptr, function(value).to(dtype))

x = torch.empty(100, device="cuda")
descriptor = TensorDescriptor.from_tensor(torch.empty((64, 64), device="cuda"), [16, 32])
odd_kernel[(1,)](descriptor, x[1:], 2.5, None, twice, tl.float32, num_warps=8)
"""


@pytest.mark.nightly
def test_a_script_repeats_unusual_arguments(capture):
    first = capture(ODD)
    (kernel,) = kernels_of(first.folder)
    assert not kernel.file.problems
    second = capture(kernel.file.script)
    (again,) = kernels_of(second.folder)

    def facts(folder):
        (document,) = documents_of(folder)
        return {name: document[name] for name in ("signature", "constants", "attributes", "options", "grid")}

    assert facts(first.folder) == facts(second.folder)
    assert kernel.captured.metadata["shared"] == again.captured.metadata["shared"]


@pytest.mark.nightly
def test_two_processes_write_to_one_folder(capture, tmp_path):
    program = (
        "import subprocess, sys\n"
        "others = [subprocess.Popen([sys.executable, 'other.py']) for _ in range(2)]\n"
        "raise SystemExit(sum(other.wait() for other in others))\n"
    )
    other = f"open('other.py', 'w').write({documented_program()!r})\n"
    ended = capture(other + program, folder=tmp_path / "kernels")
    assert ended.status == 0, ended.errors
    kernels = kernels_of(ended.folder)
    assert len(kernels) == 3
    assert all(kernel.launches == 2 for kernel in kernels)
    assert not list(ended.folder.rglob("*.part"))


@pytest.mark.nightly
def test_the_folder_stays_below_its_limit(capture, tmp_path):
    program = documented_program() + "print(sum_kernel[(1,)](x, y, 999, BLOCK=512).asm['ptx'][:2])\n"
    ended = capture(program, "--limit", "0", folder=tmp_path / "kernels")
    assert (ended.status, ended.output) == (0, "//\n")
    assert "4 left out at the size limit" in ended.errors
    assert not kernels_of(ended.folder)


def test_a_hidden_sitecustomize_is_imported(capture, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('of the program')\n")
    ended = capture("print('program')", environment={"PYTHONPATH": f"{ROOT}:{tmp_path}"})
    assert ended.output.endswith("of the program\nprogram\n")


def test_a_process_without_triton_is_not_recorded(capture):
    ended = capture("print('nothing to compile')")
    assert (ended.output, ended.errors) == ("nothing to compile\n", "")
    assert not (ended.folder / "capture.json").exists()


def test_a_command_that_does_not_exist():
    command = [sys.executable, "-m", "explorer", "capture", "--output", "/tmp", "--", "/no/such/program"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Cannot start /no/such/program: No such file or directory." in done.stderr


COMPILING = """
import explorer.capture
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def one(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

def compile_for(block):
    signature = {"x_ptr": "*fp32", "BLOCK": "constexpr"}
    source = ASTSource(one, signature, {(1,): block}, {(0,): [["tt.divisibility", 16]]})
    return triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 2})

compile_for(64)
explorer.capture.start("kernels")
compile_for(128)
try:
    explorer.capture.start("kernels")
except RuntimeError as error:
    print(error)
explorer.capture.stop()
compile_for(256)
"""


def test_a_program_starts_and_stops_a_capture_itself(tmp_path):
    (tmp_path / "program.py").write_text(COMPILING)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "A capture is active in this process. Call explorer.capture.stop() first.\n"
    (kernel,) = kernels_of(tmp_path / "kernels")
    assert kernel.file.target.name == "cuda:80"
    assert kernel.file.options == {"num_warps": 2}
    assert "triton.compile(" in kernel.file.script
    assert "(1,): 128" in kernel.file.script
    assert kernel.launches is None


FORKS = """
import multiprocessing
import os

import torch
import triton
import triton.language as tl


@triton.jit
def fill_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


def launch(block):
    x = torch.empty(64, device="cuda")
    for _ in range(3):
        fill_kernel[(1,)](x, BLOCK=block)


launch(16)
context = multiprocessing.get_context("fork")
children = [context.Process(target=launch, args=(block,)) for block in (16, 32)]
for child in children:
    child.start()
    child.join()
    assert child.exitcode == 0
"""


@pytest.mark.nightly
def test_forked_processes_count_their_own_launches(capture):
    ended = capture(FORKS)
    assert ended.status == 0, ended.errors
    launches = {kernel.file.script.rpartition("BLOCK=")[2][:2]: kernel for kernel in kernels_of(ended.folder)}
    assert {block: kernel.launches for block, kernel in launches.items()} == {"16": 6, "32": 3}
    assert len(list((ended.folder / "processes").iterdir())) == 3
