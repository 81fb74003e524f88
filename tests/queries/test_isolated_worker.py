"""Test that a query on forged data fails alone, within its limits."""

import base64
import gzip
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from explorer.errors import NotAnswerable, NotFound, ResultTooLarge, Unavailable
from explorer.jobs.isolated_process import Limits
from explorer.model import Allocation, Answer, Buffer, Done, Request
from explorer.model.answers import Lineage, ModuleOrigins
from explorer.queries import QueryService, Subject, allocation, changes, lineage, registers, saved_answers
from explorer.queries.isolated_worker import IsolatedWorkers
from explorer.store import PassEntry, Record, StageEntry, open_store
from explorer.store.entries import BinaryEntry, StageLocations

pytestmark = pytest.mark.slow

LOOP = "  %b = ttg.local_load %a\n  ttg.barrier local\n  ttg.local_store %b, %a\n"
ALLOCATED = "tt.func @f() {\n  %a = ttg.local_alloc {allocation.offset = 0 : i32}\n"
#: Every barrier is looked at together with all that is before and after it.
LARGE = ALLOCATED + LOOP * 5000 + "  tt.return\n}\n"


def subject_of(text, pass_index=0):
    entries = (
        PassEntry(0, "ttgir", "allocate-shared-memory", "Allocate", (), 1.0, "text"),
        Allocation(pass_index, 0, (Buffer(0, "explicit", 16, 0, 0, 1, "ttg.local_alloc"),), 16),
        Done("complete", 1.0),
    )
    request = Request("source", "cuda:90", "3.9.0")
    record = Record(
        "id", request, datetime.now(UTC), "complete", entries, True, None, lambda _: text.encode()
    )
    return Subject((record,), {}, None)


def nothing_cached(query, parameters):
    return None


def find(workers, query, subject):
    """Compute an answer that needs no other."""
    ((_, _, answer),) = workers.find(query, subject, nothing_cached)
    return answer


@pytest.fixture
def finders():
    finders = IsolatedWorkers(Limits(processor_seconds=1))
    yield finders
    finders.close()


def test_it_answers_as_it_does_here(finders):
    subject = subject_of(ALLOCATED + LOOP + "  tt.return\n}\n")
    found = find(finders, allocation.QUERY, subject)
    assert b'"name":"f"' in found
    assert b'"hazards":[{' in found


def test_one_that_does_not_end_is_ended(finders):
    with pytest.raises(NotAnswerable, match="too much time or memory"):
        find(finders, allocation.QUERY, subject_of(LARGE))


def test_one_that_wants_all_memory_is_refused_it():
    finders = IsolatedWorkers(Limits(memory_bytes=200 << 20))
    with pytest.raises(NotAnswerable, match="too much time or memory"):
        find(finders, allocation.QUERY, subject_of("x" * (300 << 20)))


def test_an_answer_that_is_too_long_is_not_given():
    finders = IsolatedWorkers(Limits(document_bytes=100))
    with pytest.raises(NotAnswerable, match="more than 100 bytes"):
        find(finders, allocation.QUERY, subject_of(ALLOCATED + "}\n"))


def test_nesting_without_end_is_refused(finders):
    with pytest.raises(NotAnswerable, match="nested too deeply"):
        find(finders, allocation.QUERY, subject_of("tt.func @f() {\n" * 2000))


def test_what_it_refuses_is_refused_here(finders):
    with pytest.raises(NotFound, match="no pass 7"):
        find(finders, allocation.QUERY, subject_of(LARGE, pass_index=7))


def test_who_waits_when_the_server_ends_is_told():
    finders = IsolatedWorkers()
    subject = subject_of(LARGE)
    reading = threading.Event()
    told = []

    def read(address):
        reading.set()
        return LARGE.encode()

    def ask():
        object.__setattr__(subject.record, "read", read)
        try:
            find(finders, allocation.QUERY, subject)
        except Unavailable as error:
            told.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    assert reading.wait(60)
    finders.close()
    asking.join()
    assert len(told) == 1


def test_one_process_computes_what_a_saved_page_contains(finders):
    subject = subject_of(ALLOCATED + LOOP + "  tt.return\n}\n")
    asked = []

    def cached(query, parameters):
        asked.append((query.name, dict(parameters)))
        return b"{}" if query.name == "pass_alignment" else None

    found = {
        query.name: answer
        for part in saved_answers.PARTS
        for query, _, answer in finders.find(part, subject, cached)
    }
    assert found["allocation"] == find(finders, allocation.QUERY, subject)
    assert ("pass_alignment", {"index": "0"}) in asked
    assert "pass_alignment" not in found
    assert {"saved_passes", "saved_stages"} <= set(found)


def test_a_query_beyond_a_limit_leaves_the_other_answers_of_a_saved_page(tmp_path):
    workers = IsolatedWorkers(Limits(processor_seconds=3))
    record = subject_of(LARGE).record
    with closing(workers), closing(open_store(tmp_path)) as store:
        service = QueryService(store, None, workers)
        _, stages = service.answers(saved_answers.PARTS, record, lambda: True)
    saved = msgspec.json.decode(stages, type=saved_answers.SavedAnswers)
    api = "/api/v1/compilations/id"
    assert saved.problems[f"{api}/allocation"] == 422
    problem = saved.bodies[saved.numbers[f"{api}/allocation"]]
    assert b"too much time or memory" in gzip.decompress(base64.b64decode(problem))
    assert f"{api}/source" in saved.numbers
    assert f"{api}/compile_time" not in saved.problems


def test_a_refused_answer_of_the_compiler_leaves_the_other_answers_of_a_saved_page(finders):
    record = subject_of(ALLOCATED + "}\n").record
    with_binary = replace(record, entries=(BinaryEntry("cubin", 1, "text"), *record.entries))

    def cached(query, parameters):
        if query is registers.QUERY:  # it is prepared, too
            raise ResultTooLarge("It is refused.")

    *_, (_, _, stages) = finders.find(saved_answers.PARTS[1], Subject((with_binary,), {}, None), cached)
    saved = msgspec.json.decode(stages, type=saved_answers.SavedAnswers)
    assert saved.problems["/api/v1/compilations/id/registers"] == 422
    assert "/api/v1/compilations/id/source" in saved.numbers


def test_who_counts_the_changes_of_large_modules_keeps_their_alignment():
    finders = IsolatedWorkers()
    small, large = (f"{ALLOCATED}{LOOP}  tt.return\n}}\n//{' long' * words}\n" for words in (1, 120_000))
    texts = {"first": small, "second": large, "third": small}
    passes = [
        PassEntry(index, "ttgir", f"pass-{index}", "Pass", (), 1.0, address)
        for index, address in enumerate(("first", None, "second", "third"))
    ]
    record = replace(
        subject_of("").record,
        entries=(*passes, Done("complete", 1.0)),
        read=lambda name: texts[name].encode(),
    )
    subject = Subject((record,), {}, None)
    found = list(finders.find(changes.QUERY, subject, nothing_cached))
    assert [(query.name, dict(parameters)) for query, parameters, _ in found] == [
        ("pass_alignment", {"index": "2"}),
        ("pass_alignment", {"index": "3"}),
        ("changes", {}),
    ]
    for query, parameters, answer in found[:2]:
        assert answer == find(finders, query, replace(subject, parameters=parameters))
    # A saved page asks for the changes, too.
    *_, (last, _, _) = finders.find(saved_answers.PARTS[0], subject, nothing_cached)
    assert last.name == "saved_passes"


def test_one_that_nobody_waits_for_is_ended(finders):
    with pytest.raises(Unavailable, match="Nobody waits"):
        list(finders.find(allocation.QUERY, subject_of(LARGE), nothing_cached, lambda: False))
    assert not finders.running


def test_one_that_waits_for_the_compiler_is_ended_when_nobody_waits():
    finders, asked = IsolatedWorkers(), []

    class Compiler:
        """Never finishes a job, and otherwise works like the queue."""

        def ask(self, request, check):
            asked.append(request.task)
            while True:
                check()

    subject = replace(subject_of(ALLOCATED + "}\n"), compiler=Compiler())
    with pytest.raises(Unavailable, match="Nobody waits"):
        list(finders.find(lineage.QUERY, subject, nothing_cached, lambda: not asked))
    assert asked == ["lineage"]
    assert not finders.running


def test_one_that_takes_too_long_is_ended():
    finders = IsolatedWorkers(Limits(working_seconds=0.5))
    with pytest.raises(Unavailable, match="too busy"):
        find(finders, allocation.QUERY, subject_of(LARGE))


def test_the_texts_of_an_asked_record_are_its_own(finders):
    """If one of them is lost, the shown result is undamaged."""
    subject = subject_of("the text of the shown result")
    recorded = msgspec.json.encode(Lineage((ModuleOrigins(0, "digest", ()),))).decode()
    texts = {"text": b"the text of the second", "locations": msgspec.json.encode(StageLocations((), ((),)))}
    stage = StageEntry("ptx", "PTX", "ptx", 1.0, 1, 1, "text", None, "locations")
    second = replace(
        subject.record, entries=(Answer(recorded), stage, Done("complete", 1.0)), read=texts.__getitem__
    )

    class Asked:
        def ask(self, request, check):
            assert request.task == "lineage"
            return second

    found = find(finders, lineage.RECORDING, replace(subject, compiler=Asked()))
    assert b"the text of the second" in found
