"""Test the diagnostics of kernels that cannot be compiled: the message at the user's line."""

import subprocess
import sys

import pytest
from sources import SQUARE

from explorer.model import Diagnostic, Done, Event, Pass, Request, Resources, Stage
from explorer.pipeline.job import perform

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("private_cache")]

HEAD = """\
import torch, triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
"""
LAUNCH = """
kernel[(1,)](torch.zeros(1024, dtype=torch.int32, device="cuda"), BLOCK=1024)
"""


def told(body, target="cuda:90", **options):
    events: list[Event] = []
    perform(Request(HEAD + body + LAUNCH, target, "", options=options), events.append)
    assert isinstance(events[-1], Done)
    return events


def errors(events):
    return [event for event in events if isinstance(event, Diagnostic) and event.severity == "error"]


def shared_bytes(events):
    (resources,) = [event for event in events if isinstance(event, Resources)]
    return resources.shared_bytes


def stages(events):
    return [event.name for event in events if isinstance(event, Stage)]


@pytest.mark.parametrize(
    ("body", "line", "message", "last_stage"),
    [
        ("    y = tl.arange(0, 100)\n", 8, "power of 2", "ast"),
        (
            "    y = tl.inline_asm_elementwise('mov.b32 $0, $1;\\nadd.u32 $0, $0, 1;', '=r,r', [x],"
            " dtype=tl.int32, is_pure=True, pack=1)\n"
            "    z = tl.inline_asm_elementwise('bogus.b32 $0, $1;', '=r,r', [y],"
            " dtype=tl.int32, is_pure=True, pack=1)\n"
            "    tl.store(x_ptr + offsets, z)\n",
            9,
            "Not a name of any known instruction: 'bogus' (in `bogus.b32",
            "ptx",
        ),
    ],
    ids=["the compiler", "the assembler, after assembly of several lines"],
)
def test_what_is_refused_is_said_on_its_line(body, line, message, last_stage):
    events = told(body)
    (error,) = errors(events)
    assert message in error.message
    assert error.line == line
    assert stages(events)[-1] == last_stage
    assert events[-1].status == "failed"


def test_a_function_that_returns_a_value_is_no_kernel():
    function = (
        "import triton\nimport triton.language as tl\n\n@triton.jit\ndef square(x):\n    return x * x\n"
    )
    events: list[Event] = []
    perform(Request(function, "cuda:90", ""), events.append)
    (error,) = errors(events)
    assert error.message == "square returns a value. A kernel returns nothing."
    assert error.line == 6
    assert stages(events) == ["ast", "ttir", "ttgir"]


def test_a_kernel_that_needs_too_much_shared_memory_is_shown_whole():
    body = (
        "    rows = tl.arange(0, 128)\n"
        "    a = tl.load(x_ptr + rows[:, None] * 128 + rows[None, :])\n"
        "    total = tl.zeros((128, 128), tl.float32)\n"
        "    for step in tl.range(0, 8, num_stages=4):\n"
        "        b = tl.load(x_ptr + step + rows[:, None] * 128 + rows[None, :])\n"
        "        total = tl.dot(a.to(tl.float32), b.to(tl.float32), total)\n"
        "    tl.store(x_ptr + rows[:, None] * 128 + rows[None, :], total.to(tl.int32))\n"
    )
    events = told(body, "cuda:86")
    (error,) = errors(events)
    assert "bytes of shared memory; a block on sm_86 can have 101,376" in error.message
    assert error.line == 5
    assert stages(events) == ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]

    assert error.hint == "Reduce the block sizes or num_stages."
    needed = shared_bytes(events)
    assert needed > shared_bytes(told(body.replace("num_stages=4", "num_stages=3"), "cuda:86"))


@pytest.mark.nightly
def test_where_no_loop_has_stages_only_smaller_blocks_help():
    body = (
        "    few, many = tl.arange(0, 16), tl.arange(0, 2048)\n"
        "    a = tl.load(x_ptr + few[:, None] * 2048 + many[None, :]).to(tl.float16)\n"
        "    b = tl.load(x_ptr + many[:, None] * 16 + few[None, :]).to(tl.float16)\n"
        "    total = tl.dot(a, b)\n"
        "    tl.store(x_ptr + few[:, None] * 16 + few[None, :], total.to(tl.int32))\n"
    )
    events = told(body, "cuda:86")
    (error,) = errors(events)
    assert error.hint == "Reduce the block sizes."
    assert shared_bytes(told(body, "cuda:86", num_stages=1)) == shared_bytes(events)
    assert errors(told(body.replace("2048", "1024"), "cuda:86")) == []


def test_a_failure_of_ptxas_is_reported_with_the_reason_in_its_log():
    body = (
        "    rows = tl.arange(0, 256)\n"
        "    columns = tl.arange(0, 64)\n"
        "    total = tl.zeros((256, 256), tl.float32)\n"
        "    for step in range(0, 4096, 64):\n"
        "        a = tl.load(x_ptr + rows[:, None] * 4096 + columns + step).to(tl.float16)\n"
        "        b = tl.load(x_ptr + (columns + step)[:, None] * 4096 + rows).to(tl.float16)\n"
        "        total += tl.dot(a, b)\n"
        "    tl.store(x_ptr + rows[:, None] * 4096 + rows, total.to(tl.int32))\n"
    )
    (error,) = errors(told(body, num_warps=16))
    assert error.message.startswith(
        "ptxas C7602 failed: Insufficient registers (128) to compile instruction in"
    )
    assert (error.line, error.hint) == (14, "Fewer warps leave more registers to each thread.")


def test_more_threads_than_a_block_can_have_are_refused():
    events: list[Event] = []
    request = Request(
        HEAD + "    tl.store(x_ptr + offsets, x)\n" + LAUNCH, "cuda:90", "", options={"num_warps": 64}
    )
    perform(request, events.append)
    (error,) = errors(events)
    assert "2048 threads; the limit of a block is 1024" in error.message


ASSERTED = """\
    tl.device_assert(x + tl.program_id(0) * BLOCK > 0, "positive")
    assert BLOCK > 1
    tl.store(x_ptr + offsets + tl.program_id(0) * BLOCK, checked(checked(x)))

@triton.jit
def checked(x):
    assert x < 10
    return x
"""


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_assertions_that_are_left_out_are_noted_with_the_option_that_keeps_them(target):
    events = told(ASSERTED, target)
    notes = [event for event in events if isinstance(event, Diagnostic) and "assertion" in event.message]
    assert [(note.severity, note.line) for note in notes] == [("note", 8), ("note", 9), ("note", 14)]
    assert "debug=True" in notes[0].hint

    kept = told(ASSERTED, target, debug=True)
    assert not [event for event in kept if isinstance(event, Diagnostic) and "assertion" in event.message]
    counts = [
        event.text.count("tt.assert")
        for each in (events, kept)
        for event in each
        if isinstance(event, Stage) and event.name == "ttir"
    ]
    assert counts[0] == 0 < counts[1]


def test_warming_up_leaves_one_thread():
    """A zygote forks afterwards: the locks of another thread would hang its children."""
    count = "import threading; print(threading.active_count())"
    code = f"from explorer.pipeline import job; job.warm_up(); {count}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split()[-1] == "1", done.stderr[-2000:]


def test_the_pass_in_which_it_fails_is_the_last_one():
    """On sm_100, the blocks of a cluster cannot share the right operand of a product."""
    events: list[Event] = []
    perform(Request(SQUARE, "cuda:100", "", options={"num_ctas": 2}), events.append)
    passes = [event for event in events if isinstance(event, Pass)]
    assert isinstance(events[-1], Done) and events[-1].status == "failed"
    assert [each.failed for each in passes] == [False] * (len(passes) - 1) + [True]
    assert len(passes) > 10
    assert f"(pass {passes[-1].name})" in errors(events)[-1].message


BROKEN = """
weights = open("weights.bin").read()
kernel[(1,)](weights, BLOCK=64)
"""


def told_of_script(body):
    """The errors, the stages and the outcome of a job."""
    events: list[Event] = []
    perform(Request(HEAD + body + BROKEN, "cuda:90", ""), events.append)
    assert isinstance(events[-1], Done)
    return errors(events), stages(events), events[-1].status


def test_a_script_that_ends_before_a_launch_costs_no_stage():
    [error], made, outcome = told_of_script("    tl.store(x_ptr + offsets, x)\n")
    assert (error.line, error.message.partition(":")[0]) == (10, "FileNotFoundError")
    assert {"ttgir", "ptx"} <= set(made)
    assert outcome == "complete"


def test_a_consequence_of_the_error_of_a_script_is_not_reported():
    [error], _, outcome = told_of_script("    tl.store(x_ptr + offsets, weights)\n")
    assert (error.line, outcome) == (10, "failed")
