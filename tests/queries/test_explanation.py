"""Test the query `explanation` on pairs that are not in the gallery."""

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tritons import TRITONS

from explorer.model import Edits
from explorer.queries import explanation
from explorer.services import services_of
from explorer.store import PassEntry

KERNELS = Path(__file__).parents[1] / "kernels"
SUMS = (KERNELS / "row_and_column_sums.py").read_text(encoding="utf-8")
PRODUCT = (KERNELS / "tile_product.py").read_text(encoding="utf-8")


@pytest.fixture
def explain(query_service):
    def explain(before, after):
        return json.loads(query_service.answer(explanation.QUERY, (before, after), {}))["facts"]

    return explain


@pytest.fixture
def compile_edited(app):
    def compile_edited(record, **changes):
        return services_of(app).queue.complete(replace(record.request, **changes))

    return compile_edited


def after_pass(record, name):
    (index,) = [index for index, entry in record.result.passes.items() if entry.name == name]
    return record.text_after_pass(index)


def operations(module, kind):
    return len(re.findall(rf'(?m)^\s*(?:%[\w:]+(?:, %[\w:]+)* = )?"?{re.escape(kind)}(?![\w.])', module))


def count(record, stage, pattern):
    return len(re.findall(pattern, record.text(record.stage(stage).text)))


@pytest.mark.parametrize("triton", TRITONS)
def test_a_pass_that_was_left_out_is_the_one_that_parts(compile_source, compile_edited, explain, triton):
    """Without the pass that pipelines, no copy is under way, and both operands share fewer bytes."""
    whole = compile_source(PRODUCT, "cuda:80", triton)
    without = compile_edited(whole, edits=Edits(without_passes=("tritongpu-pipeline",)))
    facts = explain(without, whole)
    texts = [fact["text"] for fact in facts]
    assert texts[0].startswith("They were compiled with another `pass tritongpu-pipeline`")
    (parting,) = [fact for fact in facts if "parts them for good" in fact["text"]]
    assert "`tritongpu-pipeline` parts them for good" in parting["text"]
    assert (parting["basis"], parting["show"]) == ("observed", "passes")
    pattern = r"= ttg\.async_copy_global_to_local"
    assert count(without, "ttgir", pattern) == 0 < count(whole, "ttgir", pattern)
    # The numbers belong to the modules after the pass.
    (more,) = [text for text in texts if "the second has" in text]
    old_module, new_module = (after_pass(each, "tritongpu-pipeline") for each in (without, whole))
    found = re.findall(r"(\d+) more `([\w.]+)`", more)
    assert found
    for number, kind in found:
        assert int(number) == operations(new_module, kind) - operations(old_module, kind)
    (effects,) = [fact for fact in facts if "in the binary" in fact["text"]]
    assert effects["basis"] == "inferred"
    old, new = (each.result.resources for each in (without, whole))
    assert f"shared memory per block {old.shared_bytes:,} → {new.shared_bytes:,}, worse" in effects["text"]
    if old.registers != new.registers:
        assert f"registers per thread {old.registers} → {new.registers}" in effects["text"]


def test_a_module_that_is_not_known_leaves_the_explanation(compile_source, explain, vector_add):
    many, few = (compile_source(vector_add, num_warps=each) for each in (8, 4))
    last = max(many.result.passes)
    entries = tuple(
        msgspec.structs.replace(each, text=None, omitted="printing it takes too long")
        if isinstance(each, PassEntry) and each.index == last
        else each
        for each in many.entries
    )
    assert explain(replace(many, entries=entries, journal=None), few) == explain(many, few)


@pytest.mark.parametrize("triton", TRITONS)
def test_other_options_part_where_layouts_are_chosen(compile_source, explain, triton):
    many = compile_source(SUMS, triton=triton)
    few = compile_source(SUMS.replace("num_warps=8", "num_warps=1"), triton=triton)
    facts = explain(many, few)
    texts = " ".join(fact["text"] for fact in facts)
    assert facts[0]["text"] == "Their sources differ."
    assert "`num_warps` (8, then 1)" in texts
    assert re.search(r"`convert-triton-to-tritongpu` parts them for good\.", texts)
    old, new = (each.result.resources for each in (many, few))
    assert f"shared memory per block {old.shared_bytes:,} → {new.shared_bytes:,}, better" in texts


def test_other_compilers_also_differ_after_the_pass_that_parts(compile_source, explain):
    """LLVM and the assembler differ, too: nobody knows what follows from the pass."""
    old, new = (compile_source(SUMS, triton=each) for each in (TRITONS[0], TRITONS[-1]))
    ampere = compile_source(SUMS, "cuda:80")
    effects = [
        fact
        for pair in ((old, new), (new, ampere))
        for fact in explain(*pair)
        if "inar" in fact["text"] and "→" in fact["text"]
    ]
    assert effects
    for fact in effects:
        assert fact["text"].startswith("The binaries also differ")
        assert fact["basis"] == "observed"


def test_layouts_that_differ_are_written_in_full(compile_source, explain, vector_add):
    old, new = (compile_source(vector_add, num_warps=each) for each in (4, 8))
    (operations,) = [fact for fact in explain(old, new) if "differ in types or attributes" in fact["text"]]
    before, after = re.findall(r"`([^`]+)`", operations["text"])
    assert before != after
    assert "warpsPerCTA = [4]" in before
    assert before.replace("warpsPerCTA = [4]", "warpsPerCTA = [8]") == after
    indices = re.fullmatch(r"stage=pass-(\d+)\.\.pass-(\d+)", operations["show"]).groups()
    parting = [each.result.passes[int(index)].name for each, index in zip((old, new), indices, strict=True)]
    assert parting == ["convert-triton-to-tritongpu"] * 2


def test_two_versions_of_triton_and_a_result_with_itself(compile_source, explain):
    new, old = (compile_source(PRODUCT, "cuda:80", triton) for triton in TRITONS)
    facts = explain(old, new)
    assert f"`triton` ({TRITONS[1]}, then {TRITONS[0]})" in facts[0]["text"]
    assert any("for good" in fact["text"] or "The first stage that differs" in fact["text"] for fact in facts)
    assert [fact["text"] for fact in explain(new, new)] == ["All modules and texts have the same operations."]
