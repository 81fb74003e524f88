"""Test the query `why` on kernels that are not in the gallery, against their texts and other compilations."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tritons import TRITONS

from explorer.examples import find_example
from explorer.model import Edits
from explorer.model.answers import is_counted
from explorer.queries import lineage, registers, why
from explorer.queries.stage_lines import source_lines
from explorer.services import services_of
from explorer.tours import find_tour

KERNELS = Path(__file__).parents[1] / "kernels"
SUMS = (KERNELS / "row_and_column_sums.py").read_text(encoding="utf-8")
PRODUCT = (KERNELS / "tile_product.py").read_text(encoding="utf-8")
ROTATION = (KERNELS / "rotation.py").read_text(encoding="utf-8")
BARRIER = r"\bbar\.sync\b"


@pytest.fixture(params=TRITONS)
def triton(request):
    return request.param


@pytest.fixture
def sums(compile_source, triton):
    return compile_source(SUMS, triton=triton)


@pytest.fixture
def product(compile_source, triton):
    return compile_source(PRODUCT, "cuda:80", triton)


@pytest.fixture
def ask(query_service):
    """Ask why a line of a stage is there."""

    def ask(record, stage, line):
        given = {"stage": stage, "line": str(line)}
        return json.loads(query_service.answer(why.QUERY, (record,), given))

    return ask


@pytest.fixture
def compile_without(app):
    """Compile the source of a record without a pass."""

    def compile_without(record, name):
        edits = Edits(without_passes=(name,))
        return services_of(app).queue.complete(replace(record.request, edits=edits))

    return compile_without


def text_of(record, stage):
    return record.text(record.stage(stage).text)


def lines_with(record, stage, pattern):
    return [n for n, line in enumerate(text_of(record, stage).split("\n"), 1) if re.search(pattern, line)]


def said(document, *words):
    facts = [*document["facts"], *document["way"]]
    return [fact for fact in facts if all(word in fact["text"] for word in words)]


def test_a_conversion_names_who_makes_and_who_wants_the_tensor(product, ask):
    lines = text_of(product, "ttgir").split("\n")
    (number,) = lines_with(product, "ttgir", r"ttg\.convert_layout")
    result, operand, old, new = re.search(
        r"(%\w+) = ttg\.convert_layout (%\w+) : tensor<[^#]*(#\w+)> -> tensor<[^#]*(#\w+)>", lines[number - 1]
    ).groups()
    (maker,) = lines_with(product, "ttgir", rf"^\s*{operand} = ")
    users = [n for n in lines_with(product, "ttgir", rf"{result}\b") if n != number]
    document = ask(product, "ttgir", number)
    assert document["kind"] == "conversion"
    made, wanted = document["facts"][:2]
    assert made["basis"] == wanted["basis"] == "observed"
    assert f"in line {maker} of the module makes the tensor in `{old}`" in made["text"]
    assert [link["line"] for link in wanted["links"]] == users
    assert f"in line {users[0]} of the module takes it in `{new}`" in wanted["text"]
    assert "conversion" in {term["name"] for term in document["terms"]}


#: Threads scale an operand that the tensor cores read from shared memory.
SCALED = """
import torch
import triton
import triton.language as tl


@triton.jit
def scaled(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    m = tl.arange(0, SIZE)
    at = m[:, None] * SIZE + m[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at) * 2
    tl.store(c_ptr + at, tl.dot(a, b))


a, b = (torch.randn(64, 64, device="cuda", dtype=torch.float16) for _ in range(2))
scaled[(1,)](a, b, torch.empty(64, 64, device="cuda"), SIZE=64)
"""


def test_a_fence_names_the_write_and_the_read_that_it_orders(compile_source, triton, ask):
    record = compile_source(SCALED, triton=triton)
    (number,) = lines_with(record, "ttgir", r"ttng\.fence_async_shared")
    orders = said(ask(record, "ttgir", number), "It orders the write", "generic proxy", "async proxy")
    assert orders
    for fact in orders:
        write, read = fact["links"]
        lines = text_of(record, "ttgir").split("\n")
        assert {write["stage"], read["stage"]} == {"ttgir"}
        (buffer,) = re.findall(r"^\s*(%[\w-]+) = ttg\.local_alloc %", lines[write["line"] - 1])
        assert re.search(rf"ttng\.warp_group_dot .*{buffer}\b", lines[read["line"] - 1])
        assert write["line"] < read["line"]


def test_without_the_pass_that_made_an_operation_it_is_not_there(product, ask, compile_without):
    pattern = r"ttg\.async_copy_global_to_local"
    makers = set()
    for number in lines_with(product, "ttgir", pattern):
        (made,) = said(
            ask(product, "ttgir", number), "made `ttg.async_copy_global_to_local`", "from `tt.load`"
        )
        assert made["basis"] == "observed"
        (link,) = made["links"]
        after, before = (product.text_after_pass(link["pass_index"] - earlier) for earlier in (0, 1))
        assert re.search(pattern, after.split("\n")[link["line"] - 1])
        assert re.search(pattern, before) is None
        makers.add(link["label"])
    (maker,) = makers
    without = compile_without(product, maker)
    assert without.status == "complete"
    assert lines_with(without, "ttgir", pattern) == []
    assert lines_with(without, "ttgir", r"tt\.load") != [] == lines_with(product, "ttgir", r"tt\.load")


def test_every_barrier_of_ptx_is_explained(sums, ask, compile_without):
    """A compilation without the pass lacks the barriers that the pass inserts."""
    documents = [ask(sums, "ptx", number) for number in lines_with(sums, "ptx", BARRIER)]
    assert {document["kind"] for document in documents} == {"barrier"}
    placed = [each for each in documents if said(each, "could", "after")]
    inside = [each for each in documents if said(each, "scratch buffer", "this barrier")]
    assert len(placed) + len(inside) == len(documents)
    assert not [each for each in placed if each in inside]
    for document in placed:
        hazards = said(document, "Without it")
        assert {fact["basis"] for fact in hazards} == {"modelled"}
        assert all("write after read" in fact["text"] for fact in hazards)
    inserts = [e.name for e in sums.result.passes.values() if e.name.endswith("gpu-membar")]
    if inserts:
        assert all(said(document, f"`{inserts[0]}` has put it in") for document in placed)
        without = compile_without(sums, inserts[0])
        assert len(lines_with(without, "ptx", BARRIER)) == len(inside)
    else:
        assert all(said(document, "The lowering to LLVM puts it in") for document in placed)


def test_barriers_of_llvm_ir_and_sass_have_the_same_reasons(sums, ask):
    def reasons(stage, pattern):
        found = [ask(sums, stage, number)["facts"][0]["text"] for number in lines_with(sums, stage, pattern)]
        return sorted(found)

    in_ptx = reasons("ptx", BARRIER)
    assert reasons("llir", r"call void @llvm\.nvvm\.barrier") == in_ptx
    assert reasons("sass", r"BAR\.SYNC") == in_ptx


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        pytest.param(SUMS, "hip:gfx942", ["scratch buffer", "this barrier"], id="sums-gfx942"),
        pytest.param(SUMS, "hip:gfx1100", ["scratch buffer", "this barrier"], id="sums-gfx1100"),
        # LLVM unrolls its loop.
        pytest.param(PRODUCT, "hip:gfx942", ["copied", "2 barriers"], id="product-gfx942"),
    ],
)
def test_every_barrier_of_an_amd_gpu_is_explained(compile_source, triton, ask, source, target, words):
    record = compile_source(source, target, triton)
    found = {
        stage: [ask(record, stage, number) for number in lines_with(record, stage, pattern)]
        for stage, pattern in (("llir", r"call void @llvm\.amdgcn\.s\.barrier"), ("amdgcn", r"^\s+s_barrier"))
    }
    documents = found["amdgcn"]
    assert {each["kind"] for each in documents} == {"barrier"}
    assert any(said(each, *words) for each in documents)
    assert any(said(each, "Without it", "write after read") for each in documents)
    assert all(said(each, "Without it") or said(each, *words) for each in documents)
    # LLVM makes one of each barrier in its IR.
    reasons = {stage: [each["facts"][0]["text"] for each in found[stage]] for stage in found}
    assert reasons["llir"] == reasons["amdgcn"]


def test_a_barrier_of_a_pipeline_keeps_copies_and_loads_apart(product, ask):
    """Each barrier waits for copies, keeps a copy from overwriting a buffer in use, or belongs to a
    conversion."""
    first = [ask(product, "ptx", number)["facts"] for number in lines_with(product, "ptx", BARRIER)]
    texts = [" ".join(fact["text"] for fact in facts) for facts in first]
    reading = [text for text in texts if "`ttg.local_load`" in text and "read after write" in text]
    assert reading
    for text in reading:
        assert re.search(
            r"`ttg\.local_load` in line \d+ of TTGIR could read a slot in bytes "
            r"[\d,]+ to [\d,]+ \(`(left|right)`\)",
            text,
        )
        assert re.search(
            r"before `ttg\.async_copy_global_to_local` in line \d+ of TTGIR has written it", text
        )
    assert [text for text in texts if "needs no barrier" in text] == []


@pytest.fixture
def pipelined(compile_source, triton):
    """A product of warp groups in a loop, with three slots for each operand."""
    return compile_source(find_example("matmul").source, "cuda:90", triton)


def test_a_barrier_before_a_copy_protects_the_product_of_the_iteration_before(pipelined, ask):
    """The copy fills the slot that follows the newest two, which the product before this one reads."""
    ttgir = text_of(pipelined, "ttgir").split("\n")
    (product,) = lines_with(pipelined, "ttgir", r"ttng\.warp_group_dot ")
    copies = lines_with(pipelined, "ttgir", r"ttg\.async_copy_global_to_local")[-2:]
    documents = [ask(pipelined, "ptx", number) for number in lines_with(pipelined, "ptx", BARRIER)]
    facts = [fact for each in documents for fact in said(each, "write after read", "warp_group_dot")]
    in_loop = [fact for fact in facts if "async_copy" in fact["text"]]
    assert [[link["line"] for link in fact["links"]] for fact in in_loop] == [[product, n] for n in copies]
    for fact in in_loop:
        assert "could overwrite a slot in bytes" in fact["text"]
        assert "has read it in the iteration before: write after read" in fact["text"]
        for link in fact["links"]:
            assert (
                f"{ttgir[link['line'] - 1].split(' = ')[1].split()[0]}` in line {link['line']} of TTGIR"
                in fact["text"]
            )
    assert not any(said(each, "needs no barrier") for each in documents)


def test_a_barrier_between_copies_to_different_slots_is_not_explained_by_a_race(pipelined, ask):
    """Triton 3.6 takes a buffer as a whole; the membar pass of 3.9 needs no barrier there."""
    ttgir = text_of(pipelined, "ttgir")
    documents = [ask(pipelined, "ptx", number) for number in lines_with(pipelined, "ptx", BARRIER)]
    between = [each for each in documents if said(each, "different slots")]
    assert len(between) == (pipelined.request.triton == "3.6.0")
    for document in between:
        assert not said(document, "Without it")
        for fact in said(document, "different slots"):
            values = [
                re.search(r"local %[\w#]+, (%\w+)", ttgir.split("\n")[link["line"] - 1])[1]
                for link in fact["links"]
            ]
            slots = [re.search(rf"{value} = ttg\.memdesc_index (%\w+\[%\w+\])", ttgir)[1] for value in values]
            assert [slot.split("[")[1] for slot in slots] == ["%c0_i32]", "%c1_i32]"]
    # A copy is complete after a wait; a barrier alone does not complete it.
    for document in documents:
        copies = [fact for fact in said(document, "Without it") if "has written" in fact["text"]]
        assert not copies or said(document, "has the location of `ttg.async_wait`")


def test_a_barrier_without_a_race_is_explained_by_the_pair_of_the_compiler(compile_source, triton, ask):
    """An mbarrier says when a TMA copy is complete: without the barrier, nothing reads its bytes early."""
    record = compile_source(find_example("matmul_descriptors").source, "cuda:90", triton)
    documents = [ask(record, "ptx", number) for number in lines_with(record, "ptx", BARRIER)]
    pairs = [fact for each in documents for fact in said(each, "the compiler, it orders this pair")]
    # Triton 3.6 places no such barrier.
    assert (triton != "3.6.0") == any(
        "`ttng.warp_group_dot`" in fact["text"] and "_tma_copy_global_to_local` in line" in fact["text"]
        for fact in pairs
    )
    assert all("No access that conflicts without the barrier was found." in fact["text"] for fact in pairs)
    races = [fact for each in documents for fact in said(each, "Without it")]
    assert not [fact for fact in races if re.search(r"before `\w+\.async_tma_copy_global", fact["text"])]


def test_a_barrier_says_one_maker(pipelined, ask):
    for number in lines_with(pipelined, "ptx", BARRIER):
        document = ask(pipelined, "ptx", number)
        assert said(document, "It has the location of", "What passes made and changed is that operation")
        assert not said(document, "This line of PTX comes from")


def test_the_number_of_a_wait_is_in_words(pipelined, ask):
    copies, all_copies = lines_with(pipelined, "ttgir", r"ttg\.async_wait")
    product, all_products = lines_with(pipelined, "ttgir", r"ttng\.warp_group_dot_wait")
    assert said(ask(pipelined, "ttgir", copies), "until at most the 2 newest groups of copies are under way")
    assert said(ask(pipelined, "ttgir", all_copies), "until all its groups of copies are complete")
    assert said(
        ask(pipelined, "ttgir", product), "at most the newest of its asynchronous products is under way"
    )
    assert said(ask(pipelined, "ttgir", all_products), "until all its asynchronous products are complete")


def test_a_buffer_names_its_users_its_last_use_and_its_neighbors(product, ask):
    allocates = lines_with(product, "ttgir", r"ttg\.local_alloc")
    assert len(allocates) == 2
    module = product.text_after_pass(product.result.allocations[0].pass_index).split("\n")
    ttgir = text_of(product, "ttgir").split("\n")
    for number in allocates:
        document = ask(product, "ttgir", number)
        assert document["kind"] == "buffer"
        (allocated,) = said(document, "`ttg.local_alloc`", "allocates it")
        assert allocated["links"][0] | {"label": ""} == {
            "label": "", "stage": "ttgir", "pass_index": None, "line": number
        }  # fmt: skip
        name = re.match(r"\s*(%\w+) = ", ttgir[number - 1])[1]
        (owner,) = [text for text in module if text.strip().startswith(f"{name} = ttg.local_alloc")]
        value, offset = re.search(r"(%\w+) = .*allocation\.offset = (\d+)", owner).groups()
        size = 2 * 64 * 64 * 2
        assert f"{size:,} bytes, from byte {int(offset):,} to {int(offset) + size - 1:,}" in allocated["text"]
        mentions = [n for n, text in enumerate(ttgir, 1) if re.search(rf"{value}\b", text)]
        (lives,) = said(document, "It lives from operation")
        assert lives["links"][0]["line"] == max(mentions)
        (read,) = [
            fact for fact in said(document, "`ttg.local_load`") if re.search(r"reads? it", fact["text"])
        ]
        assert read["basis"] == "modelled"
        for link in read["links"]:
            assert "ttg.local_load" in ttgir[link["line"] - 1]
    texts = [fact["text"] for number in allocates for fact in ask(product, "ttgir", number)["facts"]]
    assert sum(text.startswith("Alive at the same time") for text in texts) == 2
    assert sum("shares bytes with `scratch of ttg.convert_layout`" in text for text in texts) >= 1


def test_the_passes_that_chose_a_layout_are_named_with_what_they_changed(sums, ask):
    lines = sums.text(sums.stage("ttgir").text).split("\n")
    number = next(number for number, line in enumerate(lines, 1) if "tt.load" in line)
    way = " ".join(fact["text"] for fact in ask(sums, "ttgir", number)["way"])
    assert "gave `tt.load` the layout `blocked`" in way
    # The layout of the load in TTGIR is the last that the text names.
    sizes = re.findall(
        r"`tritongpu-coalesce` changed the layout of `tt\.load`: `sizePerThread` .*? → (\[.*?\])", way
    )
    (layout,) = re.findall(r", (#\w+)>", lines[number - 1])[-1:]
    (definition,) = (line for line in lines if line.startswith(f"{layout} = "))
    assert f"sizePerThread = {sizes[-1]}" in definition


def test_the_register_peak_names_the_live_tensors(sums, ask, query_service):
    document = json.loads(query_service.answer(registers.QUERY, (sums,), {}))
    most = max(each["general"] for each in document["instructions"])
    peaks = [each["line"] for each in document["instructions"] if each["general"] == most]
    answers = [ask(sums, "sass", line) for line in peaks]
    assert {answer["kind"] for answer in answers} == {"registers"}
    (live,) = said(answers[0], f"Here {most} general registers are live")
    assert live["basis"] == "observed"
    text = text_of(sums, "ttgir").split("\n")
    named = [fact for answer in answers for fact in said(answer, "tensors with", "of a thread are live")]
    assert named
    for fact in named:
        at = int(re.search(r"After line (\d+)", fact["text"])[1])
        assert fact["basis"] == "modelled"
        for link in fact["links"]:
            assert link["line"] <= at
            assert link["label"].split(",")[0] in text[link["line"] - 1]
    other = next(each["line"] for each in document["instructions"] if each["general"] < most // 2)
    assert said(ask(sums, "sass", other), "general registers are live") == []


def test_an_instruction_leads_to_its_operation_and_its_source_line(sums, ask):
    for stage, pattern in (("ptx", r"ld\.global"), ("sass", r"LDG\.")):
        for number in lines_with(sums, stage, pattern):
            document = ask(sums, stage, number)
            # The most registers may be live at a load.
            assert document["kind"] == "instruction" or said(document, "general registers are live")
            assert said(document, "comes from `tt.load` of TTGIR")[0]["basis"] == "inferred"
            assert said(document, "The source has it in line 12", "tile = tl.load(")
    places = [find_tour(each["tour"]).steps[each["step"] - 1].look_at for each in document["tours"]]
    assert places
    assert all(place.stage == "sass" and "LDG" in place.pattern for place in places)


ACCESS = re.compile(r"\b(tt\.|buffer_)(load|store)\b")
ARITHMETIC = re.compile(r"\s+v_(pk_)?(fma|mul|add|sub|exp)\w*_f(16|32)")


@pytest.mark.nightly
@pytest.mark.parametrize("target", ["hip:gfx1100", "hip:gfx942", "hip:gfx950"])
@pytest.mark.parametrize(
    "source",
    [ROTATION, ROTATION.replace("2**20", "2**31"), find_example("softmax").source],
    ids=["rotation", "rotation-of-4-GiB", "softmax"],
)
def test_memory_instructions_of_an_amd_gpu_come_from_memory_operations(
    compile_source, query_service, ask, triton, source, target
):
    """Arithmetic does not. LLVM of Triton 3.6 gives the location of a store to vectorized arithmetic."""
    record = compile_source(source, target, triton)
    recording = json.loads(query_service.answer(lineage.RECORDING, (record,), {}))
    lines = [line for line in text_of(record, "ttgir").split("\n") if is_counted(line)]
    stage = recording["stages"]["amdgcn"]
    seen, misplaced = set(), []
    for number, text in enumerate(stage["text"].split("\n")[:-1], 1):
        operations = [lines[origin - 1] for origin in stage["origins"][number - 1]]
        if re.match(r"\s+(global|buffer)_(load|store)", text):
            assert operations
            assert all(ACCESS.search(each) for each in operations)
            seen.update(operations)
        elif ARITHMETIC.match(text) and operations and all(ACCESS.search(each) for each in operations):
            misplaced.append(number)
    assert seen == {line for line in lines if ACCESS.search(line)}
    for number in misplaced[:2]:
        (unknown,) = said(ask(record, "amdgcn", number), "is unknown", "which does no arithmetic")
        assert unknown["basis"] == "inferred"
        assert said(ask(record, "amdgcn", number), "comes from") == []


def test_each_instruction_of_a_clause_leads_to_its_own_source_line(compile_source, triton, ask):
    record = compile_source(ROTATION, "hip:gfx1100", triton)
    lines = text_of(record, "amdgcn").split("\n")
    clauses = [n for n, text in enumerate(lines, 1) if "s_clause" in text and "buffer_load" in lines[n]]
    first = clauses[0]
    answers = [ask(record, "amdgcn", line) for line in (first + 1, first + 2)]
    sources = {name for name in ("left", "right") for each in answers if said(each, f"{name} = tl.load(")}
    assert sources == {"left", "right"}


#: Loads at offsets that are small, known from memory only, of 64 bits; and a load of a scalar.
LOADS = """
import torch, triton
import triton.language as tl

@triton.jit
def loads(x, scale, places, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    factor = tl.load(scale)
    near = tl.load(x + at)
    place = tl.load(places + at)
    gathered = tl.load(x + place)
    far = tl.load(x + at.to(tl.int64) * n)
    tl.store(out + at, (near + gathered + far) * factor)

x = torch.empty(2**20, device="cuda", dtype=torch.float16)
places = torch.empty(1024, device="cuda", dtype=torch.int32)
loads[(128,)](x, x, places, x, 8192, BLOCK=1024)
"""


def loads_by_name(record, ask):
    """Return the answer about each load by the name that the source gives the loaded tensor."""
    lines = lines_with(record, "ttgir", r"\b(tt\.load|buffer_load)\b")
    answers = [ask(record, "ttgir", line) for line in lines]
    names = ("factor", "near", "place", "gathered", "far")
    return {name: each for each in answers for name in names if said(each, f"{name} = tl.load(")}


def test_each_load_of_an_amd_gpu_says_why_it_is_a_buffer_operation(compile_source, triton, ask):
    small = loads_by_name(compile_source(LOADS, "hip:gfx942", triton), ask)
    for name in ("near", "gathered", "far"):
        assert said(
            small[name], "It is a buffer operation", "gives `x` the attribute `tt.pointer_range = 32`"
        )
    assert said(small["factor"], "no buffer operation", "accesses one element")
    large = loads_by_name(compile_source(LOADS.replace("2**20", "2**31"), "hip:gfx942", triton), ask)
    assert said(large["near"], "It is a buffer operation", "has proven")
    assert said(large["place"], "It is a buffer operation", "gives `places` the attribute")
    assert said(large["far"], "no buffer operation", "offsets of 64 bits")
    (gathered,) = said(large["gathered"], "no buffer operation")
    assert (
        "uses `x` without `tt.pointer_range`: its tensor is not known to be within 2 GiB" in gathered["text"]
    )


def test_the_machine_code_says_the_same_of_its_load(compile_source, triton, ask):
    record = compile_source(LOADS, "hip:gfx1100", triton)
    (line, *_) = lines_with(record, "amdgcn", r"\bbuffer_load_b128")
    assert said(ask(record, "amdgcn", line), "a buffer operation", "`tt.pointer_range = 32`")


def test_a_load_of_an_nvidia_gpu_says_nothing_of_buffer_operations(compile_source, triton, ask):
    record = compile_source(LOADS, "cuda:90", triton)
    (line, *_) = lines_with(record, "ttgir", r"\btt\.load")
    assert said(ask(record, "ttgir", line), "buffer operation") == []


ADD = """
import torch, triton
import triton.language as tl

@triton.jit
def add(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(out + at % 16, tl.load(x + at))

x = torch.empty(1024, device="cuda", dtype=torch.float32)
add[(1,)](x, x, BLOCK=1024)
"""


@pytest.mark.parametrize(
    ("target", "name", "pattern"),
    [
        ("cuda:80", "bfloat16", r"ATOMG\.\S*CAS"),
        ("cuda:90", "bfloat16", ""),
        ("cuda:80", "float32", ""),
        ("hip:gfx1100", "bfloat16", r"cmpswap"),
        ("hip:gfx1100", "int32", ""),
        ("hip:gfx950", "bfloat16", ""),
    ],
)
def test_an_atomic_says_whether_it_is_a_loop_of_compare_and_swap(
    compile_source, triton, ask, target, name, pattern
):
    record = compile_source(ADD.replace("float32", name), target, triton)
    stage = "sass" if target.startswith("cuda") else "amdgcn"
    (line,) = lines_with(record, "ttgir", r"atomic_rmw")
    loops = lines_with(record, stage, r"ATOMG?\.\S*CAS|cmpswap")
    assert bool(loops) == bool(pattern)
    document = ask(record, "ttgir", line)
    assert bool(said(document, "It is a loop of compare-and-swap")) == bool(pattern)
    assert bool(said(document, "The target has an instruction for it")) != bool(pattern)
    if pattern:
        assert said(ask(record, stage, loops[0]), "It is a loop of compare-and-swap")


ATOMICS = """
import torch, triton
import triton.language as tl

@triton.jit
def atomics(f16, bf16, f32, f64, i32, u32, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK) * 3
    tl.atomic_add(f16 + at, 1.0, sem="relaxed")
    tl.atomic_add(bf16 + at, 1.0, sem="relaxed")
    tl.atomic_add(f32 + at, 1.0, sem="relaxed")
    tl.atomic_add(f64 + at, 1.0, sem="relaxed")
    tl.atomic_max(i32 + at, 1, sem="relaxed")
    tl.atomic_and(u32 + at, 1, sem="relaxed")
    tl.atomic_add(f32 + at, 2.0, sem="relaxed", scope="sys")
    tl.atomic_xor(i32 + at, 2, sem="relaxed", scope="sys")

tensors = [
    torch.empty(1024, device="cuda", dtype=each)
    for each in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.uint32)
]
atomics[(1,)](*tensors, BLOCK=128)
"""
FINE_GRAINED = "known not to be fine-grained"
PAIRS = "adds pairs of neighboring values"
NOT_ADDED = "has no atomic instruction that adds"


COMPARE_AND_SWAP = r"\bATOMG?\.\S*CAS|cmpswap"


@pytest.mark.parametrize("target", ["cuda:75", "cuda:90", "hip:gfx942", "hip:gfx1100"])
def test_a_loop_of_compare_and_swap_has_the_reason_that_the_compiler_confirms(
    app, compile_source, triton, ask, target
):
    """Once LLVM is told about the memory, the loops vanish whose reason the memory is, and no others."""
    record = compile_source(ATOMICS, target, triton)
    stage = "sass" if target.startswith("cuda") else "amdgcn"
    sources = source_lines(record, record.stage(stage))
    loops = Counter(sources[line - 1] for line in lines_with(record, stage, COMPARE_AND_SWAP))
    lines = lines_with(record, "ttgir", r"\batomic_rmw|buffer_atomic")
    ttgir_sources = source_lines(record, record.stage("ttgir"))
    answers = {ttgir_sources[line - 1]: ask(record, "ttgir", line) for line in lines}
    reasons = {
        line: [words for words in (FINE_GRAINED, PAIRS, NOT_ADDED) if said(answer, words)]
        for line, answer in answers.items()
    }
    assert {line: len(words) for line, words in reasons.items()} == {
        line: int(line in loops) for line in answers
    }
    told = re.sub(r"(atomicrmw .*)", r"\1, !amdgpu.no.fine.grained.memory !99999", text_of(record, "llir"))
    edits = Edits("llir", told + "\n!99999 = !{}\n")
    after = services_of(app).queue.complete(replace(record.request, edits=edits))
    expected = sum(count for line, count in loops.items() if reasons[line] != [FINE_GRAINED])
    assert len(lines_with(after, stage, COMPARE_AND_SWAP)) == expected


LOADS_OF_BRANCHES = """
import torch, triton
import triton.language as tl

@triton.jit
def branches(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if n > 5:
        a = tl.load(x + at)
    else:
        a = tl.load(x + at) + 1.0
    tl.store(out + at, a)

x = torch.empty(1024, device="cuda", dtype=torch.float32)
branches[(1,)](x, x, 7, BLOCK=128)
"""


@pytest.mark.parametrize(
    ("target", "stage", "pattern"),
    [("cuda:80", "sass", r"\bLDG\b"), ("hip:gfx942", "amdgcn", r"\bbuffer_load")],
)
def test_a_load_that_llvm_merged_of_two_branches_names_both_loads(
    compile_source, triton, ask, target, stage, pattern
):
    record = compile_source(LOADS_OF_BRANCHES, target, triton)
    loads = lines_with(record, "ttgir", r"\b(tt\.load|buffer_load)\b")
    (line,) = lines_with(record, stage, pattern)
    document = ask(record, stage, line)
    assert said(document, "merged")
    (origins,) = said(document, "It may come from", f"lines {loads[0]} and {loads[1]} of TTGIR")
    assert [link["line"] for link in origins["links"]] == loads
    assert said(document, "`tt.make_range`, which accesses no memory") or target.startswith("hip")
    for load in loads:
        assert said(ask(record, "ttgir", load), "instruction has its location", "merged or moved it")
