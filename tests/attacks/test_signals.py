"""Attack the processes that guard a job: by signals, limits, priorities, and through /proc."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from explorer.sandbox.launcher import end_jail
from explorer.sandbox.seccomp import _TABLES

from .conftest import descendants
from .test_memory import GUARDS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "attack",
    [
        "attempt(os.kill, 0)",
        "attempt(os.kill, signal.SIGINT)",
        "attempt(lambda guard: signal.pidfd_send_signal(os.pidfd_open(guard), 0))",
        "attempt(resource.prlimit, resource.RLIMIT_NOFILE)",
        "attempt(os.sched_setaffinity, {0})",
        "attempt(os.sched_setscheduler, os.SCHED_IDLE, os.sched_param(0))",
        "attempt(lambda guard: os.setpriority(os.PRIO_PROCESS, guard, 19))",
        "attempt(lambda guard: os.setpriority(os.PRIO_USER, 0, 19))",
        "attempt(lambda guard: os.close(os.open(f'/proc/{guard}/mem', os.O_RDWR)))",
        "attempt(lambda guard: os.listdir(f'/proc/{guard}/fd'))",
        "attempt(lambda guard: open(f'/proc/{guard}/oom_score_adj', 'w').write('1000'))",
        "attempt(lambda guard: fcntl.fcntl(pipe, fcntl.F_SETOWN, guard))",
        "attempt(lambda guard: fcntl.fcntl(pipe, fcntl.F_SETSIG, 9))",
        "attempt(lambda guard: fcntl.ioctl(pair[0], 0x8901, struct.pack('i', guard)))",
        "attempt(lambda guard: fcntl.ioctl(pair[0], 0x8902, struct.pack('i', guard)))",
    ],
)
def test_the_guards_of_a_job_are_out_of_reach(tier, attack):
    source = "import fcntl, os, resource, signal, socket, struct\n"
    source += "pipe = os.pipe()[0]\npair = socket.socketpair()\n"
    result = tier.run(source + GUARDS + attack + "\nprint(len(guards) >= 1)")
    assert (result.done.status, result.output) == ("complete", "True\n"), result


#: The arguments after the number of a system call that takes a process. Python has no functions for these.
SYSTEM_CALLS = {
    "tkill": "guard, 0",
    "tgkill": "guard, guard, 0",
    "rt_sigqueueinfo": "guard, 0, queued",
    "rt_tgsigqueueinfo": "guard, guard, 0, queued",
    "sched_setparam": "guard, bytes(4)",
    "sched_setattr": "guard, struct.pack('IIQiIQQQ', 48, 0, 0, 1, 0, 0, 0, 0), 0",
    "ioprio_set": "1, guard, 3 << 13",
}


@pytest.mark.parametrize("name", SYSTEM_CALLS)
def test_no_system_call_reaches_the_guards(tier, name):
    _, checked, refused = _TABLES[os.uname().machine]
    source = (
        "import ctypes, os, struct\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "queued = struct.pack('iii116x', 0, 0, -1)\n"  # SI_QUEUE
        "def call(guard):\n"
        f"    if libc.syscall({(checked | refused)[name]}, {SYSTEM_CALLS[name]}) < 0:\n"
        "        raise OSError\n"
    )
    result = tier.run(f"{source}{GUARDS}attempt(call)\ncall(os.getpid())\n")
    reaches_itself = name != "sched_setattr"
    assert (result.done.status == "complete", result.output) == (reaches_itself, ""), result


def test_the_warden_handles_no_signal(tier):
    """A handler of a library, which the zygote has loaded, would run in the first process of the job."""
    if not tier.owns_processes:
        pytest.skip("the warden is not the first process of the job")
    # The warden may still be about to remove them.
    source = """
import time
for _ in range(200):
    time.sleep(0.01)
    (handled,) = (line.split()[1] for line in open("/proc/1/status") if line.startswith("SigCgt"))
    if int(handled, 16) == 0: break
print(handled)
"""
    assert tier.run(source).output.strip() == "0" * 16


def test_a_signal_to_its_own_group_does_not_cost_a_jail(tier):
    tier.run("")
    jail = tier.slot.process.pid
    source = "import os, signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\nos.kill(0, signal.SIGUSR1)"
    result = tier.run(source)
    assert result.done.status == "complete", result
    assert tier.slot.process.pid == jail


def test_a_group_of_guards_is_out_of_reach(tier):
    if tier.owns_processes:
        pytest.skip("the kernel spares the first process of a namespace")
    source = GUARDS + "attempt(lambda guard: os.killpg(guard, 0) if guard > 1 else os.kill(-1, 0))"
    assert tier.run(source).output == ""


def test_interrupting_the_warden_does_not_cost_a_jail(tier):
    tier.run("")
    jail = tier.slot.process.pid
    for _ in range(10):
        result = tier.run("import os\nos.kill(1, 2)")
        assert "Operation not permitted" in result.message
    assert tier.slot.process.pid == jail
    assert tier.run("print('fine')").output == "fine\n"


def test_the_job_has_its_own_proc(tier):
    if not tier.owns_processes:
        pytest.skip("the job shares the process namespace of the jail")
    source = (
        "import os\n"
        "processes = sorted(int(name) for name in os.listdir('/proc') if name.isdigit())\n"
        "print(processes, os.readlink('/proc/self'))"
    )
    assert tier.run(source).output == "[1, 2] 2\n"


def test_a_job_can_inspect_and_signal_itself(tier):
    source = (
        "import os, resource, signal, subprocess\n"
        "open('/proc/self/environ').read()\n"
        "resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (100, 100))\n"
        "os.sched_setaffinity(0, os.sched_getaffinity(0))\n"
        "os.nice(1)\n"
        "signal.signal(signal.SIGUSR1, lambda *_: print('signalled'))\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "child = subprocess.Popen(['/bin/sleep', '60'])\n"
        "child.terminate()\n"
        "print(child.wait())"
    )
    assert tier.run(source).output == "signalled\n-15\n"


def test_bubblewrap_waits_until_it_has_reaped_the_jail_that_is_closed(tier, monkeypatch):
    """If it ended with the first zygote, as it does, nobody would wait for the rest of the jail."""
    if tier.launcher.bubblewrap is None:
        pytest.skip("there is no bubblewrap")

    def end_late(process):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        end_jail(process)

    monkeypatch.setattr("explorer.sandbox.jail.end_jail", end_late)
    started = tier.start()
    process = started.process
    started.close()
    assert process.returncode == 128 + signal.SIGKILL


def test_a_closed_jail_leaves_no_process(tier):
    if tier.name not in ("root", "user"):
        pytest.skip("the others end alike")
    jail = tier.start()
    processes = descendants(jail.process.pid)
    assert len(processes) >= 4
    jail.close()
    assert [process for process in processes if Path(f"/proc/{process}").exists()] == []
