"""A cluster under failures: what it accepted ends complete or with a true reason; links keep their bytes.

`make chaos ROUNDS=5` harms a few parts for a short time, with more rounds all of them. Each test ends with a
look at all that was accepted.
"""

import os
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from chaos.harness import Chaos

from cluster.parts import MissingProgram

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

LISTENS = psutil.CONN_LISTEN
#: When a process is killed: as soon as the job is accepted, in its stages, at its end.
PHASES = ("ticket", "specialized", "stage", "resources", "done")


@pytest.fixture(scope="module")
def cluster(request):
    if not request.config.getoption("--chaos-rounds"):
        pytest.skip("takes minutes: run make chaos")
    with ExitStack() as stack:
        # Not in a folder of pytest, which the user of PostgreSQL cannot enter.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="triton-explorer-cluster-")))
        folder.chmod(0o711)
        try:
            yield stack.enter_context(Chaos(folder, request.config.getoption("--chaos-seed")))
        except MissingProgram as error:
            assert not os.environ.get("CI"), error
            pytest.skip(str(error))


@pytest.fixture
def chaos(cluster):
    """The cluster. When the test is over, nothing that any test has submitted is lost or wrong."""
    yield cluster
    outcome = cluster.check()
    print(outcome)
    assert outcome.lost == []
    assert outcome.wrong == []


@pytest.fixture
def rounds(request):
    """How many processes are killed."""
    return request.config.getoption("--chaos-rounds")


@pytest.fixture
def is_thorough(rounds):
    """Whether all parts are harmed."""
    return rounds >= 10


def complete(chaos, ticket):
    """Wait for a result that must be complete, and remember its bytes."""
    document = chaos.result(ticket)
    assert document["status"] == "complete", document["diagnostics"]
    chaos.note_stages(ticket)


def test_a_link_answers_the_same_bytes_after_the_restart_of_each_part(chaos, is_thorough):
    ticket = chaos.submit()
    complete(chaos, ticket)
    parts = [part.name for part in chaos.cluster.parts]
    for part in parts if is_thorough else ["worker1", "rabbitmq", "postgresql"]:
        chaos.supervisor.stop(part)
        chaos.supervisor.start(part)
    complete(chaos, chaos.submit())


def test_processes_that_are_killed_lose_nothing(chaos, rounds):
    for number in range(rounds):
        phase = PHASES[number % len(PHASES)]
        ticket = chaos.submit()
        if phase != "ticket":
            chaos.wait_for_event(ticket, phase)
        victim = chaos.kill(chaos.random.choice(chaos.servers))
        document = chaos.result(ticket)
        print(f"{number + 1}: {victim} at {phase}: {document['status']}", flush=True)
        if document["status"] == "complete":
            chaos.note_stages(ticket)


def test_a_server_that_is_killed_with_all_its_processes_loses_nothing(chaos, is_thorough):
    for server in chaos.servers if is_thorough else ["worker1"]:
        ticket = chaos.submit(seconds=2)
        chaos.wait_for_event(ticket, "stage")
        chaos.kill_all(server)
        complete(chaos, ticket)


@pytest.mark.parametrize("part", ["postgresql", "rabbitmq"])
def test_a_database_or_broker_that_goes_away_loses_nothing(chaos, part, is_thorough):
    ticket = chaos.submit(seconds=2)
    chaos.wait_for_event(ticket, "stage")
    chaos.supervisor.stop(part)
    time.sleep(10 if is_thorough else 1)  # the outage itself
    chaos.supervisor.start(part)
    complete(chaos, chaos.submit())


def test_an_s3_store_that_fails_loses_nothing(chaos):
    for fault in ("error", "slow", "cut"):
        chaos.s3.fault, chaos.s3.times = fault, 20
        ticket = chaos.submit()
        chaos.result(ticket)
        chaos.s3.fault = ""
        complete(chaos, chaos.submit())


def test_every_part_listens_on_loopback_addresses_only(cluster):
    listens = set()
    for part in cluster.cluster.parts:
        for process in cluster.processes(part.name):
            with suppress(psutil.NoSuchProcess):  # a job has ended
                connections = process.net_connections("tcp")
                listens |= {(part.name, each.laddr.ip) for each in connections if each.status == LISTENS}
    assert {ip for _, ip in listens} <= {"127.0.0.1", "::1"}
    assert {"postgresql", "rabbitmq", "s3", "load_balancer"} <= {name for name, _ in listens}
