"""Results that no compiler produces, as hostile code can forge them in its jail.

The wall refuses them. Results that an earlier version has stored are refused when they are read. Accepted
results cost the web process nothing, and cost an isolated worker little.
"""

import contextlib
import dataclasses
import functools
import json
import random
import threading
import time
import uuid

import psutil
import pytest
from processes import ask_each
from processor_time import check_processor_seconds, processor_time
from waiting import wait_for

from explorer.analysis.assembly.operations import operation_lines
from explorer.analysis.diff import Alignment
from explorer.analysis.pass_matching import PassFacts, match_passes
from explorer.errors import Unavailable
from explorer.jobs.isolated_process import Limits
from explorer.model import Done, Frame, Location, Pass, Request, Stage, encode_event
from explorer.model.languages import LANGUAGES
from explorer.model.limits import (
    MOST_LOCATION_BYTES,
    MOST_PASSES,
    MOST_STAGES,
    MOST_TEXT_BYTES,
    MOST_TEXT_LINES,
    MOST_WIDE_TEXT_BYTES,
)
from explorer.queries import QueryService, comparison, pass_diff, saved_answers
from explorer.queries.isolated_worker import IsolatedWorkers
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.protocol import EventStream, decode_event
from explorer.sandbox.settings import SandboxSettings
from explorer.store import Record, open_store
from explorer.store.entry_writer import EntryWriter

pytestmark = pytest.mark.slow

DONE = Done("complete", 1.0)
STAGE = Stage("ttgir", "TTGIR", "ttgir", 1.0, "module {\n}\n")
#: Honest answers about a matmul take less.
QUICK = 0.7


def a_pass(index=0, text=None, name="again"):
    return Pass(index, "ttgir", name, name, (), 1.0, text)


def stored(store, *events):
    """Store events as the result of a compilation, around the wall."""
    batch = store.batch()
    writer = EntryWriter(batch)
    record = store.submit(Request(f"# {uuid.uuid4()}", "cuda:90", "3.9.0"))
    store.finish(record.id, [writer.write(event) for event in (*events, DONE)], batch)
    return store.find(record.id)


@pytest.fixture
def store_forged(services):
    return functools.partial(stored, services.store)


@pytest.fixture
def get(client):
    """Ask about a compilation; return the response, and the processor time of this process."""

    def get(record, path):
        address = (
            path.format(id=record.id) if path.startswith("/") else f"/api/v1/compilations/{record.id}/{path}"
        )
        with processor_time() as taken:
            response = client.get(address.rstrip("/"))
        return response, taken.seconds

    return get


# --- at the wall --------------------------------------------------------------------------------


def million_locations():
    """Return the event of a stage with a million locations: 64 MB."""
    event = json.loads(encode_event(STAGE))
    event["locations"] = [{"frames": [{"file": "", "line": 1, "column": 1}]}] * 1_000_000
    return json.dumps(event).encode() + b"\n"


def disguised_locations():
    """Return a stage whose million locations are overwritten, and whose names are written as escapes."""
    head, tail = encode_event(STAGE).rstrip().removesuffix(b"}"), b',"locations":[]}\n'
    frame = b'{"fr\\u0061mes":[{"file":"","l\\u0069ne":1}]}'
    return head + b',"locations":[' + b",".join([frame] * 1_000_000) + b"]" + tail


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (lambda: encode_event(dataclasses.replace(STAGE, language="klingon")), "a stage's language"),
        (
            lambda: encode_event(dataclasses.replace(STAGE, text="x" * (MOST_TEXT_BYTES + 1))),
            "is longer than",
        ),
        (lambda: encode_event(dataclasses.replace(STAGE, raw="x" * (MOST_TEXT_BYTES + 1))), "is longer than"),
        (lambda: encode_event(a_pass(0, "\n" * (MOST_TEXT_LINES + 1))), "has more than 1,000,000 lines"),
        (lambda: encode_event(a_pass(0, "ä" * (MOST_TEXT_BYTES // 2 + 1))), "is longer than"),
        (lambda: encode_event(a_pass(0, "x" * MOST_WIDE_TEXT_BYTES + "\U0001f600")), "beyond U\\+00FF"),
        (
            lambda: encode_event(a_pass(0, "x" * MOST_WIDE_TEXT_BYTES + "ÿ~")).replace(b"~", b"\\u0394"),
            "beyond U",
        ),
        (million_locations, "bytes of locations"),
        (disguised_locations, "bytes of locations"),
    ],
    ids=[
        "language",
        "text",
        "raw text",
        "lines",
        "bytes",
        "wide",
        "wide escapes",
        "locations",
        "disguised locations",
    ],
)
def test_the_wall_refuses_what_no_compiler_writes(line, reason):
    with pytest.raises(ProtocolError, match=reason):
        decode_event(line())


def test_the_wall_refuses_more_passes_and_stages_than_a_pipeline_has():
    stream = EventStream(SandboxSettings())
    for index in range(MOST_PASSES):
        stream.feed(encode_event(a_pass(index)))
    with pytest.raises(ProtocolError, match="more than 2,000 passes"):
        stream.feed(encode_event(a_pass(MOST_PASSES)))
    stream = EventStream(SandboxSettings())
    for index in range(MOST_STAGES):
        stream.feed(encode_event(dataclasses.replace(STAGE, name=f"s{index}")))
    with pytest.raises(ProtocolError, match="more than 32 stages"):
        stream.feed(encode_event(dataclasses.replace(STAGE, name="more")))


def as_many_locations_as_allowed():
    most = (MOST_LOCATION_BYTES - 10_000) // len(
        '{"frames":[{"file":"","line":1,"column":0,"function":""}]},'
    )
    return encode_event(dataclasses.replace(STAGE, locations=(Location((Frame("", 1),)),) * most))


@pytest.mark.parametrize("line", [million_locations, as_many_locations_as_allowed])
def test_locations_do_not_stop_other_threads(line):
    """While objects are made of a line, no other thread runs: that is how long the page does not answer."""
    data = line()

    def decode():
        with contextlib.suppress(ProtocolError):
            EventStream(SandboxSettings()).feed(data)

    check_processor_seconds(1, decode)


# --- stored -------------------------------------------------------------------------------------

ADDRESSES = ("", "archive.zip", "export.html", "changes", "stages/ttgir", "compare/{id}", "/k/{id}/card.png")


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_stored_result_with_more_passes_than_a_pipeline_has_is_refused(store_forged, get, address):
    record = store_forged(STAGE, *(a_pass(index) for index in range(19_000)))
    response, seconds = get(record, address.replace("{id}", record.id))
    assert response.status_code == 422
    assert "19,000 passes; a compiler produces at most 2,000" in response.text
    assert seconds < QUICK


@pytest.mark.parametrize(
    ("stage", "address", "reason"),
    [
        ({"text": "\n" * (MOST_TEXT_LINES + 1)}, "stages/ttgir/lines", "1,000,001 lines"),
        ({"text": "x" * (MOST_TEXT_BYTES + 1)}, "stages/ttgir/lines", "62,914,561 bytes"),
        (
            {"text": "x" * MOST_WIDE_TEXT_BYTES + "Δ"},
            "stages/ttgir/lines",
            "15,728,642 bytes with characters",
        ),
        ({"text": "x" * MOST_WIDE_TEXT_BYTES + "Δ"}, "graph?stage=ttgir", "15,728,642 bytes with characters"),
        ({"locations": (Location((Frame("", 1),)),) * 300_000}, "stages/ttgir/locations", "source locations"),
    ],
    ids=["lines", "bytes", "wide lines", "wide text", "locations"],
)
def test_a_stored_stage_that_no_compiler_writes_is_refused(store_forged, get, stage, address, reason):
    response, seconds = get(store_forged(dataclasses.replace(STAGE, **stage)), address)
    assert (response.status_code, response.get_json()["kind"]) == (422, "result_too_large")
    assert reason in response.get_json()["detail"]
    assert seconds < QUICK


def test_a_stage_in_an_unknown_language_is_plain_text(store_forged, get):
    record = store_forged(dataclasses.replace(STAGE, language="klingon"), a_pass(0, "x\n"))
    addresses = [*("", "stages/ttgir", "stages/ttgir/lines", "stages/ttgir/locations", "archive.zip")]
    addresses += ["export.html", "/k/{id}", "/k/{id}/card.png", f"compare/{record.id}"]
    addresses += [f"compare/{record.id}/stages/ttgir", "passes/0/alignment", "events", "allocation"]
    addresses += ["graph?stage=ttgir", "occupancy", "runs", "metrics"]
    assert {address: get(record, address)[0].status_code for address in addresses} == {
        **dict.fromkeys(addresses, 200),
        **dict.fromkeys(("graph?stage=ttgir", "allocation", "occupancy"), 422),
    }


@pytest.mark.parametrize("events", [(), (a_pass(),)], ids=["nothing", "a pass"])
def test_a_result_without_stages_has_a_card(store_forged, get, events):
    response, _ = get(store_forged(*events), "/k/{id}/card.png")
    assert (response.status_code, response.mimetype) == (200, "image/png")


# --- queries ------------------------------------------------------------------------------------


def test_an_alias_of_aliases_is_not_expanded_without_end(store_forged, services):
    """Each of the last aliases would have ten thousand characters for each of its two."""
    chain = "".join(f"#a{n} = {f'#a{n - 1} ' * 2}\n" for n in range(1, 12))
    bombs = "".join(f"#b{n} = {'#a10 ' * (12_000 + n)}\n" for n in range(5))
    text = f"#a0 = aaaa\n{chain}{bombs}"
    record = store_forged(a_pass(0, text), a_pass(1, f"{text}x\n"))
    workers = IsolatedWorkers(Limits(memory_bytes=600 << 20))
    service = QueryService(services.store, services.queue, workers)
    try:
        assert b'"lines_added":1,' in service.answer(pass_diff.PASS_ALIGNMENT, (record,), {"index": "1"})
    finally:
        service.close()


def test_an_alias_with_a_long_name_is_not_written_everywhere():
    name = "#" + "a" * 100_000
    before = "#b = x\n" + "y #b\n" * 20_000
    after = f"{name} = x\n" + f"{name}\n"
    check_processor_seconds(2, lambda: Alignment(before, after))


def test_equal_operations_on_other_values_are_searched_in_linear_time():
    """Each operation may have moved to the place of any other operation."""
    before, after = ("".join(f"  tt.store %{name}{n}\n" for n in range(5_000)) for name in "pq")
    check_processor_seconds(4, lambda: Alignment(before, after))


def test_a_line_of_many_registers_is_read_in_linear_time():
    line = "        HMMA " + ", ".join(["[R1]", "R2"] * 20_000) + " ;\n"
    check_processor_seconds(2, lambda: Alignment(line, line + "        EXIT ;\n", "registers"))
    branches = "        BRA " * 20_000 + ";\n"
    check_processor_seconds(2, lambda: Alignment(branches, branches + "        EXIT ;\n", "registers"))


def test_pipelines_of_many_passes_are_matched_in_bounded_time():
    names = random.Random(1)
    one, other = (
        [PassFacts("ttgir", f"p{names.randrange(3)}", True, ((f"k{n}", 1),)) for n in range(MOST_PASSES)]
        for _ in range(2)
    )
    check_processor_seconds(1, lambda: match_passes(one, other))
    matches = match_passes(one, other)
    assert sorted(each.before for each in matches if each.before is not None) == list(range(MOST_PASSES))
    assert sorted(each.after for each in matches if each.after is not None) == list(range(MOST_PASSES))


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("part", [" ", "%a ", "%a, ", "a.", "a", '"', "/*0000", "@%p ", "a b ", "{ "])
def test_operations_are_found_in_linear_time(language, part):
    """The page asks for the operations of a stage with its locations: in the web process."""
    check_processor_seconds(0.5, lambda: operation_lines([part * 50_000 + "\t?"], language))


# --- files --------------------------------------------------------------------------------------


@pytest.fixture
def large(store_forged):
    """A result of 60 texts that cannot be compressed: 180 MB."""
    letters = random.Random(1)
    texts = (letters.randbytes(1_500_000).hex() for _ in range(60))
    return store_forged(STAGE, *(a_pass(index, text) for index, text in enumerate(texts)))


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("address", ["archive.zip", "export.html"])
def test_a_large_file_is_refused_and_occupies_the_web_process_little(large, get, address, monkeypatch):
    response, seconds = get(large, address)
    assert (response.status_code, response.get_json()["kind"]) == (422, "result_too_large")
    assert seconds < 3
    monkeypatch.delattr(IsolatedWorkers, "find")  # it is not tried again
    again, _ = get(large, address)
    assert again.get_json()["detail"] == response.get_json()["detail"]


@pytest.mark.parametrize("address", ["archive.zip", "export.html"])
def test_many_passes_that_change_nothing_are_a_small_file(store_forged, get, address):
    """Each of them has the text of the pass before: 2 GB in all."""
    text = "module {\n}\n" * 30_000
    passes = (a_pass(index, None if index else text) for index in range(MOST_PASSES))
    response, seconds = get(store_forged(STAGE, *passes), address)
    assert response.status_code in (200, 422)
    assert len(response.data) < 64 << 20
    assert seconds < 3


def test_a_text_of_many_passes_is_read_and_packed_once(store_forged, monkeypatch):
    record = store_forged(STAGE, *(a_pass(index, None if index else "module {\n}\n") for index in range(50)))
    done = []

    def count(owner, name):
        work = getattr(owner, name)

        def counted(*arguments):
            done.append(name)
            return work(*arguments)

        monkeypatch.setattr(owner, name, counted)

    count(Record, "text")
    count(saved_answers, "packed")
    writer = saved_answers._Writer(record)
    for index in record.result.passes:
        writer.add_text(f"passes/{index}", record.address_after_pass(index))
    assert done == ["text", "packed"]
    assert len(writer.written.numbers) == 50


# --- clients that leave -------------------------------------------------------------------------


def long_passes():
    """Return two passes whose alignment takes longer than any client waits."""
    noise = random.Random(1)
    for index in range(2):
        values = (f"  t.u{noise.randrange(9)} %x{noise.randrange(9)}\n" for _ in range(400_000))
        yield a_pass(index, "".join(values))


@pytest.fixture
def endless(store_forged):
    return store_forged(*long_passes())


@pytest.fixture
def workers():
    workers = IsolatedWorkers()
    yield workers
    workers.close()


def started(workers):
    """Wait until a process computes; return it."""
    while not (running := workers.running):
        time.sleep(0.01)
    (process,) = running
    return process


class Client:
    """A client that sends a request in a separate thread, and can disconnect."""

    def __init__(self, service, record):
        self.asked = threading.Event()
        self.left = threading.Event()
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._ask, args=(service, record))
        self._thread.start()

    def _ask(self, service, record):
        try:
            service.answer(saved_answers.PARTS[0], (record,), {}, self._waits)
        except Unavailable:
            self.ended.set()

    def _waits(self):
        """Answer the service, which asks again and again."""
        self.asked.set()
        return not self.left.is_set()

    def leave(self):
        self.left.set()

    def join(self):
        self._thread.join(60)


def test_a_query_ends_when_its_client_has_left(services, workers, endless):
    client = Client(QueryService(services.store, services.queue, workers), endless)
    started(workers)
    client.leave()
    client.join()
    assert client.ended.is_set()
    assert not workers.running


def test_a_query_goes_on_while_another_client_waits(services, workers, endless):
    service = QueryService(services.store, services.queue, workers)
    first = Client(service, endless)
    process = started(workers)
    second = Client(service, endless)
    assert second.asked.wait(60)
    first.leave()
    second.ended.wait(1)
    assert workers.running == {process}
    second.leave()
    for client in (first, second):
        client.join()
        assert client.ended.is_set()
    assert not workers.running


@pytest.fixture
def server(running_server):
    """A server that has an endless result, and the address of an endless query about it."""
    with contextlib.closing(open_store(running_server.folder)) as store:
        record = stored(store, *long_passes())
    return running_server, f"/api/v1/compilations/{record.id}/passes/1/alignment"


def computing(server):
    """Return how many processes of the queries compute: children of their fork server."""
    commands = ask_each(server.family(), psutil.Process.cmdline)
    return sum("forkserver" in " ".join(words) for _, words in commands) - 1


def test_the_server_ends_a_query_whose_client_has_left(server):
    server, address = server
    with server.connect() as connection:
        connection.sendall(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        wait_for(lambda: computing(server) == 1)
    left = time.monotonic()
    wait_for(lambda: computing(server) == 0)
    assert time.monotonic() - left < 20  # without a disconnect, it would compute for 30 seconds


def test_a_comparison_of_long_pipelines_is_answered(store_forged, services):
    workers = IsolatedWorkers(Limits(processor_seconds=10))
    service = QueryService(services.store, services.queue, workers)
    one, other = (
        store_forged(STAGE, *(a_pass(index, name=f"p{index % count}") for index in range(MOST_PASSES)))
        for count in (7, 5)
    )
    try:
        answer = json.loads(service.answer(comparison.COMPARISON, (one, other), {}))
    finally:
        service.close()
    assert len(answer["passes"]) >= MOST_PASSES
