"""Two stores with one database, as a web server and a worker: which job a worker takes."""

from contextlib import closing

import psycopg
import pytest

from explorer.errors import QueueFull
from explorer.model import Request
from explorer.store import NewJob, leases, open_store

INTERACTIVE, LIVE, BATCH = range(3)


def admit_all(waiting):
    """Refuse no job."""


@pytest.fixture
def submit(stores):
    """Return a function that lets a job wait, and returns its ID."""

    def submit_one(source, client="one", urgency=INTERACTIVE, queue="compile:3.9.0", admit=admit_all):
        request = Request(source, "cuda:90", "3.9.0")
        return stores[0].submit(request, client, job=NewJob(queue, client, urgency, admit)).id

    return submit_one


def take_all(store, queues=("compile:3.9.0",)):
    """Take all jobs, as a worker with as many slots."""
    found = []
    while (job := store.jobs.take(queues)) is not None:
        found.append(job.id)
    return found


def take_one_after_another(store):
    """Take and end one job after another, as a worker with one slot."""
    found = []
    while (job := store.jobs.take(["compile:3.9.0"])) is not None:
        store.leases.release(job.id, is_over=True)
        found.append(job.id)
    return found


def test_clients_take_turns(stores, submit):
    many = [submit(f"{number}", "many") for number in range(3)]
    one = submit("of another", "one")
    assert stores[0].jobs.order("compile:3.9.0") == [many[0], one, *many[1:]]
    assert take_one_after_another(stores[1]) == [many[0], one, *many[1:]]


def test_a_client_with_fewer_running_jobs_comes_first(stores, submit):
    running = submit("running", "many")
    assert stores[1].jobs.take(["compile:3.9.0"]).id == running
    waiting, other = submit("waiting", "many"), submit("of another", "one")
    assert stores[1].jobs.take(["compile:3.9.0"], is_of_reserve=True).id == other
    assert stores[1].jobs.take(["compile:3.9.0"], is_of_reserve=True) is None, (
        "the reserve is for idle clients"
    )
    assert take_all(stores[1]) == [waiting]


def test_urgent_jobs_overtake_others(stores, submit):
    batch, live, pressed = (submit(f"{urgency}", urgency=urgency) for urgency in (BATCH, LIVE, INTERACTIVE))
    assert stores[1].jobs.take(["compile:3.9.0"], is_of_reserve=True).id == pressed
    stores[0].jobs.hurry(batch, INTERACTIVE)
    assert take_all(stores[1]) == [batch, live]


def test_a_worker_takes_jobs_of_its_queues_only(stores, submit):
    other = submit("other", queue="compile:3.6.0")
    assert take_all(stores[1]) == []
    assert stores[0].jobs.counts() == {"compile:3.6.0": (1, 0)}
    assert take_all(stores[1], ["compile:3.9.0", "compile:3.6.0"]) == [other]
    assert stores[0].jobs.counts() == {"compile:3.6.0": (0, 1)}


def test_a_job_waits_again_when_its_worker_has_ended(stores, submit, monkeypatch):
    job = submit("job")
    with monkeypatch.context() as patch:
        patch.setattr(leases, "LEASE_SECONDS", -1.0)
        assert stores[1].jobs.take(["compile:3.9.0"]).id == job
    assert stores[0].jobs.take(["compile:3.9.0"]).id == job
    for store in reversed(stores):
        store.leases.release(job)
    assert stores[1].jobs.take(["compile:3.9.0"]).id == job
    stores[1].leases.release(job, is_over=True)
    assert stores[0].jobs.take(["compile:3.9.0"]) is None


@pytest.mark.parametrize("is_submitted_again", [False, True])
def test_a_cancellation_survives_the_worker_that_has_ended_without_a_word(
    tmp_path, database_url, stores, submit, monkeypatch, is_submitted_again
):
    page, worker = stores
    job_id = submit("source")
    page.followers.join(job_id, "somebody")
    with closing(open_store(tmp_path, database_url)) as ended:
        with monkeypatch.context() as patch:
            patch.setattr(leases, "LEASE_SECONDS", 0.0)
            assert take_all(ended) == [job_id]
        assert page.followers.leave(job_id, "somebody") == 0
        page.leases.leave(job_id, "somebody")
        if is_submitted_again:
            page.followers.join(job_id, "somebody")
        assert take_all(worker) == [job_id]
        assert worker.leases.renew([job_id]) == ({} if is_submitted_again else {job_id: ["somebody"]})


def test_a_waiting_job_can_be_withdrawn_and_a_running_one_cannot(stores, submit):
    waiting, running = submit("waiting", "one"), submit("running", "two", queue="compile:3.6.0")
    take_all(stores[1], ["compile:3.6.0"])
    assert [stores[0].jobs.withdraw(job) for job in (waiting, running, "nothing")] == [True, False, False]
    assert take_all(stores[1]) == []


@pytest.mark.slow
def test_cancelling_a_running_job_does_not_wait_for_its_worker(tmp_path, postgresql):
    url = postgresql.new_database()
    with closing(open_store(tmp_path, url)) as web, closing(open_store(tmp_path, url)) as worker:
        job = NewJob("compile:3.9.0", "one", INTERACTIVE, admit_all)
        running = web.submit(Request("source", "cuda:90", "3.9.0"), "one", job=job).id
        assert take_all(worker) == [running]
        with closing(psycopg.connect(url.replace("postgresql+psycopg:", "postgresql:"))) as ending:
            ending.execute("SELECT * FROM lease FOR UPDATE")
            ending.execute("SELECT * FROM job FOR UPDATE")
            assert not web.jobs.withdraw(running)


def test_a_refused_job_is_not_stored(stores, submit):
    submit("first", "one")
    submit("on a GPU", "one", queue="gpu:nvidia-h200:3.9.0")

    def refuse(waiting):
        assert waiting == {"one": 1}, "only the jobs of this kind count"
        raise QueueFull("full")

    with pytest.raises(QueueFull):
        submit("second", "two", admit=refuse)
    assert stores[0].known(Request("second", "cuda:90", "3.9.0")) is None


def test_a_worker_does_not_take_its_own_job_again(stores, submit, monkeypatch):
    job = submit("slow")
    with monkeypatch.context() as patch:
        patch.setattr(leases, "LEASE_SECONDS", -1.0)  # the worker was stopped for longer
        assert stores[1].jobs.take(["compile:3.9.0"]).id == job
    assert stores[1].jobs.take(["compile:3.9.0"]) is None
    assert stores[0].jobs.take(["compile:3.9.0"]).id == job, "another worker does"
