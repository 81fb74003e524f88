"""Test that the tours can be read, and that their claims are true for every Triton version."""

import inspect
import json
import re
from hashlib import sha256

import pytest
from tritons import TRITONS

from explorer.analysis.roofline.hints import _HINTS
from explorer.examples import find_example
from explorer.services import services_of
from explorer.tours import find_tour, load_tours
from explorer.views.panes import PANES
from explorer.views.tours import request_of

MOST_WORDS = 60
STEPS = [
    pytest.param(tour, number, id=f"{tour.name}-{number}")
    for tour in load_tours()
    for number in range(1, len(tour.steps) + 1)
]
HINTS = {module.__name__.rpartition(".")[2] for module in map(inspect.getmodule, _HINTS)}


def taught(step):
    """Return the topics of a step."""
    tour, number = step.values
    return tour.steps[number - 1].teaches


every_step = pytest.mark.parametrize(("tour", "number"), STEPS)
every_table = pytest.mark.parametrize(
    "times",
    [
        pytest.param(step.times, id=f"{tour.name}-{number}")
        for tour in load_tours()
        for number, step in enumerate(tour.steps, 1)
        if step.times
    ],
)


def source_of(launch):
    return request_of(launch, "").source


@pytest.fixture(scope="module")
def step_result(app):
    """Compile the kernel of a step of a tour; return the address of the result."""
    services = services_of(app)

    def compile_step(launch, triton):
        assert all(old in find_example(launch.example).source for old in launch.replace)
        record = services.queue.complete(request_of(launch, triton))
        assert record.status == "complete"
        return f"/api/v1/compilations/{record.id}"

    return compile_step


@every_step
def test_a_step_can_be_shown(tour, number):
    step = tour.steps[number - 1]
    assert len(step.caption.split()) <= MOST_WORDS
    assert not re.search(r"\*\w", step.caption), "a caption has code in backquotes and no other marks"
    names = re.findall(r"([a-z_]+)(?::[\w.-]*)?(?:;[a-z]+=[\w.-]*)*\*?(?:@\d+)?", step.panes)
    assert names
    assert set(names) <= {pane.name for pane in PANES}
    assert not step.beside or f"stage:{step.beside.stage}" in step.panes
    question = step.question
    if question is not None and question.choices:
        assert 0 <= question.answer < len(question.choices)
    elif question is not None:
        assert 0 <= question.claim < len(step.claims)


@pytest.mark.slow
@pytest.mark.parametrize("triton", TRITONS)
@every_step
def test_what_a_step_claims_is_true_of_every_triton(client, step_result, tour, number, triton):
    api = step_result(tour.steps[number - 1].launch, triton)
    document = client.get(f"{api}/tours/{tour.name}/{number}").get_json()
    assert document["place"]
    assert bool(document["beside"]) == bool(tour.steps[number - 1].beside)
    assert document["claims"]
    assert [claim for claim in document["claims"] if not claim["holds"]] == []


@pytest.mark.parametrize("tour", load_tours(), ids=lambda tour: tour.name)
def test_a_tour_ends_with_what_was_measured(tour):
    assert tour.steps[-1].times


@every_table
def test_what_was_measured_is_of_this_launch_and_as_claimed(times):
    assert times.machine.gpu
    for row in times.runs:
        assert row.measured, f"{row.label}: run tools/record-tours on a machine with a GPU"
        assert row.measured.source_sha256 == sha256(source_of(row.launch).encode()).hexdigest(), row.label
        assert not times.peak or 0 < row.measured.rate(times.peak) < times.machine.peaks[times.peak]
    assert times.claims
    assert [claim for claim in times.claims if not claim.least <= claim.found <= claim.most] == []


@pytest.mark.slow
def test_the_binary_that_was_measured_is_the_one_that_is_shown(client, services, step_result):
    times = find_tour("layouts").steps[-1].times
    for row in times.runs:
        shown = client.get(step_result(row.launch, times.machine.triton)).get_json()["binary"]
        assert sha256(client.get(shown["url"]).data).hexdigest() == row.measured.binary_sha256, row.label


@pytest.mark.slow
@pytest.mark.parametrize(("tour", "number"), [step for step in STEPS if taught(step)])
def test_the_result_has_what_a_step_teaches(client, services, step_result, tour, number):
    step = tour.steps[number - 1]
    api = step_result(step.launch, services.versions[0])
    result = client.get(api).get_json()
    layouts = client.get(f"{api}/layouts").get_json()["layouts"]
    topics = {each["name"] for each in result["passes"]} | {each["kind"] for each in layouts} | HINTS
    assert set(step.teaches) <= topics


@pytest.mark.slow
def test_another_result_has_other_numbers(client, services, step_result):
    tour = load_tours()[0]
    (launch,) = (step.launch for step in tour.steps if step.launch.signature)
    unaligned = step_result(launch, services.versions[0])
    wide_loads = client.get(f"{unaligned}/tours/{tour.name}/4").get_json()
    assert wide_loads["place"] is None
    assert [(claim["found"], claim["holds"]) for claim in wide_loads["claims"]] == [(0, False), (0, False)]


def test_the_api_lists_the_tours(client):
    rows = client.get("/api/v1/tours").get_json()
    assert [row["name"] for row in rows] == [tour.name for tour in load_tours()]
    document = client.get(f"/api/v1/tours/{rows[0]['name']}").get_json()
    assert len(document["steps"]) == rows[0]["steps"]
    missing = client.get("/api/v1/tours/nothing")
    assert missing.status_code == 404
    assert rows[0]["name"] in json.dumps(missing.get_json())


@pytest.mark.slow
def test_a_tour_whose_steps_are_compiled_is_a_file(client, services, step_result):
    tour, triton = load_tours()[0], services.versions[0]
    api = f"/api/v1/tours/{tour.name}"
    for step in tour.steps:
        step_result(step.launch, triton)
    results = client.get(f"{api}/results?triton={triton}").get_json()
    assert len(results) == len(tour.steps)
    assert all(results)
    file = client.get(f"{api}/export.html?triton={triton}").get_data(as_text=True)
    assert f'data-lesson="tour={tour.name}.1"' in file
    for number, result in enumerate(results, 1):
        assert f"/api/v1/compilations/{result}/tours/{tour.name}/{number}" in file


def test_a_tour_whose_steps_are_not_compiled_is_no_file(client, services, monkeypatch):
    monkeypatch.setattr(services.store, "known", lambda request: None)
    name = load_tours()[-1].name
    answer = client.get(f"/api/v1/tours/{name}/export.html")
    assert answer.status_code == 409
    assert "have no result" in answer.get_json()["detail"]
