"""Test the query `layouts` on real kernels."""

import json
from pathlib import Path

import pytest
from tritons import TRITONS

from explorer.errors import InvalidRequest, NotAnswerable
from explorer.model import Request
from explorer.queries import layouts


@pytest.fixture
def document_of(query_service, compile_example):
    def document_of(name, target="cuda:90", triton=None, **parameters):
        record = compile_example(name, target=target, triton=triton)
        return json.loads(query_service.answer(layouts.QUERY, (record,), parameters))

    return document_of


def by_label(document, label, shape):
    (found,) = [
        each
        for each in document["layouts"]
        if each["label"] == label
        and each["shape"] == shape
        and "ptr" not in each["element"]
        and each["element"] in ("f16", "f32")
    ][:1]
    return found


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.both_forms
def test_layouts_of_a_matmul(document_of, triton):
    document = document_of("matmul", triton=triton)
    accumulator = by_label(document, "#mma", [128, 128])
    assert accumulator["kind"] == "NVIDIA mma v3"
    bases = {each["name"]: each["bases"] for each in accumulator["bases"]["inputs"]}
    assert bases["lane"] == [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]
    assert bases["warp"] == [[16, 0], [32, 0], [64, 0]]
    assert accumulator["replication"] == 1
    assert accumulator["contiguity"] == [1, 2]
    names = [name for name, _ in accumulator["values"]]
    assert any(name.startswith("%accumulator") for name in names)
    shared = by_label(document, "#shared", [3, 128, 64])
    assert shared["memory"] == "shared"
    assert shared["bases"]["shape"] == [128, 64]


@pytest.mark.parametrize("triton", TRITONS)
def test_lines_are_those_that_define_the_values(query_service, compile_example, triton):
    record = compile_example("matmul", triton=triton)
    document = json.loads(query_service.answer(layouts.QUERY, (record,), {}))
    lines = record.text(record.stage("ttgir").text).splitlines()
    for layout in document["layouts"]:
        for name, line in layout["values"]:
            assert name.split("#")[0] in lines[line - 1]


@pytest.mark.parametrize("triton", TRITONS)
def test_the_last_conversion_of_a_matmul_goes_through_its_scratch_buffer(document_of, triton):
    (conversion,) = document_of("matmul", triton=triton)["conversions"]
    assert conversion["movement"] == "shared memory"
    assert conversion["movement_source"] == "compiler"
    assert (conversion["scratch_bytes"], conversion["scratch_offset"]) == (32768, 0)
    assert conversion["bytes"] == 32768


@pytest.mark.parametrize("triton", TRITONS)
def test_operands_are_copied_16_bytes_at_once_because_of_what_is_known(document_of, triton):
    document = document_of("matmul", triton=triton)
    copies = [each for each in document["accesses"] if each["operation"] == "ttg.async_copy_global_to_local"]
    assert copies
    for copy in copies:
        assert (copy["vector"], copy["lane_bytes"], copy["limits"]) == (8, 16, ["instruction"])
        assert copy["sector_share"] == 1
        # A row of the tile has 8 or 16 lanes; the distance of the next row is unknown.
        row = document["layouts"][copy["layout"]]["warp_tile"][1] // copy["vector"]
        ranges = copy["lane_ranges"]
        first = {lane for lane in range(1, 32) if ranges[lane] != ranges[lane - 1]}
        assert row in (8, 16) and first >= set(range(row, 32, row)) and ranges[1] == 0
        assert [(each["name"], each["lane_bytes"]) for each in copy["emitted"]] == [
            ("cp.async.cg.shared.global", 16)
        ]
        assert copy["emitted_source"] == "PTX"
        # The copies before and in the loop have one location: the instructions belong to all of them.
        assert copy["emitted_sharing"] == len(copies) // 2 == 3
        assert copy["emitted"][0]["count"] == 3 * 4
        assert max(copy["pointer"]["divisibility"]) == 16


@pytest.mark.parametrize("triton", TRITONS)
def test_reading_columns_conflicts_in_every_lane(query_service, services, triton):
    source = (Path(__file__).parents[1] / "kernels/column_access.py").read_text()
    record = services.queue.complete(Request(source, "cuda:90", services.triton_version(triton)))
    document = json.loads(query_service.answer(layouts.QUERY, (record,), {}))
    rows = {each["operation"]: each for each in document["shared_accesses"]}
    written, read = rows["ttg.local_store"], rows["ttg.local_load"]
    assert (written["conflicts"], written["source"]) == (0, "compiler")
    assert (read["conflicts"], read["modelled_conflicts"], read["source"]) == (31, 31, "compiler")
    assert (read["wavefronts"], read["least_wavefronts"]) == (32, 1)
    assert "ld.shared.b32" in {each["name"] for each in read["emitted"]}


def test_of_a_part_of_a_buffer_the_whole_counts(document_of):
    """The matmul for sm_80 reads its operands piece by piece."""
    document = document_of("matmul", target="cuda:80")
    rows = document["layouts"]
    parts = [each for each in document["shared_accesses"] if rows[each["shared"]]["shape"] == [128, 16]]
    assert parts
    for part in parts:
        assert rows[part["shared"]]["bases"]["shape"] == [128, 64]
        assert (part["conflicts"], part["source"]) == (0, "modelled")
        assert part["emitted"][0]["name"].startswith("ldmatrix")


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("example", ["softmax", "layer_norm", "copy_coalesced_strided", "convolution_2d"])
def test_the_modelled_width_is_that_of_the_emitted_instructions(document_of, example, triton):
    for access in document_of(example, triton=triton)["accesses"]:
        if access["lane_bytes"] is not None:
            assert {each["lane_bytes"] for each in access["emitted"]} == {access["lane_bytes"]}, access


@pytest.mark.parametrize(
    ("target", "tile", "source"),
    [
        ("cuda:80", "m16n8k16", "PTX"),
        ("cuda:90", "m64n128k16", "PTX"),
        ("cuda:100", "m128n128k16", "encoding"),
        ("hip:gfx942", "32×32×8", "AMDGCN"),
    ],
)
def test_the_tile_of_the_matrix_instruction(document_of, target, tile, source):
    products = document_of("matmul", target=target)["matrix_products"]
    assert products
    assert {(each["tile"], each["tile_source"]) for each in products} == {(tile, source)}


def test_a_pass_has_layouts_of_its_own(document_of, compile_example):
    record = compile_example("matmul")
    coalesce = next(each.index for each in record.result.passes.values() if each.name == "tritongpu-coalesce")
    document = document_of("matmul", **{"pass": str(coalesce)})
    assert document["pass_index"] == coalesce
    assert not any(each["kind"].startswith("NVIDIA mma") for each in document["layouts"])
    assert all(each["emitted"] == [] for each in document["accesses"])


def test_a_text_without_layouts_says_so(document_of):
    with pytest.raises(NotAnswerable, match="No tensor of this module has a layout"):
        document_of("matmul", stage="ttir")
    with pytest.raises(NotAnswerable, match="has no layouts"):
        document_of("matmul", stage="ptx")
    with pytest.raises(InvalidRequest, match="exclude each other"):
        document_of("matmul", stage="ttgir", **{"pass": "3"})


TILE = """
import torch, triton
import triton.language as tl

@triton.jit
def copy(x, out, stride, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + rows[:, None] * stride + columns, tl.load(x + rows[:, None] * stride + columns) * 2)

x = torch.empty(64 * 1152, device="cuda")
copy[(1,)](x, x, 1151, M=64, N=128, num_warps=4)
"""
VECTOR = """
import torch, triton
import triton.language as tl

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)

x = torch.empty(4096, device="cuda")
copy[(1,)](x, x, 1000, BLOCK=1024)
"""


@pytest.fixture
def accesses_of(query_service, services):
    def accesses_of(source):
        record = services.queue.complete(Request(source, "cuda:90", services.versions[0]))
        assert record.status == "complete", record.result.error_messages
        return json.loads(query_service.answer(layouts.QUERY, (record,), {}))["accesses"]

    return accesses_of


def test_rows_with_an_odd_stride_are_consecutive_for_the_lanes_of_a_warp(accesses_of):
    for access in accesses_of(TILE):
        assert access["vector"] == 1
        assert access["limits"] == ["divisibility"]
        assert access["sector_share"] == 1, access["words"]


def test_the_advice_about_an_argument_names_it_and_works(accesses_of):
    load, store = accesses_of(VECTOR)
    for access in (load, store):
        assert (access["limits"], access["vector"]) == (["mask"], 1)
        assert access["words"].count("values of n that are divisible by 16 may help") == 1
    for access in accesses_of(VECTOR.replace("1000", "1008")):
        assert access["vector"] == 4
        assert "may help" not in access["words"]


@pytest.mark.parametrize(
    ("old", "new", "limit"),
    [
        ("tl.load(x + i,", "tl.load(x + 3 * i,", "consecutive addresses"),
        ("tl.load(x + i,", "tl.load(x + i + n // 2,", "multiple of 1 elements"),
    ],
    ids=["strided", "halved"],
)
def test_where_two_limits_bind_both_are_named_without_advice(accesses_of, old, new, limit):
    load, _ = accesses_of(VECTOR.replace(old, new))
    assert "the mask is equal for 1 consecutive elements and" in load["words"]
    assert limit in load["words"]
    assert "both must change" in load["words"]
    assert len(load["limits"]) == 2
    assert "may help" not in load["words"]


def test_an_operation_is_not_blamed_on_arguments_that_are_divisible(accesses_of):
    load, _ = accesses_of(
        VECTOR.replace("1000", "1008").replace("tl.load(x + i,", "tl.load(x + i + n // 16,")
    )
    assert (load["limits"], load["vector"]) == (["divisibility"], 1)
    assert "may help" not in load["words"]
