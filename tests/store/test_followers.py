"""Two stores with one database: who follows a job, on either server."""

import pytest

from explorer.model import Done, Request
from explorer.store import NewJob, followers
from explorer.store.entry_writer import EntryWriter

REQUEST = Request("source", "cuda:90", "3.9.0")
INTERACTIVE, LIVE = 0, 1


def admit_all(waiting):
    """Refuse no job."""


@pytest.fixture
def job(stores):
    """Return the ID of a live job that waits for a worker."""
    return stores[0].submit(REQUEST, job=NewJob("compile:3.9.0", "one", LIVE, admit_all)).id


def test_who_leaves_a_job_learns_how_many_others_follow_it_on_any_server(stores, job):
    first, second = (store.followers for store in stores)
    first.join(job, "both")
    second.begin_stream(job, "both")
    second.join(job, "other")
    assert second.leave(job, "other") == 1, "one follower, on two servers"
    first.join(job, "other")
    assert first.leave(job, "both") == 1
    assert second.leave(job, "other") == 0
    assert first.leave(job, "stranger") == 0


def test_streams_need_not_count(stores, job):
    first, second = (store.followers for store in stores)
    first.begin_stream(job, "reader")
    assert second.leave(job, "one", counts_streams=False) == 0
    second.join(job, "other")
    assert first.leave(job, "one", counts_streams=False) == 1


def test_who_ends_the_last_stream_follows_a_job_no_more(stores, job):
    first, second = (store.followers for store in stores)
    first.join(job, "reader")
    second.begin_stream(job, "reader")
    second.end_stream(job, "reader")
    assert first.leave(job, "stranger") == 0


def test_streams_of_a_server_that_has_ended_are_forgotten_and_submissions_are_not(stores, job, monkeypatch):
    first, second = (store.followers for store in stores)
    with monkeypatch.context() as patch:
        patch.setattr(followers, "_LIFE_SECONDS", -1.0)
        first.join(job, "program")
        first.begin_stream(job, "reader")
        second.begin_stream(job, "other reader")
    assert second.leave(job, "stranger") == 1
    first.renew()
    assert second.leave(job, "stranger") == 2, "the first server lives"
    second.remove_expired()
    second.renew()
    assert first.leave(job, "stranger") == 2


def test_a_job_that_is_over_or_starts_anew_has_no_followers(stores, job):
    first, second = stores
    first.followers.join(job, "one")
    assert second.jobs.take(["compile:3.9.0"]).id == job
    batch = second.batch()
    second.finish(job, [EntryWriter(batch).write(Done("failed", 1.0, is_transient=True))], batch)
    assert first.followers.leave(job, "stranger") == 0
    first.followers.join(job, "late")  # it had just ended
    assert first.jobs.enter(job, NewJob("compile:3.9.0", "one", INTERACTIVE, admit_all))
    assert first.followers.leave(job, "stranger") == 0


def test_the_live_jobs_that_a_follower_has_submitted_are_known_to_all_servers(stores, job):
    first, second = stores
    first.followers.join(job, "page")
    first.followers.begin_stream(job, "reader")
    assert second.followers.submitted("page", LIVE) == [job]
    assert second.followers.submitted("reader", LIVE) == []
    second.jobs.hurry(job, INTERACTIVE)
    assert second.followers.submitted("page", LIVE) == []
