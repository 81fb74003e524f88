"""Test all stages and line locations of the gallery, for every target and Triton version.

Locations are compared with an independent reading of the tools' output (`independent_lines`).
"""

import re

import pytest
from gallery_cases import every_case
from independent_lines import llvm_lines, mlir_lines, ptx_lines, sass_lines

from explorer.examples import find_example
from explorer.pipeline.stages import stages_of


def stack_of(location):
    return tuple((frame.file, frame.line) for frame in location.frames)


def stacks_of_lines(stage):
    """Return the stacks of the locations of each shown line, without columns."""
    stacks = [stack_of(location) for location in stage.locations]
    return [list(dict.fromkeys(stacks[index] for index in line)) for line in stage.line_locations]


def as_shown(stack):
    """A stack as the tools print it, with the files named as on the page."""
    return tuple(
        ("" if file.endswith("kernel.py") else re.sub(r"^.*/(?=triton/)", "", file), line)
        for file, line in stack
        if line
    )


def as_all_shown(stacks):
    return list(dict.fromkeys(shown for shown in map(as_shown, stacks) if shown))


@every_case
def test_every_stage_is_there(gallery, example, target):
    captured = gallery(example, target.name)
    assert [event.message for event in captured.of("diagnostic") if event.severity == "error"] == []
    assert captured.of("done")[0].status == "complete"
    first = "glir" if captured.of("specialized")[0].language == "gluon" else "ttir"
    assert list(captured.stages) == [first if name == "ttir" else name for name in stages_of(target.backend)]
    for stage in captured.stages.values():
        assert stage.text.strip()
        assert len(stage.line_locations) == len(stage.text.splitlines()), stage.name


@every_case
def test_text_has_no_location_noise(gallery, example, target):
    for stage in gallery(example, target.name).stages.values():
        assert not re.search(r"\bloc\(|#loc\d|!dbg|^\s*\.loc\s|//## File", stage.text, re.MULTILINE), (
            stage.name
        )


@every_case
def test_shown_mlir_is_what_the_compiler_prints_without_locations(gallery, example, target):
    captured = gallery(example, target.name)
    printed = {event.stage: event.text for event in captured.of("pass") if event.text is not None}
    assert captured.stages["ttgir"].text == printed["ttgir"]
    if "ttir" in printed:
        assert captured.stages["ttir"].text == printed["ttir"]


@every_case
def test_mlir_locations(gallery, example, target):
    """At least 99 % of the operations have the compiler's locations, inlined operations with their
    callers."""
    right = total = 0
    for name in ("ttir", "ttgir", "glir"):
        stage = gallery(example, target.name).stages.get(name)
        if stage is None:
            continue
        raw_numbers = [
            number for number, line in enumerate(stage.raw.splitlines(), 1) if not line.startswith("#loc")
        ]
        shown = dict(zip(raw_numbers, stacks_of_lines(stage), strict=True))
        for number, stacks in mlir_lines(stage.raw).items():
            total += 1
            right += shown[number] == as_all_shown(stacks)
    assert total > 20
    assert right >= 0.99 * total


@every_case
def test_llvm_ir_locations(gallery, example, target):
    stage = gallery(example, target.name).stages["llir"]
    raw = stage.raw.splitlines()
    expected = [
        (re.sub(r",? !dbg !\d+", "", raw[number - 1]), as_all_shown([stack]))
        for number, stack in llvm_lines(stage.raw).items()
    ]
    shown = [
        (text, stacks)
        for text, stacks in zip(stage.text.splitlines(), stacks_of_lines(stage), strict=True)
        if stacks and text.startswith("  ")
    ]
    assert shown == [(text, stacks) for text, stacks in expected if stacks]


def agrees(shown, expected):
    """Triton 3.6 names only the innermost line; the callers come from another source."""
    if shown == expected:
        return True
    innermost_only = len(expected) == 1 and len(expected[0]) == 1
    return innermost_only and bool(shown) and all(stack[0] == expected[0][0] for stack in shown)


@every_case
def test_ptx_locations(gallery, example, target):
    stage = gallery(example, target.name).stages.get("ptx")
    if stage is None:
        pytest.skip("AMD has no PTX")
    raw = stage.raw.splitlines()
    expected = [(raw[number - 1], as_all_shown([stack])) for number, stack in ptx_lines(stage.raw).items()]
    instructions = {text for text, _ in expected}
    shown = [
        (text, stacks)
        for text, stacks in zip(stage.text.splitlines(), stacks_of_lines(stage), strict=True)
        if text in instructions
    ]
    assert [text for text, _ in shown] == [text for text, _ in expected]
    for (text, stacks), (_, stacks_expected) in zip(shown, expected, strict=True):
        assert agrees(stacks, stacks_expected), text


@every_case
def test_sass_locations(gallery, example, target):
    stage = gallery(example, target.name).stages.get("sass")
    if stage is None:
        pytest.skip("AMD has no SASS")
    shown = {}
    for text, stacks in zip(stage.text.splitlines(), stacks_of_lines(stage), strict=True):
        if address := re.search(r"/\*([0-9a-f]{4,})\*/", text):
            shown[int(address[1], 16)] = stacks
    expected = sass_lines(stage.raw)
    assert expected
    for offset, stack in expected.items():
        assert agrees(shown[offset], as_all_shown([stack])), hex(offset)


@every_case
def test_amdgcn_locations(gallery, example, target):
    """Each instruction has the line of the `.loc` before it, and the call sites of its comment."""
    stage = gallery(example, target.name).stages.get("amdgcn")
    if stage is None:
        pytest.skip("NVIDIA has no AMDGCN")
    expected: list[tuple[str, tuple[tuple[str, int], ...]]] = []
    current: tuple[tuple[str, ...], ...] = ()
    for line in stage.raw.splitlines():
        if line.split()[:1] == [".loc"]:
            place = line.split(";", 1)[1].replace("@[", " ").replace("]", " ").split()
            current = tuple(tuple(frame.rsplit(":", 2)[:2]) for frame in place)
        elif line.split()[:1] == [".section"]:
            current = ()
        elif re.match(r"\t[a-z]", line) and current:
            expected.append((line, tuple((file, int(row)) for file, row in current if row != "0")))
    shown = []
    for text, stacks in zip(stage.text.splitlines(), stacks_of_lines(stage), strict=True):
        if re.match(r"\t[a-z]", text) and stacks:
            stack = tuple((file.rsplit("/", 1)[-1] or "kernel.py", line) for file, line in stacks[0])
            shown.append((text, stack))
    assert shown == [(text, stack) for text, stack in expected if stack]


def test_passes_are_told_in_order(gallery):
    passes = gallery("matmul", "cuda:90").of("pass")
    assert [event.index for event in passes] == list(range(len(passes)))
    assert {event.stage for event in passes} == {"ttir", "ttgir", "llir"}
    names = [event.name for event in passes if event.text is not None]
    assert names[0] == "ast-to-ttir"
    assert "tritongpu-pipeline" in names
    assert names.index("tritongpu-coalesce") < names.index("tritongpu-pipeline")
    # The capture omits the long texts in the LLVM dialect.
    assert "convert-triton-gpu-to-llvm" in [event.name for event in passes]


def test_resources_are_the_binarys(gallery):
    resources = gallery("matmul", "cuda:90").of("resources")[0]
    assert resources.registers and resources.shared_bytes and resources.spill_stores_bytes == 0
    assert resources.threads == 32 * resources.warps
    amd = gallery("matmul", "hip:gfx942").of("resources")[0]
    assert amd.registers and amd.scalar_registers and amd.threads == 64 * amd.warps


def test_library_code_is_the_librarys_and_leads_to_the_users_line(gallery):
    stage = gallery("softmax", "cuda:90").stages["ttgir"]
    inlined = [location for location in stage.locations if location.frames[0].file]
    assert inlined
    source = find_example("softmax").source.splitlines()
    for location in inlined:
        assert location.frames[0].file.startswith("triton/language/")
        assert location.frames[-1].file == ""
        assert re.search(r"tl\.(max|sum)", source[location.frames[-1].line - 1])


def test_sass_shows_control_codes(gallery):
    lines = gallery("vector_add", "cuda:90").stages["sass"].text.splitlines()
    instructions = [line for line in lines if "/*" in line]
    assert all(
        re.match(r"B[0-5-]{6}:R[0-5-]:W[0-5-]:[Y-]:S\d\d  /\*[0-9a-f]{4}\*/  \S", line)
        for line in instructions
    )
    loads = [line for line in instructions if "LDG" in line]
    assert loads and all(not re.match(r"B[0-5-]{6}:R[0-5-]:W-", line) for line in loads), (
        "a load sets a barrier"
    )
