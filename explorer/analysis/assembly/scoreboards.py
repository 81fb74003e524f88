"""The scoreboards that each instruction of SASS waits for, and the instructions that set them.

In: SASS with control codes, as the stage shows it. Out: a row for each scoreboard that an instruction waits
for. A scoreboard is a counter: an instruction that sets the scoreboard adds to it, and the counter decreases
when the result of that instruction is written or its operands are read. A wait lasts until the counter is
zero. So an instruction waits for every instruction that has set the scoreboard since the wait before, along
any path of the control flow. `DEPBAR` waits until a counter has at most a given value. `WARPGROUP.DEPBAR`
waits in the same way for the scoreboards of asynchronous matrix products (`gsb0`).

Source: the control bits as in `explorer.pipeline.stages.sass`; Jia et al., "Dissecting the NVIDIA Volta GPU
Architecture via Microbenchmarking" (2018), section 2.1.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from explorer.analysis.graphs.blocks import Block, Function, Instruction
from explorer.analysis.graphs.control_flow import read_functions

Use = Literal["result", "operands"]

_CONTROL = re.compile(r"B([0-5-]{6}):R([\d-]):W([\d-]):[Y-]:S\d\d\s")
_PREDICATED = re.compile(r"@!?U?P[0-9]\b")
_DEPBAR = re.compile(r"DEPBAR\.LE\s+SB(\d),\s*(0x[0-9a-f]+)(?:,\s*\{([\d,\s]*)\})?")
_GROUP_WAIT = re.compile(r"WARPGROUP\.DEPBAR\.LE\s+(gsb\d),\s*(0x[0-9a-f]+)")
_GROUP_SET = re.compile(r"GMMA\.[^;]*\b(gsb\d)\b")
_RETURN = re.compile(r"(?:@!?U?P[0-9T]\s+)?RET\b")
_SCOREBOARDS = frozenset("012345")


@dataclass(frozen=True)
class Setter:
    """An instruction that sets a scoreboard, by its line. `use` is what the scoreboard protects.

    `is_nearest`: on a path to the instruction that waits, no later instruction sets the scoreboard.
    """

    line: int
    use: Use
    is_nearest: bool


@dataclass(frozen=True)
class Wait:
    """A scoreboard that the instruction of a line waits for.

    The wait lasts until at most `at_most` of the operations are in flight. Without `setters`, no path within
    the text leads from an instruction that sets the scoreboard to this one.
    """

    line: int
    scoreboard: str
    at_most: int
    setters: tuple[Setter, ...]


@dataclass(frozen=True)
class _Instruction:
    """The effect of one instruction on scoreboards. `is_certain`: no predicate keeps it from setting them."""

    line: int
    waits: tuple[tuple[str, int], ...]
    sets: tuple[tuple[str, Use], ...]
    is_certain: bool


@dataclass
class _State:
    """The instructions that have set each scoreboard, as bits: all in flight, and the last of them."""

    pending: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.pending), dict(self.last))

    def add(self, other: _State) -> bool:
        """Join with the state of another path; return whether anything is new."""
        has_changed = False
        for mine, theirs in ((self.pending, other.pending), (self.last, other.last)):
            for scoreboard, bits in theirs.items():
                joined = mine.get(scoreboard, 0) | bits
                has_changed = has_changed or joined != mine.get(scoreboard, 0)
                mine[scoreboard] = joined
        return has_changed


@dataclass
class _Segment:
    """Instructions without a branch or a call between them, and the segments that can run after them."""

    instructions: list[_Instruction]
    successors: list[int] = field(default_factory=list)
    before: _State = field(default_factory=_State)


def find_waits(text: str) -> tuple[Wait, ...]:
    """Return the scoreboards that instructions wait for, in the order of the text.

    Raises:
        NothingToDraw: there is no function in the text.
    """
    segments = _segments(read_functions(text, "sass"), text.split("\n"))
    setters = _Setters()
    _find_states(segments, setters)
    found: list[Wait] = []
    for segment in segments:
        state = segment.before.copy()
        for instruction in segment.instructions:
            for scoreboard, at_most in instruction.waits:
                found.append(Wait(instruction.line, scoreboard, at_most, setters.of(scoreboard, state)))
            setters.step(instruction, state)
    return tuple(sorted(found, key=lambda each: (each.line, each.scoreboard)))


class _Setters:
    """Numbers the instructions that set scoreboards: a set of them is the bits of an integer."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, str, Use], int] = {}
        self._found: list[tuple[int, Use]] = []

    def step(self, instruction: _Instruction, state: _State) -> None:
        """Update the state by the effect of an instruction."""
        for scoreboard, at_most in instruction.waits:
            if at_most == 0:
                state.pending.pop(scoreboard, None)
                state.last.pop(scoreboard, None)
        for scoreboard, use in instruction.sets:
            bit = 1 << self._place(instruction.line, scoreboard, use)
            state.pending[scoreboard] = state.pending.get(scoreboard, 0) | bit
            kept = 0 if instruction.is_certain else state.last.get(scoreboard, 0)
            state.last[scoreboard] = kept | bit

    def of(self, scoreboard: str, state: _State) -> tuple[Setter, ...]:
        """Return the instructions that may have set a scoreboard, by line."""
        pending, last = state.pending.get(scoreboard, 0), state.last.get(scoreboard, 0)
        places = (place for place in range(pending.bit_length()) if pending >> place & 1)
        setters = (Setter(*self._found[place], bool(last >> place & 1)) for place in places)
        return tuple(sorted(setters, key=lambda each: each.line))

    def _place(self, line: int, scoreboard: str, use: Use) -> int:
        place = self._places.setdefault((line, scoreboard, use), len(self._found))
        if place == len(self._found):
            self._found.append((line, use))
        return place


def _find_states(segments: list[_Segment], setters: _Setters) -> None:
    """Find the instructions that may be in flight before each segment; repeat until nothing is new."""
    waiting = deque(range(len(segments)))
    is_waiting = [True] * len(segments)
    while waiting:
        index = waiting.popleft()
        is_waiting[index] = False
        state = segments[index].before.copy()
        for instruction in segments[index].instructions:
            setters.step(instruction, state)
        for successor in segments[index].successors:
            if segments[successor].before.add(state) and not is_waiting[successor]:
                is_waiting[successor] = True
                waiting.append(successor)


@dataclass(frozen=True)
class _Call:
    """A call at the end of a segment, and the segment to which it returns (None: the text ends)."""

    instruction: Instruction
    segment: int
    after: int | None


def _segments(functions: Sequence[Function], lines: Sequence[str]) -> list[_Segment]:
    """Cut the blocks of all functions after each call, and connect the segments."""
    segments: list[_Segment] = []
    calls: list[_Call] = []
    labels: dict[str, tuple[str, int]] = {}  # the function of each, and the segment
    returns: dict[str, list[int]] = defaultdict(list)  # the segments at whose ends a function returns
    for function in functions:
        places = [_cut(block, lines, segments) for block in function.blocks]
        for index, (block, (first, last)) in enumerate(zip(function.blocks, places, strict=True)):
            labels |= dict.fromkeys(block.labels, (function.name, first))
            if _RETURN.match(block.instructions[-1].text):
                returns[function.name].append(last)
            segments[last].successors += [places[target][0] for target, _ in function.ways_out(index)]
            following = places[index + 1][0] if index + 1 < len(places) else None
            calls += _calls_of(block, first, following)
        labels.setdefault(function.name, (function.name, places[0][0]))
    for call in calls:
        name, entry = labels.get(call.instruction.calls, ("", 0))
        ends = returns.get(name)
        if not ends:  # the code is not in the text, or does not come back by a return
            continue
        is_conditional = _PREDICATED.match(call.instruction.text) is not None
        after = [] if call.after is None else [call.after]
        segments[call.segment].successors = [entry, *(after if is_conditional else [])]
        for end in ends:
            segments[end].successors += after
    return segments


def _cut(block: Block, lines: Sequence[str], segments: list[_Segment]) -> tuple[int, int]:
    """Add the segments of a block; return the first and the last one."""
    first = len(segments)
    segments.append(_Segment([]))
    for instruction in block.instructions:
        segments[-1].instructions.append(_read(instruction, lines[instruction.line - 1]))
        if instruction.calls and instruction is not block.instructions[-1]:
            segments[-1].successors.append(len(segments))
            segments.append(_Segment([]))
    return first, len(segments) - 1


def _calls_of(block: Block, first: int, following: int | None) -> Iterator[_Call]:
    """Yield the calls of a block, each at the end of the next segment from `first` on."""
    segment = first
    for instruction in block.instructions:
        if not instruction.calls:
            continue
        is_last = instruction is block.instructions[-1]
        yield _Call(instruction, segment, following if is_last else segment + 1)
        segment += 1


def _read(instruction: Instruction, line: str) -> _Instruction:
    """Read the control code of a line, and the operands that are scoreboards."""
    waits: dict[str, int] = {}
    sets: list[tuple[str, Use]] = []
    text = instruction.text
    if control := _CONTROL.match(line):
        waits |= dict.fromkeys(_SCOREBOARDS & set(control[1]), 0)
        uses: tuple[tuple[str, Use], ...] = ((control[2], "operands"), (control[3], "result"))
        sets += [(scoreboard, use) for scoreboard, use in uses if scoreboard in _SCOREBOARDS]
    if found := _DEPBAR.search(text):
        waits[found[1]] = min(waits.get(found[1], int(found[2], 16)), int(found[2], 16))
        waits |= dict.fromkeys(re.findall(r"\d", found[3] or ""), 0)
    if found := _GROUP_WAIT.search(text):
        waits[found[1]] = int(found[2], 16)
    elif found := _GROUP_SET.search(text):
        sets.append((found[1], "result"))
    is_certain = _PREDICATED.match(text) is None
    return _Instruction(instruction.line, tuple(sorted(waits.items())), tuple(sets), is_certain)
