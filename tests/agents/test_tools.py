"""Test the tools for agents with the application of the other tests, and their documentation."""

import argparse
import asyncio
import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest
from api import AppApi
from sources import SCALE, SUMS

from explorer.agents.protocol import TOOLS, _called, _described
from explorer.agents.tool import MOST_BYTES, Lines, page_of
from explorer.cli.main import make_parser

DOCUMENT = Path(__file__).parents[2] / "docs/agents.md"


@pytest.fixture
def call(client):
    """Call a tool, check its answer against its schema and its size, and return it, or the error."""

    def call(name, **arguments):
        result = asyncio.run(_called(AppApi(client), name, arguments))
        if result.is_error:
            return result.content[0].text
        jsonschema.validate(result.structured_content, _described(TOOLS[name]).output_schema)
        assert json.loads(result.content[0].text) == result.structured_content
        assert len(result.content[0].text) < 3 * MOST_BYTES
        return result.structured_content

    return call


def test_a_page_has_the_rows_that_fit_and_says_how_to_get_the_others():
    rows = ["x" * 1000] * 40
    first = page_of(rows)
    assert 0 < len(msgspec.json.encode(first)) <= MOST_BYTES + 1000
    assert len(first) + len(page_of(rows, len(first))) + len(page_of(rows, 2 * len(first))) == 40
    assert page_of(["y" * 2 * MOST_BYTES]) == ["y" * 2 * MOST_BYTES]
    page = Lines("\n".join(rows).encode()).page(1, "read_stage")
    assert (
        page.next
        == f"{40 - len(page.lines)} more: call read_stage again with first_line={len(page.lines) + 1}."
    )
    assert Lines("\n".join(rows).encode()).page(40, "read_stage").next == ""
    assert Lines(b"z" * 100_000).page(1, "read_stage").lines[0].endswith("(98000 more characters)")
    assert Lines(b"a\n\nb\n").page(1, "read_stage").lines == ["a", "", "b"]
    assert Lines(b"").page(1, "read_stage").lines == []


def test_every_tool_is_documented():
    rows = re.findall(r"^\| `(\w+)` \| .{10,} \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == list(TOOLS)
    for tool in TOOLS.values():
        description = _described(tool)
        assert len(description.description or "") > 40
        for schema in (description.input_schema, description.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)


def test_the_documented_commands_exist():
    blocks = re.findall(r"```json\n(.+?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    servers = [json.loads(block)["mcpServers"]["triton-explorer"] for block in blocks]
    assert servers[0]["command"] == "triton-explorer"
    assert make_parser().parse_args(servers[0]["args"]) == argparse.Namespace(
        server=None, unsafe_no_sandbox=False, command=make_parser().parse_args(["mcp"]).command
    )
    assert servers[1]["url"].endswith("/mcp")


def test_a_kernel_is_compiled_and_explained(call, vector_add):
    compiled = call("compile", source=vector_add)
    assert (compiled["status"], compiled["kernel"]) == ("complete", "add_kernel")
    assert compiled["resources"]["registers"] > 0
    asked = {"compilation": compiled["compilation"]}
    assert compiled["page"] == f"{AppApi.url}/k/{compiled['compilation']}"
    assert call("read_compilation", **asked) == compiled

    passes = call("list_passes", **asked, stage="ttgir")
    coalesce = next(each for each in passes["passes"] if each["name"] == "tritongpu-coalesce")
    assert any(line.startswith("+") for line in call("diff_pass", **asked, index=coalesce["index"])["lines"])
    appears = call("search_passes", **asked, text="#ttg.blocked")["passes"][0]
    assert appears["index"] < coalesce["index"]
    names = {each["index"]: (each["name"], each["stage"]) for each in passes["passes"]}
    assert (appears["name"], appears["stage"]) == names[appears["index"]]

    stores = call("search_stage", **asked, stage="ttgir", text="tt.store")["lines"]
    assert len(stores) == 1
    last = call("read_stage", **asked, stage="ttgir", first_line=stores[0]["line"])
    assert last["lines"][0] == stores[0]["text"]
    assert last["total_lines"] == last["first_line"] + len(last["lines"]) - 1
    way = call("follow_operation", **asked, line=stores[0]["line"])
    assert {"ptx", "sass"} <= {each["stage"] for each in way["instructions"]}
    sass = call("read_stage", **asked, stage="sass")
    live = call("live_registers", **asked)
    assert live["registers"] == compiled["resources"]["registers"]
    assert call("findings", **asked)["unchecked"] == []
    assert any(live["instructions"][0]["text"] in line for line in sass["lines"])

    assert len(call("memory_accesses", **asked)["accesses"]) == 3
    assert call("layouts", **asked)["total"] > 0
    assert call("bank_conflicts", **asked)["total"] == 0
    assert call("explain_shared_memory", **asked)["shared_bytes"] == 0
    assert call("list_runs", **asked)["runs"][0]["is_profile"]
    assert "neighboring" in call("explain", word="tritongpu-coalesce")["explanations"]["passes"]


@pytest.mark.nightly
def test_a_program_with_torch_compile_is_compiled_to_its_kernels(call):
    program = (
        "import torch\n\n@torch.compile\ndef scaled(x):\n    return torch.relu(x) * 2\n\n"
        "scaled(torch.randn(4096, device='cuda'))\n"
    )
    found = call("compile", source=program)
    if found["status"] == "running":  # the sandbox of such programs takes longer to start than a tool waits
        call("read_compilation", compilation=found["compilation"])
        found = call("compile", source=program)
    assert (found["status"], found["kernel"]) == ("complete", "triton_poi_fused_mul_relu_0")
    assert [launch["kernel"] for launch in found["launches"]] == [found["kernel"]]


def test_proven_changes_are_taken_and_reported(call):
    compilation = call("compile", source=SUMS)["compilation"]
    late = call("improve_kernel", compilation=compilation, seconds=0)
    assert (late["tries"], late["compilation"], late["is_complete"]) == ([], compilation, False)
    assert "Call improve_kernel again" in late["next"]
    for _ in range(10):
        better = call("improve_kernel", compilation=compilation)
        if better["is_complete"]:
            break
    taken = [each for each in better["tries"] if each["is_taken"]]
    assert [(each["rule"], each["verdict"]) for each in taken] == [
        ("pipelining", "proven in the compiler, same results")
    ]
    assert "+    for start in tl.range(0, columns, BLOCK, num_stages=3):  # turn by turn" in better["diff"]
    assert better["page"].endswith(f"/compare/{compilation}..{better['compilation']}")
    assert (better["time_before_ns"], better["is_complete"]) == (None, True)
    assert better["next"].startswith("Call compare with both compilations")
    comparison = call("compare", before=compilation, after=better["compilation"])
    assert [each["rule"] for each in comparison["vanished"]] == ["pipelining"]
    assert comparison["appeared"] == comparison["worse"] == []
    again = call("improve_kernel", compilation=better["compilation"])
    assert (again["compilation"], again["page"]) == (better["compilation"], "")
    assert again["next"].startswith("No change is proven to help.")


@pytest.mark.parametrize(
    ("changes", "matches"),
    [
        ({"source": SCALE.replace("x * factor", "factor * x")}, True),
        # The grid does not follow, so that half of the numbers stay.
        ({"source": SCALE, "constants": {"BLOCK": 512}}, False),
    ],
    ids=["same", "other"],
)
def test_a_changed_kernel_is_compared_with_the_original(call, changes, matches):
    original = call("compile", source=SCALE)["compilation"]
    changed = call("compile", **changes)["compilation"]
    found = call("run", compilation=changed, original=original)
    while found["status"] == "running":
        found = call("read_run", run=found["run"])
    assert (found["status"], found["matches"], found["not_compared"]) == ("complete", matches, "")


def test_two_compilations_are_compared(call, vector_add):
    before = call("compile", source=vector_add)["compilation"]
    after = call("compile", source=vector_add, options={"num_warps": 8})["compilation"]
    comparison = call("compare", before=before, after=after)
    assert {each["name"] for each in comparison["differences"]} == {"num_warps"}
    assert comparison["page"].endswith(f"/compare/{before}..{after}")
    diff = call("compare_stage", before=before, after=after, stage="ttgir")
    assert any(line.startswith("+") and "warpsPerCTA = [8]" in line for line in diff["lines"])
    assert diff["total_lines"] == len(diff["lines"])
    rest = call("compare_stage", before=before, after=after, stage="ttgir", first_line=3)
    assert rest["lines"] == diff["lines"][2:]


def test_a_run_of_another_machine_is_listed_with_a_mark(call, client, ticket):
    check = {"reason": "", "reference": "", "outputs": []}
    body = {"compilation": ticket["id"], "run": {"device": "interpreter"}, "measurements": {"check": check}}
    run = client.post("/api/v1/runs/imported", json=body).get_json()["id"]
    runs = call("list_runs", compilation=ticket["id"])["runs"]
    assert [each["run"] for each in runs if each["is_imported"]] == [run]
    assert call("read_run", run=run)["status"] == "complete"


def test_a_roofline_is_that_of_the_api(call, client, ticket):
    (run, *_) = call("list_runs", compilation=ticket["id"])["runs"]
    roofline = call("roofline", run=run["run"], compilation=ticket["id"])
    document = client.get(f"/api/v1/runs/{run['run']}/roofline?compilation={ticket['id']}").get_json()
    assert (roofline["verdict"], roofline["floors"]) == (document["verdict"], document["floors"])


def test_errors_say_what_to_call(call, ticket):
    assert call("compile", source="x = 1", target="cuda:1").startswith("Unknown target")
    message = call("compile", sorce="x = 1")
    assert "unknown field `sorce`. Known are source, target, triton, kernel," in message
    missing = call("read_stage", compilation=ticket["id"], stage="nope")
    assert "It has ast, ttir" in missing
    assert "Call read_compilation" in missing
    assert "There is no tool 'nope'" in call("nope")
    failed = call(
        "compile", source="import triton\n\n@triton.jit\ndef kernel(x):\n    y\n", signature="*fp32"
    )
    assert failed["status"] == "failed"
    assert failed["diagnostics"][0]["line"] == 5
    assert "alternatives" in failed["next"]
