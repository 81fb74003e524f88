"""Samples of the program counter, by line of the machine code, of the source and of the other stages.

In: the samples of a run, the text of the SASS stage and the source line of each of its lines. Out: samples
and stall reasons by line. An instruction is found by its offset. If a different instruction has that offset,
the run used another binary.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from explorer.analysis.assembly.operations import operation_lines
from explorer.analysis.assembly.sass import Place, places_by_function, places_of
from explorer.model.measurements import InstructionSamples, Samples

_SAMPLED = re.compile(r"^\s*(?:/\*[0-9a-f]+\*/)?\s*(?:@!?\w+\s+)?([A-Z]\w*)")
_MOST_TOP = 10
#: No run takes more samples or executes more instructions; a browser could not hold many more.
_MOST_SAMPLES = 2**48


class LineHeat(msgspec.Struct, frozen=True):
    """Samples of one line, by stall reason; `share` is their share of all samples."""

    line: int
    samples: int
    share: float
    stalls: dict[str, int]


class InstructionHeat(msgspec.Struct, frozen=True):
    """Samples of a line of the SASS stage, and the sectors that its instruction requested from the L2."""

    line: int
    samples: int
    share: float
    stalls: dict[str, int]
    offset_bytes: int
    source_line: int
    executed: int
    sectors: int | None
    sectors_ideal: int | None


class SharedLineHeat(msgspec.Struct, frozen=True):
    """Samples of a line of another stage: the samples of its source line, shared by `sharing` operations."""

    line: int
    samples: int
    share: float
    stalls: dict[str, int]
    source_line: int
    sharing: int


class StageHeat(msgspec.Struct, frozen=True):
    """The lines of a stage other than SASS that stem from sampled source lines."""

    stage: str
    lines: list[SharedLineHeat]


class HeatDocument(msgspec.Struct, frozen=True):
    """Samples by line. `reason` says why there are none. `unplaced` samples have no line of the stage."""

    reason: str
    tool: str = ""
    samples: int = 0
    stalls: dict[str, int] = {}
    unplaced: int = 0
    instructions: list[InstructionHeat] = []
    source: list[LineHeat] = []
    stages: list[StageHeat] = []
    top: list[LineHeat] = []


def heat(
    samples: Samples,
    kernel: str,
    sass: str,
    sass_source_lines: Sequence[int],
    stages: Mapping[str, tuple[str, str, Sequence[int]]] | None = None,
) -> HeatDocument:
    """Join samples and lines.

    `kernel` is the function in the SASS that was sampled; `sass_source_lines[i]` is the source line of line
    i+1, 0: none. `stages` are the other stages to color: language, text, source line of each line.
    """
    usable = [each for each in samples.instructions if 0 <= each.samples <= _MOST_SAMPLES]
    taken = [each for each in usable if each.samples]
    if samples.reason or not taken:
        return HeatDocument(samples.reason or "No samples: the kernel is too short.", samples.tool)
    places = places_of(places_by_function(sass), kernel)
    known = [each for each in taken if each.offset_bytes in places]
    if any(_differs(each, places[each.offset_bytes]) for each in known) or not known:
        return HeatDocument(
            "The sampled machine code differs from this compilation: other instructions stand at the same "
            "addresses. Compile with the options of the run, or run this compilation.",
            samples.tool,
        )
    total = sum(each.samples for each in taken)
    stalls: Counter[str] = Counter()
    for each in taken:
        stalls.update(_positive(each.stalls))
    instructions = [
        _instruction(each, places[each.offset_bytes].line, sass_source_lines, total)
        for each in sorted(usable, key=lambda each: each.offset_bytes)
        if each.offset_bytes in places
    ]
    source = _by_source_line(instructions, total)
    return HeatDocument(
        reason="",
        tool=samples.tool,
        samples=total,
        stalls=dict(stalls.most_common()),
        unplaced=total - sum(each.samples for each in known),
        instructions=instructions,
        source=source,
        stages=[_stage(name, *found, source) for name, found in (stages or {}).items()],
        top=sorted(source, key=lambda each: -each.samples)[:_MOST_TOP],
    )


def is_same_code(samples: Samples, kernel: str, sass: str) -> bool:
    """Return whether all instructions that the profiler names are at their places in the SASS.

    Debug information names files of the machine that compiled: binaries may differ where the code does not.
    """
    named = [each for each in samples.instructions if opcode_of(each.instruction)]
    places = places_of(places_by_function(sass), kernel)
    return bool(named) and all(
        each.offset_bytes in places and not _differs(each, places[each.offset_bytes]) for each in named
    )


def opcode_of(instruction: str) -> str:
    """Return the opcode of a sampled instruction without predicate and modifiers, such as "LDG"; or ""."""
    found = _SAMPLED.match(instruction)
    return found[1] if found else ""


def _differs(sample: InstructionSamples, place: Place) -> bool:
    """Return whether the sampled instruction differs from the SASS, if the profiler names it."""
    sampled = opcode_of(sample.instruction)
    return bool(sampled) and sampled != place.opcode


def _instruction(
    each: InstructionSamples, line: int, source_lines: Sequence[int], total: int
) -> InstructionHeat:
    return InstructionHeat(
        line,
        each.samples,
        each.samples / total,
        _positive(each.stalls),
        each.offset_bytes,
        source_lines[line - 1] if line <= len(source_lines) else 0,
        min(max(each.executed, 0), _MOST_SAMPLES),
        _usable(each.sectors),
        _usable(each.sectors_ideal),
    )


def _usable(sectors: int | None) -> int | None:
    return sectors if sectors is not None and 0 <= sectors <= _MOST_SAMPLES else None


def _by_source_line(instructions: Sequence[InstructionHeat], total: int) -> list[LineHeat]:
    samples: Counter[int] = Counter()
    stalls: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for each in instructions:
        if each.samples and each.source_line > 0:
            samples[each.source_line] += each.samples
            stalls[each.source_line].update(each.stalls)
    return [
        LineHeat(line, count, count / total, dict(stalls[line].most_common()))
        for line, count in sorted(samples.items())
    ]


def _stage(
    name: str, language: str, text: str, source_lines: Sequence[int], source: Sequence[LineHeat]
) -> StageHeat:
    by_source = {each.line: each for each in source}
    is_operation = operation_lines(text.splitlines(), language)
    stemming = [
        (number, line)
        for number, (is_one, line) in enumerate(zip(is_operation, source_lines, strict=False), 1)
        if is_one and line in by_source
    ]
    sharing = Counter(line for _, line in stemming)
    return StageHeat(
        name,
        [
            SharedLineHeat(
                number,
                by_source[line].samples,
                by_source[line].share,
                by_source[line].stalls,
                line,
                sharing[line],
            )
            for number, line in stemming
        ],
    )


def _positive(stalls: Mapping[str, int]) -> dict[str, int]:
    """Return the stall reasons with samples, the most frequent first."""
    taken = ((reason, count) for reason, count in stalls.items() if 0 < count <= _MOST_SAMPLES)
    return dict(sorted(taken, key=lambda stall: -stall[1]))
