"""Test the memory map of the gallery against the compiler, for every target and Triton version."""

import re
from collections import Counter

import pytest
from gallery_cases import every_case

from explorer.analysis.memory.memory_map import map_functions
from explorer.analysis.memory.tensor_memory import map_tensor_memory


def text_after(captured, last):
    return [each.text for each in captured.of("pass") if each.text and each.index <= last][-1]


def lowered_at(captured):
    """The last pass before the LLVM dialect."""
    return next(each.index for each in captured.of("pass") if each.name.endswith("gpu-to-llvm")) - 1


@pytest.fixture
def mapped(gallery):
    def mapped(example, target):
        captured = gallery(example, target.name)
        last = lowered_at(captured)
        allocations = captured.of("allocation")
        has_barriers = any("membar" in each.name for each in captured.of("pass") if each.index <= last)
        text = text_after(captured, allocations[0].pass_index)
        maps = map_functions(allocations, text, text_after(captured, last), has_barriers=has_barriers)
        return captured, text, maps

    return mapped


def read_dump(dump):
    """The last placement of each function, read word by word: (id, size, offset, start, end)."""
    functions: list[tuple[list[tuple[int, ...]], int]] = []
    rows: list[tuple[int, ...]] = []
    for line in dump.splitlines():
        words = line.split()
        if "bufferRange:" in words:
            rows = []
        elif "interval" in words and words[0] == "--":
            rows.append((*map(int, words[1:4]), *map(int, words[5:7])))
        elif words[:1] == ["Allocated:"]:
            functions.append((rows, int(words[1].rstrip(","))))
            rows = []
    return functions


@every_case
def test_every_buffer_is_as_the_compiler_has_dumped_it(mapped, example, target):
    captured, _, maps = mapped(example, target)
    (dump,) = captured.dumps
    dumped = read_dump(dump)
    assert len(dumped) == len(maps)
    for (rows, allocated), function in zip(dumped, maps, strict=True):
        told = [
            (each.index, each.size_bytes, each.offset_bytes, each.start, each.end)
            for each in function.buffers
        ]
        whole_function = 2**64 - 1
        expected = [(*row[:4], function.operations if row[4] == whole_function else row[4]) for row in rows]
        assert told == expected
        assert function.shared_bytes == allocated
    assert max(each.shared_bytes for each in maps) == captured.of("resources")[0].shared_bytes


@every_case
def test_every_buffer_belongs_to_the_operation_that_the_pass_has_marked(mapped, example, target):
    _, text, maps = mapped(example, target)
    lines = text.splitlines()
    marked = Counter(map(int, re.findall(r"allocation\.offset = (\d+) : i32", text)))
    told = Counter(each.offset_bytes for function in maps for each in function.buffers)
    assert marked == told
    for function in maps:
        assert function.problem == ""
        for each in function.buffers:
            if each.operation == "tt.func":
                continue
            line = lines[each.first.line - 1]
            assert each.operation in line
            assert each.first.value in line
            if each.use == "explicit":
                assert f"allocation.offset = {each.offset_bytes} :" in line
                assert each.first.source_line > 0


@every_case
def test_offsets_are_aligned_as_the_rules_say(mapped, example, target):
    _, _, maps = mapped(example, target)
    for each in (buffer for function in maps for buffer in function.buffers):
        if each.operation != "ttg.warp_specialize":
            assert each.offset_bytes % each.alignment_bytes == 0


@every_case
def test_no_two_buffers_that_are_alive_together_share_bytes(mapped, example, target):
    _, _, maps = mapped(example, target)
    for function in maps:
        by_index = {each.index: each for each in function.buffers}
        for each in function.buffers:
            for other in (by_index[index] for index in each.alive_with):
                assert (
                    each.offset_bytes + each.size_bytes <= other.offset_bytes
                    or other.offset_bytes + other.size_bytes <= each.offset_bytes
                )


@every_case
def test_every_barrier_is_there_and_has_its_reason(mapped, example, target):
    """Barriers of a pass are compared with its text; modeled barriers are counted in the LLVM IR.

    There, operations with scratch have barriers of their own: two for a reduction, one for a conversion, and
    two more each time that it is repeated. Operations on mbarriers have further barriers, which are not
    distinguished.
    """
    captured, _, maps = mapped(example, target)
    barriers = [each for function in maps for each in function.barriers]
    for each in barriers:
        assert bool(each.hazards) != bool(each.reason)
        assert each.following.operation
    last = lowered_at(captured)
    if any("membar" in each.name for each in captured.of("pass") if each.index <= last):
        lowered = text_after(captured, last)
        inserted = [each for each in barriers if each.source != "lowering"]
        assert len(inserted) == len(re.findall(r"^\s*ttg\.barrier (?:local|all)", lowered, re.MULTILINE))
        assert all(each.source != "modelled" for each in barriers)
    elif not any(mark.kind == "mbarrier" for function in maps for mark in function.marks):
        scratch = Counter(each.operation for function in maps for each in function.buffers)
        llvm = captured.stages["llir"].text
        calls = re.findall(r"call void @llvm\.(?:nvvm\.barrier|amdgcn\.s\.barrier)", llvm)
        of_conversions = len(calls) - len(barriers) - 2 * scratch["tt.reduce"]
        repeated = of_conversions - scratch["ttg.convert_layout"]
        assert repeated >= 0
        assert repeated % 2 == 0
        assert scratch["ttg.convert_layout"] or not repeated


@every_case
def test_tensor_memory_fits_into_what_the_module_asks_for(mapped, example, target):
    captured, _, _ = mapped(example, target)
    text = text_after(captured, lowered_at(captured))
    allocations = re.findall(r"ttng\.tmem_alloc .*tensor_memory_col_offset = (\d+)", text)
    found = [each for function in map_tensor_memory(text, ()) for each in function.buffers]
    assert [each.column for each in found] == [int(column) for column in allocations]
    if found:
        (function,) = map_tensor_memory(text, ())
        used = max(each.column + each.columns for each in found)
        assert function.allocated_columns == captured.of("resources")[0].tensor_memory_columns
        # The hardware hands out powers of two, 32 columns at least.
        assert function.allocated_columns == max(32, 1 << (used - 1).bit_length())
