"""Test that GPU jails allow only the access that a GPU needs."""

import contextlib
import dataclasses
import os
import stat
from pathlib import Path

import pytest
from waiting import wait_for

from explorer.model import Inspection, Request
from explorer.sandbox import Sandbox
from explorer.sandboxes import gpu_sandbox, interpreter_sandbox, torch_compile_sandbox
from explorer.settings import Settings

from .conftest import JAILED, Result, Wall

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def device():
    """A device file that everybody may open and that a jail's /dev lacks. It represents a GPU."""
    fuse = Path("/dev/fuse")
    if fuse.exists() and fuse.stat().st_mode & 0o006 == 0o006:
        yield fuse
        return
    made = Path(f"/dev/triton-explorer-test-{os.getpid()}")
    try:
        os.mknod(made, stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no device file for everybody, and only root can make one")
    try:
        made.chmod(0o666)
        yield made
    finally:
        made.unlink()


def open_wall(settings, **changes):
    sandbox = Sandbox(
        dataclasses.replace(
            settings, entry_point="python_entry_point", python_path=(JAILED,), start_seconds=30, **changes
        )
    )
    sandbox.start()
    return Wall(sandbox)


@pytest.fixture(scope="module")
def gpu_wall(tmp_path_factory, device):
    folder = tmp_path_factory.mktemp("nsight")
    (folder / "program").write_text("a profiler")
    folder.chmod(0o755)
    settings = Settings(
        gpu_wall_limit_seconds=20, gpu_memory_limit_bytes=512 * 1024 * 1024, gpu_process_limit=300
    )
    environment = {"CUDA_VISIBLE_DEVICES": "GPU-1234", "NSIGHT": str(folder)}
    wall = open_wall(gpu_sandbox(settings, (device,), environment, (folder, Path("/not/there"))))
    yield wall
    wall.sandbox.close()


@pytest.fixture(scope="module")
def interpreter_wall():
    wall = open_wall(interpreter_sandbox(Settings(interpreter_wall_limit_seconds=5)))
    yield wall
    wall.sandbox.close()


def printed(wall, source):
    result = wall.run(source)
    assert result.done.status == "complete", result.message
    return result.logs.get("stdout", "").strip()


def test_the_environment_is_that_of_the_kind(gpu_wall, interpreter_wall, wall):
    look = "import os\nprint(os.environ.get('TRITON_INTERPRET'), os.environ.get('CUDA_VISIBLE_DEVICES'))"
    assert printed(wall, look) == "None None"
    assert printed(interpreter_wall, look) == "1 None"
    assert printed(gpu_wall, look) == "None GPU-1234"


def test_devices_are_in_their_own_jail_only(gpu_wall, interpreter_wall, device):
    open_device = f"import os\nos.close(os.open({str(device)!r}, os.O_RDWR))"
    opened = gpu_wall.run(open_device)
    assert opened.done.status == "complete", opened.message
    assert "No such file" in interpreter_wall.run(open_device).message


def test_folders_of_tools_are_read_there_only(gpu_wall, wall):
    read = "import os\nprint(open(os.environ['NSIGHT'] + '/program').read())"
    assert printed(gpu_wall, read) == "a profiler"
    folder = printed(gpu_wall, "import os; print(os.environ['NSIGHT'])")
    assert "No such file" in wall.run(f"open({folder!r} + '/program')").message


def test_a_launcher_can_be_built_and_run(gpu_wall, wall):
    source = (
        "import os, subprocess, tempfile\n"
        "path = tempfile.mkdtemp() + '/launcher'\n"
        "open(path, 'w').write('#!/bin/sh\\necho it runs')\n"
        "os.chmod(path, 0o700)\n"
        "print(subprocess.run([path], capture_output=True, text=True).stdout)\n"
    )
    assert printed(gpu_wall, source) == "it runs"
    assert "Permission denied" in wall.run(source).message


def test_sockets_lead_nowhere(gpu_wall, wall):
    assert printed(gpu_wall, "import socket\nprint(*[name for _, name in socket.if_nameindex()])") == "lo"
    talk = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname())\n"
        "server.accept()[0].send(b'within the job')\n"
        "print(client.recv(100).decode())\n"
    )
    assert printed(gpu_wall, talk) == "within the job"
    assert "Operation not permitted" in wall.run(talk).message
    reach = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=5)"
    assert "unreachable" in gpu_wall.run(reach).message


def test_what_is_reserved_is_free_and_what_is_held_counts(gpu_wall, wall):
    reserve = "import mmap\nmmap.mmap(-1, 64 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)"
    assert gpu_wall.run(reserve).done.status == "complete"
    assert wall.run(reserve).done.status == "failed"
    hold = "import time\nblock = bytearray(b'x') * (700 << 20)\ntime.sleep(60)"
    assert "512 MiB" in gpu_wall.run(hold).message


def test_threads_are_many_but_not_endless(gpu_wall):
    start = (
        "import threading, time\n"
        "for _ in range({}):\n"
        "    threading.Thread(target=time.sleep, args=(1,)).start()"
    )
    assert gpu_wall.run(start.format(200)).done.status == "complete"
    assert "can't start new thread" in gpu_wall.run(start.format(2000)).message
    assert gpu_wall.run("import os\nwhile True:\n    os.fork()").done.status == "failed"
    assert printed(gpu_wall, "print('fine')") == "fine"


def test_namespaces_and_mounts_stay_out_of_reach(gpu_wall):
    for source in (
        "from explorer.sandbox import linux\nlinux.unshare(linux.CLONE_NEWUSER)",
        "from explorer.sandbox import linux\nlinux.mount('tmpfs', '/tmp', 'tmpfs', 0)",
        "open('/etc/passwd')",
        "import os; os.listdir('/sys')",
    ):
        assert gpu_wall.run(source).done.status == "failed", source


def test_the_time_of_a_kind_is_its_own(interpreter_wall):
    result = interpreter_wall.run("import time; time.sleep(60)")
    assert "The time limit is 5 seconds" in result.message


def test_a_program_with_the_compiler_of_torch_has_almost_all_of_the_time_of_its_kind():
    sandbox = Sandbox(torch_compile_sandbox(Settings(torch_compile_wall_limit_seconds=60)))
    source = (
        "import torch\nfrom explorer.pipeline import time_limit\nprint(time_limit.script_seconds())\n"
        "torch.compile(lambda x: x + 1)(torch.ones(8, device='cuda'))\n"
    )
    try:
        sandbox.start()
        result = Result(sandbox.run(Request(source, "cuda:90", sandbox.versions[0], task="inspect")))
    finally:
        sandbox.close()
    assert (result.message, result.logs["stdout"]) == ("", "45.0\n")
    (inspection,) = [event for event in result.events if isinstance(event, Inspection)]
    assert inspection.output_code is not None


def runs_anywhere(command):
    """Return whether the machine runs a process with this command line."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if (entry / "cmdline").read_bytes() == b"\0".join(command) + b"\0":
                    return True
    return False


def test_what_a_job_leaves_behind_ends_with_its_jail(gpu_wall):
    source = "import subprocess\nsubprocess.Popen(['/bin/sleep', '4242.5'], start_new_session=True)"
    assert gpu_wall.run(source).done.status == "complete"
    wait_for(lambda: not runs_anywhere([b"/bin/sleep", b"4242.5"]))


def test_a_job_cannot_kill_its_own_jail(gpu_wall):
    assert "Operation not permitted" in gpu_wall.run("import os\nos.kill(-1, 9)").message
    assert printed(gpu_wall, "print('fine')") == "fine"
