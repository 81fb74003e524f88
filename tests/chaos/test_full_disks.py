"""A cluster whose disks are full, one after another: `make chaos ROUNDS=10` or more."""

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from chaos.harness import Chaos

from cluster.parts import MissingProgram

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

#: The size of the disk of each part, in MiB.
DISKS = {"web1": 16, "worker1": 16, "worker2": 16, "postgresql": 256, "s3": 16}


@pytest.fixture(scope="module")
def chaos(request, tmp_path_factory):
    if request.config.getoption("--chaos-rounds") < 10:
        pytest.skip("takes minutes: run make chaos ROUNDS=10")
    probe = ["mount", "-t", "tmpfs", "tmpfs", str(tmp_path_factory.mktemp("probe"))]
    if (refused := subprocess.run(probe, capture_output=True, text=True)).returncode:
        pytest.skip(f"this user may not mount a file system: {refused.stderr.strip()}")
    subprocess.run(["umount", probe[-1]], check=True)
    with ExitStack() as stack:
        # Not in a folder of pytest, which the user of PostgreSQL cannot enter.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="triton-explorer-cluster-")))
        folder.chmod(0o711)
        try:
            yield stack.enter_context(Chaos(folder, request.config.getoption("--chaos-seed"), DISKS))
        except MissingProgram as error:
            assert not os.environ.get("CI"), error
            pytest.skip(str(error))


@pytest.fixture
def has_all(chaos):
    """Check in the end that nothing was lost and no server was restarted."""
    processes = chaos.supervisor.process_ids()
    yield
    outcome = chaos.check()
    print(outcome)
    assert (outcome.lost, outcome.wrong) == ([], [])
    after = chaos.supervisor.process_ids()
    assert [name for name in chaos.servers if processes[name] != after[name]] == [], "none was restarted"


def complete(chaos, ticket):
    document = chaos.result(ticket)
    assert document["status"] == "complete", document["diagnostics"]
    chaos.note_stages(ticket)


@pytest.mark.usefixtures("has_all")
def test_full_disks_of_servers_lose_nothing(chaos):
    """The servers keep only copies there."""
    servers = ("web1", "worker1", "worker2")
    before = chaos.submit()
    complete(chaos, before)
    chaos.submit(seconds=5)  # ends while the disks are full
    for server in servers:
        chaos.disks[server].fill()
    for ticket in [chaos.submit() for _ in range(6)]:
        complete(chaos, ticket)
    complete(chaos, before)
    for server in servers:
        chaos.disks[server].free()
    complete(chaos, chaos.submit())


@pytest.mark.usefixtures("has_all")
def test_a_full_disk_of_the_database_loses_nothing(chaos):
    before = chaos.submit()
    complete(chaos, before)
    chaos.submit(seconds=5)  # ends while the disk is full
    chaos.disks["postgresql"].fill()
    accepted = 0
    while chaos.try_to_submit() is not None:
        accepted += 1
        assert accepted < 500, "the database has found space on a full disk"
    chaos.disks["postgresql"].free()
    complete(chaos, before)
    complete(chaos, chaos.submit())


@pytest.mark.usefixtures("has_all")
def test_a_full_disk_of_the_s3_store_loses_nothing(chaos):
    before = chaos.submit()
    complete(chaos, before)
    late = chaos.submit(seconds=5)  # ends while the disk is full
    chaos.disks["s3"].fill()
    accepted = [late, *filter(None, (chaos.try_to_submit() for _ in range(4)))]
    for ticket in accepted:
        document = chaos.result(ticket)
        assert document["status"] == "failed", "its texts have found space on a full disk"
        assert document["diagnostics"], "it has no reason"
    complete(chaos, before)
    chaos.disks["s3"].free()
    for ticket in accepted:
        assert chaos.submit_again(ticket)["api"] == ticket["api"]
        complete(chaos, ticket)
    complete(chaos, chaos.submit())
