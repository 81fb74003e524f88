"""Test that versions share a jail, start when a job needs them, and end when they are idle."""

import shutil
import time

import psutil
import pytest
from processes import ask_each, named
from waiting import wait_for

from explorer.errors import UnknownTriton
from explorer.model import Log, Request

pytestmark = pytest.mark.slow

WAIT_SECONDS = 30.0
LOOK = (
    "import os, sys; print(os.environ['PYTHONPATH'].split(':')[0], sys.path[0], 'fractions' in sys.modules)"
)

ZYGOTE = "import python_entry_point; print(python_entry_point.imported_ns)"


@pytest.fixture
def folders(tmp_path):
    """Two folders with packages that are Tritons by their name and metadata."""
    tmp_path.chmod(0o755)
    for version in ("98.1.0", "99.1.0"):
        (tmp_path / version / "triton").mkdir(parents=True)
        metadata = tmp_path / version / f"triton-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: triton\nVersion: {version}\n")
    return tmp_path / "99.1.0", tmp_path / "98.1.0"


def processes(folder):
    """Return the processes of jails in which versions of a folder are mounted."""
    jails = named(psutil.Process().children(recursive=True), "bwrap")
    return [
        jail
        for jail, words in ask_each(jails, psutil.Process.cmdline)
        if any(word.startswith(str(folder)) for word in words)
    ]


def wait_until_none_is_left(folder):
    deadline = time.monotonic() + WAIT_SECONDS
    while left := processes(folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def printed(sandbox, version, source=LOOK):
    events = list(sandbox.run(Request(source, "", version)))
    (log,) = [event for event in events if isinstance(event, Log)]
    return log.text.strip()


def test_versions_share_what_was_imported_and_nothing_else(started, folders):
    sandbox = started(tritons_dir=folders[0].parent, shared_modules=("fractions",), warm_up=False)
    newest, older = map(str, folders)
    assert printed(sandbox, "99.1.0") == f"{newest} {newest} True"
    assert printed(sandbox, "98.1.0") == f"{older} {older} True"
    assert printed(sandbox, "99.1.0") == f"{newest} {newest} True"


def test_idle_versions_end_and_a_job_starts_them_again(started, folders):
    sandbox = started(tritons_dir=folders[0].parent, idle_seconds=0.3, warm_up=False)
    assert processes(folders[0].parent) == []
    for _ in range(2):
        printed(sandbox, "99.1.0")
        printed(sandbox, "98.1.0")
        wait_until_none_is_left(folders[0].parent)


def test_the_slots_of_the_newest_version_stay(started, folders):
    sandbox = started(tritons_dir=folders[0].parent, idle_seconds=0.3)
    printed(sandbox, "99.1.0")
    printed(sandbox, "98.1.0")
    wait_for(lambda: not sandbox._pools.of("98.1.0").state().idle)
    assert sandbox._pools.of("99.1.0").state().idle
    assert processes(folders[0].parent)


def test_jobs_that_arrive_while_their_slot_ends_are_done(started, folders):
    sandbox = started(tritons_dir=folders[0].parent, idle_seconds=0.02, warm_up=False)
    for number in range(40):
        assert printed(sandbox, "99.1.0", "print('done')") == "done"
        time.sleep(number % 5 / 100)  # before, while and after the slot ends


def test_a_version_that_is_added_later_can_be_used_and_one_added_again_is_the_new_one(started, folders):
    newest, older = folders
    tritons, aside = newest.parent, newest.parent / ".aside"
    newest.rename(aside)
    sandbox = started(tritons_dir=tritons, warm_up=False)
    assert sandbox.versions[0] == "98.1.0"
    assert printed(sandbox, "98.1.0") == f"{older} {older} False"
    shutil.copytree(aside, newest)
    assert sandbox.versions[:2] == ("99.1.0", "98.1.0")
    zygote = printed(sandbox, "99.1.0", ZYGOTE)
    assert printed(sandbox, "99.1.0", ZYGOTE) == zygote
    shutil.rmtree(newest)
    with pytest.raises(UnknownTriton, match=r"99\.1\.0"):
        sandbox.run(Request("", "", "99.1.0"))
    aside.rename(newest)
    assert printed(sandbox, "99.1.0", ZYGOTE) != zygote
