"""Test that commands open the kernels that `torch.compile` writes for a program."""

import pytest
from sources import TORCH_PROGRAM

from .conftest import run

pytestmark = pytest.mark.slow

SCALED, SUMMED = "triton_poi_fused_mul_relu_0", "triton_per_fused_exp_sum_0"


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(TORCH_PROGRAM)
    return path


@pytest.mark.nightly
def test_the_kernels_are_listed_and_one_is_chosen(server, program):
    first = run("compile", program, "--stage", "ptx", server=server.url)
    assert first.returncode == 0, first.stderr
    assert f".entry {SCALED}" in first.stdout
    assert (
        f"a compiler writes 2 kernels for this program: {SCALED}, {SUMMED}. This is {SCALED}. "
        "Choose one with --kernel."
    ) in first.stderr
    second = run("compile", program, "--stage", "ptx", "--kernel", SUMMED, server=server.url)
    assert f".entry {SUMMED}" in second.stdout
    missing = run("compile", program, "--kernel", "triton_none", server=server.url)
    assert missing.returncode == 1
    assert f"There are: {SCALED}, {SUMMED}." in missing.stderr


@pytest.mark.nightly
def test_a_matrix_has_the_cells_of_a_kernel(server, program):
    made = run("matrix", program, "--num-warps", "1,2", "--format", "csv", server=server.url)
    assert made.returncode == 0, made.stderr
    assert made.stdout.count(",complete,") == 2


@pytest.mark.nightly
def test_a_run_says_that_it_cannot_launch_the_kernels(server, program):
    refused = run("profile", program, "--device", "interpreter", "--kernel", SUMMED, server=server.url)
    assert refused.returncode == 1
    assert "cannot launch the kernels of output code" in refused.stderr
