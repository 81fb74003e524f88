"""Test the findings of products, double precision and divisions."""

import json
import re

import pytest
from finding_sources import FP32_PRODUCT, FP64_SUM, TRANSPOSED, changed
from tritons import TRITONS

from explorer.analysis.source_edits import edited
from explorer.model import LineEdit
from explorer.queries import finding_changes


@pytest.mark.parametrize(("target", "count"), [("cuda:90", 1), ("hip:gfx1100", 1), ("hip:gfx942", 0)])
def test_fp32_products_use_matrix_units_on_some_targets_and_tf32_is_advised_where_it_exists(
    find, target, count
):
    found = [each for each in find(FP32_PRODUCT, target)["findings"] if each["rule"] == "matrix_units"]
    assert len(found) == count
    assert all(("tf32" in each["advice"]) == (target == "cuda:90") for each in found)


@pytest.mark.parametrize(("target", "severity"), [("cuda:90", "note"), ("cuda:86", "warning")])
def test_double_precision_is_a_note_where_it_has_half_of_the_rate(find, target, severity):
    (finding,) = (each for each in find(FP64_SUM, target)["findings"] if each["rule"] == "double_precision")
    assert finding["severity"] == severity
    assert {"modelled"} < {each["basis"] for each in finding["evidence"]}


def test_a_division_of_64_bits_has_its_instructions_its_cause_and_its_rank(find):
    def divisions(changes):
        found = find(changed(TRANSPOSED, changes))["findings"]
        found = [each for each in found if each["rule"] == "wide_divisions"]
        return sorted(found, key=lambda each: each["source_line"])

    quotient, remainder = divisions({})
    assert re.fullmatch(
        r"Each turn of the loop divides in 64 bits \(`arith.divsi`\): \d+ of \d+ instructions come from the "
        "line.",
        quotient["text"],
    )
    assert quotient["cause"] == remainder["cause"] == "Line 8 converts an operand to 64 bits."
    assert [(each["name"], each["value"]) for each in quotient["evidence"][1:]] == [
        ("largest dividend at these sizes", 1024 * 1000 - 1),
        ("largest divisor at these sizes", 1000),
    ]
    assert divisions({"for turn in range(turns):": "for turn in tl.static_range(1):"}) == []
    argument = {".to(tl.int64) * BLOCK": " * BLOCK", "columns, turns": "columns: tl.int64, turns"}
    assert {each["cause"] for each in divisions(argument)} == {"`columns` is an argument of 64 bits."}
    assert divisions({"// columns": "// 1000", "% columns": "% 1000"}) == []
    assert divisions({"column * rows + row": "row * columns + column"}) == []
    large = {
        "(1024, 1000)": "(1 << 22, 1000)",
        "[(250,)]": "[(250 << 12,)]",
        "1024, 1000, 4": "1 << 22, 1000, 4",
    }
    assert divisions(large) == []


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize(
    ("target", "precisions"), [("cuda:90", ["bf16x6", "bf16x3"]), ("cuda:80", ["tf32x3", "tf32"])]
)
def test_products_of_less_precision_use_matrix_units_and_are_said_to_be_inexact(
    query_service, find, compiled, target, precisions, triton
):
    found = find(FP32_PRODUCT, target, triton)["findings"]
    index = [each["rule"] for each in found].index("matrix_units")
    changes = {
        precision: each
        for each in found[index]["changes"]
        for precision in re.findall(r"`(.*)`, so that a product has about \d+ bits", each["text"])
    }
    assert list(changes) == ["bf16x6", "tf32x3", "bf16x3", "tf32"]
    assert not any(each["is_exact"] for each in changes.values())
    for precision in precisions:
        edits = [LineEdit(**each) for each in changes[precision]["edits"]]
        records = (
            compiled(FP32_PRODUCT, target, triton),
            compiled(edited(FP32_PRODUCT, edits), target, triton),
        )
        answer = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
        assert answer["verdicts"][index]["is_proven"]


def test_no_other_precision_is_proposed_where_no_matrix_unit_has_it(find):
    for target in ("cuda:75", "hip:gfx1100"):
        found = [each for each in find(FP32_PRODUCT, target)["findings"] if each["rule"] == "matrix_units"]
        assert [each["changes"] for each in found] == [[]]
