"""Test that the queue of one process and the jobs in a database start in one order."""

import random
from contextlib import closing

import pytest

from explorer.jobs.caller import Caller, Urgency
from explorer.jobs.fairness import FairQueue
from explorer.model import Request
from explorer.store import NewJob, open_store

QUEUE = "compile:3.9.0"


def admit_all(waiting):
    """Refuse no job."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_forms_start_jobs_in_one_order(tmp_path, database_url, seed):
    """Jobs come, start and end at random, with two slots and a reserve of one."""
    choose = random.Random(seed)
    queue: FairQueue[str] = FairQueue(2, reserve=1)
    running: dict[str, str] = {}
    with closing(open_store(tmp_path, database_url)) as store:
        for number in range(30):
            client, urgency = choose.choice("abc"), choose.choice(tuple(Urgency))
            job = NewJob(QUEUE, client, urgency, admit_all)
            name = store.submit(Request(f"x = {number}", "cuda:90", "3.9.0"), client, job=job).id
            queue.put(name, Caller(client, urgency=urgency))
            if number % 3 == 0:
                continue
            if len(running) < 3:
                taken = store.jobs.take([QUEUE], is_of_reserve=len(running) == 2)
                assert queue.take() == (taken and taken.id)
                if taken is not None:
                    running[taken.id] = taken.client
            if len(running) == 3 or choose.random() < 0.5:
                ended, client = running.popitem()
                store.leases.release(ended, is_over=True)
                queue.done(client)
            if number % 5 == 0 and (waiting := queue.order()):
                hurried = choose.choice(waiting)
                store.jobs.hurry(hurried, Urgency.INTERACTIVE)
                queue.hurry(hurried, Urgency.INTERACTIVE)
            assert queue.order() == store.jobs.order(QUEUE)
