"""Test the content of the saved page, and which scripts it may run."""

import base64
import gzip
import html
import json
import re
from hashlib import sha256
from threading import Event

import pytest
from api import Api

from explorer.offline.run_answers import run_answers
from explorer.queries import QUERIES
from explorer.queries.query import nothing_saved
from explorer.services import services_of
from explorer.views.saved_page import fetcher


@pytest.fixture(scope="module")
def ticket(app, vector_add):
    """Return a compilation that has no runs from other tests."""
    return Api(app.test_client()).compile(vector_add, options={"num_warps": 8})


@pytest.fixture(scope="module")
def document(app, ticket):
    response = app.test_client().get(ticket["api"] + "/export.html")
    assert response.status_code == 200
    return response.get_data(as_text=True)


def test_the_disassembler_works_beside_the_other_answers(app, client, vector_add, monkeypatch):
    queue = services_of(app).queue
    ticket = Api(client).compile(vector_add, options={"num_warps": 2})
    asked, ask = [], queue.ask
    is_disassembling = Event()

    def watch(request, check):
        asked.append(request.task)
        if request.task == "registers":
            is_disassembling.set()
        elif request.task == "layouts":
            assert is_disassembling.wait(30)
        return ask(request, check)

    monkeypatch.setattr(queue, "ask", watch)
    assert client.get(ticket["api"] + "/export.html").status_code == 200
    assert sorted(asked) == ["layouts", "registers"]  # nothing is asked twice


def test_it_is_saved_never_shown_on_this_site(client, ticket):
    response = client.get(ticket["api"] + "/export.html")
    assert response.headers["Content-Disposition"] == f"attachment; filename=add_kernel-{ticket['id']}.html"
    assert "script-src 'self';" in response.headers["Content-Security-Policy"]
    assert response.cache_control.no_cache  # with the next run it is another file


def test_its_policy_lets_its_own_scripts_run_and_nothing_else(document):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', document)[1])
    scripts = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    digests = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(scripts) == 2
    plotly = re.search(r'<script type="application/gzip" id="plotly">([\w+/=]*)</script>', document)[1]
    unpacked = gzip.decompress(base64.b64decode(plotly))
    digests.append(base64.b64encode(sha256(unpacked).digest()).decode())
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    # WebAssembly lays out graphs in a worker, which has the policy of its document.
    assert f"script-src {hashes} 'wasm-unsafe-eval'; worker-src blob:;" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")
    assert "http" not in policy
    assert not re.search(r'(?:src|href)="(?!data:|#)', document.partition("<script type=")[0])


def answers_of(document):
    """Return the saved responses by address, and the status of errors."""
    numbers, problems = json.loads(re.search(r'id="embedded-data">(.*?)</script>', document)[1])
    packed = dict(re.findall(r'type="application/gzip" id="answer-(\d+)">([\w+/=]*)</script>', document))
    assert sorted(packed, key=int) == [str(number) for number in range(len(packed))]
    answers = {path: gzip.decompress(base64.b64decode(packed[str(n)])) for path, n in numbers.items()}
    return answers, problems


def test_its_answers_are_those_of_the_api(client, document, ticket, index):
    answers, problems = answers_of(document)
    urls = [row["url"] for row in index["stages"] + index["passes"]]
    assert set(urls) <= set(answers)
    saved = {f"{ticket['api']}/{each.name}" for each in QUERIES if each.saved is not nothing_saved}
    saved -= {f"{ticket['api']}/pass_alignment"}
    saved |= {f"{row['url']}/alignment" for row in index["passes"]}
    assert saved <= {path.partition("?")[0] for path in answers}
    # It has no gallery, one Triton, and nothing to run a kernel on.
    others = ("/page.json", "/api/v1/gallery", "/api/v1/tritons", f"{ticket['api']}/runs")

    def of_the_server(path):
        with client.get(path) as response:
            return response.data

    differing = [path for path, body in answers.items() if path not in others and of_the_server(path) != body]
    assert differing == []
    assert problems == {}


def test_its_runs_are_listed_with_all_that_is_asked_of_them(client, document, ticket):
    answers, _ = answers_of(document)
    listed = json.loads(answers[f"{ticket['api']}/runs"])
    known = client.get(f"{ticket['api']}/runs").get_json()
    assert (listed["runs"], listed["recordings"]) == (known["runs"], known["recordings"])
    assert listed["left_out"] == known["left_out"] == ""
    assert not listed["devices"]["interpreter"]["available"]
    assert "saved page" in listed["devices"]["gpu"]["reason"]
    (recording,) = listed["recordings"]
    api = recording["api"]
    query = f"?compilation={ticket['id']}"
    asked = {f"{api}{query}", f"{api}/roofline{query}", f"{api}/files", f"{api}/files/trace.json"}
    asked |= {f"{api}/sweep.csv", f"{api}/autotuning.csv"}
    asked |= {row["url"] for row in recording["measurements"] if row["name"] not in ("samples", "files")}
    assert asked <= set(answers)


def test_what_there_is_no_room_for_is_said(app, ticket):
    services = services_of(app)
    compilation = services.store.find(ticket["id"])

    def saved_with(most_bytes):
        saved = run_answers(compilation, fetcher(app), most_bytes)
        answers = {answer.address: answer.body for answer in saved.answers}
        return saved.has_plots, answers, json.loads(answers[f"{ticket['api']}/runs"])

    has_plots, answers, listed = saved_with(100)
    assert (has_plots, listed["recordings"], list(answers)) == (False, [], [f"{ticket['api']}/runs"])
    assert listed["left_out"].endswith(": 1 run.")

    has_plots, answers, listed = saved_with(1_000_000)
    assert (has_plots, len(listed["recordings"]), listed["left_out"]) == (True, 1, "")
    files = [address for address in answers if "/files/" in address]
    assert len(files) == 2
    lists = {address for address in answers if address.endswith(("/files", "/runs"))}
    documents = [body for address, body in answers.items() if address not in {*files, *lists}]

    exactly = sum(len(gzip.compress(body)) * 4 // 3 for body in documents)
    _, answers, listed = saved_with(exactly)
    assert len(listed["recordings"]) == 1
    assert listed["left_out"].endswith(": 2 files of profilers.")
    assert json.loads(answers["/api/v1/runs/recorded-vector_add-0/files"]) == {"files": []}


def test_what_cannot_be_said_of_a_result_is_said_in_its_file(client, api):
    """A failed kernel has no binary, so its live registers are unknown."""
    ticket = api.compile("def broken(:\n    pass\n")
    document = client.get(ticket["api"] + "/export.html").get_data(as_text=True)
    _, problems = json.loads(re.search(r'id="embedded-data">(.*?)</script>', document)[1])
    assert (
        problems[f"{ticket['api']}/registers"] == client.get(f"{ticket['api']}/registers").status_code == 422
    )


def test_the_same_result_is_the_same_file(client, ticket, document):
    again = client.get(ticket["api"] + "/export.html")
    assert again.get_data(as_text=True) == document


def test_a_compilation_under_way_has_no_file_yet(client, api, endless):
    ticket = api.submit(endless).get_json()
    response = client.get(ticket["api"] + "/export.html")
    client.delete(ticket["api"])
    assert (response.status_code, response.get_json()["kind"]) == (409, "not_finished")
