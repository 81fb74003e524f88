"""Test the interface of the sandbox: versions, queue, tiers, the real pipeline."""

import dataclasses
import importlib.metadata
import os
import resource
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tritons import TRITONS

from explorer.errors import SandboxUnavailable, UnknownTriton
from explorer.model import Diagnostic, Done, Log, Pass, Request, Stage
from explorer.sandbox import Sandbox, SandboxSettings, source_position
from explorer.sandbox.launcher import find_bubblewrap
from explorer.sandbox.versions import installed_versions

pytestmark = pytest.mark.slow

VECTOR_ADD = Path(__file__).parents[2] / "explorer" / "examples" / "vector_add.py"


def test_versions_are_found_without_an_import(tmp_path):
    own = importlib.metadata.version("triton")
    folder = tmp_path / "99.1.0"
    (folder / "triton").mkdir(parents=True)
    (folder / "triton-99.1.0.dist-info").mkdir()
    (folder / "triton-99.1.0.dist-info" / "METADATA").write_text("Name: triton\nVersion: 99.1.0\n")
    (tmp_path / "empty").mkdir()
    shutil.copytree(folder, tmp_path / ".being-added")
    found = installed_versions(tmp_path)
    assert next(iter(found)) == "99.1.0"
    assert found["99.1.0"] == folder
    assert found[own] is None
    assert installed_versions(tmp_path / "missing").keys() == installed_versions().keys()


def test_versions_that_are_not_offered_are_refused(settings):
    _, old = TRITONS
    sandbox = Sandbox(dataclasses.replace(settings, offered_tritons=(old, "0.1")))
    assert sandbox.versions == (old,)
    with pytest.raises(UnknownTriton, match=f"Triton {TRITONS[0]} is not available. Available: {old}."):
        next(sandbox.run(Request("", "", TRITONS[0])))


def test_a_default_timeout_of_sockets_does_not_matter(settings):
    """Celery's library sets one for a moment, and in several threads forgets to take it back."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(1)
    sandbox = Sandbox(settings)
    try:
        sandbox.start()
        job = Request("import time; time.sleep(2); print('done')", "", sandbox.versions[0])
        assert any(isinstance(event, Log) for event in sandbox.run(job))
    finally:
        sandbox.close()
        socket.setdefaulttimeout(before)


def test_before_the_start_and_after_the_end_nothing_runs(settings):
    never = Sandbox(dataclasses.replace(settings, start_seconds=0.1))
    assert never.tier == "none"
    with pytest.raises(SandboxUnavailable, match="not been started"):
        never.run(Request("", "", never.versions[0]))
    sandbox = Sandbox(settings)
    sandbox.start()
    assert sandbox.tier == "full"
    sandbox.close()
    with pytest.raises(SandboxUnavailable, match="closed"):
        sandbox.run(Request("", "", sandbox.versions[0]))


def test_without_bubblewrap_nothing_runs_and_the_way_out_is_told(settings, tmp_path):
    sandbox = Sandbox(dataclasses.replace(settings, bubblewrap=tmp_path / "missing"))
    with pytest.raises(SandboxUnavailable, match="apt install bubblewrap"):
        sandbox.start()
    with pytest.raises(SandboxUnavailable, match="apt install bubblewrap"):
        sandbox.run(Request("", "", sandbox.versions[0]))
    assert sandbox.tier == "none"


def leaky_bubblewrap(settings, folder):
    """Return a program that makes jails in which /etc can be read."""
    leaky = folder / "bwrap"
    real = find_bubblewrap(settings).path
    leaky.write_text(f'#!/bin/sh\nexec {real} --ro-bind /etc /etc "$@"\n')
    leaky.chmod(0o755)
    return leaky


def test_a_jail_with_a_hole_is_not_used(settings, tmp_path):
    sandbox = Sandbox(dataclasses.replace(settings, bubblewrap=leaky_bubblewrap(settings, tmp_path)))
    with pytest.raises(SandboxUnavailable, match="user code can see /etc/passwd"):
        sandbox.start()


def test_a_slot_that_began_before_the_start_does_the_job(settings):
    sandbox = Sandbox(dataclasses.replace(settings, warm_up=False))
    sandbox.begin(sandbox.versions[0])
    try:
        sandbox.start()
        *_, done = sandbox.run(Request("print(1)", "", sandbox.versions[0]))
    finally:
        sandbox.close()
    assert isinstance(done, Done)
    assert done.status == "complete"


def test_a_slot_that_began_gets_no_job_in_a_jail_with_a_hole(settings, tmp_path):
    sandbox = Sandbox(dataclasses.replace(settings, bubblewrap=leaky_bubblewrap(settings, tmp_path)))
    sandbox.begin(sandbox.versions[0])
    with pytest.raises(SandboxUnavailable, match="user code can see /etc/passwd"):
        sandbox.start()
    with pytest.raises(SandboxUnavailable, match="user code can see /etc/passwd"):
        sandbox.run(Request("print(1)", "", sandbox.versions[0]))
    sandbox.close()


def test_a_reserve_slot_does_what_would_wait(settings):
    sandbox = Sandbox(dataclasses.replace(settings, reserve_slots=1))
    sandbox.start()
    version, cancelled = sandbox.versions[0], threading.Event()
    sleeping = sandbox.run(Request("import time; time.sleep(7)", "", version), cancelled)
    first: list[Any] = []
    long = threading.Thread(target=lambda: first.extend(sleeping))
    long.start()
    *_, done = sandbox.run(Request("print(1)", "", version))
    cancelled.set()
    long.join()
    sandbox.close()
    assert isinstance(done, Done)
    assert done.status == "complete"
    assert [event.message for event in first if isinstance(event, Diagnostic)] == ["Canceled."]


def test_an_unknown_version_is_refused(wall):
    with pytest.raises(UnknownTriton, match=wall.sandbox.versions[0]):
        wall.sandbox.run(Request("", "", "0.0.1"))


def test_a_slot_is_replaced_after_so_many_jobs(settings):
    sandbox = Sandbox(dataclasses.replace(settings, jobs_per_slot=2))
    sandbox.start()
    request = Request("", "", sandbox.versions[0])
    for _ in range(5):
        assert [event.kind for event in sandbox.run(request)] == ["done"]
    sandbox.close()


def slots_of(pool):
    """Return how many slots start, are idle and are busy."""
    state = pool.state()
    return state.starting, state.idle, state.busy


def test_the_slot_of_the_next_job_starts_during_the_job_that_uses_one_up(settings):
    sandbox = Sandbox(dataclasses.replace(settings, jobs_per_slot=1, slots_per_version=2, warm_up=False))
    sandbox.start()
    version = sandbox.versions[0]
    waits = "emit(model.Log('stdout', 'here'))\nimport time; time.sleep(60)"
    running: Any = sandbox.run(Request(waits, "", version))
    next(running)
    pool = sandbox._pools.of(version)
    with pool._changed:
        assert pool._changed.wait_for(lambda: pool.state().idle == 1, timeout=60)
    running.close()
    with pool._changed:  # No third slot is started after the job.
        assert pool._changed.wait_for(lambda: slots_of(pool) == (0, 1, 0), timeout=60)
    sandbox.close()


def test_a_single_slot_for_one_job_is_not_replaced_before_another_job_waits(settings):
    sandbox = Sandbox(dataclasses.replace(settings, jobs_per_slot=1, slots_per_version=1, warm_up=False))
    sandbox.start()
    version = sandbox.versions[0]
    for _ in range(2):
        assert [event.kind for event in sandbox.run(Request("", "", version))] == ["done"]
    pool = sandbox._pools.of(version)
    with pool._changed:
        assert pool._changed.wait_for(lambda: slots_of(pool) == (0, 0, 0), timeout=60)
    sandbox.close()


def test_the_process_of_a_job_gets_ready_before_the_request_arrives(wall):
    source = "import python_entry_point\nprint(python_entry_point.ready)"
    events = wall.sandbox.run(Request(source, "", wall.sandbox.versions[0]))
    assert [event.text for event in events if isinstance(event, Log)] == ["[True]\n"]


def test_a_pipeline_that_does_not_start_is_reported(settings):
    sandbox = Sandbox(dataclasses.replace(settings, entry_point="no_such_module"))
    sandbox.start()
    with pytest.raises(SandboxUnavailable, match="no_such_module"):
        list(sandbox.run(Request("", "", sandbox.versions[0])))
    sandbox.close()


def test_closing_does_not_wait_for_a_start(settings):
    sandbox = Sandbox(dataclasses.replace(settings, entry_point="slow_entry_point", start_seconds=90))
    sandbox.start()
    events = sandbox.run(Request("", "", sandbox.versions[0]))
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(next, events)
        time.sleep(2)  # it is in the import; closing must not wait for an earlier step either
        began = time.monotonic()
        sandbox.close()
        assert time.monotonic() - began < 10
        with pytest.raises(SandboxUnavailable, match="closed"):
            waiting.result()


@pytest.mark.skipif(os.getuid() == 0, reason="root's interpreter is not nobody's to read")
def test_unsafe_mode_still_has_limits(settings):
    sandbox = Sandbox(dataclasses.replace(settings, unsafe=True))
    sandbox.start()
    assert sandbox.tier == "unsafe"
    version = sandbox.versions[0]
    events = list(sandbox.run(Request("import os; os.abort()", "", version)))
    assert isinstance(events[0], Diagnostic) and "SIGABRT" in events[0].message
    events = list(sandbox.run(Request("import socket; socket.socket()", "", version)))
    assert isinstance(events[0], Diagnostic) and "PermissionError" in events[0].message
    sandbox.close()


def test_no_jail_outlives_its_service(settings):
    script = f"""
from pathlib import Path
from explorer.model import Request
from explorer.sandbox import Sandbox, SandboxSettings

folder = Path({str(settings.python_path[0])!r})
settings = SandboxSettings(slots_per_version=1, entry_point="python_entry_point", python_path=(folder,))
sandbox = Sandbox(settings)
sandbox.start()
source = "import os; emit(model.Log('stdout', 'x')); os.execv('/bin/sleep', ['sleep', '977004'])"
events = sandbox.run(Request(source, "", sandbox.versions[0]))
next(events)
print("ready", flush=True)
list(events)
"""
    service = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    with service:
        assert service.stdout.readline() == b"ready\n"
        inside = descendants(service.pid)
        assert len(inside) >= 4
        handles = [os.pidfd_open(pid) for pid in inside]
        service.kill()
    for handle in handles:
        assert select.select([handle], [], [], 10)[0], "a process of the jail is still there"
        os.close(handle)


def descendants(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


@pytest.fixture(scope="module")
def compiler():
    sandbox = Sandbox(SandboxSettings(slots_per_version=1))
    sandbox.start()
    yield sandbox
    sandbox.close()


def test_a_crash_of_the_real_compiler_keeps_what_was_there(compiler):
    source = VECTOR_ADD.read_text() + (
        "\nimport ctypes\nprint('before', flush=True)\n"
        "ctypes.CDLL(None).__assert_fail(b'width <= 32', b'Layout.cpp', 42, b'lower')\n"
    )
    events = list(compiler.run(Request(source, "cuda:90", compiler.versions[0])))
    message = next(event.message for event in events if isinstance(event, Diagnostic))
    assert "SIGABRT" in message
    assert "Assertion `width <= 32' failed." in message
    assert events[-1].status == "failed"


@pytest.mark.parametrize(
    "words",
    [
        "LLVM ERROR: unsupported load type for producer commit",
        "Unsupported conversion\nUNREACHABLE executed at Conversion.cpp:42!",
    ],
)
def test_the_last_words_of_the_compiler_are_the_message_however_long_its_stack_is(compiler, words):
    stack = [
        f"#{number} 0x{number:016x} mlir::a::long::name::of::a::function(Operation*)" for number in range(300)
    ]
    report = "\n".join(["a remark", words, "Stack dump:", *stack, ""])
    source = VECTOR_ADD.read_text() + f"\nimport os\nos.write(2, {report!r}.encode())\nos.abort()\n"
    events = list(compiler.run(Request(source, "cuda:90", compiler.versions[0])))
    message = next(event.message for event in events if isinstance(event, Diagnostic))
    assert message.endswith(f"(SIGABRT: Aborted).\n{words}")


WGMMA = """\
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper

@gluon.jit
def kernel(x_ptr, shared_layout: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, 64, gl.SliceLayout(1, layout))
    columns = gl.arange(0, 64, gl.SliceLayout(0, layout))
    square = rows[:, None] * 64 + columns[None, :]
    matrix: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    x = gl.allocate_shared_memory(gl.float16, [64, 64], shared_layout, gl.load(x_ptr + square))
    zero = gl.zeros([64, 64], gl.float32, matrix)
    product = hopper.warpgroup_mma(x, x, zero)
    gl.store(x_ptr + square, gl.convert_layout(product, layout).to(gl.float16))

kernel[(1,)](torch.empty(4096, device="cuda", dtype=torch.float16), LAYOUT)
"""


@pytest.mark.parametrize(
    ("target", "layout", "place", "words"),
    [
        ("cuda:80", "gl.NVMMASharedLayout(128, 16, 2)", " in the step that makes ptx", "Cannot select"),
        ("cuda:90", "gl.SwizzledSharedLayout(1, 1, 1, [1, 0])", "", "Failed to infer result type"),
    ],
)
def test_a_crash_of_the_compiler_is_on_the_line_that_its_last_words_name(
    compiler, target, layout, place, words
):
    source = WGMMA.replace("LAYOUT", layout)
    for version in compiler.versions:
        events = list(compiler.run(Request(source, target, version)))
        error = next(event for event in events if isinstance(event, Diagnostic) and event.severity == "error")
        assert error.message.startswith(f"The compiler has crashed{place} (SIGABRT: Aborted).")
        assert words in error.message
        assert source.splitlines()[error.line - 1].strip().startswith("product = hopper.warpgroup_mma")


RECURSION = """\
module {
  tt.func private @below(%n: i32) -> i32 {
    %0 = tt.call @below(%n) : (i32) -> i32
    tt.return %0 : i32
  }
  tt.func public @kernel(%x: !tt.ptr<i32>, %n: i32) {
    %0 = tt.call @below(%n) : (i32) -> i32
    tt.store %x, %0 : !tt.ptr<i32>
    tt.return
  }
}
"""
SMALL_PRODUCT = """\
module {
  tt.func public @kernel(%x: !tt.ptr<f32>) {
    %a = arith.constant dense<1.0> : tensor<1x1xf16>
    %c = arith.constant dense<1.0> : tensor<1x1xf32>
    %d = tt.dot %a, %a, %c : tensor<1x1xf16> * tensor<1x1xf16> -> tensor<1x1xf32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
    tt.store %p, %d : tensor<1x1x!tt.ptr<f32>>
    tt.return
  }
}
"""


def parts_of(events):
    """The error, the names of the stages, and the names of the passes with whether they failed."""
    (error,) = (each for each in events if isinstance(each, Diagnostic))
    stages = [each.name for each in events if isinstance(each, Stage)]
    return error, stages, [(each.name, each.failed) for each in events if isinstance(each, Pass)]


def test_a_pass_that_overflows_the_stack_is_named_and_keeps_the_passes_before_it(compiler):
    """3.6 ends with the signal, from which 3.9 recovers: the analysis of axes follows the recursion."""
    for version in compiler.versions:
        error, stages, passes = parts_of(list(compiler.run(Request(RECURSION, "cuda:80", version))))
        assert "tritongpu-coalesce" in error.message
        assert error.line == 6
        assert "Try another Triton version." in error.hint
        assert stages == ["ttir"]
        assert passes[:2] == [("parsed", False), ("convert-triton-to-tritongpu", False)]
        if version.startswith("3.6"):
            assert "crashed in the pass tritongpu-coalesce (SIGSEGV" in error.message
        else:
            assert "failed or crashed without a message" in error.message
            assert passes[2:] == [("tritongpu-coalesce", True)]


def test_a_pass_that_aborts_marks_the_operation_of_a_pasted_module(compiler):
    version = next(each for each in compiler.versions if each.startswith("3.9"))
    error, stages, passes = parts_of(list(compiler.run(Request(SMALL_PRODUCT, "cuda:80", version))))
    assert "Assertion `minBitwidth" in error.message
    assert "(pass tritongpu-accelerate-matmul)" in error.message
    assert error.line == 5
    assert error.hint == "The pass worked on a `tt.dot`. The module before it has this operation in line 5."
    assert stages == ["ttir"]
    assert passes[-1] == ("tritongpu-accelerate-matmul", True)
    assert not any(failed for _, failed in passes[:-1])


def test_a_pass_that_fails_is_on_the_line_of_the_operation_that_it_worked_on(compiler):
    version = next((each for each in compiler.versions if each.startswith("3.6")), None)
    if version is None:
        pytest.skip("later versions compile the kernel")
    source = """\
import torch, triton
import triton.language as tl

@triton.jit
def kernel(x, N: tl.constexpr):
    square = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(x + square)
    product = tl.dot(a, a)
    tl.store(x + square, product)

kernel[(1,)](torch.empty(4096, device="cuda", dtype=torch.float64), N=64)
"""
    events = list(compiler.run(Request(source, "cuda:100", version)))
    error = next(event for event in events if isinstance(event, Diagnostic) and "(pass " in event.message)
    assert "Assertion `" in error.message
    assert "(pass tritongpu-accelerate-matmul)" in error.message
    assert error.line == 8
    assert error.hint == "The pass worked on a `tt.dot`. The module before it has this operation in line 8."


@pytest.mark.parametrize(
    "replace",
    [
        os.mkfifo,
        os.mkdir,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.write_bytes(b"ttgir\n" + bytes(1 << 23)),
    ],
)
def test_a_kept_text_that_the_source_has_replaced_is_not_read(tmp_path, replace):
    replace(tmp_path / source_position.TEXT_FILE)
    assert source_position.kept_text(str(tmp_path)) == ("", "")
    source_position.keep_text(str(tmp_path / "absent"), "ttgir", "module")


def test_a_text_is_kept_unless_it_is_too_long(tmp_path):
    source_position.keep_text(str(tmp_path), "ttgir", "module {}")
    assert source_position.kept_text(str(tmp_path)) == ("ttgir", "module {}")
    source_position.keep_text(str(tmp_path), "ttgir", "x" * (1 << 22))
    assert source_position.kept_text(str(tmp_path)) == ("ttgir", "")


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_the_real_pipeline_fits_in(compiler, target):
    for version in compiler.versions:
        events = list(compiler.run(Request(VECTOR_ADD.read_text(), target, version)))
        stages = [event.name for event in events if isinstance(event, Stage)]
        assert events[-1].status == "complete", [e for e in events if isinstance(e, Diagnostic | Log | Done)]
        assert stages[:4] == ["ast", "ttir", "ttgir", "llir"]
        assert len(stages) >= 5


def test_a_project_below_a_hidden_folder_is_served_and_what_stands_beside_it_stays_hidden(settings):
    """As in /home, the parent folders of the project exist and contain nothing else."""
    with (
        tempfile.TemporaryDirectory(dir="/var/tmp") as folder,
        tempfile.TemporaryDirectory(dir="/var/tmp") as neighbor,
    ):
        home, beside = Path(folder), Path(neighbor)
        home.chmod(0o755)
        project = home / "project"
        shutil.copytree(settings.python_path[0], project)
        (home / "secret").write_text("secret")
        sandbox = Sandbox(dataclasses.replace(settings, python_path=(project,)))
        sandbox.start()
        try:
            assert sandbox.tier == "full"
            names = ["project", "secret", f"../{beside.name}"]
            source = f"import os; print([os.path.exists(os.path.join({folder!r}, each)) for each in {names}])"
            events = list(sandbox.run(Request(source, "", sandbox.versions[0])))
        finally:
            sandbox.close()
        (log,) = [event for event in events if isinstance(event, Log) and event.source == "stdout"]
        assert log.text.strip() == "[True, False, False]"


@pytest.mark.nightly
def test_a_job_runs_beside_a_thousand_open_files():
    limit, greatest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, greatest), greatest))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        sandbox = Sandbox(SandboxSettings(slots_per_version=1))
        sandbox.start()
        request = Request(VECTOR_ADD.read_text(), "cuda:90", sandbox.versions[0])
        ends = [list(sandbox.run(request))[-1] for _ in range(2)]
        sandbox.close()
    finally:
        for each in opened:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, greatest))
    assert [isinstance(end, Done) and end.status for end in ends] == ["complete"] * 2
