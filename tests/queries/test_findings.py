"""Test the findings: each rule finds its problem, and its advice, once followed, removes the finding."""

import json
import sys
from dataclasses import replace

import pytest
from finding_sources import (
    ADD,
    APART,
    FP32_PRODUCT,
    FP64_SUM,
    LARGE,
    PRODUCT,
    ROWS,
    TRANSPOSED,
    TUNED,
    changed,
)

from explorer.analysis.source_edits import edited
from explorer.errors import NotFound
from explorer.glossary import find_term
from explorer.model import LineEdit
from explorer.queries import finding_changes, findings, layouts
from explorer.queries.why_facts import percent
from explorer.tours import TOURS

#: A rule, a source with its finding, and changes that follow its advice.
CASES = [
    ("spills", changed(PRODUCT, LARGE), {"BM=256, BN=256": "BM=128, BN=128"}),
    ("serialized_products", changed(PRODUCT, LARGE), {"BM=256, BN=256": "BM=128, BN=128"}),
    (
        "matrix_units",
        FP32_PRODUCT,
        {'"ieee"': '"tf32"'},
    ),
    (
        "double_precision",
        FP64_SUM,
        {"tl.float64": "tl.float32"},
    ),
    (
        "sectors",
        changed(ADD, {"tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)": APART}),
        {APART: "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"},
    ),
    ("few_elements", changed(ADD, {"BLOCK=1024": "BLOCK=256"}), {"BLOCK=256": "BLOCK=512"}),
    ("narrow_accesses", changed(ADD, {"x, x, x, 1 << 20": "x, x, x, (1 << 20) - 3"}), {" - 3": " - 16"}),
    (
        "index_overflow",
        changed(
            ROWS,
            {"(4096, 4096)": "(1 << 17, 1 << 15)", "(4096,)": "(1 << 17,)", "x, x, 4096": "x, x, 1 << 15"},
        ),
        {"tl.program_id(0) * columns": "tl.program_id(0).to(tl.int64) * columns"},
    ),
    (
        "pipelining",
        changed(ROWS, {"rows[(4096,)]": "rows[(64,)]"}),
        {"columns, BLOCK):": "columns, BLOCK, num_stages=3):"},
    ),
    ("wide_divisions", TRANSPOSED, {".to(tl.int64) * BLOCK": " * BLOCK"}),
    ("autotune_keys", TUNED, {'key=["M"]': 'key=["M", "N", "K"]'}),
    ("register_cliff", changed(ADD, {"BLOCK=1024": "BLOCK=65536"}), {"BLOCK=65536": "BLOCK=1024"}),
    (
        "assertions",
        changed(ADD, {"    mask": '    tl.device_assert(n > 0, "no elements")\n    mask'}),
        {"BLOCK=1024)": "BLOCK=1024, debug=True)"},
    ),
    ("large_tensors", changed(ADD, {"BLOCK=1024": "BLOCK=65536"}), {"BLOCK=65536": "BLOCK=1024"}),
    ("grid", changed(ADD, {"(1024,)": "(16,)", "x, 1 << 20,": "x, 1 << 14,"}), {"(16,)": "(1024,)"}),
    (
        "guessed_arguments",
        changed(
            ADD, {'x = torch.empty(1 << 20, device="cuda")\nadd[(1024,)](x, x, x, 1 << 20, BLOCK=1024)\n': ""}
        ),
        {"    tl.store(out + offsets, total, mask=mask)\n": ADD[ADD.index("    tl.store") :]},
    ),
]


#: A rule whose findings propose changes of the source, and a source with one.
EDITED = [
    (rule, source)
    for rule, source, _ in CASES
    if rule
    in ("double_precision", "index_overflow", "pipelining", "sectors", "wide_divisions", "autotune_keys")
]


@pytest.mark.parametrize(("rule", "source", "advice"), CASES, ids=[rule for rule, *_ in CASES])
def test_a_rule_finds_its_problem_and_its_advice_removes_it(find, rule, source, advice):
    before = [each for each in find(source)["findings"] if each["rule"] == rule]
    assert before, rule
    after = [each for each in find(changed(source, advice))["findings"] if each["rule"] == rule]
    assert after == []


@pytest.mark.parametrize("error", [NotFound("It is not known."), RecursionError("maximum recursion depth")])
def test_a_rule_that_fails_is_not_checked_and_the_others_are(compiled, answered, monkeypatch, error):
    def fail(_case):
        raise error

    record = compiled(changed(PRODUCT, LARGE))
    before = answered(record)
    monkeypatch.setattr(findings.spills, "find", fail)
    after = answered(record)
    reasons = {each.rule: each.reason for each in after.checked if each.reason}
    assert reasons == {
        "spills": "It is not known." if isinstance(error, NotFound) else "The source is nested too deeply."
    }
    assert after.findings == [each for each in before.findings if each.rule != "spills"]


def test_shares_of_a_finding_have_one_format_and_halves_are_rounded_up(find):
    large = {"BM=64, BN=64": "BM=128, BN=128", "num_warps=4": "num_stages=4"}
    (low,) = (each for each in find(changed(PRODUCT, large))["findings"] if each["rule"] == "occupancy_limit")
    (shown,) = (each["value"] for each in low["evidence"] if each["name"] == "occupancy")
    assert low["text"].startswith(f"The occupancy is {percent(shown)}: ")
    assert (percent(0.125), percent(0.0625), percent(1)) == ("13 %", "6 %", "100 %")


def test_the_cost_of_sectors_is_a_bound_where_the_text_has_one_and_evidence_is_about_the_kernel(find):
    source = next(source for rule, source, _ in CASES if rule == "sectors")
    for each in (each for each in find(source)["findings"] if each["rule"] == "sectors"):
        assert ("at least" in each["text"]) == ("at most" in each["cost"]["of"])
        assert "size of a sector" not in {value["name"] for value in each["evidence"]}


def test_a_copy_that_transposes_is_told_to_move_tiles_of_two_dimensions(find):
    def advice(source):
        return [each["advice"] for each in find(source)["findings"] if each["rule"] == "sectors"]

    flat = changed(
        ADD,
        {
            "    total = ": "    rows = offsets // 1024 + offsets % 1024 * 1024\n    total = ",
            "tl.store(out + offsets": "tl.store(out + rows",
        },
    )
    (transposed,) = advice(flat)
    assert "two dimensions of at least 32" in transposed
    assert "`tl.trans`" in transposed
    loop = PRODUCT[PRODUCT.index("    acc =") : PRODUCT.index("\n\na = torch")]
    tile = "    x = tl.load(a + rm[:, None] * K + rn)\n    tl.store(c + rn[:, None] * N + rm, tl.trans(x))"
    tiled = changed(PRODUCT, {loop: tile})
    assert advice(tiled) == []


def test_conflicts_are_the_wavefronts_of_the_lanes(find, query_service, compiled):
    operands = 'x.to(tl.float32), y.to(tl.float32), acc, input_precision="ieee"'
    source = changed(PRODUCT, {"tl.dot(x, y, acc": f"tl.dot({operands}"})
    document = json.loads(query_service.answer(layouts.QUERY, (compiled(source),), {}))
    wavefronts = {each["line"]: each["wavefronts"] for each in document["shared_accesses"]}
    found = [each for each in find(source)["findings"] if each["rule"] == "bank_conflicts"]
    assert found
    # Threads share the operands: the 2,048 elements of one are 16 for each of 128 threads.
    assert "large_tensors" not in {each["rule"] for each in find(source)["findings"]}
    for each in found:
        values = {value["name"]: value["value"] for value in each["evidence"]}
        taken, least = values["wavefronts of an access"], values["least wavefronts of an access"]
        assert taken == wavefronts[each["ttgir_line"]] > least > 1
        assert f"takes {taken} wavefronts in place of {least}," in each["text"]
        assert each["cost"]["share"] == 1 - least / taken


def test_a_warning_that_no_rule_is_about_is_a_message(find):
    files = {"helpers/__init__.py": 'raise ValueError("late")'}
    (found,) = find(f"import helpers\n{ADD}", files=files)["findings"]
    assert found["rule"] == "messages"
    assert "late" in found["text"]
    assert find(ADD)["findings"] == []


def test_a_kernel_without_a_problem_has_none_and_names_what_was_checked(find):
    document = find(ADD)
    assert document["findings"] == []
    assert [each["rule"] for each in document["checked"]] == [
        rule.__name__.rpartition(".")[2] for rule in findings.RULES
    ]
    assert {each["title"] for each in document["checked"]} == {rule.TITLE for rule in findings.RULES}


def test_warnings_come_first_and_the_most_costly_first(find):
    found = find(changed(PRODUCT, LARGE))["findings"]
    severities = [each["severity"] for each in found]
    assert severities == sorted(severities, key=["warning", "note"].index)
    costs = [each["cost"]["share"] for each in found if each["severity"] == "warning" and each["cost"]]
    assert costs == sorted(costs, reverse=True)
    assert found[0]["rule"] == "spills"
    assert found[0]["text"].startswith(
        "`acc` needs 512 registers of a thread, which has 255; spill instructions of a thread store "
    )


def test_a_small_grid_is_a_warning_if_its_programs_take_longer_than_a_launch(find):
    """Each program of ROWS moves 16 KiB in four turns."""
    small = changed(ROWS, {"rows[(4096,)]": "rows[(16,)]"})
    long = changed(small, {"rows[(16,)](x, x, 4096,": "rows[(16,)](x, x, 65536,"})
    many = changed(long, {"rows[(16,)]": "rows[(100,)]"})
    shared = changed(
        long,
        {
            "    offsets =": "    for row in tl.range(tl.program_id(0), 64, 16):\n     offsets =",
            "    total =": "     total =",
            "    for start": "     for start",
            "        total": "      total",
            "tl.program_id(0) * columns": "row * columns",
            "    tl.store(out + tl.program_id(0)": "     tl.store(out + row",
        },
    )
    found = []
    for source in (small, long, many, shared):
        (grid,) = (each for each in find(source)["findings"] if each["rule"] == "grid")
        found.append((grid["severity"], grid["advice"].partition(":")[0]))
    split = "Split the reduction, or give each program less work, if the programs stay efficient."
    taken = "The programs take turns in the loop of line 7"
    assert found == [("note", split), ("warning", split), ("note", split), ("warning", taken)]


def test_findings_about_few_of_the_bytes_of_a_program_come_last(find):
    """The scales are a hundredth of the bytes of a turn, but of their sectors, an eighth is used."""
    source = changed(
        PRODUCT,
        {
            "acc = tl.dot(x, y, acc)": "acc += tl.dot(x, y) * tl.load(c + rm * K)[:, None]",
            "num_warps=4": "num_warps=4, num_stages=1",
        },
    )
    warnings = [each["rule"] for each in find(source)["findings"] if each["severity"] == "warning"]
    assert {"sectors", "pipelining"} <= set(warnings)
    assert warnings.index("pipelining") < warnings.index("sectors")


def test_a_key_that_leaves_a_size_out_names_the_lines_that_the_size_bounds(find):
    (finding,) = (each for each in find(TUNED)["findings"] if each["rule"] == "autotune_keys")
    assert finding["text"] == (
        "Autotuning picks one of 2 configurations for each `M`, but not for each `K`, which bounds the work "
        "in line 15."
    )
    assert finding["changes"][0]["text"] == 'Line 7: `key=["M", "K"],`'


def test_an_assertion_that_is_left_out_is_said_once_and_the_option_keeps_it(find, compiled):
    lines = '    assert n > 0\n    tl.device_assert(n > 1, "no elements")\n'
    source = changed(ADD, {"    mask": f"{lines}    mask"})
    found = find(source)["findings"]
    assert [(each["rule"], each["source_line"]) for each in found] == [("assertions", 8), ("assertions", 9)]
    (change,) = found[0]["changes"]
    assert find(source, options=change["options"])["findings"] == []
    record = compiled(source, options=change["options"])
    assert "no elements" in record.text(record.stage("ttgir").text)


def test_findings_lead_to_tours_and_terms_that_exist(find):
    for each in find(changed(PRODUCT, LARGE))["findings"]:
        assert not each["tour"] or each["tour"] in TOURS
        assert all(map(find_term, each["terms"]))


@pytest.mark.parametrize(("rule", "source"), EDITED, ids=[rule for rule, _ in EDITED])
def test_changes_of_the_source_are_proposed_and_remove_the_finding(
    query_service, find, compiled, rule, source
):
    (finding, *_) = (each for each in find(source)["findings"] if each["rule"] == rule)
    assert finding["changes"]
    for change in finding["changes"]:
        edits = [LineEdit(each["line"], each["text"]) for each in change["edits"]]
        records = compiled(source), compiled(edited(source, edits))
        answer = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
        assert rule in {each["rule"] for each in answer["vanished"]}
        assert answer["appeared"] == []


@pytest.fixture
def recursion_limit():
    """Python's own limit: it decides how long a sum `ast.parse` reads, and packages such as Jedi raise it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("recursion_limit")
def test_a_long_expression_disables_no_rule(compiled, answered):
    """The source of a captured compilation can have sums that no job here compiles."""
    record = compiled(changed(ADD, {"x, 1 << 20": "x, (1 << 20) - 8"}))
    store = "    tl.store(out + offsets, total, mask=mask)\n"
    for terms, are_read in ((1_200, True), (5_000, False)):
        long = f"{store}    {' + '.join(['n'] * terms)} < n\n"
        source = changed(record.request.source, {store: long})
        document = answered(replace(record, request=replace(record.request, source=source)))
        assert [each for each in document.checked if each.reason] == []
        texts = [change.text for each in document.findings for change in each.changes if change.edits]
        assert any("multiple of 4" in each for each in texts) == are_read


def test_a_loop_that_waits_names_its_loads(find):
    source = changed(ROWS, {"rows[(4096,)]": "rows[(64,)]"})
    load = "tl.load(x + tl.program_id(0) * columns + start + offsets)"
    for changes, loads in (
        ({}, "its load"),
        ({load: f"{load} * {load}"[:-1] + " + 1)"}, "any of its 2 loads"),
    ):
        (loop,) = (
            each for each in find(changed(source, changes))["findings"] if each["rule"] == "pipelining"
        )
        assert loop["text"] == f"The loop waits for its own loads: it does not start {loads} a turn ahead."


def test_a_loop_waits_if_the_smaller_part_of_its_bytes_starts_ahead(query_service, compiled):
    source = changed(
        ROWS,
        {
            "rows[(4096,)](x, x, 4096,": "rows[(64,)](x.half(), x, 4095,",
            "        total": "        total += tl.sum(tl.load(out + start + tl.arange(0, 128)))\n"
            "        total",
        },
    )
    ahead = changed(source, {"columns, BLOCK)": "columns, BLOCK, num_stages=3)"})
    records = compiled(source), compiled(ahead)
    before, after = (json.loads(query_service.answer(findings.QUERY, (each,), {})) for each in records)
    (loop,) = (each for each in after["findings"] if each["rule"] == "pipelining")
    assert loop["text"] == (
        "The loop waits for 1 of its 2 loads: for 2,048 of the 2,560 bytes that a turn loads."
    )
    verdicts = json.loads(query_service.answer(finding_changes.QUERY, records, {}))["verdicts"]
    rules = [each["rule"] for each in before["findings"]]
    assert verdicts[rules.index("pipelining")]["text"] == (
        "the finding stays: the loop waits for 2,048 of 2,560 bytes"
    )
    mostly = changed(ahead, {"tl.arange(0, 128)": "tl.arange(0, 1024)"})
    found = json.loads(query_service.answer(findings.QUERY, (compiled(mostly),), {}))["findings"]
    assert "pipelining" not in {each["rule"] for each in found}


def test_a_loop_that_many_warps_hide_is_no_finding(find):
    assert "pipelining" not in {each["rule"] for each in find(ROWS)["findings"]}
