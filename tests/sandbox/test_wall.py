"""Test that hostile and faulty sources can only fail with a message."""

import os
import re
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.errors import SandboxUnavailable
from explorer.model import Diagnostic, Done, Request, Stage
from explorer.sandbox import Limits, Sandbox
from explorer.sandbox.source_position import SourcePosition
from explorer.sandbox.warden import TimeExceeded, describe_limit


def processes_with(marker):
    """Command lines on this machine that contain `marker`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().decode()
            except OSError:
                continue
            if marker in line:
                found.append(line)
    return found


def assert_works(wall):
    result = wall.run("print('fine')")
    assert result.done.status == "complete"
    assert result.logs == {"stdout": "fine\n"}


@pytest.mark.machine
def test_events_and_output_arrive_in_order(wall):
    result = wall.run(
        "import sys, os\n"
        "emit(model.Stage('ttir', 'TTIR', 'ttir', 1.0, 'module'))\n"
        "print('to stdout', flush=True); print('to stderr', file=sys.stderr)\n"
        "os.write(1, b'from C\\n')\n"
    )
    assert [event.kind for event in result.events] == ["stage", "log", "log", "done"]
    assert result.logs == {"stdout": "to stdout\nfrom C\n", "stderr": "to stderr\n"}


def test_a_stage_arrives_before_the_job_ends(wall):
    """Otherwise the time limit would end the job, not the cancellation that follows the stage."""
    source = "emit(model.Stage('ttir', 'TTIR', 'ttir', 1.0, 'module'))\nimport time; time.sleep(60)"
    canceled = threading.Event()
    events = wall.sandbox.run(wall.request(source), canceled)
    assert isinstance(next(events), Stage)
    canceled.set()
    assert [event.message for event in events if isinstance(event, Diagnostic)] == ["Canceled."]
    assert_works(wall)


def test_request_arrives_whole(wall):
    source = "print(len(request.source), 'ü')\n# " + "x" * 1_500_000
    assert wall.run(source).logs["stdout"] == f"{len(source)} ü\n"


def test_too_large_a_source_is_refused(wall):
    result = wall.run("#" * 10_000_000)
    assert "10,000,000 bytes" in result.message
    assert result.done.status == "failed"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("while True: pass", "2 seconds of processor time"),
        ("import time; time.sleep(60)", "The time limit is 8 seconds"),
        ("x = bytearray(100 << 30)", "memory limit of a job"),
        ("import os; os.abort()", "crashed (SIGABRT"),
        ("import ctypes; ctypes.string_at(0)", "crashed (SIGSEGV"),
        ("import os; os._exit(3)", "exit status 3"),
        ("import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)", "system call that the sandbox"),
        ("raise SystemExit(4)", "SystemExit(4)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("1 / 0", "ZeroDivisionError"),
        ("def f(): f()\nf()", "RecursionError"),
    ],
)
def test_each_end_is_explained(wall, source, message):
    result = wall.run("emit(model.Stage('ttir', 'TTIR', 'ttir', 1.0, 'module'))\n" + source)
    assert message in result.message
    assert result.done.status == "failed"
    assert isinstance(result.events[0], Stage), "what was there before is kept"
    assert_works(wall)


def test_a_source_that_asks_for_too_much_memory_is_told_how_much_there_is(wall):
    result = wall.run("emit(model.Diagnostic('error', 'MemoryError'))")
    assert [diagnostic.hint for diagnostic in result.diagnostics] == [
        "The memory limit of a job is 512 MiB. Reduce the sizes."
    ]


def test_an_assertion_in_native_code_is_shown(wall):
    source = "import ctypes\nctypes.CDLL(None).__assert_fail(b'width <= 32', b'Layout.cpp', 42, b'lower')"
    result = wall.run(source)
    assert "SIGABRT" in result.message
    assert "Layout.cpp:42: lower: Assertion `width <= 32' failed." in result.message


def test_memory_of_all_processes_counts(wall):
    source = (
        "import os, time\n"
        "for _ in range(6):\n"
        "    if os.fork() == 0:\n"
        "        block = bytearray(b'x') * (200 << 20)\n"
        "        time.sleep(60)\n"
        "time.sleep(60)"
    )
    result = wall.run(source)
    assert "512 MiB" in result.message
    assert_works(wall)


def test_a_fork_bomb_fizzles(wall):
    result = wall.run("import os\nwhile True:\n    os.fork()")
    assert result.done.status == "failed"
    assert [diagnostic.hint for diagnostic in result.diagnostics] == [
        "The limit is 32 processes and threads."
    ]
    assert_works(wall)


def test_gigabytes_of_output_are_cut(wall):
    source = "import os\nblock = b'a' * 65536\nfor _ in range(40000): os.write(1, block)\nprint('the end')"
    result = wall.run(source)
    assert result.done.status == "complete"
    assert len(result.logs["stdout"]) < 70_000
    assert "bytes left out" in result.logs["stdout"]
    assert result.logs["stdout"].endswith("the end\n")


def test_gigabytes_of_errors_are_cut(wall):
    source = "import os\nblock = b'a' * 65536\nwhile True: os.write(2, block)"
    result = wall.run(source)
    assert result.done.status == "failed"
    assert len(result.logs["stderr"]) < 70_000
    assert_works(wall)


def test_a_flood_of_events_is_stopped(wall):
    result = wall.run("while True: emit(model.Log('stdout', 'x' * 1_000_000))")
    assert result.done.status == "failed"
    assert "rejected" in result.message or "processor time" in result.message
    assert_works(wall)


@pytest.mark.parametrize(
    "source",
    [
        "open('/etc/shadow')",
        "open('/etc/passwd')",
        "import os; os.listdir('/root/.ssh')",
        "import os; os.listdir('/home')",
        "import os; os.listdir('/var')",
        "open('/usr/written', 'w')",
        "import sys; open(sys.prefix + '/written', 'w')",
        "open('/written', 'w')",
        "open('/dev/shm/written', 'w')",
        "import socket; socket.create_connection(('127.0.0.1', 80))",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import os; os.setuid(0)",
        "from explorer.sandbox import linux; linux.unshare(0x10000000)",
        "from explorer.sandbox import linux; linux.mount('tmpfs', '/tmp', 'tmpfs', 0)",
        "import ctypes, os; l = ctypes.CDLL(None, use_errno=True); "
        "r = l.ptrace(16, os.getppid(), 0, 0); assert r == 0, os.strerror(ctypes.get_errno())",
        "import os; [os.kill(p, 9) for p in range(2, 100) if p != os.getpid()]",
        "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (10**6, 10**6))",
        "f = open('/tmp/big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
        "for i in range(10**6): open(f'/tmp/{i}', 'w').close()",
        "x = [open('/dev/null') for _ in range(10**4)]",
    ],
)
def test_what_is_forbidden_fails(wall, source):
    result = wall.run(source)
    assert result.done.status == "failed"
    assert any(name in result.message for name in ("Error", "Permission", "permitted")), result.message
    assert_works(wall)


@pytest.mark.machine
def test_user_code_is_nobody_and_sees_nobody_else(wall):
    result = wall.run(
        "import os\n"
        "status = open('/proc/self/status').read()\n"
        "print(os.getresuid(), os.getgroups(), os.getppid(), sorted(os.environ))\n"
        "print([line for line in status.splitlines() if line.startswith(('CapEff', 'CapPrm', 'NoNewPrivs', "
        "'Seccomp:'))])\n"
        "print(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:3])\n"
    )
    text = result.logs["stdout"]
    assert "(65534, 65534, 65534)" in text
    assert "CapPrm:\\t0000000000000000" in text
    assert "CapEff:\\t0000000000000000" in text
    assert "NoNewPrivs:\\t1" in text
    assert "Seccomp:\\t2" in text


@pytest.mark.machine
def test_the_zygote_is_out_of_reach(wall):
    source = (
        "import os\n"
        "me = os.readlink('/proc/self/ns/pid')\n"
        "for entry in os.listdir('/proc'):\n"
        "    if entry.isdigit():\n"
        "        for name in ('mem', 'environ', 'maps'):\n"
        "            try:\n"
        "                same = os.readlink(f'/proc/{entry}/ns/pid') == me\n"
        "            except OSError:\n"
        "                same = False\n"
        "            if same: continue\n"
        "            try:\n"
        "                open(f'/proc/{entry}/{name}').read(1)\n"
        "            except OSError:\n"
        "                continue\n"
        "            print('reached', entry, name)\n"
    )
    result = wall.run(source)
    assert result.done.status == "complete", result.message
    assert "reached" not in result.logs.get("stdout", "")


def test_nothing_that_outlives_the_job_is_open(wall):
    source = (
        "import os\n"
        "for process in filter(str.isdigit, os.listdir('/proc')):\n"
        "    try: names = os.listdir(f'/proc/{process}/fd')\n"
        "    except OSError: continue\n"
        "    for name in names:\n"
        "        try: print(os.readlink(f'/proc/{process}/fd/{name}'))\n"
        "        except OSError: pass\n"
    )
    result = wall.run(source)
    assert result.done.status == "complete", result.message
    private = ("/dev/null", "pipe:", "anon_inode:[pidfd]", "pidfd:", "/tmp/#", "/proc/")
    found = result.logs["stdout"].splitlines()
    assert "/dev/null" in found
    # The connection to a disassembler, whose process ends with the job.
    (connection,) = [name for name in found if not name.startswith(private)]
    assert connection.startswith("socket:")


def test_programs_can_be_started(wall):
    result = wall.run(
        "import subprocess; print(subprocess.run(['/bin/echo', 'hi'], capture_output=True).stdout)"
    )
    assert result.logs["stdout"] == "b'hi\\n'\n"


def test_programs_have_the_same_addresses_in_each_job(wall):
    """Otherwise an assembler that sorts by addresses gives another binary each time."""
    source = "import subprocess; subprocess.run(['/bin/grep', 'stack', '/proc/self/maps'])"
    first, second = wall.run(source).logs, wall.run(source).logs
    assert "[stack]" in first["stdout"]
    assert first == second


def test_two_jobs_cannot_see_each_other(wall):
    wall.run("open('/tmp/secret', 'w').write('s'); import sys; sys.modules['secret'] = 1")
    result = wall.run(
        "import os, sys; print([n for n in os.listdir('/tmp') if n == 'secret'], 'secret' in sys.modules)"
    )
    assert result.logs["stdout"] == "[] False\n"


def test_a_forged_end_ends_the_job(wall):
    source = (
        "import os, subprocess\n"
        "line = model.encode_event(model.Done('complete', 1.0))\n"
        "for fd in range(3, 256):\n"
        "    try: os.write(fd, line)\n"
        "    except OSError: pass\n"
        "subprocess.run(['/bin/sleep', '977001'])\n"
    )
    result = wall.run(source)
    assert [event.kind for event in result.events].count("done") == 1
    assert_works(wall)
    assert processes_with("977001") == []


@pytest.mark.parametrize(
    "line",
    [
        b"no json",
        b'{"event":"nothing"}',
        b'{"event":"done","status":"complete","milliseconds":NaN}',
        b"[1]",
        b"\xff\xfe",
    ],
)
def test_a_forged_line_is_refused(wall, line):
    source = (
        "import os\n"
        "for fd in range(3, 256):\n"
        f"    try: os.write(fd, {line!r} + b'\\n')\n"
        "    except OSError: pass\n"
    )
    result = wall.run(source)
    assert result.done.status == "failed"
    assert_works(wall)


def test_a_forged_end_that_says_nothing_is_refused(wall):
    source = (
        "import os, time\n"
        "for fd in range(3, 256):\n"
        "    try: os.write(fd, b'x\\x18\\n')\n"
        "    except OSError: pass\n"
        "time.sleep(10)\n"
    )
    assert "rejected" in wall.run(source).message
    assert_works(wall)


def test_a_cut_off_event_does_not_hide_the_message(wall):
    source = (
        "import os, fcntl, stat\n"
        "for fd in range(3, 256):\n"
        '    try: os.write(fd, b\'{"event":"log","te\')\n'
        "    except OSError: pass\n"
        "os.abort()"
    )
    result = wall.run(source)
    assert "SIGABRT" in result.message or "rejected" in result.message


def test_orphans_die_with_the_job(wall):
    source = (
        "import os, subprocess\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.execv('/bin/sleep', ['sleep', '977002'])\n"
        "    os._exit(0)\n"
        "subprocess.Popen(['/bin/sleep', '977002'], start_new_session=True)\n"
    )
    assert wall.run(source).done.status == "complete"
    assert_works(wall)
    assert processes_with("977002") == []


def test_cancel_in_the_middle(wall):
    cancelled = threading.Event()
    events = wall.sandbox.run(
        wall.request("emit(model.Log('stdout', 'here'))\nimport time; time.sleep(60)"), cancelled
    )
    assert next(events).text == "here"
    cancelled.set()
    rest = list(events)
    assert rest[-1].status == "failed"
    assert "Canceled" in rest[-2].message
    assert_works(wall)


def test_cancel_while_waiting(wall):
    first = wall.sandbox.run(wall.request("emit(model.Log('stdout', 'here'))\nimport time; time.sleep(60)"))
    next(first)
    cancelled = threading.Event()
    second = wall.sandbox.run(wall.request("print('never')"), cancelled)
    cancelled.set()
    assert [type(event) for event in second] == [Diagnostic, Done]
    first.close()
    assert_works(wall)


def jails_of(wall):
    """Process ids of the outermost processes of this sandbox's jails."""
    shared = wall.sandbox._pools._jail
    return [] if shared is None else [shared.process.pid]


def test_a_jail_killed_between_jobs_is_replaced(wall):
    assert_works(wall)
    for pid in jails_of(wall):
        os.kill(pid, signal.SIGKILL)
    assert_works(wall)


def test_a_jail_killed_before_anything_was_said_is_tried_again(wall):
    events = wall.sandbox.run(wall.request("import time; time.sleep(2); print('late')"))
    for pid in jails_of(wall):
        os.kill(pid, signal.SIGKILL)
    assert [event.kind for event in events] == ["log", "done"]


def test_a_jail_killed_in_the_middle_ends_the_job(wall):
    events = wall.sandbox.run(wall.request("emit(model.Log('stdout', 'here'))\nimport time; time.sleep(60)"))
    next(events)
    for pid in jails_of(wall):
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(SandboxUnavailable, match="restarted"):
        list(events)
    assert_works(wall)


def test_a_signal_to_the_group_reaches_the_job_only(wall):
    result = wall.run("import os; os.killpg(0, 9)")
    assert "SIGKILL" in result.message
    assert_works(wall)


def test_the_time_limit_names_the_step_and_the_setting(settings):
    limits = replace(settings.limits, working_seconds=1, time_setting="THE_SETTING")
    sandbox = Sandbox(replace(settings, limits=limits))
    sandbox.start()
    try:
        events = list(sandbox.run(Request("import time; time.sleep(60)", "", sandbox.versions[0])))
    finally:
        sandbox.close()
    (end,) = [event for event in events if isinstance(event, Diagnostic)]
    assert re.match(r"The job was stopped after 1\.\d seconds\. The time limit is 1 seconds", end.message)
    assert re.search(r"The longest step was the script: 1\.\d s\.", end.message)
    assert "Line 1 of the source was being executed." in end.message
    assert end.line == 0
    assert "THE_SETTING" in end.hint


def test_a_step_that_took_long_is_named_after_the_stage_before_it():
    steps = (("the script", 0), ("compiling", 400), ("the step after TTIR", 900))
    exceeded = TimeExceeded(elapsed_seconds=12.5, waited_seconds=4.5)
    end = describe_limit(exceeded, Limits(working_seconds=8), SourcePosition(3, steps=steps))
    assert end.message == (
        "The job was stopped after 12.5 seconds. The time limit is 8 seconds, without the 4.5 seconds of "
        "waiting for a processor. The longest step was the step after TTIR: 11.6 s."
    )
    assert "unrolled loops" in end.hint


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f():\n    while True: pass\nf()", "2 seconds of processor time"),
        ("import os\nos.abort()", "Native code that the source calls has crashed (SIGABRT"),
        ("import ctypes\nctypes.string_at(0)", "crashed (SIGSEGV"),
    ],
)
def test_an_end_is_on_the_line_that_was_running(wall, source, message):
    result = wall.run(source)
    assert message in result.message
    assert [diagnostic.line for diagnostic in result.diagnostics] == [2]


def test_a_crash_of_the_compiler_is_on_the_line_of_the_kernel(wall):
    source = """\
emit(model.Specialized('k', 7, 'triton', (), {}, ''))
import threading
elsewhere = compile('import os; os.abort()', 'passes.py', 'exec')
thread = threading.Thread(target=eval, args=(elsewhere, {}))
thread.start()
thread.join()
"""
    result = wall.run(source)
    assert "The compiler has crashed (SIGABRT" in result.message
    assert result.diagnostics[0].line == 7


def test_an_exception_without_a_text_has_a_name(wall):
    source = "class Odd(Exception):\n    def __str__(self): raise self\nraise Odd"
    assert wall.run(source).message == "Odd"


def test_a_long_message_is_cut(wall):
    result = wall.run("raise ValueError('x' * 100_000_000)")
    assert "characters left out]" in result.message
    assert len(result.message) < 30_000
