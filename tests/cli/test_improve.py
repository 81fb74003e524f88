"""Test `improve` with a running server."""

import json

import pytest
from recorded_gpu import TARGET
from served import Server
from sources import SCALE, SUMS

from explorer.cli.main import main

from .conftest import PYTHONPATH, run

pytestmark = pytest.mark.slow


@pytest.fixture
def improve(server, monkeypatch, capsys, tmp_path):
    """Run the command on a source. Return its status, its output and its messages."""
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)

    def improve(source, *options):
        (tmp_path / "kernel.py").write_text(source)
        status = main(["improve", str(tmp_path / "kernel.py"), *options])
        return status, *capsys.readouterr()

    return improve


def test_a_proven_change_is_taken_and_printed_as_a_difference(improve, tmp_path):
    status, printed, _ = improve(SUMS, "--output", str(tmp_path / "better.py"))
    assert status == 0
    edit = "for start in tl.range(0, columns, BLOCK, num_stages=3):  # turn by turn"
    assert f"pipelining: Line 8: `{edit}`: proven in the compiler, same results" in printed
    assert "time: not measured" in printed
    assert f"-    for start in range(0, columns, BLOCK):  # turn by turn\n+    {edit}\n" in printed
    assert (tmp_path / "better.py").read_text() == SUMS.replace(
        "for start in range(0, columns, BLOCK):", "for start in tl.range(0, columns, BLOCK, num_stages=3):"
    )
    file = tmp_path / "best.py"
    status, printed, message = improve((tmp_path / "better.py").read_text(), "--output", str(file))
    assert (status, printed) == (0, "No change is proven to help: the kernel stays as it is.\n")
    assert message == f"{file} is not written: no change is proven to help.\n"
    assert not file.exists()


PRODUCT = """import torch
import triton
import triton.language as tl

@triton.jit
def product(x, out, K, BLOCK: tl.constexpr):
    i, k = tl.arange(0, 64)[:, None], tl.arange(0, BLOCK)
    total = tl.zeros((64, 64), tl.float32)
    for start in range(0, K, BLOCK):
        rows = tl.load(x + i * K + start + k[None, :])
        total = tl.dot(rows, tl.trans(rows), total)
    tl.store(out + i * 64 + tl.arange(0, 64)[None, :], total)

x = torch.empty((64, 4096), device="cuda", dtype=torch.float16)
few = 1
product[(1,)](x, torch.empty((64, 64), device="cuda"), 4096, BLOCK=64, num_stages=1)
"""


def test_options_are_written_into_the_launch(improve, tmp_path):
    file = tmp_path / "better.py"
    status, printed, message = improve(PRODUCT, "--output", str(file))
    assert (status, message) == (0, f"Wrote {file}\n")
    changed = PRODUCT.replace("num_stages=1", "num_stages=2")
    assert file.read_text() == changed
    assert f"+{changed.splitlines()[-1]}\n" in printed


def test_options_that_the_launch_cannot_have_are_said(improve, tmp_path):
    file = tmp_path / "better.py"
    status, printed, message = improve(
        PRODUCT.replace("num_stages=1", "num_stages=few"), "--output", str(file)
    )
    assert (status, message) == (0, f"{file} is not written: its text stays the same.\n")
    assert "Options of the launch: num_stages=2\n" in printed
    assert printed.endswith("The source does not have num_stages=2: change the launch by hand.\n")
    assert not file.exists()


def test_the_result_is_printed_as_json(improve):
    status, printed, _ = improve(SUMS, "--json")
    found = json.loads(printed)
    assert (status, found["is_complete"]) == (0, True)
    (taken,) = (each for each in found["tries"] if each["is_taken"])
    assert taken["verdict"] == "proven in the compiler, same results"


def test_a_change_with_other_results_is_not_taken(improve):
    """Each program reads what lies apart, and writes it together."""
    gather = (
        SUMS[: SUMS.index("def sums")]
        + """def gather(x, out, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    apart = program + tl.arange(0, BLOCK) * tl.num_programs(0)
    tl.store(out + program * BLOCK + tl.arange(0, BLOCK), tl.load(x + apart))

x = torch.randn(1 << 18, device="cuda")
gather[(256,)](x, torch.empty_like(x), BLOCK=1024)
"""
    )
    status, printed, _ = improve(gather)
    assert status == 0
    assert "`program * BLOCK + tl.arange(0, BLOCK)`: the kernel writes other results" in printed
    assert printed.endswith("No change is proven to help: the kernel stays as it is.\n")


@pytest.mark.nightly
def test_a_change_that_a_gpu_does_not_make_faster_is_not_taken(tmp_path_factory, tmp_path):
    """The recording has one time, and the same results, for all kernels."""
    server = Server(tmp_path_factory.mktemp("data"), {"PYTHONPATH": PYTHONPATH}, ("recorded_gpu",))
    try:
        (tmp_path / "kernel.py").write_text(SUMS)
        done = run("improve", tmp_path / "kernel.py", "--target", TARGET, server=server.url)
    finally:
        server.close()
    assert "proven in the compiler, same results, 4.0 µs → 4.0 µs" in done.stdout
    assert done.stdout.endswith("No change is proven to help: the kernel stays as it is.\n")


def test_without_time_nothing_is_tried(improve):
    status, printed, _ = improve(SUMS, "--seconds", "0")
    assert status == 0
    assert printed.startswith("Changes are left to try. Give more --seconds, or try again later.\n")


def test_a_kernel_that_does_not_compile_is_reported(improve):
    status, printed, message = improve(SCALE.replace("tl.arange(0, BLOCK)", "tl.arange(0, 100)"))
    assert (status, printed) == (1, "")
    assert "power of 2" in message
