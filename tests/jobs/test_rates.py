"""Test the limits for each client over time, with counters in memory and in a real Redis."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from explorer.errors import QueueFull, SettingsError, TooManyRequests
from explorer.jobs.caller import Caller, current_caller, work_for
from explorer.jobs.rates import WORKS, Rates
from explorer.model import Request
from explorer.services import rates_of
from explorer.settings import Settings


@contextmanager
def caller(client):
    before = current_caller()
    work_for(Caller(client))
    yield
    work_for(before)


def accepted(rates, client, times, work="compilations", amount=1):
    """Return how often work is accepted."""
    count = 0
    with caller(client):
        for _ in range(times):
            try:
                rates.count(work, amount)
                count += 1
            except TooManyRequests:
                pass
    return count


def test_each_client_and_each_kind_of_work_has_its_own_limit():
    rates = Rates({"compilations": 3, "runs": 1, "exports": 0})
    assert accepted(rates, "a", 5) == 3
    assert accepted(rates, "a", 5, "runs") == 1
    assert accepted(rates, "a", 50, "exports") == 50  # 0 is no limit
    assert accepted(rates, "a", 50, "queries") == 50
    assert accepted(rates, "b", 5) == 3
    assert accepted(rates, "", 50) == 50  # the server's own work


def test_bytes_count_by_their_number():
    rates = Rates({"bytes": 1000})
    assert accepted(rates, "a", 5, "bytes", 300) == 3
    assert accepted(rates, "b", 1, "bytes", 1001) == 0


def test_many_threads_get_no_more():
    rates = Rates({"compilations": 100})
    with ThreadPoolExecutor(8) as threads:
        counts = [threads.submit(accepted, rates, "a", 40) for _ in range(8)]
    assert sum(each.result() for each in counts) == 100


@pytest.fixture
def empty_redis(redis):
    redis.clear()
    yield redis
    redis.resume()


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.slow)])
def redis_url(request):
    return request.getfixturevalue("empty_redis").url if request.param == "redis" else ""


@pytest.mark.slow
def test_it_works_when_the_refusal_says(redis_url):
    rates = Rates({"compilations": 2}, redis_url, window_seconds=2)
    assert accepted(rates, "a", 2) == 2
    time.sleep(0.5)
    with caller("a"), pytest.raises(TooManyRequests) as refusal:
        rates.count("compilations")
    wait = refusal.value.retry_after_seconds
    assert 1 <= wait <= 3
    assert f"2 compilations for now. Try again in {wait} seconds." in refusal.value.detail
    time.sleep(wait)
    assert accepted(rates, "a", 3) == 2


def test_a_job_that_is_not_new_or_refused_for_another_reason_costs_nothing(redis_url):
    rates = Rates({"compilations": 2}, redis_url)
    request = Request("", "cuda:90", "3.9.0")
    with caller("a"):
        for _ in range(5):
            with rates.counting(request):
                pass
            with suppress(QueueFull), rates.counting(request):
                raise QueueFull
        for _ in range(2):
            with rates.counting(request) as count:
                count.keep()
        with rates.counting(request) as count, pytest.raises(TooManyRequests, match="its 2 compilations"):
            count.keep()
        with rates.counting(request):
            pass  # it joins a job


@pytest.mark.slow
def test_servers_that_share_a_redis_count_together_and_alone_while_it_is_away(
    empty_redis, caplog, monkeypatch
):
    monkeypatch.setattr("explorer.jobs.rates._PAUSE_SECONDS", 0.3)
    monkeypatch.setattr("explorer.jobs.rates._REDIS_SECONDS", 10.0)  # it is slow on a busy machine
    one, other = (Rates({"compilations": 5}, empty_redis.url) for _ in range(2))
    assert accepted(one, "a", 3) == 3
    assert accepted(other, "a", 5) == 2

    empty_redis.stop()
    with caplog.at_level(logging.WARNING, "explorer.jobs.rates"):
        assert accepted(one, "a", 7) == 5  # counted in its own memory
        time.sleep(0.4)  # it is asked once more
        assert accepted(one, "b", 7) == 5
    assert [record.message.partition(".")[0] for record in caplog.records] == ["Redis does not answer"]

    empty_redis.start()
    time.sleep(0.4)
    assert accepted(one, "c", 3) == 3
    assert accepted(other, "c", 5) == 2


@pytest.mark.slow
def test_a_redis_that_stalls_costs_one_wait(empty_redis):
    rates = Rates({"compilations": 5}, empty_redis.url)
    assert accepted(rates, "a", 1) == 1
    empty_redis.stall()
    begin = time.monotonic()
    assert accepted(rates, "b", 100) == 5
    assert time.monotonic() - begin < 5  # of 100 × 0.5 s


@pytest.mark.slow
def test_a_redis_that_was_never_there_is_no_obstacle():
    assert accepted(Rates({"runs": 2}, "redis://127.0.0.1:1/0"), "a", 3, "runs") == 2


@pytest.mark.parametrize("url", ["http://127.0.0.1", "redis://127.0.0.1:port"])
def test_a_wrong_url_is_named(url):
    with pytest.raises(SettingsError, match="TRITON_EXPLORER_LIMITS_URL"):
        Rates({"runs": 1}, url)


def test_who_owns_the_machine_has_no_limits():
    rates = rates_of(Settings())
    assert all(accepted(rates, "127.0.0.1", 5000, work) == 5000 for work in WORKS)
    assert accepted(rates_of(Settings(client_runs_per_minute=3)), "127.0.0.1", 5, "runs") == 3
    for served in (Settings(host="0.0.0.0"), Settings(proxies="127.0.0.1")):
        assert accepted(rates_of(served), "192.0.2.1", 700) == 600
    assert accepted(rates_of(Settings(host="0.0.0.0", client_compilations_per_minute=0)), "a", 700) == 700
