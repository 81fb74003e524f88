"""Test that a query is computed once and then answered from the store."""

import dataclasses
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice

import msgspec
import pytest

from explorer.errors import InvalidRequest, NotAnswerable, QueueFull, ResultTooLarge, TooManyRequests
from explorer.jobs.caller import Caller, work_for
from explorer.jobs.isolated_process import abandoned
from explorer.queries import Parameter, Query, QueryService
from explorer.queries.isolated_worker import LimitExceeded


class HereWorkers:
    """Computes answers in this process, where the test can count them."""

    def warm_up(self):
        pass

    def close(self):
        pass

    def find(self, query, subject, cached, is_awaited=lambda: True):
        yield query, subject.parameters, msgspec.json.encode(query.find(subject))


class Finder:
    """A query that counts its computations."""

    def __init__(self, version=1, about="compilation"):
        self.calls = 0
        parameters = (Parameter("line", int, "Which."),)
        self.query = Query("count", "Counts.", version, dict[str, int], self.find, parameters, about)

    def find(self, subject):
        self.calls += 1
        if subject.parameters.get("line") == "0":
            raise NotAnswerable("There is no line 0.")
        return {"calls": self.calls}


@pytest.fixture(scope="module")
def query_service(services):
    return QueryService(services.store, services.queue, HereWorkers())


@pytest.fixture
def record(compile_example):
    return compile_example("vector_add")


@pytest.mark.both_forms
def test_an_answer_is_found_once(query_service, record):
    finder = Finder()
    with ThreadPoolExecutor(4) as threads:
        ask = threads.map(lambda _: query_service.answer(finder.query, (record,), {"line": "7"}), range(8))
        answers = list(ask)
    assert answers == [b'{"calls":1}'] * 8


def test_other_parameters_are_another_question(query_service, record):
    finder = Finder()
    query_service.answer(finder.query, (record,), {"line": "1"})
    assert query_service.answer(finder.query, (record,), {"line": "2"}) == b'{"calls":2}'


def test_a_new_version_finds_out_anew(query_service, record):
    query_service.answer(Finder(version=100).query, (record,), {})
    newer = Finder(version=101)
    query_service.answer(newer.query, (record,), {})
    assert newer.calls == 1


def test_what_cannot_be_said_is_not_kept(query_service, record):
    finder = Finder()
    for _ in range(2):
        with pytest.raises(NotAnswerable):
            query_service.answer(finder.query, (record,), {"line": "0"})
    assert finder.calls == 2


def test_an_unknown_parameter_is_refused(query_service, record):
    with pytest.raises(InvalidRequest, match="no parameter 'lane'"):
        query_service.answer(Finder().query, (record,), {"lane": "7"})


def test_a_number_is_one_question_however_it_is_written(query_service, record):
    finder = Finder(version=200)
    for text in ("7", "07", "0000007"):
        query_service.answer(finder.query, (record,), {"line": text})
    assert finder.calls == 1


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "\u0663", "9" * 5000])
def test_what_is_no_number_is_refused(query_service, record, text):
    with pytest.raises(InvalidRequest, match="must be a whole number"):
        query_service.answer(Finder().query, (record,), {"line": text})


def test_an_answer_about_two_depends_on_both(query_service, services, compile_example, record):
    other = compile_example("softmax")
    finder = Finder(version=300, about="pair")
    answers = [
        query_service.answer(finder.query, pair, {})
        for pair in ((record, other), (other, record), (record, record), (record, None))
    ]
    assert [json.loads(answer)["calls"] for answer in answers] == [1, 2, 3, 4]
    assert query_service.answer(finder.query, (record, other), {}) == answers[0]
    recompiled = dataclasses.replace(other, journal="0" * 64)
    assert json.loads(query_service.answer(finder.query, (record, recompiled), {})) == {"calls": 5}


def test_an_answer_about_an_unfinished_result_is_not_kept(query_service, record):
    running = dataclasses.replace(record, journal=None, status="running")
    finder = Finder(version=301, about="pair")
    for records in ((record, running), (running, record)):
        first, again = (query_service.answer(finder.query, records, {}) for _ in range(2))
        assert first != again


def test_the_first_failure_of_several_queries_is_reported(services, record):
    class PatientWorkers(HereWorkers):
        def find(self, query, subject, cached, is_awaited=lambda: True):
            while query.name == "slow" and is_awaited():
                time.sleep(0.01)
            if query.name == "slow":
                raise abandoned()
            yield from super().find(query, subject, cached, is_awaited)

    def fail(subject):
        raise NotAnswerable("There is none.")

    slow, failing = (Query(name, "", 1, dict[str, int], fail) for name in ("slow", "failing"))
    service = QueryService(services.store, services.queue, PatientWorkers())
    with pytest.raises(NotAnswerable):
        service.answers([slow, failing], record, lambda: True)


def test_the_parts_of_a_saved_page_take_one_place(services, record):
    """A server with few threads has one place. A second request of this client is refused meanwhile."""
    begun = threading.Barrier(3)
    end = threading.Event()

    def find(subject):
        begun.wait(60)
        assert end.wait(60)
        return {}

    parts = [Query(f"part{number}", "", 1, dict[str, int], find) for number in range(2)]
    service = QueryService(services.store, services.queue, HereWorkers(), threads=1, processes=2)
    with ThreadPoolExecutor(1) as thread:
        page = thread.submit(service.answers, parts, record, lambda: True)
        begun.wait(60)
        try:
            with pytest.raises((QueueFull, TooManyRequests)):
                service.answer(Finder(400).query, (record,), {"line": "1"})
        finally:
            end.set()
        assert page.result() == [b"{}"] * 2
    assert service.answer(Finder(400).query, (record,), {"line": "1"}) == b'{"calls":1}'


@pytest.mark.both_forms
def test_slow_queries_of_one_client_delay_no_other(services, record):
    """They take all processes, and all threads that one client gets."""
    begun, end = threading.Semaphore(0), threading.Event()

    class SlowFinder(Finder):
        def find(self, subject):
            begun.release()
            end.wait(60)
            return {}

    service = QueryService(services.store, services.queue, HereWorkers(), threads=8, processes=2)

    def ask_slowly(number):
        work_for(Caller("attacker"))
        try:
            return service.answer(SlowFinder(300 + number).query, (record,), {})
        except TooManyRequests:
            return b"refused"

    with ThreadPoolExecutor(8) as threads:
        slow = [threads.submit(ask_slowly, number) for number in range(8)]
        for _ in range(2):
            begun.acquire()
        list(islice(as_completed(slow, timeout=60), 4))  # refused requests
        work_for(Caller("honest"))
        assert service.answer(Finder(400).query, (record,), {}) == b'{"calls":1}'
        end.set()
    work_for(Caller())
    assert sorted(each.result() for each in slow) == [b"refused"] * 4 + [b"{}"] * 4


def test_an_answer_that_may_lack_a_refused_answer_is_not_stored(services, compile_example):
    """The outer answer uses the middle answer, which goes on without the inner answer."""
    record = compile_example("vector_add")
    before, inner, middle, outer = (
        Query(name, "Answers.", 1, dict[str, int], lambda subject: {})
        for name in ("before", "inner", "middle", "outer")
    )

    class Workers(HereWorkers):
        def find(self, query, subject, cached, is_awaited=lambda: True):
            yield before, {}, b"{}"
            try:
                cached(inner, {})
            except ResultTooLarge:
                yield middle, {}, b"{}"
                yield outer, {}, b"{}"
            else:
                raise LimitExceeded("It takes too long.", inner, {})

    service = QueryService(services.store, services.queue, Workers())
    assert service.answer(outer, (record,), {}) == b"{}"
    stored = [query.name for query in (before, middle, outer) if service.cached(query, record, {})]
    assert stored == ["before"]
