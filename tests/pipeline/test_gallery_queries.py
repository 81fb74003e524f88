"""Each query about each result of the gallery has an answer, or says in a sentence why there is none."""

import json
import re

import pytest
from tritons import TRITONS

from explorer.errors import InvalidRequest, NotAnswerable, NotFound
from explorer.examples import EXAMPLES, find_example
from explorer.model import Request
from explorer.model.hardware import TARGETS
from explorer.queries import QUERIES, pass_diff
from explorer.tours import load_tours

pytestmark = pytest.mark.slow

#: One example stands for all in `make test`, on a GPU of each kind of machine code.
SHORT = {("vector_add", target) for target in ("cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100")}
#: What tools and crashed processes print. No user can do anything with it.
REFUSAL = re.compile(
    r"LLVM ERROR|Traceback|exit (?:status|code)|crashed|nvdisasm (?:warning|fatal|error)|not supported yet|"
    r"\bSIG[A-Z]+"
)
#: Values of the parameters that are not a place in the result.
GIVEN = {
    "text": "load",
    "claims": "[]",
    "most_nodes": "500",
    "grid": "8",
    "tour": load_tours()[0].name,
    "step": "1",
}

EACH = [
    pytest.param(
        example,
        target,
        id=f"{example}-{target.architecture}",
        marks=() if (example, target.name) in SHORT else pytest.mark.nightly,
    )
    for example in EXAMPLES
    for target in TARGETS
]


def places(record):
    """Return a line of the middle of each stage, and of the module after the last changed pass."""
    for name, stage in record.result.stages.items():
        lines = record.text(stage.text).split("\n")
        number = next((n for n in range(len(lines) // 2, 0, -1) if lines[n - 1].strip()), 1)
        yield {"stage": name, "line": str(number), "name": name}
    changed = [index for index, each in record.result.passes.items() if each.text is not None]
    for index in changed[-1:]:
        yield {"pass": str(index), "index": str(index), "line": "3"}


def parameters_of(query, record):
    """Return the parameters with which a query is asked, each once."""
    names = {each.name for each in query.parameters}
    fixed = {name: value for name, value in GIVEN.items() if name in names}
    asked = [fixed]
    asked += [{**fixed, **{n: v for n, v in place.items() if n in names}} for place in places(record)]
    return [dict(each) for each in {tuple(sorted(each.items())) for each in asked}]


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize(("example", "target"), EACH)
def test_each_query_has_content_or_says_why(services, example, target, triton):
    record = services.queue.complete(Request(find_example(example).source, target.name, triton))
    assert record.status == "complete" or record.result.error_messages
    problems = []
    for query in QUERIES:
        if query.about != "compilation":
            continue
        for given in parameters_of(query, record):
            try:
                answer = services.query_service.answer(query, (record,), given)
            except (NotAnswerable, NotFound, InvalidRequest) as error:
                said = str(error)
                is_sentence = said.endswith((".", "?")) and " " in said
            else:
                said = str(reason_in(answer))
                # The diff of two texts that differ in the names of values only is empty.
                is_sentence = bool(answer) or query is pass_diff.PASS_DIFF
            if not is_sentence or REFUSAL.search(said):
                problems.append((query.name, given, said))
    assert problems == []


def reason_in(answer):
    """Return the reason that a document gives for the missing part of its content; "" if it gives none."""
    try:
        document = json.loads(answer)
    except ValueError:
        return ""
    return document.get("reason", "") if isinstance(document, dict) else ""
