"""Test the rules of Landlock without the mounts and namespaces that forbid the same."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from explorer.sandbox import landlock, linux
from explorer.sandbox.settings import Limits

pytestmark = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")


class Ruled:
    """Runs Python in a process without a jail, which obeys the rules of Landlock only."""

    def __init__(self, scratch):
        self.scratch = scratch
        #: Not the real ones, which root may use.
        programs = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", sys.base_prefix, sys.prefix]
        self.paths = landlock.Paths(programs, scratch=str(scratch))

    def run(self, source, **limits):
        """Return what a program prints, or the last line of its error."""

        def obey():
            rules = landlock.create(self.paths, Limits(**limits))
            linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
            landlock.obey(rules)

        done = subprocess.run(
            [sys.executable, "-I", "-c", f"import os, signal, socket\n{source}"],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.scratch,
            preexec_fn=obey,
        )
        return done.stdout.strip() if done.returncode == 0 else done.stderr.splitlines()[-1]


@pytest.fixture
def ruled(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "secret").write_text("secret")
    return Ruled(scratch)


@pytest.mark.parametrize(
    "source",
    [
        "open('../secret')",
        "open('/etc/passwd')",
        "os.listdir('/')",
        "os.listdir('/root')",
        "open('../secret', 'w')",
        "open('/usr/.written', 'w')",
        "os.truncate('../secret', 0)",
        "os.unlink('../secret')",
        "os.rename('../secret', 'mine')",
        "os.mkdir('../folder')",
        "os.symlink('secret', '../link')",
        "os.mknod('device', 0o60600, os.makedev(7, 0))",
        "open('program', 'w').write('#!/bin/sh'); os.chmod('program', 0o700); os.execv('program', ['x'])",
        "open('/proc/1/environ').read()",
        "os.readlink('/proc/1/exe')",
        "open(f'/proc/{os.getppid()}/mem', 'rb')",
    ],
)
def test_what_the_mounts_forbid_is_forbidden(ruled, source):
    assert ruled.run(source).startswith(("PermissionError", "OSError: [Errno 18]"))
    assert (ruled.scratch.parent / "secret").read_text() == "secret"


def test_a_job_can_work(ruled):
    source = (
        "import tempfile, subprocess\n"
        "os.mkdir('a'); os.mkdir('b'); open('a/file', 'w').write('text'); os.rename('a/file', 'b/file')\n"
        "open('/proc/self/comm', 'w').write('job'); open('/dev/null', 'w').write('x')\n"
        "child = subprocess.Popen(['/bin/sleep', '60']); child.terminate(); child.wait()\n"
        "print(open('b/file').read(), child.returncode)"
    )
    assert ruled.run(source) == "text -15"


def test_a_file_that_a_job_wrote_is_executed_only_where_it_is_allowed(ruled):
    source = (
        "import subprocess\n"
        "open('program', 'w').write('#!/bin/sh\\necho it runs'); os.chmod('program', 0o700)\n"
        "print(subprocess.run(['./program'], capture_output=True, text=True).stdout)"
    )
    assert ruled.run(source, runs_own_files=True) == "it runs"
    assert ruled.run(source).startswith("PermissionError")


@pytest.mark.skipif(landlock.abi() < 4, reason="this kernel's Landlock has no rules for networks")
def test_no_port_can_be_used_without_sockets(ruled):
    listen = "socket.create_server(('127.0.0.1', 0)); print('listens')"
    assert ruled.run(listen).startswith("PermissionError")
    assert ruled.run(listen, opens_sockets=True) == "listens"
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"socket.create_connection({server.getsockname()})"
        assert ruled.run(connect).startswith("PermissionError")


@pytest.mark.skipif(landlock.abi() < 6, reason="this kernel's Landlock has no scopes")
def test_other_processes_and_their_sockets_are_out_of_reach(ruled):
    with subprocess.Popen(["/bin/sleep", "60"]) as bystander:
        try:
            for number in (0, signal.SIGTERM, signal.SIGKILL):
                assert ruled.run(f"os.kill({bystander.pid}, {int(number)})").startswith("PermissionError")
            assert ruled.run(f"os.kill({os.getpid()}, 0)").startswith("PermissionError")
            assert bystander.poll() is None
        finally:
            bystander.kill()
    name = f"\0triton-explorer-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        refused = ruled.run(f"socket.socket(socket.AF_UNIX).connect({name!r})", opens_sockets=True)
        assert refused.startswith("PermissionError")


def test_without_landlock_nothing_changes(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(linux, "system_call", refuse)
    assert landlock.abi() == 0
    assert landlock.create(landlock.Paths(scratch=str(tmp_path)), Limits()) is None


def test_an_older_kernel_gets_the_rights_that_it_knows(tmp_path, monkeypatch):
    monkeypatch.setattr(landlock, "abi", lambda: 2)
    scratch = Ruled(tmp_path)
    assert scratch.run("open('file', 'w').write('text'); print(open('file').read())") == "text"
    assert scratch.run("open('/etc/passwd')").startswith("PermissionError")


def test_the_rules_of_a_job_take_less_than_a_millisecond(ruled):
    durations = []
    for _ in range(20):
        start = time.perf_counter()
        rules = landlock.create(ruled.paths, Limits())
        durations.append(time.perf_counter() - start)
        os.close(rules)
    assert min(durations) < 0.001, durations


@pytest.mark.slow
def test_a_job_obeys_them(wall):
    """The mounts let a job list the root folder."""
    result = wall.run("import os; os.listdir('/')")
    assert "Permission denied: '/'" in result.message


@pytest.mark.slow
def test_a_job_cannot_keep_rules_in_the_kernel(wall):
    """No limit counts them."""
    source = f"from explorer.sandbox import linux; linux.system_call({landlock.CREATE_RULESET}, 0, 0, 0)"
    assert "Operation not permitted" in wall.run(source).message
