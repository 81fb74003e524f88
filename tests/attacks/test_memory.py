"""Attack the memory limit of a job."""

import os
import subprocess
import time

import pytest

from explorer.sandbox import memory
from explorer.sandbox.settings import Limits

from .conftest import MIB

pytestmark = pytest.mark.slow

STOPPED = "of memory. The limit of a job is 1,024 MiB."

#: Sixty-four processes ask for 4 GiB each.
FILL = """
import mmap, os, time

def take(size):
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)  # MAP_POPULATE

for _ in range(63):
    if os.fork() == 0:
        break
blocks = []
try:
    for _ in range(64):
        blocks.append(take(64 << 20))
except BaseException:
    pass
time.sleep(60)
"""
GUARDS = """
import os

def parent(process):
    return int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])

#: The processes that limit the job: the warden, which is 1 in a namespace of the job's own, and its parents.
guards = [1]
try:
    while True:
        guards.append(os.getppid() if guards == [1] else parent(guards[-1]))
except (OSError, IndexError):
    pass
guards = sorted(set(guards) - {0})

def attempt(action, *arguments):
    for guard in guards:
        try:
            action(guard, *arguments)
            print('did', action.__name__, guard, arguments)
        except (OSError, ValueError):
            pass
"""


def assert_stays_below_its_limit(tier, attack):
    """Assert that a job that fills memory after `attack` is stopped in time."""
    result, held = tier.run_measured(GUARDS + attack + FILL)
    assert held < 1.1 * tier.limits.memory_bytes, f"{held // MIB} MiB were held: {result}"
    assert STOPPED in getattr(result, "message", ""), result
    assert tier.run("print('fine')").output == "fine\n"


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param("", id="ask"),
        pytest.param(
            "import resource\nattempt(resource.prlimit, resource.RLIMIT_NOFILE, (8, 256))",
            id="limit the guards",
        ),
        pytest.param(
            "import signal\nfor number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGSTOP):\n"
            "    attempt(os.kill, number)",
            id="signal the guards",
        ),
    ],
)
def test_sixty_four_processes_share_one_limit(tier, attack):
    if tier.name == "unsafe":  # These processes include the process of this test.
        assert tier.run(GUARDS + "attempt(os.kill, 0)").output == ""
    assert_stays_below_its_limit(tier, attack)


def test_memory_that_no_process_maps_is_refused(tier):
    """Pages of shared memory that were written and unmapped belong to no process, and are still held."""
    if tier.limits.shares_memory:
        pytest.skip("CUDA needs shared memory")
    anonymous = tier.run("import mmap\nblock = mmap.mmap(-1, 1 << 20)")
    assert "Operation not permitted" in anonymous.message, anonymous
    zero = "import mmap\nfile = open('/dev/zero', 'r+b', buffering=0)\nmmap.mmap(file.fileno(), 1 << 20)"
    if tier.name != "unsafe":
        assert tier.run(zero).done.status == "failed"


def test_processes_share_memory_through_a_file(tier):
    source = (
        "import mmap, os, tempfile\n"
        "file = tempfile.TemporaryFile()\nfile.truncate(4096)\nblock = mmap.mmap(file.fileno(), 4096)\n"
        "if os.fork() == 0:\n    block[0] = 7\n    os._exit(0)\n"
        "os.wait()\nprint(block[0])"
    )
    assert tier.run(source).output == "7\n"


#: Ways to make the kernel keep memory that no process maps.
KEEPERS = {
    "splice": "libc.splice(0, None, 1, None, 1, 0)",
    "vmsplice": "libc.vmsplice(1, 0, 0, 0)",
    "tee": "libc.tee(0, 1, 1, 0)",
    "enlarge the buffer of a pipe": "libc.fcntl(pipe[0], 1031, 1 << 20)",
}
#: The libraries of CUDA may need these.
KEEPERS_WITHOUT_CUDA = {
    "lock a range of a file": "libc.fcntl(file, fcntl.F_SETLK, lock)",
    "lock a range of an open file": "libc.fcntl(file, 37, lock)",
    "wait for a range of a file": "libc.fcntl(file, fcntl.F_SETLKW, lock)",
    "watch files": "libc.inotify_init1(0)",
}


@pytest.mark.parametrize("attack", [*KEEPERS, *KEEPERS_WITHOUT_CUDA])
def test_the_kernel_keeps_no_memory_for_a_job(tier, attack):
    if attack in KEEPERS_WITHOUT_CUDA and tier.limits.shares_memory:
        pytest.skip("the libraries of CUDA may need this system call")
    call = KEEPERS.get(attack) or KEEPERS_WITHOUT_CUDA[attack]
    source = (
        "import ctypes, fcntl, os, struct, tempfile\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "pipe = os.pipe()\n"
        "file, _ = tempfile.mkstemp()\n"
        "lock = struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)\n"
        f"assert {call} == -1, 'It was done.'\n"
        "raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"
    )
    assert "Operation not permitted" in tier.run(source).message


def test_the_machines_asynchronous_requests_cannot_be_taken(tier):
    source = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "context = ctypes.c_ulong()\n"
        "number = {'x86_64': 206, 'aarch64': 0}[os.uname().machine]\n"
        "print(libc.syscall(number, 65536, ctypes.byref(context)), os.strerror(ctypes.get_errno()))"
    )
    assert tier.run(source).output == "-1 Operation not permitted\n"


def test_the_buffers_of_sockets_count(tier):
    if tier.name == "unsafe":
        pytest.skip("the job shares the network of the machine, whose sockets cannot be told apart")
    source = (
        "import os, socket, time\n"
        "for _ in range(16):\n"
        "    if os.fork() == 0:\n        break\n"
        "pairs = []\n"
        "try:\n"
        "    while True:\n"
        "        pairs.append(socket.socketpair())\n"
        "        for end in pairs[-1]:\n"
        "            end.setblocking(False)\n"
        "            try:\n"
        "                while end.send(bytes(65536)): pass\n"
        "            except BlockingIOError: pass\n"
        "except OSError: pass\n"
        "time.sleep(60)"
    )
    assert STOPPED in tier.run(source).message


def test_an_event_loop_is_created(tier):
    assert tier.run("import asyncio\nprint(asyncio.run(asyncio.sleep(0, 'done')))").output == "done\n"


def test_files_of_the_job_count(tier):
    if tier.name == "unsafe":
        pytest.skip("the temporary folder is on the machine's disk")
    megabytes = tier.limits.scratch_bytes // MIB - 1
    source = (
        "import os, time\n"
        f"for number in range({megabytes}):\n"
        "    open(f'/tmp/{number}', 'wb').write(bytes(1 << 20))\n"
        f"block = b'x' * ({tier.limits.memory_bytes - 16 * MIB} - ({megabytes} << 20))\n"
        "other = b'y' * (64 << 20)\n"
        "time.sleep(10)"
    )
    if tier.limits.scratch_bytes > tier.limits.memory_bytes:
        source = source.replace(f"range({megabytes})", "range(1100)")
    result, held = tier.run_measured(source)
    assert held < 1.1 * tier.limits.memory_bytes
    assert STOPPED in result.message, result


def test_starting_a_program_does_not_count_twice(tier):
    """A process that starts a program shares its memory with the new one for a moment."""
    source = (
        "import subprocess\n"
        f"block = b'x' * {tier.limits.memory_bytes * 6 // 10}\n"
        "for _ in range(50):\n"
        "    subprocess.run(['/bin/true'], check=True)\n"
        "print('fine')"
    )
    result = tier.run(source)
    assert result.output == "fine\n", result


def test_a_process_and_the_one_that_it_starts_hold_the_same_memory(monkeypatch):
    """The same as above, at exactly that moment: 10 waits for 11, which has not executed its program yet."""
    own = memory.JobMemory(Limits(memory_bytes=100), jailed=False, zygote=os.getpid())
    monkeypatch.setattr(own, "processes", lambda: [10, 11, 12])
    monkeypatch.setattr(memory, "held_bytes", {10: 60, 11: 60, 12: 10}.__getitem__)
    states = {10: ("D", 1, 0), 11: ("R", 10, memory._HAS_NOT_EXECUTED), 12: ("S", 10, 0)}
    monkeypatch.setattr(memory, "_states", lambda _: states)
    assert own.used_bytes() == 70
    states[10] = ("R", 1, 0)  # it does not wait: the other is a copy
    assert own.used_bytes() == 130


def test_a_job_without_its_zygote_has_no_processes(monkeypatch):
    """A job whose zygote has ended has a different parent, whose other children are not counted."""
    with subprocess.Popen(["true"]) as zygote:
        pass
    own = memory.JobMemory(Limits(), jailed=False, zygote=zygote.pid)
    monkeypatch.setattr(os, "getppid", os.getpid)
    with subprocess.Popen(["sleep", "10"]) as bystander:
        try:
            assert own.processes() == []
        finally:
            bystander.kill()


def test_processes_may_end_while_they_are_looked_for():
    own = memory.JobMemory(Limits(), jailed=False, zygote=os.getpid())
    deadline = time.monotonic() + 3
    with subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) as shell:
        try:
            while time.monotonic() < deadline:
                assert shell.pid in own.processes()
        finally:
            shell.kill()


def test_what_is_swapped_out_and_page_tables_count(monkeypatch, tmp_path):
    status = "RssAnon:\t 1 kB\nRssFile:\t 16 kB\nRssShmem:\t 2 kB\nVmPTE:\t 4 kB\nVmSwap:\t 8 kB\n"
    file = tmp_path / "status"
    file.write_text(status)
    monkeypatch.setattr(memory, "open", lambda *_, **__: file.open("rb"), raising=False)
    assert memory.held_bytes(os.getpid()) == 15 * 1024
