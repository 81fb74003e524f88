"""Analyses of what a source has made up: they end, and nothing else does."""

import threading
from datetime import UTC, datetime

import pytest

from explorer.analyses import ANALYSES, Subject, allocation
from explorer.analyses.apart import Finders, Limits
from explorer.errors import NotAnswerable, NotFound, Unavailable
from explorer.model import Allocation, Buffer, Done, Request
from explorer.store import PassEntry, Record

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
    return Subject(record, {}, None)


@pytest.fixture
def finders():
    finders = Finders(Limits(processor_seconds=1))
    yield finders
    finders.close()


def test_it_answers_as_it_does_here(finders):
    subject = subject_of(ALLOCATED + LOOP + "  tt.return\n}\n")
    found = finders.find(allocation.ANALYSIS, subject)
    assert b'"name":"f"' in found
    assert b'"hazards":[{' in found


def test_one_that_does_not_end_is_ended(finders):
    with pytest.raises(NotAnswerable, match="too much time or memory"):
        finders.find(allocation.ANALYSIS, subject_of(LARGE))


def test_one_that_wants_all_memory_is_refused_it():
    finders = Finders(Limits(memory_bytes=200 << 20))
    with pytest.raises(NotAnswerable, match="too much time or memory"):
        finders.find(allocation.ANALYSIS, subject_of("x" * (300 << 20)))


def test_an_answer_that_is_too_long_is_not_given():
    finders = Finders(Limits(document_bytes=100))
    with pytest.raises(NotAnswerable, match="more than 100 bytes"):
        finders.find(allocation.ANALYSIS, subject_of(ALLOCATED + "}\n"))


def test_nesting_without_end_is_refused(finders):
    with pytest.raises(NotAnswerable, match="nested too deeply"):
        finders.find(allocation.ANALYSIS, subject_of("tt.func @f() {\n" * 2000))


def test_what_it_refuses_is_refused_here(finders):
    with pytest.raises(NotFound, match="no pass 7"):
        finders.find(allocation.ANALYSIS, subject_of(LARGE, pass_index=7))


def test_who_waits_when_the_server_ends_is_told():
    finders = Finders()
    subject = subject_of(LARGE)
    reading = threading.Event()
    told = []

    def read(address):
        reading.set()
        return LARGE.encode()

    def ask():
        object.__setattr__(subject.record, "read", read)
        try:
            finders.find(allocation.ANALYSIS, subject)
        except Unavailable as error:
            told.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    assert reading.wait(60)
    finders.close()
    asking.join()
    assert len(told) == 1


def test_only_one_that_bounds_itself_stays_in_the_server():
    assert [each.name for each in ANALYSES if each.is_bounded] == ["lineage"]
