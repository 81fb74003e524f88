"""A cluster whose disks are full, one after another: `make chaos ROUNDS=10` or more."""

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from chaos.harness import Chaos

from cluster.parts import MissingProgram

pytestmark = pytest.mark.slow

#: The size of the disk of each part, in MiB.
DISKS = {"web1": 16, "worker1": 16, "worker2": 16}


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


def complete(chaos, ticket):
    document = chaos.result(ticket)
    assert document["status"] == "complete", document["diagnostics"]
    chaos.note_stages(ticket)


@pytest.mark.parametrize("parts", [["web1", "worker1", "worker2"]], ids="-".join)
def test_a_full_disk_loses_nothing_and_needs_no_restart(chaos, parts):
    before = chaos.submit()
    complete(chaos, before)
    processes = chaos.supervisor.process_ids()
    chaos.submit(seconds=5)  # ends while the disk is full
    for part in parts:
        chaos.disks[part].fill()
    tickets = [ticket for _ in range(6) if (ticket := chaos.try_to_submit()) is not None]
    keeps_copies_only = parts[0] == "web1"
    if keeps_copies_only:
        assert len(tickets) == 6
    documents = [chaos.result(ticket) for ticket in tickets]
    assert {document["status"] for document in documents} <= {"complete", "failed"}
    assert not keeps_copies_only or {document["status"] for document in documents} == {"complete"}
    complete(chaos, before)
    for part in parts:
        chaos.disks[part].free()
    complete(chaos, chaos.submit())
    outcome = chaos.check()
    print(outcome)
    assert (outcome.lost, outcome.wrong) == ([], [])
    after = chaos.supervisor.process_ids()
    assert [name for name in chaos.servers if processes[name] != after[name]] == [], "none was restarted"
