"""Test the findings: each rule finds its problem, and its advice, once followed, removes the finding."""

import json
import re
import sys
from dataclasses import replace

import msgspec
import pytest
from tritons import TRITONS

from explorer.analysis.source_edits import edited
from explorer.errors import NotFound
from explorer.glossary import find_term
from explorer.model import LineEdit, Request
from explorer.queries import finding_changes, findings
from explorer.queries.query import Subject
from explorer.queries.why_facts import percent
from explorer.tours import TOURS

PRODUCT = """import torch
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)

a = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
b = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
c = torch.empty((4096, 4096), device="cuda")
grid = lambda meta: (4096 // meta["BM"], 4096 // meta["BN"])
product[grid](a, b, c, 4096, 4096, 4096, BM=64, BN=64, BK=64, num_warps=4)
"""
LARGE = {"BM=64, BN=64": "BM=256, BN=256"}
SMALL_TYPE = {"dtype=torch.float16": "dtype=torch.float32"}
ADD = """import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)

x = torch.empty(1 << 20, device="cuda")
add[(1024,)](x, x, x, 1 << 20, BLOCK=1024)
"""
#: The offsets of ADD, if each program takes every n-th element.
APART = "tl.program_id(0) + tl.arange(0, BLOCK) * tl.num_programs(0)"
ROWS = """import torch
import triton
import triton.language as tl

@triton.jit
def rows(x, out, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, columns, BLOCK):
        total += tl.load(x + tl.program_id(0) * columns + start + offsets)
    tl.store(out + tl.program_id(0), tl.sum(total))

x = torch.empty((4096, 4096), device="cuda")
rows[(4096,)](x, x, 4096, BLOCK=1024)
"""
#: A transposition by one index, which is divided in 64 bits.
TRANSPOSED = """import torch
import triton
import triton.language as tl

@triton.jit
def transposed(x, out, rows, columns, turns, BLOCK: tl.constexpr):
    for turn in range(turns):
        at = (tl.program_id(0) * turns + turn).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        row = at // columns
        column = at % columns
        tl.store(out + column * rows + row, tl.load(x + at))

x = torch.empty((1024, 1000), device="cuda")
transposed[(250,)](x, x, 1024, 1000, 4, BLOCK=1024)
"""
#: An autotuned product, whose configurations are chosen by one of its three sizes.
TUNED = """import torch
import triton
import triton.language as tl

@triton.autotune(
    configs=[triton.Config({"BM": 64, "BN": 64, "BK": size}, num_warps=4) for size in (32, 64)],
    key=["M"],
)
""" + PRODUCT[PRODUCT.index("@triton.jit") :].replace(", BM=64, BN=64, BK=64, num_warps=4", "")


def changed(source, changes):
    for old, new in changes.items():
        assert old in source
        source = source.replace(old, new)
    return source


#: A rule, a source with its finding, and changes that follow its advice.
CASES = [
    ("spills", changed(PRODUCT, LARGE), {"BM=256, BN=256": "BM=128, BN=128"}),
    ("messages", changed(PRODUCT, LARGE), {"BM=256, BN=256": "BM=128, BN=128"}),
    (
        "matrix_units",
        changed(PRODUCT, {**SMALL_TYPE, "tl.dot(x, y, acc)": 'tl.dot(x, y, acc, input_precision="ieee")'}),
        {'"ieee"': '"tf32"'},
    ),
    (
        "double_precision",
        changed(ADD, {"total = ": "total = tl.full((BLOCK,), 1.0, tl.float64) * "}),
        {"tl.float64": "tl.float32"},
    ),
    (
        "sectors",
        changed(ADD, {"tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)": APART}),
        {APART: "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"},
    ),
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


@pytest.fixture
def compiled(services):
    """Compile a source, with other options and constants."""
    return lambda source, target="cuda:90", triton=None, **changes: services.queue.complete(
        Request(source, target, services.triton_version(triton), **changes)
    )


@pytest.fixture
def find(query_service, compiled):
    def find(source, *target, **changes):
        record = compiled(source, *target, **changes)
        assert record.status == "complete", record.result.error_messages
        return json.loads(query_service.answer(findings.QUERY, (record,), {}))

    return find


@pytest.fixture
def answered(services):
    """Find in this process."""

    def answered(record):
        def answer(query, parameters):
            return msgspec.json.encode(query.find(replace(subject, parameters=parameters)))

        subject = Subject((record,), {}, services.queue, answer)
        return findings.find(subject)

    return answered


@pytest.mark.parametrize(("rule", "source", "advice"), CASES, ids=[rule for rule, *_ in CASES])
def test_a_rule_finds_its_problem_and_its_advice_removes_it(find, rule, source, advice):
    before = [each for each in find(source)["findings"] if each["rule"] == rule]
    assert before, rule
    after = [each for each in find(changed(source, advice))["findings"] if each["rule"] == rule]
    assert after == []


@pytest.mark.parametrize(("target", "count"), [("cuda:90", 1), ("hip:gfx1100", 1), ("hip:gfx942", 0)])
def test_fp32_products_use_matrix_units_on_some_targets_and_tf32_is_advised_where_it_exists(
    find, target, count
):
    source = next(source for rule, source, _ in CASES if rule == "matrix_units")
    found = [each for each in find(source, target)["findings"] if each["rule"] == "matrix_units"]
    assert len(found) == count
    assert all(("tf32" in each["advice"]) == (target == "cuda:90") for each in found)


@pytest.mark.parametrize(("target", "severity"), [("cuda:90", "note"), ("cuda:86", "warning")])
def test_double_precision_is_a_note_where_it_has_half_of_the_rate(find, target, severity):
    source = next(source for rule, source, _ in CASES if rule == "double_precision")
    (finding,) = (each for each in find(source, target)["findings"] if each["rule"] == "double_precision")
    assert finding["severity"] == severity
    assert {"modelled"} < {each["basis"] for each in finding["evidence"]}


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


def test_a_low_occupancy_is_no_finding_if_the_gpu_holds_the_whole_grid_at_once(find):
    large = changed(PRODUCT, {"BM=64, BN=64": "BM=128, BN=128", "num_warps=4": "num_stages=4"})
    small = changed(large, {"grid = lambda meta: (4096": "grid = lambda meta: (256"})
    for source, expected in ((large, 1), (small, 0)):
        rules = [each["rule"] for each in find(source)["findings"]]
        assert rules.count("occupancy_limit") == expected


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


def test_spills_name_stores_and_loads_and_cost_the_registers_that_are_missing(find, compiled):
    source = changed(PRODUCT, LARGE)
    resources = compiled(source).result.resources
    (spills,) = (each for each in find(source)["findings"] if each["rule"] == "spills")
    assert spills["text"].endswith(
        f"; spill instructions of a thread store {resources.spill_stores_bytes:,} bytes "
        f"and load {resources.spill_loads_bytes:,}."
    )
    values = {each["name"]: each["value"] for each in spills["evidence"]}
    assert values["stack of a thread"] == resources.stack_bytes
    needed = values["registers of the tensors alive at once"]
    assert spills["cost"]["of"] == "registers that the tensors alive at once need are missing"
    assert spills["cost"]["share"] == pytest.approx((needed - 255) / needed)


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


def test_a_key_that_leaves_a_size_out_names_the_lines_that_the_size_bounds(find):
    (finding,) = (each for each in find(TUNED)["findings"] if each["rule"] == "autotune_keys")
    assert finding["text"] == (
        "Autotuning picks one of 2 configurations for each `M`, but not for each `K`, which bounds the work "
        "in line 15."
    )
    assert finding["changes"][0]["text"] == 'Line 7: `key=["M", "K"],`'


def test_a_fallback_to_few_registers_takes_the_place_of_its_warning_and_of_its_spills(find):
    source = changed(ADD, {"BLOCK=1024": "BLOCK=32768"})
    found = {each["rule"]: each for each in find(source)["findings"]}
    cliff = found["register_cliff"]
    assert not {"messages", "spills"} & set(found)
    assert re.fullmatch(
        r"ptxas has fallen back to \d+ of 255 possible registers of a thread; "
        r"spill instructions of a thread store [\d,]+ bytes and load [\d,]+.",
        cliff["text"],
    )
    assert cliff["cause"].startswith("The tensors alive at once need ")
    assert [each["text"] for each in cliff["changes"]] == [
        "warps 4 → 8",
        "warps 4 → 16",
        "BLOCK 32768 → 16384",
    ]
    more_warps = find(source, options=cliff["changes"][0]["options"])["findings"]
    assert "register_cliff" not in {each["rule"] for each in more_warps}


@pytest.mark.parametrize(
    ("block", "element", "held"), [(1024, "float32", 32), (1024, "float16", 16), (128, "float32", None)]
)
def test_a_thread_moves_the_bytes_of_its_elements(find, block, element, held):
    source = changed(
        ADD,
        {
            "x, x, x, 1 << 20, BLOCK=1024": f"x, x, x, (1 << 20) - 3, BLOCK={block}",
            '"cuda")': f'"cuda", dtype=torch.{element})',
        },
    )
    found = [each for each in find(source)["findings"] if each["rule"] == "narrow_accesses"]
    values = {each["value"] for one in found for each in one["evidence"] if "thread" in each["name"]}
    assert values == ({held} if held else set())


def test_many_more_warps_are_proposed_where_twice_the_warps_cannot_help(find):
    source = changed(ADD, {"BLOCK=1024": "BLOCK=65536"})
    (cliff,) = (each for each in find(source)["findings"] if each["rule"] == "register_cliff")
    needed = int(re.search(r"need ([\d,]+) registers", cliff["cause"])[1].replace(",", ""))
    warps = [each["options"]["num_warps"] for each in cliff["changes"] if "num_warps" in each["options"]]
    assert 4 * needed > 16 * 2 * 128, "a thread of 16 warps can have 128 registers"
    assert warps == [32]
    rules = {each["rule"] for each in find(source, options=cliff["changes"][0]["options"])["findings"]}
    assert "register_cliff" not in rules


def test_an_assertion_that_is_left_out_is_said_once_and_the_option_keeps_it(find, compiled):
    lines = '    assert n > 0\n    tl.device_assert(n > 1, "no elements")\n'
    source = changed(ADD, {"    mask": f"{lines}    mask"})
    found = find(source)["findings"]
    assert [(each["rule"], each["source_line"]) for each in found] == [("assertions", 8), ("assertions", 9)]
    (change,) = found[0]["changes"]
    assert find(source, options=change["options"])["findings"] == []
    record = compiled(source, options=change["options"])
    assert "no elements" in record.text(record.stage("ttgir").text)


SUM = """import torch
import triton
import triton.language as tl

@triton.jit
def summed(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(out + at % 16, tl.load(x + at))

x = torch.empty(1024, device="cuda", dtype=torch.float32)
out = torch.empty(16, device="cuda", dtype=torch.float32)
summed[(1,)](x, out, BLOCK=1024)
"""


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize(
    ("target", "name", "number"),
    [("cuda:80", "bfloat16", 8), ("hip:gfx1100", "float16", 4), ("hip:gfx1100", "float64", 8)],
)
def test_an_atomic_addition_that_is_a_loop_is_found_and_its_advice_removes_it(
    find, target, name, number, triton
):
    def loops(*compilation):
        return [each for each in find(*compilation)["findings"] if each["rule"] == "atomic_loops"]

    (loop,) = loops(changed(SUM, {"torch.float32": f"torch.{name}"}), target, triton)
    assert (loop["source_line"], loop["evidence"][0]["value"]) == (8, number)
    assert f"becomes {number} instructions of compare-and-swap, each in a loop (`" in loop["text"]
    assert "Add to values of fp32" in loop["advice"]
    assert loops(SUM, target, triton if "Triton 3.9" not in loop["advice"] else "3.9.0") == []


def test_the_scope_of_all_memory_makes_a_loop_and_a_narrower_scope_removes_it(find):
    source = changed(SUM, {"tl.load(x + at)": 'tl.load(x + at), scope="sys"'})
    (loop,) = (each for each in find(source, "hip:gfx942")["findings"] if each["rule"] == "atomic_loops")
    assert (
        "With the scope `sys`, LLVM uses it only if the memory is known not to be fine-grained"
        in loop["cause"]
    )
    assert 'Use `scope="gpu"`' in loop["advice"]
    narrower = find(changed(source, {"sys": "gpu"}), "hip:gfx942")["findings"]
    assert "atomic_loops" not in {each["rule"] for each in narrower}


def test_a_compare_and_swap_of_the_source_is_no_finding(find):
    addition = "tl.atomic_add(out + at % 16, tl.load(x + at))"
    source = changed(SUM, {addition: "tl.atomic_cas(out + at, at, at)", "float32": "int32"})
    assert "atomic_loops" not in {each["rule"] for each in find(source)["findings"]}


def test_findings_lead_to_tours_and_terms_that_exist(find):
    for each in find(changed(PRODUCT, LARGE))["findings"]:
        assert not each["tour"] or each["tour"] in TOURS
        assert all(map(find_term, each["terms"]))


def test_changes_of_the_launch_are_proposed_and_remove_the_finding(find):
    """At least one change that a finding proposes removes it."""
    source = changed(PRODUCT, LARGE)
    (spills,) = (each for each in find(source)["findings"] if each["rule"] == "spills")
    assert [each["options"] or each["constants"] for each in spills["changes"]] == [
        {"num_warps": 8},
        {"num_warps": 16},
        {"BM": 128},
        {"BN": 128},
        {"BM": 128, "BN": 128},
    ]
    change = spills["changes"][-1]
    after = find(source, options=change["options"], constants=change["constants"])
    assert "spills" not in {each["rule"] for each in after["findings"]}


def test_only_sizes_of_the_tensors_in_question_are_proposed(find):
    """The accumulator does not depend on BK, and the bias only on BN, whose buffers cannot be larger."""

    def constants(source, rule):
        found = [each for each in find(source)["findings"] if each["rule"] == rule]
        return found, {name for each in found for change in each["changes"] for name in change["constants"]}

    assert constants(changed(PRODUCT, LARGE), "large_tensors")[1] == {"BM", "BN"}
    bias = {
        "(a, b, c, M": "(a, b, c, bias, M",
        "    tl.store(c": "    acc += tl.load(bias + rn)[None, :]\n    tl.store(c",
        "grid](a, b, c,": "grid](a, b, c, torch.empty(4096, device='cuda', dtype=torch.float16),",
    }
    (narrow,), names = constants(
        changed(PRODUCT, bias | {"BM=64, BN=64": "BM=128, BN=64"}), "narrow_accesses"
    )
    assert names == {"BN"}
    assert narrow["severity"] == "note"
    assert 0 < narrow["cost"]["share"] < 0.05
    full = {"BM=64, BN=64, BK=64": "BM=128, BN=64, BK=128", "num_warps=4": "num_warps=4, num_stages=4"}
    (_,), names = constants(changed(PRODUCT, bias | full), "narrow_accesses")
    assert names == set()


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


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize(
    ("target", "precisions"), [("cuda:90", ["bf16x6", "bf16x3"]), ("cuda:80", ["tf32x3", "tf32"])]
)
def test_products_of_less_precision_use_matrix_units_and_are_said_to_be_inexact(
    query_service, find, compiled, target, precisions, triton
):
    source = next(source for rule, source, _ in CASES if rule == "matrix_units")
    found = find(source, target, triton)["findings"]
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
        records = compiled(source, target, triton), compiled(edited(source, edits), target, triton)
        answer = json.loads(query_service.answer(finding_changes.QUERY, records, {}))
        assert answer["verdicts"][index]["is_proven"]


def test_no_other_precision_is_proposed_where_no_matrix_unit_has_it(find):
    source = next(source for rule, source, _ in CASES if rule == "matrix_units")
    for target in ("cuda:75", "hip:gfx1100"):
        found = [each for each in find(source, target)["findings"] if each["rule"] == "matrix_units"]
        assert [each["changes"] for each in found] == [[]]


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

    before, after = (f"{count / 1024:.1f}" for count in bytes_of)
    assert f"the finding stays: spill stores and loads {before} → {after} KiB" in answer(large, smaller)[1]
    back, texts = answer(smaller, large)
    assert "spills" in back["worse"]
    assert not any("→" in each for each in texts)


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


def test_a_loop_that_many_warps_hide_is_no_finding(find):
    assert "pipelining" not in {each["rule"] for each in find(ROWS)["findings"]}


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
