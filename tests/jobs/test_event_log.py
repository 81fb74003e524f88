"""What an event log must do."""

from threading import Thread

import pytest

from explorer.jobs.event_log import EventLog
from explorer.model import Done, Log

ENTRIES = [Log("stdout", str(number)) for number in range(5)]
DONE = Done("complete", 1.0)
LONG_SECONDS = 30.0


@pytest.fixture
def log():
    return EventLog()


def publish(log, *entries):
    for entry in entries:
        log.publish(entry)


def test_a_follower_gets_all_entries_in_order(log):
    publish(log, *ENTRIES, DONE)
    log.close()
    assert list(log.follow(0, LONG_SECONDS)) == [*ENTRIES, DONE]
    assert log.entries() == (*ENTRIES, DONE)


@pytest.mark.parametrize("skip", [1, 5, 6, 9])
def test_entries_are_replayed_from_where_a_follower_stopped(log, skip):
    publish(log, *ENTRIES, DONE)
    log.close()
    assert list(log.follow(skip, LONG_SECONDS)) == [*ENTRIES, DONE][skip:]


def test_a_follower_gets_entries_as_they_are_published(log):
    publish(log, ENTRIES[0])
    follower = log.follow(0, LONG_SECONDS)
    assert next(follower) == ENTRIES[0]
    publish(log, ENTRIES[1])
    assert next(follower) == ENTRIES[1]
    publish(log, DONE)
    log.close()
    assert list(follower) == [DONE]


def test_a_follower_that_waits_is_woken(log):
    received = []
    follower = Thread(target=lambda: received.extend(log.follow(0, LONG_SECONDS)))
    follower.start()
    publish(log, *ENTRIES, DONE)
    log.close()
    follower.join(LONG_SECONDS)
    assert received == [*ENTRIES, DONE]


def test_without_new_entries_there_is_a_heartbeat(log):
    publish(log, ENTRIES[0])
    follower = log.follow(1, 0.01)
    assert [next(follower), next(follower)] == [None, None]
    publish(log, ENTRIES[1])
    assert next(entry for entry in follower if entry is not None) == ENTRIES[1]


def test_a_log_that_is_closed_without_entries_ends_its_followers(log):
    log.close()
    assert list(log.follow(0, LONG_SECONDS)) == []
    assert log.entries() == ()


def test_many_followers_get_the_same(log):
    received: list[list[object]] = [[] for _ in range(4)]
    followers = [
        Thread(target=lambda mine=mine: mine.extend(log.follow(0, LONG_SECONDS))) for mine in received
    ]
    for follower in followers:
        follower.start()
    publish(log, *ENTRIES, DONE)
    log.close()
    for follower in followers:
        follower.join(LONG_SECONDS)
    assert received == [[*ENTRIES, DONE]] * 4


def test_who_watches_is_called_after_each_change(log):
    seen = []
    end = log.watch(lambda: seen.append((len(log.entries()), log.is_closed)))
    publish(log, *ENTRIES[:2])
    log.publish(*ENTRIES[2:5])  # one change
    log.publish()
    log.close()
    end()
    publish(log, DONE)
    assert seen == [(1, False), (2, False), (5, False), (5, True)]


def test_a_log_knows_whether_somebody_follows_it(log):
    assert not log.is_followed
    follower = log.follow(0, LONG_SECONDS)
    publish(log, ENTRIES[0])
    next(follower)
    assert log.is_followed
    follower.close()
    assert not log.is_followed
    end = log.watch(lambda: None)
    assert log.is_followed
    end()
    assert not log.is_followed
