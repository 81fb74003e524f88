"""Test the comparison of the findings of two compilations."""

import json

import pytest
from finding_sources import LARGE, PRODUCT, ROWS, changed

from explorer.analysis.source_edits import edited
from explorer.model import LineEdit
from explorer.queries import finding_changes, findings
from explorer.queries.finding_changes import left_over, losses_of
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.findings.spills import SPILL_VALUES
from explorer.queries.why_facts import percent


def warning(rule, share=None, severity="warning"):
    return Finding(rule, severity, "", cost=Cost(share, "instructions", "observed") if share else None)


SPILLS = warning("spills", 0.4)
DIVISIONS = warning("wide_divisions", 0.35), warning("wide_divisions", 0.69)


@pytest.mark.parametrize(
    ("vanished", "appeared", "worse", "losses"),
    [
        ([], [warning("sectors", 0.5)], [], ["`sectors` appears, 50 % of the instructions"]),
        ([SPILLS], [warning("sectors", 0.5)], [], ["`sectors` appears, 50 % of the instructions"]),
        ([SPILLS], [warning("sectors", 0.3)], [], []),
        ([SPILLS], [warning("sectors")], [], ["`sectors` appears"]),
        ([SPILLS], [warning("sectors", 0.5, "note")], [], []),
        ([SPILLS], [warning("loop_overhead", 0.6)], [], []),
        ([warning("pipelining")], [], [DIVISIONS], ["`wide_divisions` costs more: 35 % → 69 %"]),
        ([warning("sectors", 0.3)], [], [DIVISIONS], ["`wide_divisions` costs more: 35 % → 69 %"]),
        ([warning("sectors", 0.5)], [], [DIVISIONS], []),
        ([warning("register_cliff", 0.2)], [], [DIVISIONS], []),
        ([warning("register_cliff", 0.2)], [SPILLS], [], []),
        # The spills hide this finding: it has not vanished.
        ([warning("loop_overhead", 0.6)], [SPILLS], [], ["`spills` appears, 40 % of the instructions"]),
        # A note gains nothing.
        ([warning("grid", 0.9, "note")], [], [DIVISIONS], ["`wide_divisions` costs more: 35 % → 69 %"]),
    ],
)
def test_a_warning_counts_unless_it_costs_less_than_the_removed_one_or_was_hidden_by_it(
    vanished, appeared, worse, losses
):
    assert list(losses_of(vanished, appeared, worse)) == losses


def test_a_hidden_warning_that_appears_is_said():
    moved = [Value(name, 460, "B", "observed") for name in SPILL_VALUES]
    spills = Finding("spills", "warning", "", evidence=tuple(moved))
    cliff, divisions = warning("register_cliff", 0.5), warning("wide_divisions", 0.35)
    assert list(left_over([cliff], [spills])) == ["spills of a thread still move 920 bytes"]
    assert list(left_over([SPILLS], [divisions])) == ["`wide_divisions` is left, 35 % of the instructions"]
    assert list(left_over([cliff], [warning("sectors", 0.3), warning("grid", 0.9, "note")])) == []


def test_an_occupancy_is_removed_only_if_it_is_higher(query_service, compiled, find):
    source = changed(PRODUCT, {"BM=64, BN=64": "BM=128, BN=128", "num_warps=4": "num_warps=4, num_stages=2"})
    # As many blocks fit into shared memory as into the registers.
    more_stages = {"options": {"num_stages": 3}}
    # The GPU holds the whole grid at once.
    small = changed(source, {"grid = lambda meta: (4096": "grid = lambda meta: (256"})
    records = compiled(source), compiled(source, **more_stages), compiled(small)
    texts = []
    for after in records[1:]:
        answer = json.loads(query_service.answer(finding_changes.QUERY, (records[0], after), {}))
        rules = [each["rule"] for each in find(source)["findings"]]
        verdict = answer["verdicts"][rules.index("occupancy_limit")]
        assert (verdict["is_removed"], verdict["is_proven"]) == (False, False)
        assert "occupancy_limit" not in {each["rule"] for each in answer["vanished"]}
        texts.append(verdict["text"])
    assert texts == ["the finding stays", "the occupancy is not higher: 13 %"]
    found = find(source, **more_stages)["findings"]
    (cause,) = (each["cause"] for each in found if each["rule"] == "occupancy_limit")
    assert cause.startswith("Registers and shared memory limit it: ")


def test_a_finding_about_a_loop_stays_if_most_instructions_come_from_another_line(query_service, compiled):
    columns, wide = "(k + rk)[None, :]", "(k + rk)[:, None].to(tl.int64)"
    source = changed(
        PRODUCT,
        {
            "BM=64, BN=64": "BM=128, BN=128",
            f"{columns})": f"{columns}, mask={columns} < K, other=0.0)",
            "(k + rk)[:, None] * N + rn[None, :])": f"{wide} * N + rn[None, :], mask={wide} < K, other=0.0)",
        },
    )
    lines = source.split("\n")
    edits = [
        LineEdit(12, lines[11].replace(f"{columns},", f"{columns}.to(tl.int64) * (K // 4096),")),
        LineEdit(13, lines[12].replace(".to(tl.int64)", "")),
    ]
    records = compiled(source), compiled(edited(source, edits))
    answer = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
    loops = [
        each
        for record in records
        for each in json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
        if each["rule"] == "loop_overhead"
    ]
    assert [each["source_line"] for each in loops] == [13, 12]
    assert [each["rule"] for each in answer["vanished"] if each["severity"] == "warning"] == []


def test_a_finding_of_a_changed_line_stays(query_service, compiled):
    source = changed(ROWS, {"rows[(4096,)]": "rows[(64,)]", "for start": "# A comment\n    for start"})
    edits = [LineEdit(10, "    for start in tl.range(0, columns, BLOCK + 0):")]
    records = compiled(source), compiled(edited(source, edits))
    answer = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
    assert (answer["vanished"], answer["appeared"], answer["is_worse"]) == ([], [], False)
    assert {each["text"] for each in answer["verdicts"]} == {"the finding stays"}


def test_a_finding_that_stays_says_how_much_lower_its_figure_is_and_marks_no_higher_one(
    query_service, compiled
):
    source = changed(PRODUCT, LARGE)
    large, smaller = compiled(source), compiled(source, constants={"BM": 128, "BN": 256})
    bytes_of = [
        each.result.resources.spill_stores_bytes + each.result.resources.spill_loads_bytes
        for each in (large, smaller)
    ]
    assert 256 <= bytes_of[1] < 0.75 * bytes_of[0]

    def answer(*records):
        found = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
        return found, {each["text"] for each in found["verdicts"] if not each["is_removed"]}

    fewer = percent(1 - bytes_of[1] / bytes_of[0])
    assert f"the finding stays: spills move {fewer} fewer bytes" in answer(large, smaller)[1]
    back, texts = answer(smaller, large)
    assert "spills" in back["worse"]
    assert not any("fewer" in each for each in texts)


def test_a_size_of_a_block_that_the_grid_does_not_follow_is_named(query_service, compiled):
    fixed = changed(PRODUCT, {"product[grid]": "product[(16, 16)]", **LARGE})
    records = compiled(fixed), compiled(fixed, constants={"BM": 128, "BK": 32})
    answer = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
    assert (answer["fixed"], answer["is_worse"]) == (["BM"], True)
    removed = [each for each in answer["verdicts"] if each["is_removed"]]
    assert len(removed) == len(answer["vanished"]) > 0
    assert {each["text"] for each in removed} == {"the grid of the script does not follow BM"}
    assert not any(each["is_proven"] for each in answer["verdicts"])


def test_findings_that_vanish_and_appear(query_service, compiled, find):
    before = compiled(changed(PRODUCT, LARGE))
    after = compiled(changed(PRODUCT, LARGE), constants={"BM": 128, "BN": 128})
    answer = json.loads(query_service.answer(finding_changes.QUERY, (before, after), {}))
    assert {"spills", "large_tensors"} <= {each["rule"] for each in answer["vanished"]}
    assert "spills" not in {each["rule"] for each in answer["appeared"]}
    rules = [each["rule"] for each in find(changed(PRODUCT, LARGE))["findings"]]
    verdicts = dict(zip(rules, answer["verdicts"], strict=True))
    assert verdicts["spills"] == {"is_removed": True, "is_proven": True, "text": "proven in the compiler"}
    back = json.loads(query_service.answer(finding_changes.QUERY, (after, before), {}))
    assert (back["vanished"], back["appeared"]) == (answer["appeared"], answer["vanished"])
    assert (answer["is_worse"], back["is_worse"]) == (False, True)
    assert "proven in the compiler" not in {each["text"] for each in back["verdicts"]}
    same = json.loads(query_service.answer(finding_changes.QUERY, (after, after), {}))
    assert {each["text"] for each in same.pop("verdicts")} == {"the finding stays"}
    assert same == {**{name: [] for name in ("vanished", "appeared", "worse", "fixed")}, "is_worse": False}
