"""Test that the exercises can be read, that no start meets its goals, and that every solution does."""

import re

import msgspec
import pytest

from explorer.exercises import EXERCISES, find_exercise, load_exercises
from explorer.model import Request, Run
from explorer.queries.claims import MOST_CLAIMS_CHARACTERS, QUERY, RUN_QUERY
from explorer.runs.requests import run_request
from explorer.views.panes import PANES

MOST_WORDS = 50
#: The exercise whose start computes something wrong: that is its task.
WRONG_START = "mask_tail"
#: The exercises whose start only a run tells from the solution.
ONLY_RUN = ("mask_tail", "one_pass")
every_exercise = pytest.mark.parametrize(
    "exercise", [pytest.param(each, id=each.name) for each in load_exercises()]
)


def asked(claims):
    text = msgspec.json.encode([msgspec.structs.replace(claim, says="") for claim in claims]).decode()
    assert len(text) <= MOST_CLAIMS_CHARACTERS
    return {"claims": text}


@pytest.fixture
def judge(services):
    """Compile a source, and return which goals of an exercise hold, first the compiler's goals. On request, a
    run checks the other goals.
    """

    def judge_source(exercise, source, triton, *, is_run):
        launch = exercise.launch
        compilation = services.queue.complete(
            Request(source, launch.target, triton, kernel=launch.kernel, options=dict(launch.options))
        )
        assert compilation.status == "complete", compilation.result.error_messages
        goals = [goal for goal in exercise.goals if goal.run is None]
        answers = services.query_service.answer(QUERY, [compilation], asked(goals))
        found = msgspec.json.decode(answers)
        if is_run:
            run = Run("interpreter", ("check", "counts"), reference=exercise.reference)
            record = services.queue.complete(run_request(services.queue, compilation.request, run))
            goals = [goal for goal in exercise.goals if goal.run is not None]
            parameters = asked(goals)
            answers = services.query_service.answer(RUN_QUERY, [record, None, None, None], parameters)
            found += msgspec.json.decode(answers)
        return found

    return judge_source


def missed(found):
    return [each["says"] or each["found"] for each in found if not each["holds"]]


@every_exercise
def test_an_exercise_can_be_shown(exercise):
    assert len(exercise.task.split()) <= MOST_WORDS
    assert len(exercise.after.split()) <= MOST_WORDS
    assert 2 <= len(exercise.hints) <= 4
    assert all(old in exercise.launch.source for old in exercise.solution)
    names = re.findall(r"([a-z_]+)(?::[\w.-]*)?\*?(?:@\d+)?", exercise.panes)
    assert set(names) <= {pane.name for pane in PANES}
    # A kernel that computes nothing must not pass.
    assert "matches" in [goal.run for goal in exercise.goals]
    assert {"stored_bytes", "loaded_bytes"} & {goal.run for goal in exercise.goals}


@pytest.mark.nightly
@pytest.mark.slow
@every_exercise
def test_only_the_solution_meets_the_goals(services, judge, exercise):
    """With every version of Triton. The newest version runs both; other versions only if a goal needs a
    run."""
    for version in services.versions:
        is_run = version == services.versions[0] or exercise.name in ONLY_RUN
        start = judge(exercise, exercise.launch.source, version, is_run=is_run)
        assert missed(start), version
        assert missed(judge(exercise, exercise.solved_source, version, is_run=is_run)) == []
        if is_run:
            *_, result = start
            assert result["holds"] == (exercise.name != WRONG_START), result


@pytest.mark.slow
def test_a_kernel_that_does_nothing_does_not_pass(services, judge):
    exercise = find_exercise("one_warp")
    empty = exercise.solved_source.replace("tl.store(output_ptr + row, tl.sum(x, axis=0))", "pass")
    assert empty != exercise.solved_source
    *_, result = judge(exercise, empty, services.versions[0], is_run=True)
    assert not result["holds"]


@pytest.mark.slow
def test_a_wrong_result_leaves_the_other_goals_of_a_run_met(services, judge):
    exercise = find_exercise("one_warp")
    zero = exercise.solved_source.replace("tl.sum(x, axis=0))", "tl.sum(x, axis=0) * 0)")
    *_, loaded, result = judge(exercise, zero, services.versions[0], is_run=True)
    assert (loaded["found"], loaded["holds"]) == (32_768, True)
    assert (result["found"], result["holds"], result["reason"]) == (
        0,
        False,
        "output_ptr differs from the reference.",
    )


def test_the_api_lists_the_exercises(client):
    rows = client.get("/api/v1/exercises").get_json()
    assert [row["name"] for row in rows] == list(EXERCISES)
    levels = [row["level"] for row in rows]
    assert levels == sorted(levels, key=["easy", "medium", "hard"].index)
    document = client.get(f"/api/v1/exercises/{rows[0]['name']}").get_json()
    assert document["goals"][0]["exactly"] == 0
    assert client.get("/api/v1/exercises/nothing").status_code == 404


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ("nothing", "JSON"),
        ('[{"stage": "ttgir", "pattern": "("}]', "unterminated"),
        ('[{"metric": "beauty"}]', "beauty"),
        ('[{"access": "beauty", "pattern": ".*"}]', "beauty"),
        ("[{}]", "one of"),
        ('[{"metric": "registers", "html": "<b>"}]', "html"),
        (f"[{', '.join(['{}'] * 900)}]", "2,000"),
    ],
)
def test_claims_that_are_none_are_refused(client, ticket, claims, words):
    response = client.get(f"{ticket['api']}/claims", query_string={"claims": claims})
    assert response.status_code == 400
    assert words in response.get_json()["detail"]


def test_a_pattern_that_takes_too_long_is_ended(client, ticket, strict):
    claims = '[{"stage": "ptx", "pattern": "^(.*.*.*.*.*.*.*.*)*@@@$"}]'
    response = client.get(f"{ticket['api']}/claims", query_string={"claims": claims})
    assert response.status_code == 422
    assert "too much time" in response.get_json()["detail"]
