"""Which lines of two machine codes are the same when registers and labels may have other names.

In: the lines of both, of SASS or of AMDGCN, without addresses. Out: the pairs of lines that are the same.

Lines are aligned without the names of registers, first by what their operands were computed from. Then, in
the order of the text, the registers that an instruction reads must hold corresponding values: after an
instruction writes a register, the register corresponds to the register that the same instruction writes on
the other side. Values that a loop carries must also correspond at its end. An instruction that reads a
different value is a change.

Source: the operands of SASS in NVIDIA's "CUDA binary utilities" and in listings of nvdisasm 12.8 and 13.1;
the operands of AMDGCN in AMD's instruction set manuals.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from explorer.analysis.diff.sequence import Pair, align_gaps

#: A register or a label: its kind and its number or name.
_Name = tuple[str, Hashable]

_LABEL = re.compile(r"\.L\w++|\$L\w++|\bLBB\w++")
_LABEL_LINE = re.compile(r"(\.L\w++|\$L\w++|LBB\w++):")
_BRANCH = re.compile(r"\b(?:BRA|JMP|s_c?branch)\w*+\b")
_TARGET = re.compile(r"\.L\w++|LBB\w++")
_BRACKETS = re.compile(r"\[[^\]]*+\]")
#: Loops that are nested deeper are not checked at their ends; no kernel nests so deep.
_MOST_LOOPS = 32
#: The number of equal instructions among which a moved instruction is searched.
_MOST_CANDIDATES = 32

_SASS = re.compile(r"\s*+(?:@!?+(?P<guard>U?P\w++)\s++)?+(?P<opcode>[A-Z][A-Z0-9_]*+)(?P<modifiers>[.\w]*+)")
_SASS_REGISTER = re.compile(r"(?<![\w.$])(U?[RP]|B)(\d{1,9}+)\b(\.64)?+")
_WRITES_NOTHING = re.compile(
    r"(?:ST|BRA|BAR|EXIT|RET|NOP|RED(?!UX)|MEMBAR|U?DEPBAR|WARPSYNC|WARPGROUP|BSYNC|ERRBAR|CCTL|UTM|SYNCS"
    r"|LDGSTS|LDGDEPBAR|FENCE|CALL|NANOSLEEP|BPT|UTC|UBLK|USETMAXREG|ACQBULK|PREEXIT|KILL|YIELD|ARRIVES)"
)
_WRITES_TWO = re.compile(r"U?VOTE|MATCH")
_WIDE = re.compile(r"\.WIDE|CS2U?R(?!\.32)|^D(?:ADD|MUL|FMA)|F64(?:\.\w+)?$|\.64\b")
_WGMMA = re.compile(r"\.(\d{1,4})x(\d{1,4})x\d+\.(F32|S32|F16)")
#: No instruction writes more registers.
_MOST_REGISTERS = 256

_AMDGCN = re.compile(r"\s++(?P<opcode>[a-z]\w++)")
_AMDGCN_REGISTER = re.compile(r"\b([sva])(?:(\d{1,9}+)|\[(\d{1,9}+):(\d{1,9}+)\])")
_AMDGCN_WRITES_NOTHING = re.compile(
    r"(?:global|buffer|flat|scratch)_(?:store|atomic)|ds_(?:write|store)|exp\b"
    r"|s_(?:branch|cbranch|barrier|waitcnt|wait_|endpgm|nop|cmp|bitcmp|setprio|sleep|sched)"
)


@dataclass
class _Line:
    """A line: its text without names, the names that it reads and writes, and the label it branches to."""

    text: str
    reads: list[_Name] = field(default_factory=list)
    writes: list[_Name] = field(default_factory=list)
    label: str = ""
    target: str = ""


def align_machine_code(before: list[str], after: list[str]) -> tuple[list[Pair], list[Pair]]:
    """Pair the lines of two machine codes that are the same but for the names of registers and labels.

    Return the pairs in order, and the pairs of moved instructions.
    """
    read = _read_sass if any(map(_is_sass, (*before, *after))) else _read_amdgcn
    old, new = [read(line) for line in before], [read(line) for line in after]
    old_keys, new_keys = list(_keys(old)), list(_keys(new))
    pairs: list[Pair] = []
    for one, other in zip(reversed(old_keys), reversed(new_keys), strict=True):
        pairs = align_gaps(one, other, pairs)
    same = _Check(old, new).same(pairs)
    return same, _moves(old, new, old_keys[-1], new_keys[-1], same)


def _moves(
    old: list[_Line], new: list[_Line], old_keys: list[int], new_keys: list[int], same: list[Pair]
) -> list[Pair]:
    """Pair the remaining instructions that do the same with the results of the same instructions."""
    new_of, old_of = dict(same), {j: i for i, j in same}
    old_writers, new_writers = _writers(old), _writers(new)
    removed: dict[int, list[int]] = {}
    for i in range(len(old) - 1, -1, -1):  # the first of equal instructions is the last of its list
        if i not in new_of and (old[i].reads or old[i].writes) and not old[i].label:
            removed.setdefault(old_keys[i], []).append(i)
    moves: list[Pair] = []
    for j, key in enumerate(new_keys):
        candidates = removed.get(key, []) if j not in old_of else []
        for position, i in enumerate(candidates[: -_MOST_CANDIDATES - 1 : -1], 1):
            writers = zip(old_writers[i], new_writers[j], strict=False)
            if all(
                new_of.get(one, other) == other and old_of.get(other, one) == one for one, other in writers
            ):
                del candidates[-position]
                new_of[i], old_of[j] = j, i
                moves.append((i, j))
                break
    return moves


def _writers(lines: list[_Line]) -> list[list[int]]:
    """Return for each line the lines that last wrote the names that it reads; -1: no earlier line."""
    last: dict[_Name, int] = {}
    writers: list[list[int]] = []
    for index, line in enumerate(lines):
        writers.append([last.get(name, -1) for name in line.reads])
        last.update(dict.fromkeys(line.writes, index))
    return writers


def _is_sass(line: str) -> bool:
    return line.startswith(".text.") or line.endswith(" ;\n")


def _keys(lines: list[_Line]) -> Iterator[list[int]]:
    """Return the identity of each line: its text, its operands, and the operands of these."""
    keys = [hash(line.text) for line in lines]
    yield keys
    for _ in range(2):
        made: dict[_Name, int] = {}
        deeper = []
        for line, key in zip(lines, keys, strict=True):
            deeper.append(
                hash((line.text, *(made.get(name, 0) for name in line.reads if name[0] != "label")))
            )
            made.update(dict.fromkeys(line.writes, key))
        keys = deeper
        yield keys


class _Check:
    """Goes through pairs of lines in order, and selects the pairs that read corresponding values."""

    def __init__(self, old: list[_Line], new: list[_Line]) -> None:
        self._old, self._new = old, new
        self._new_of: dict[_Name, _Name] = {}
        self._old_of: dict[_Name, _Name] = {}
        labels = {line.label: index for index, line in enumerate(old) if line.label}
        #: The first lines of loops, by label.
        self._loops = {
            line.target
            for index, line in enumerate(old)
            if line.target and labels.get(line.target, index) < index
        }
        #: For each open loop, the lines that read a name written before the loop, by that name.
        self._carried: dict[str, dict[tuple[_Name, _Name], list[int]]] = {}
        self._written: dict[str, set[_Name]] = {}

    def same(self, pairs: list[Pair]) -> list[Pair]:
        """Return the pairs whose lines are the same."""
        i = j = 0
        rejected: set[int] = set()
        for index, (next_i, next_j) in enumerate(pairs):
            self._forget(range(i, next_i), range(j, next_j))
            if not self._is_same(index, next_i, next_j):
                rejected.add(index)
            rejected.update(self._end_loop(next_i))
            i, j = next_i + 1, next_j + 1
        return [pair for index, pair in enumerate(pairs) if index not in rejected]

    def _forget(self, old: range, new: range) -> None:
        """Process lines that only one side has: the names that they write correspond to nothing yet."""
        for i in old:
            for name in self._old[i].writes:
                _unbind(name, self._new_of, self._old_of)
                self._note_write(name)
        for j in new:
            for name in self._new[j].writes:
                _unbind(name, self._old_of, self._new_of)

    def _is_same(self, index: int, i: int, j: int) -> bool:
        old, new = self._old[i], self._new[j]
        same = len(old.reads) == len(new.reads)
        for one, other in zip(old.reads, new.reads, strict=False):
            if one not in self._new_of and other not in self._old_of:
                self._new_of[one], self._old_of[other] = other, one
            same = self._new_of.get(one) == other and same
            for label, carried in self._carried.items():
                if one not in self._written[label]:
                    carried.setdefault((one, other), []).append(index)
        for one, other in zip(old.writes, new.writes, strict=False):
            _unbind(one, self._new_of, self._old_of)
            _unbind(other, self._old_of, self._new_of)
            self._new_of[one], self._old_of[other] = other, one
            self._note_write(one)
        if old.label in self._loops and len(self._carried) < _MOST_LOOPS:
            self._carried[old.label], self._written[old.label] = {}, set()
        return same

    def _note_write(self, name: _Name) -> None:
        for written in self._written.values():
            written.add(name)

    def _end_loop(self, i: int) -> Iterator[int]:
        """Yield the pairs of lines that read something else when the loop that ends here starts again."""
        label = self._old[i].target
        if label in self._carried:
            self._written.pop(label)
            for (one, other), readers in self._carried.pop(label).items():
                if one[0] != "label" and self._new_of.get(one) != other:
                    yield from readers


def _unbind(name: _Name, partners: dict[_Name, _Name], others: dict[_Name, _Name]) -> None:
    """Remove the correspondence of a name."""
    partner = partners.pop(name, None)
    if partner is not None:
        del others[partner]


def _read(
    line: str, registers: re.Pattern[str], names: Callable[[re.Match[str], bool], list[_Name]], end: int
) -> _Line:
    """Read the names of a line; registers before column `end` and outside brackets are written."""
    brackets = [found.span() for found in _BRACKETS.finditer(line)]
    brackets = [(first, last) for first, last in brackets if line[first - 1] not in "sva"]
    text = _LABEL.sub(".L", registers.sub(r"\1", line))
    read = _Line(text)
    for found in registers.finditer(line):
        before = bisect_left(brackets, (found.start(), 0))
        is_in_brackets = before > 0 and found.start() < brackets[before - 1][1]
        is_written = found.start() < end and not is_in_brackets
        (read.writes if is_written else read.reads).extend(names(found, is_written))
    read.reads.extend(("label", label) for label in _LABEL.findall(line))
    if label := _LABEL_LINE.match(line):
        read.label = label[1]
    if (branch := _BRANCH.search(line)) and (target := _TARGET.search(line, branch.end())):
        read.target = target[0]
    return read


def _read_sass(line: str) -> _Line:
    found = _SASS.match(line)
    if found is None or _LABEL_LINE.match(line):
        return _read(line, _SASS_REGISTER, lambda _found, _is_written: [], 0)
    opcode, modifiers, start = found["opcode"], found["modifiers"], found.end()
    width = _sass_width(opcode, modifiers)
    is_store = opcode.startswith(("ST", "RED", "ATOM"))

    def names(register: re.Match[str], is_written: bool) -> list[_Name]:
        kind, first = register[1], int(register[2])
        if kind in ("P", "UP", "B"):
            count = 1
        elif is_written:
            count = width
        elif register[3]:
            count = 2
        else:
            count = width if is_store and register.start() > line.rfind("]") else 1
        return [(kind, first + offset) for offset in range(count)]

    return _read(line, _SASS_REGISTER, names, _end_of_results(line, opcode, start))


def _end_of_results(line: str, opcode: str, start: int) -> int:
    """Return the column behind the operands that an instruction of SASS writes.

    The first operand is written, and the predicates right behind it; after a predicate, the next operand,
    too.
    """
    if _WRITES_NOTHING.match(opcode):
        return 0
    operands = re.sub(r"\[[^\]]*+\]", lambda found: "x" * len(found[0]), line)[start:].split(",")
    count, is_predicate = 1, _is_predicate(operands[0])
    for operand in operands[1 : 2 if _WRITES_TWO.match(opcode) else 3]:
        if not (is_predicate and count == 1) and not _is_predicate(operand):
            break
        count, is_predicate = count + 1, True
    return start + len(",".join(operands[:count]))


def _is_predicate(operand: str) -> bool:
    return re.fullmatch(r"\s*U?P[T\d]\s*", operand) is not None


def _sass_width(opcode: str, modifiers: str) -> int:
    """Return how many registers an instruction writes, or, of a store, reads as its data."""
    if opcode in ("HGMMA", "QGMMA", "IGMMA", "BGMMA"):
        found = _WGMMA.search(modifiers)
        count = int(found[1]) * int(found[2]) // (256 if found[3] == "F16" else 128) if found else 1
        return min(count, _MOST_REGISTERS)
    if opcode in ("HMMA", "QMMA", "IMMA", "BMMA", "OMMA"):
        return 2 if modifiers.endswith(".F16") else 4
    if opcode in ("LDSM", "STSM", "LDTM", "STTM"):
        found = re.search(r"\.x?(\d{1,4})$", modifiers)
        return min(int(found[1]), _MOST_REGISTERS) if found else 1
    if opcode.startswith(("LD", "ULD", "ST", "ATOM", "RED")):
        return 8 if ".256" in modifiers else 4 if ".128" in modifiers else 2 if ".64" in modifiers else 1
    return 2 if _WIDE.search(opcode + modifiers) else 1


def _read_amdgcn(line: str) -> _Line:
    def names(found: re.Match[str], _is_written: bool) -> list[_Name]:
        first, last = int(found[2] or found[3]), int(found[2] or found[4])
        return [(found[1], number) for number in range(first, min(last, first + 128) + 1)]

    found = _AMDGCN.match(line)
    if found is None:
        return _read(line, _AMDGCN_REGISTER, lambda _found, _is_written: [], 0)
    is_writing = not _AMDGCN_WRITES_NOTHING.match(found["opcode"])
    end = line.find(",", found.end())
    return _read(line, _AMDGCN_REGISTER, names, 0 if not is_writing else len(line) if end < 0 else end)
