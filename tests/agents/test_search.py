"""Test the search for a faster kernel with an API that refuses requests, and whose runs fail."""

import asyncio

import msgspec
import pytest
from api import Api, AppApi
from sources import SUMS

from explorer.agents.api import Refused
from explorer.agents.search import Search
from explorer.documents import CompilationDocument
from explorer.errors import NotAnswerable

pytestmark = pytest.mark.slow

RUN = {"status": "complete", "measurements": [], "matches": None, "not_compared": "", "problem": ""}


class ChangedApi(AppApi):
    """An API whose answers to requests, given by method and end of the path, are others.

    `answers` are statuses with a body, `sent` the requests that start work.
    """

    def __init__(self, client, answers):
        super().__init__(client)
        self.answers = answers
        self.sent = []

    async def send(self, method, path, body, read):
        if method == "POST":
            self.sent.append(path.rpartition("/")[2])
        for (wanted, end), answer in self.answers.items():
            if wanted == method and path.endswith(end) and (given := answer(path)):
                return read(given[0], msgspec.json.encode(given[1]))
        return await super().send(method, path, body, read)


def refusal(status, detail):
    return status, {"error": "Refused", "kind": "refused", "detail": detail}


@pytest.fixture
def search(app):
    """Search with other answers. Return the result, the requests that start work, and the API."""
    client = app.test_client()
    ticket = Api(client).compile(SUMS)
    compilation = msgspec.convert(client.get(ticket["api"]).get_json(), CompilationDocument)

    def search(answers, seconds=300, **changed):
        api = ChangedApi(client, answers)
        found = Search(api, msgspec.structs.replace(compilation, **changed), seconds)
        assert found.result.tries == []

        async def work():
            async for _ in found.tries():
                pass

        try:
            asyncio.run(work())
        except (Refused, NotAnswerable) as error:
            return found.result, api.sent, error
        return found.result, api.sent, None

    return search


def verdicts(found):
    return {each.verdict for each in found.tries if each.rule == "pipelining"}


@pytest.mark.parametrize(
    ("status", "is_complete"), [(429, False), (503, False), (422, True)], ids=["rate", "queue", "time limit"]
)
def test_a_refused_change_is_not_taken_and_the_search_continues(search, status, is_complete):
    found, _, error = search({("POST", "/changed"): lambda _: refusal(status, "Refused for now.")})
    assert (error, verdicts(found)) == (None, {"Refused for now."})
    assert [each for each in found.tries if each.is_taken] == []
    assert found.is_complete is is_complete


def test_what_is_taken_stays_when_the_next_findings_are_refused(search):
    asked = []

    def second(path):
        asked.append(path)
        return refusal(422, "The query took too long.") if len(asked) > 1 else None

    found, _, error = search(
        {("GET", "/findings"): lambda path: None if "/compare/" in path else second(path)}
    )
    assert error is None
    assert [each.rule for each in found.tries if each.is_taken] == ["pipelining"]
    assert not found.is_complete and found.diff
    asked.append("")
    found, _, error = search({("GET", "/findings"): second})
    assert str(error) == "The query took too long."


@pytest.mark.parametrize(
    ("run", "verdict", "is_taken"),
    [
        ({"status": "failed", "problem": "It raises."}, "results not compared: It raises.", False),
        ({"problem": "The original raises."}, "results not compared: The original raises.", False),
        (
            {"not_compared": "Programs add up."},
            "proven in the compiler, results not compared: Programs add up.",
            True,
        ),
        ({"matches": False}, "the kernel writes other results", False),
    ],
    ids=["failed", "original", "not comparable", "other results"],
)
def test_only_a_check_can_say_that_no_comparison_is_needed(search, client, api, run, verdict, is_taken):
    ticket = client.post(
        "/api/v1/runs",
        json={"compilation": api.compile(SUMS)["id"], "run": {"device": "interpreter", "measures": []}},
    ).get_json()
    api.events(ticket["events"])
    document = {**client.get(ticket["api"]).get_json(), **RUN, **run}
    answers = {
        ("POST", "/runs"): lambda _: (202, {"id": "other"}),
        ("GET", "/runs/other"): lambda _: (200, document),
    }
    found, _, _ = search(answers)
    assert verdict in verdicts(found)
    assert [each.rule for each in found.tries if each.is_taken] == (["pipelining"] if is_taken else [])


def test_a_change_that_does_not_compile_says_why(search, api):
    failed = api.compile(SUMS.replace("tl.load(", "tl.loads(", 1))
    found, _, _ = search({("POST", "/changed"): lambda _: (202, {"id": failed["id"]})})
    (verdict,) = verdicts(found)
    assert verdict.startswith("fails: ") and "loads" in verdict
    assert not any(each.is_taken for each in found.tries)


def test_a_change_whose_run_is_refused_is_not_taken(search):
    found, _, _ = search({("POST", "/runs"): lambda _: refusal(409, "No interpreter.")})
    assert verdicts(found) == {"No interpreter."}
    assert [each for each in found.tries if each.is_taken] == []


def test_nothing_begins_when_the_time_is_over(search, client, api):
    runs = client.get(f"{api.compile(SUMS)['api']}/runs").get_json()
    gpu = {**runs["devices"]["gpu"], "available": True, "target": "cuda:90"}
    runs = {**runs, "devices": {**runs["devices"], "gpu": gpu}}
    answers = {("GET", "/runs"): lambda _: (200, runs)}
    found, sent, _ = search(answers, seconds=-1)
    assert (found.tries, found.is_complete, sent) == ([], False, [])


def test_a_failed_compilation_is_refused_before_any_run(search):
    _, sent, error = search({}, status="failed")
    assert isinstance(error, NotAnswerable)
    assert (str(error), sent) == (
        "The status of the compilation is 'failed'. Only a complete compilation has changes to try.",
        [],
    )


def test_no_change_that_rounds_the_results_otherwise_is_tried(search):
    change = {"text": "warps 4 → 8", "options": {"num_warps": 8}, "is_exact": False}
    finding = {"rule": "spills", "severity": "warning", "text": "It spills.", "changes": [change]}
    answer = {"findings": [finding], "checked": []}
    found, sent, error = search({("GET", "/findings"): lambda _: (200, answer)})
    assert (found.tries, sent, error, found.is_complete) == ([], [], None, True)


def test_a_correction_is_taken_without_the_results_of_the_wrong_kernel(search):
    text = "    for start in tl.range(0, columns, BLOCK, num_stages=3):"
    change = {"text": "Line 8", "edits": [{"line": 8, "text": text}], "is_correction": True}
    finding = {"rule": "index_overflow", "severity": "warning", "text": "It wraps.", "changes": [change]}
    asked = []

    def answer(path):
        if "/compare/" in path:
            verdict = {"is_removed": True, "is_proven": True, "text": "proven in the compiler"}
            none = {"vanished": [], "appeared": [], "worse": [], "fixed": [], "is_worse": False}
            return 200, {**none, "verdicts": [verdict]}
        asked.append(path)
        return 200, {"findings": [finding] if len(asked) == 1 else [], "checked": []}

    found, sent, error = search({("GET", "/findings"): answer})
    assert (sent, error, found.is_complete) == (["changed"], None, True)
    (tried,) = found.tries
    assert tried.is_taken and tried.verdict.endswith("results not compared: the kernel before is wrong")
