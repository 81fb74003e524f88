"""The process that has executed a script stays for later jobs of the script, and for nothing else."""

import re
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.model import Edits, Request, Run, encode_event
from explorer.sandbox import Limits, Sandbox, SandboxSettings
from explorer.sandbox.priority import yields

from .conftest import JAILED, SMALL, Result

VECTOR_ADD = Path(__file__).parents[2] / "explorer" / "examples" / "vector_add.py"
#: Long enough that its process is worth keeping. `executed` tells one execution from another.
SCRIPT = """
import os, sys, time
time.sleep(0.15)
print("script", file=sys.stderr, flush=True)
executed = time.monotonic_ns()
memory = []
"""


#: The script keeps the connection to the warden, which the process of a job closes.
LINK = """
import socket
from explorer.pipeline import script_process
cells = [cell.cell_contents for cell in script_process._leave_copy.__closure__]
link = next(each for each in cells if isinstance(each, socket.socket)).dup()
"""


class Scripts:
    """A sandbox that keeps the processes of scripts."""

    def __init__(self, sandbox):
        self.sandbox = sandbox

    def run(self, job="", script=SCRIPT, target="", **request):
        """Execute a job after a script."""
        version = self.sandbox.versions[0]
        return Result(self.sandbox.run(Request(script, target, version, kernel=job, **request)))

    def executed(self, script=SCRIPT, **request):
        """Return when the script of a job was executed."""
        result = self.run("print(executed)", script, **request)
        assert result.done.status == "complete", result.message
        return int(result.logs["stdout"])


@pytest.fixture(scope="module")
def settings():
    return SandboxSettings(
        limits=replace(SMALL, working_seconds=3, leaves_copies=True),
        slots_per_version=1,
        kept_scripts=2,
        entry_point="script_entry_point",
        python_path=(JAILED,),
    )


@pytest.fixture
def open_scripts():
    opened = []

    def open_scripts(settings):
        sandbox = Sandbox(settings)
        sandbox.start()
        opened.append(sandbox)
        return Scripts(sandbox)

    yield open_scripts
    for sandbox in opened:
        sandbox.close()


@pytest.fixture(scope="module")
def shared(settings):
    sandbox = Sandbox(settings)
    sandbox.start()
    yield Scripts(sandbox)
    sandbox.close()


@pytest.fixture
def scripts(shared, request):
    """The shared sandbox, without a process of the script of this test."""
    name = request.node.name

    class Own(Scripts):
        def run(self, job="", script=SCRIPT, target="", **request):
            return super().run(job, f"{script}\n# {name}", target, **request)

    return Own(shared.sandbox)


def test_a_script_is_executed_once_and_its_jobs_do_not_see_each_other(scripts):
    job = "memory.append(1); print(executed, memory, os.getppid()); open('/tmp/left', 'w').close()"
    results = [scripts.run(job) for _ in range(4)]
    assert [result.done.status for result in results] == ["complete"] * 4
    assert len({result.logs["stdout"] for result in results}) == 1
    assert "[1]" in results[0].logs["stdout"]
    assert [result.logs["stderr"] for result in results] == ["script\n"] * 4


def test_another_script_or_another_owner_has_another_process(scripts):
    executed = scripts.executed()
    assert scripts.executed() == executed
    others = [
        scripts.executed(SCRIPT + "# another"),
        scripts.executed(private="key"),
        scripts.executed(arguments="*fp32, print(1)"),
        scripts.executed(assumed={"3": 4}),
        scripts.executed(files={"tools.py": "a = 1"}),
        scripts.executed(path="folder/kernel.py"),
        scripts.executed(script_arguments="--rows 64"),
    ]
    assert len({executed, *others}) == 8
    token = yields.set(True)
    try:
        assert scripts.executed() not in {executed, *others}
    finally:
        yields.reset(token)


def test_a_script_that_suits_all_targets_of_a_vendor_is_executed_once_for_them(scripts):
    def executed(script):
        return [scripts.executed(script, target=target) for target in ("cuda:90", "cuda:80", "hip:gfx942")]

    hopper, ampere, amd = executed(SCRIPT + "# any target")
    assert hopper == ampere != amd
    assert scripts.executed(SCRIPT + "# any target", target="cuda:90") == hopper
    assert len(set(executed(SCRIPT))) == 3


def test_a_short_script_is_executed_again(scripts):
    script = SCRIPT.replace("0.15", "0.0")
    assert scripts.executed(script) != scripts.executed(script)


def test_tasks_without_a_script_keep_nothing(scripts):
    executed = scripts.executed()
    assert scripts.executed(task="run", run=Run("interpreter")) != executed
    assert scripts.executed(task="inspect") == executed


def test_a_request_whose_texts_other_programs_read_has_a_process_of_its_own(scripts):
    executed = scripts.executed()
    assert scripts.executed(options={"ptx_options": "-v"}) != executed
    assert scripts.executed(edits=Edits("ttir", "module {}")) != executed
    assert scripts.executed(options={"num_warps": 8}) == executed


def test_nothing_else_of_a_job_stays_and_the_kept_process_stands_still(scripts):
    # The first job forks a process that counts, and that a signal cannot end.
    fork = """
import signal
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        with open("/tmp/count", "a") as file: file.write(".")
        time.sleep(0.01)
while not os.path.exists("/tmp/count"): time.sleep(0.01)
"""
    look = (
        "print(executed, len(open('/tmp/count').read()), "
        "sorted(map(int, filter(str.isdigit, os.listdir('/proc')))))"
    )
    first = scripts.run(fork + look).logs["stdout"].split(maxsplit=2)
    time.sleep(0.5)
    second = scripts.run(look).logs["stdout"].split(maxsplit=2)
    time.sleep(0.5)
    third = scripts.run(look).logs["stdout"].split(maxsplit=2)
    assert first[0] == second[0] == third[0]
    assert second[1] == third[1]
    # The warden, the job, and the process for the next job.
    assert third[2].count(",") == 2


def test_the_output_of_a_script_is_in_the_log_of_each_job(scripts):
    script = SCRIPT + "print('begin', end=' ')\nos.system('echo one')\nos.write(1, b'two\\n')\n"
    logs = [scripts.run(f"print({number}, executed)", script).logs["stdout"] for number in range(3)]
    assert [re.sub(r"\d{6,}", "", log) for log in logs] == [
        f"one\ntwo\nbegin {number} \n" for number in range(3)
    ]
    assert len({log.split()[-1] for log in logs}) == 1


def test_a_script_with_children_is_executed_again(scripts):
    # A copy of the process would hold the other end of the pipe, and the job would wait for its end.
    script = (
        SCRIPT
        + "import subprocess, sys\n"
        + "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1, stdout=-1)\n"
    )
    job = "child.stdin.close(); child.stdout.read(); child.wait(); print(executed)"
    results = [scripts.run(job, script) for _ in range(2)]
    assert [result.done.status for result in results] == ["complete"] * 2
    assert results[0].logs["stdout"] != results[1].logs["stdout"]


#: The copy executes this handler when a signal continues it.
CONTINUED = """
import ctypes, signal
libc = ctypes.CDLL(None)
def continued(*_):
    {handler}
def after_fork():
    signal.signal(signal.SIGCONT, continued)
    {arrange}
    open("/tmp/arranged", "w").close()
os.register_at_fork(after_in_child=after_fork)
"""
#: The first job lets the copy arrange it.
WAIT = "while not os.path.exists('/tmp/arranged'): time.sleep(0.01)\n"
#: A timer that sends SIGCONT each 10 ms: clock 1, struct sigevent, struct itimerspec.
TIMER = """timer = ctypes.c_void_p()
    event = (ctypes.c_int * 16)(0, 0, int(signal.SIGCONT), 0)
    libc.timer_create(1, event, ctypes.byref(timer))
    libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 10_000_000, 0, 10_000_000), None)"""


@pytest.mark.parametrize(
    "arrange", [TIMER, "libc.prctl(1, int(signal.SIGCONT))"], ids=["timer", "parent's end"]
)
def test_a_process_that_continues_between_two_jobs_is_ended(scripts, arrange):
    handler = "while True: open('/tmp/count', 'a').write('.')"
    script = SCRIPT + CONTINUED.format(handler=handler, arrange=arrange)
    executed = int(scripts.run(WAIT + "print(executed)", script).logs["stdout"])
    time.sleep(0.3)
    # Either it was ended, or it was stopped again and does not begin the later job.
    began = time.monotonic()
    assert scripts.executed(script) != executed
    assert time.monotonic() - began < 8


def test_the_text_that_a_job_has_compiled_is_not_the_text_of_a_later_job(scripts):
    keep = "open('/tmp/.compiled-text', 'w').write('ttgir'); print(executed)"
    look = "print(executed, os.path.exists('/tmp/.compiled-text'))"
    executed = scripts.run(keep).logs["stdout"].strip()
    assert scripts.run(look).logs["stdout"] == f"{executed} False\n"


def test_a_later_job_has_limits_before_it_begins(scripts):
    handler = "memory.append(b'x' * (700 << 20)); time.sleep(60)"
    script = SCRIPT + CONTINUED.format(handler=handler, arrange="pass")
    executed = int(scripts.run(WAIT + "print(executed)", script).logs["stdout"])
    began = time.monotonic()
    assert scripts.executed(script) != executed
    # Without a limit, the web side waits for 5 s.
    assert time.monotonic() - began < 4


def test_the_copy_ends_first_if_a_job_needs_its_memory(scripts):
    script = SCRIPT + "block = b'x' * (90 << 20)\n"
    executed = scripts.executed(script)
    large = scripts.run("memory.append(b'y' * (340 << 20)); time.sleep(0.2); print(executed)", script)
    assert large.done.status == "complete", large.message
    assert int(large.logs["stdout"]) == executed
    assert scripts.executed(script) != executed


def test_a_slot_with_a_jail_of_its_own_keeps_nothing(settings):
    sandbox = Sandbox(settings)
    sandbox.begin(sandbox.versions[0])
    sandbox.start()
    try:
        scripts = Scripts(sandbox)
        assert scripts.executed() != scripts.executed()
    finally:
        began = time.monotonic()
        sandbox.close()
    assert time.monotonic() - began < 2


def test_a_job_does_not_reach_the_process_for_later_jobs(scripts):
    job = """
copies = [int(each) for each in os.listdir("/proc") if each.isdigit() and int(each) not in (1, os.getpid())]
for copy in copies:
    for name in ("mem", "fd/1", "environ"):
        try: open(f"/proc/{copy}/{name}", "r+b" if name == "mem" else "rb")
        except OSError as error: print(name, type(error).__name__)
"""
    expected = ["mem PermissionError", "fd/1 PermissionError", "environ PermissionError"]
    for _ in range(2):
        assert scripts.run(job).logs["stdout"].splitlines() == expected
    # Neither is a connection to the warden left in the process of the job.
    look = (
        "paths = [f'/proc/self/fd/{each}' for each in os.listdir('/proc/self/fd')]\n"
        "print([os.readlink(path) for path in paths if os.path.lexists(path)])"
    )
    assert scripts.run(look).logs["stdout"].count("socket:") == 1


def test_each_job_has_the_whole_time(scripts):
    executed = set()
    for _ in range(3):
        result = scripts.run("print(executed); time.sleep(2)")
        assert result.done.status == "complete", result.message
        executed.add(result.logs["stdout"])
    assert len(executed) == 1


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("time.sleep(60)", "The time limit is 3 seconds"),
        ("os.abort()", "crashed (SIGABRT: Aborted)"),
        (
            "for _ in range(3):\n"
            "    if os.fork() == 0: x = b'x' * (250 << 20); time.sleep(60)\n"
            "time.sleep(60)",
            "MiB of memory",
        ),
        ("os._exit(3)", "with exit status 3"),
    ],
)
def test_a_later_job_that_fails_is_explained_and_the_next_executes_the_script(scripts, job, message):
    executed = scripts.executed()
    failed = scripts.run(job)
    assert failed.done.status == "failed"
    assert message in failed.message
    assert scripts.executed() != executed


def test_a_kept_process_that_was_killed_is_replaced(scripts):
    executed = scripts.executed()
    signal.pidfd_send_signal(kept_slots(scripts)[-1]._namespace, signal.SIGKILL)
    assert scripts.executed() != executed


@pytest.mark.parametrize(
    "lie",
    [
        # It ends the process for later jobs. It names another process, a missing one, itself, all, or none.
        "for process in map(int, filter(str.isdigit, os.listdir('/proc'))):\n"
        "    if process not in (1, os.getpid()): os.kill(process, 9)",
        *(f"link.send(b'{number} 1')" for number in ("1", "99999", "-1", "0", "x", "9999999999999")),
        *(f"link.send(b'%d{suits}' % os.getpid())" for suits in ("", " 1", " 7", " 1 1")),
        "child = os.fork()\nif child == 0:\n    time.sleep(100)\nlink.send(b'%d 1' % child)",
        "link.close()",
        "link.shutdown(2)",
    ],
)
def test_a_script_that_lies_about_its_process_harms_itself_only(scripts, lie):
    script = SCRIPT + LINK
    assert scripts.run(lie, script + f"# {lie!r}").done.status == "complete"
    began = time.monotonic()
    later = scripts.run("print(executed)", script + f"# {lie!r}")
    assert later.done.status == "complete", later.message
    assert time.monotonic() - began < 6
    assert scripts.run("print(1)", "").logs["stdout"] == "1\n"


def test_a_job_that_is_cancelled_ends_the_process(scripts):
    executed = scripts.executed()
    request = Request(f"{SCRIPT}\n# cancelled", "", scripts.sandbox.versions[0], kernel="")
    list(scripts.sandbox.run(request))
    slot = kept_slots(scripts)[-1]
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    events = scripts.sandbox.run(replace(request, kernel="time.sleep(60)"), cancelled)
    assert Result(events).done.status == "failed"
    assert slot not in kept_slots(scripts)
    # Another script's process stays.
    assert scripts.executed() == executed


def test_only_so_many_stay_and_none_for_long(open_scripts, settings):
    scripts = open_scripts(replace(settings, kept_script_seconds=1.5, idle_seconds=1.0))
    names = [f"{SCRIPT}# {number}" for number in range(3)]
    executed = [scripts.executed(name) for name in names]
    assert len(kept_slots(scripts)) == 2
    # The script that was used least recently is executed again.
    assert [scripts.executed(name) == each for name, each in zip(names[1:], executed[1:], strict=True)] == [
        True,
        True,
    ]
    assert len(kept_slots(scripts)) == 2
    assert scripts.executed(names[0]) != executed[0]
    deadline = time.monotonic() + 20
    while kept_slots(scripts) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert kept_slots(scripts) == []


def test_a_process_that_uses_much_memory_does_not_stay(open_scripts, settings):
    scripts = open_scripts(replace(settings, kept_scripts_bytes=200 << 20))
    large = SCRIPT + "\nx = b'x' * (250 << 20)"
    assert scripts.executed(large) != scripts.executed(large)
    assert scripts.executed() == scripts.executed()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "other"),
    [
        ("cuda:90", "cuda:80"),
        pytest.param("hip:gfx942", "hip:gfx1100", marks=pytest.mark.nightly),
    ],
)
def test_a_kept_process_compiles_as_a_new_process_does(open_scripts, target, other):
    scripts = open_scripts(
        SandboxSettings(limits=Limits(leaves_copies=True), slots_per_version=1, kept_scripts=1)
    ).sandbox
    version = scripts.versions[0]
    # Further launches than the script's own.
    source = VECTOR_ADD.read_text() + (
        "\n    import time\n    time.sleep(0.2)\n    output = torch.empty_like(x)\n"
        "    for block in (64, 128): add_kernel[(8,)](x, y, output, 512, BLOCK_SIZE=block)\n"
    )
    requests = [
        Request(source, target, version, task="inspect"),
        *(Request(source, target, version, launch=launch) for launch in (2, 1)),
        Request(source, other, version, launch=1),
        Request(source, other, version, arguments="*fp32, *fp32, *fp32, i32, BLOCK_SIZE=64"),
        Request(source, target, version, launch=1, options={"num_warps": 2}),
        Request(source, target, version, launch=2, task="lineage"),
    ]
    kept = [without_times(scripts.run(request)) for request in requests]
    new = []
    for request in requests:
        # This script takes the only place.
        list(scripts.run(Request("import time; time.sleep(0.2)", target, version)))
        new.append(without_times(scripts.run(request)))
    assert all('"complete"' in events[-1] for events in kept), kept
    assert kept == new


def without_times(events):
    """Return the events in their order, without durations."""
    times = re.compile(r'"\w*milliseconds": ?[\d.]+|Compile time = [\d.]+')
    return [times.sub("", encode_event(event).decode()) for event in events]


def kept_slots(scripts):
    """Return the slots that keep a process."""
    pool = scripts.sandbox._pools.of(scripts.sandbox.versions[0])
    with pool._changed:
        pool._changed.wait_for(lambda: not pool._parking)
        return [slot for slot, _, _ in pool._keeping.values()]
