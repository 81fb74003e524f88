"""Which lines of two texts are the same when a value may have another name: texts of MLIR, LLVM IR and PTX.

In: the lines of both texts. Out: the pairs of lines that are the same, and the operations that only moved.

A pass that inserts one operation renumbers every value after it. A pass that recreates a constant renames it.
A pass that drops a layout renames the aliases of the other layouts. Therefore names are compared by their
meaning. Each value has a number, and two values with one number are equal by structure: the same pure
operation of equal operands, starting with constants and the arguments of a function. A value that has no
equal on the other side corresponds to the value that the same line defines there. A value has the same
counterpart wherever it appears, so a line whose operand became a different value is a change, even if its
text is the same.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from explorer.analysis.diff.sequence import Pair, align, align_gaps, split_lines

#: Each round may find corresponding values, and through them further lines. Two rounds suffice for most
#: passes.
_MOST_ROUNDS = 4
#: The number of equal lines among which a moved line is searched.
_MOST_CANDIDATES = 32
#: The length in characters of an alias with its aliases resolved, and of all aliases of a module. Aliases may
#: refer to each other so that their length doubles with each line; no compiler prints such aliases.
_MOST_ALIAS_CHARACTERS = 10_000
_MOST_ALIASES_CHARACTERS = 4_000_000
#: The factor by which renamed aliases may lengthen a text; compilers write aliases of equal length.
_MOST_GROWTH = 4

_NUMBER_OF_NAME = re.compile(r"(%[A-Za-z$._-][\w$.-]*?)_\d++(?![\w$.-])")  # %name_12
#: Separate patterns, since each begins with a character that is found fast: three times as fast as one
#: pattern.
_NUMBERS = (
    re.compile(r"^\d++(?=:)", re.MULTILINE),  # a label of LLVM IR
    re.compile(r"!(?<!\w!)\d++\b"),
    re.compile(r"#(?<!\w#)\d++\b"),
    re.compile(r"%\d++\b"),  # behind #: the second result of %12 is called %12#1
)
#: A line that is distinguishable: it names an operation, or defines an alias.
_RECOGNIZABLE = re.compile(r"^#\w+ = |^(?!#).*\w\.\w|\bcall\b|\bload\b|\bstore\b")
_VALUE = re.compile(r"((?:%|(?<!\w)[!#](?=\d))[\w$.-]++)(:| =)?+")
_NAME = re.compile(r"%[A-Za-z$._-][\w$.-]*+")
_RESULTS = re.compile(r"\s*+((?:%[\w$.-]++(?::\d++)?+(?:, )?+)++) = ")
_FUNCTION = re.compile(r"\s*+(?:define\b|(?:\w++\.)?+func\b).*?(@[\w$.-]++)")
#: Operations without effects and regions: of equal operands they make equal results.
_PURE = re.compile(
    r"(?:arith|math|ub)\.|tt\.(?:splat|unsplat|make_range|expand_dims|broadcast|addptr|reshape|trans|bitcast"
    r"|ptr_to_int|int_to_ptr|get_program_id|get_num_programs|split|join|fp_to_fp|mulhiui)\b"
    r"|ttg\.(?:convert_layout|warp_id|memdesc_(?:index|subslice|trans|reshape|reinterpret))\b"
    r"|llvm\.(?:mlir\.|add|sub|mul|[su]div|[su]rem|and|or|xor|shl|[al]shr|icmp|fcmp|fadd|fsub|fmul|fneg|zext"
    r"|sext|trunc|bitcast|select|getelementptr|(?:extract|insert)(?:value|element)|ptrtoint|inttoptr"
    r"|addrspacecast|fpext|fptrunc|[su]itofp|fpto[su]i)\b"
    r"|(?:add|sub|mul|[su]div|[su]rem|and|or|xor|shl|[al]shr|icmp|fcmp|fadd|fsub|fmul|fneg|zext|sext|trunc"
    r"|bitcast|select|getelementptr|(?:extract|insert)(?:value|element)|ptrtoint|inttoptr|addrspacecast"
    r"|fpext|fptrunc|[su]itofp|fpto[su]i) "
)
_ALIAS = re.compile(r"[#!][A-Za-z_]\w*+(?!\.)")
_ALIAS_DEFINITION = re.compile(r"([#!][A-Za-z_]\w*+) = ([^\n]*+)")


def align_values(before: list[str], after: list[str]) -> tuple[list[Pair], list[Pair]]:
    """Pair the lines of two texts that are the same but for the names of values.

    Return the pairs in order, and the pairs of moved operations.
    """
    modules = _Modules(before, after)
    found = _ValueAlignment(modules)
    if found.is_misled:
        # Values that exchanged their names mislead an alignment that begins with the names.
        other = _ValueAlignment(modules, has_names=False)
        found = max(found, other, key=lambda each: len(each.pairs))
    return found.pairs, found.moves


class _Modules:
    """Both texts in three forms: lines without the numbers of names, without names, and with values."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        texts = _with_aliases_of(after, before), after
        stripped = [_without_names("".join(lines)) for lines in texts]
        self.keys = [keys for keys, _ in stripped]
        self.nameless = [nameless for _, nameless in stripped]
        last = _latest.side
        if last is None or last.texts != texts[0]:
            last = _Side(_Numbers(), texts[0], self.nameless[0])
        self.old, self.new = last, _Side(last.numbers, texts[1], self.nameless[1])
        _latest.side = self.new


class _ValueAlignment:
    def __init__(self, modules: _Modules, *, has_names: bool = True) -> None:
        self._keys, nameless = modules.keys, modules.nameless
        self._old, self._new = modules.old, modules.new
        self._values = _Correspondence(self._old, self._new)
        self.pairs: list[Pair] = []
        #: Whether lines that look alike were found to use other values.
        self.is_misled = False
        #: Lines of `before` that stand elsewhere in `after`.
        self.moves: list[Pair] = []
        by_name = align(*self._keys) if has_names else []
        self._find(align_gaps(nameless[0], nameless[1], by_name))

    def _find(self, candidates: list[Pair]) -> None:
        """Keep the candidates whose values correspond, and look again between them by these values."""
        for _ in range(_MOST_ROUNDS):
            found = (len(self.pairs), len(self.moves))
            self.pairs = [(i, j) for i, j in candidates if self._is_same(i, j)]
            self.is_misled |= len(self.pairs) < len(candidates)
            self._find_moves()
            if (len(self.pairs), len(self.moves)) == found or len(self.pairs) == len(candidates):
                break
            candidates = align_gaps(*self._resolved(), self.pairs)

    def _is_same(self, i: int, j: int) -> bool:
        """Return whether the values that two lines use correspond. If so, pair the values they define."""
        old, new = self._old.lines[i], self._new.lines[j]
        same = old.used == new.used or all(map(self._values.match, old.used, new.used))
        if old.defined == new.defined:
            return same
        has_same_names = self._keys[0][i] == self._keys[1][j]
        for one, other in zip(old.defined, new.defined, strict=False):
            if same:
                self._values.define(one, other)
            elif has_same_names:
                self._values.match(one, other)
        return same

    def _resolved(self) -> tuple[list[Hashable], list[Hashable]]:
        """Return each line without names, with the values that it uses as they are called in `after`.

        Lines that are paired are None.
        """
        stayed, came = dict(self.pairs), {j for _, j in self.pairs}
        old: list[Hashable] = [
            None if i in stayed else (line.text, tuple(map(self._values.resolve, line.used)))
            for i, line in enumerate(self._old.lines)
        ]
        new: list[Hashable] = [
            None if j in came else (line.text, line.used) for j, line in enumerate(self._new.lines)
        ]
        return old, new

    def _find_moves(self) -> None:
        """Find operations that are removed in one place and added in another, with the same operands.

        Lines that do not name an operation (a brace) are not reported as moved.
        """
        stayed, came = ({pair[side] for pair in self.pairs} for side in (0, 1))
        added = [(j, line.text.strip()) for j, line in enumerate(self._new.lines) if j not in came]
        removed: dict[str, list[int]] = {text: [] for _, text in added}
        for i in range(len(self._old.lines) - 1, -1, -1):  # the first of equal lines is the last of its list
            if i not in stayed:
                text = self._old.lines[i].text
                candidates = removed.get(text.strip())
                if candidates is not None and _RECOGNIZABLE.search(text):
                    candidates.append(i)
        self.moves = []
        for j, text in added:
            candidates = removed[text]
            if not candidates:
                continue
            line = self._new.lines[j]
            for position, i in enumerate(candidates[: -_MOST_CANDIDATES - 1 : -1], 1):
                old = self._old.lines[i]
                if all(map(self._values.agree, old.used, line.used)):
                    del candidates[-position]
                    self.moves.append((i, j))
                    for pair in zip(old.defined, line.defined, strict=False):
                        self._values.define(*pair)
                    break


@dataclass
class _Numbers:
    """The numbers of values, in all texts: equal if the values are equal by structure."""

    known: dict[Hashable, int] = field(default_factory=dict)
    #: Returns the number of a value of which nothing is known.
    new: Callable[[], int] = field(default_factory=lambda: count().__next__)

    def of(self, meaning: Hashable) -> int:
        """Return the number of all values with this meaning."""
        number = self.known.get(meaning)
        if number is None:
            number = self.known[meaning] = self.new()
        return number


@dataclass(slots=True)
class _Line:
    text: str
    defined: tuple[int, ...]
    used: tuple[int, ...]


class _Side:
    """The lines of a text with the numbers of the values that they define and use."""

    def __init__(self, numbers: _Numbers, texts: list[str], keys: list[str]) -> None:
        self.numbers = numbers
        self.texts = texts
        #: The values by number, with their names.
        self.known: dict[int, str] = {}
        self._names: dict[str, int] = {}
        self._awaited: set[str] = set()
        self.lines = [self._read(text, key) for text, key in zip(texts, keys, strict=True)]

    def _read(self, text: str, key: str) -> _Line:
        if "%" not in text and "!" not in text and "#" not in text:
            return _Line(key, (), ())
        names = _names(text)
        if names.function:
            return _Line(key, self._arguments(names), ())
        known = self._names
        numbers = tuple([known[name] if name in known else self._use(name) for name in names.used])
        if names.is_pure:
            operation = key[key.index(" = ") :]
            made = [self._define(name, (operation, numbers, i)) for i, name in enumerate(names.results)]
        else:
            made = [self._define(name, None) for name in (*names.results, *names.defined)]
        return _Line(key, tuple(made), numbers)

    def _arguments(self, names: _Names) -> tuple[int, ...]:
        self._names.clear()
        self._awaited.clear()
        return tuple(self._define(name, (names.function, i)) for i, name in enumerate(names.defined))

    def _use(self, name: str) -> int:
        """Return the number of a value that is defined later, or nowhere."""
        number = self._define(name, None)
        self._awaited.add(name)
        return number

    def _define(self, name: str, meaning: Hashable) -> int:
        if name in self._awaited:  # its number was given where it was used
            self._awaited.remove(name)
            return self._names[name]
        number = self.numbers.new() if meaning is None else self.numbers.of(meaning)
        self._names[name] = number
        self.known.setdefault(number, name)
        return number


class _Latest(threading.local):
    """The last text: the text after a pass is also the text before the next pass."""

    side: _Side | None = None


_latest = _Latest()


class _Correspondence:
    """The corresponding values of both sides: each has one partner wherever it appears."""

    def __init__(self, old: _Side, new: _Side) -> None:
        self._old_names, self._new_names = old.known, new.known
        self._new_of: dict[int, int] = {}
        self._old_of: dict[int, int] = {}

    def match(self, old: int, new: int) -> bool:
        """Return whether two values agree; if so, they are partners from then on."""
        if old == new:
            return True
        if not self.agree(old, new):
            return False
        self._new_of[old], self._old_of[new] = new, old
        return True

    def agree(self, old: int, new: int) -> bool:
        """Return whether two values are the same; unknown values are compared by name."""
        if old == new or self._new_of.get(old) == new:
            return True
        is_open = old not in self._new_of and new not in self._old_of
        return (
            is_open
            and _without_number(self._old_names[old]) == _without_number(self._new_names[new])
            and not self._has_equal(old, new)
        )

    def _has_equal(self, old: int, new: int) -> bool:
        """Return whether one of the two values is equal to a different value on the other side."""
        return old in self._new_names or new in self._old_names

    def define(self, old: int, new: int) -> None:
        """Let two values be the same that one line defines on both sides."""
        if old != new and not self._has_equal(old, new):
            self._new_of[old], self._old_of[new] = new, old

    def resolve(self, old: int) -> int:
        """Return the partner of an old value; the value itself if it has none: no new line uses it then."""
        return old if old in self._new_names else self._new_of.get(old, old)


class _Names(NamedTuple):
    """The names that a line defines, as results or otherwise, and the names that it uses.

    `function` is the name of the function that begins in the line, which defines its arguments; "": none.
    `is_pure`: the line has one operation, which makes equal results of equal operands.
    """

    function: str
    results: tuple[str, ...]
    defined: tuple[str, ...]
    used: tuple[str, ...]
    is_pure: bool


@lru_cache(maxsize=1 << 16)  # most lines are the same after the next pass
def _names(text: str) -> _Names:
    """Return the names in a line."""
    if ("func" in text or "define" in text) and (function := _FUNCTION.match(text)) is not None:
        names = tuple([name for name, _ in _VALUE.findall(text) if name.startswith("%")])
        return _Names(function[1], (), names, (), is_pure=False)
    results = _RESULTS.match(text)
    start = results.end() if results else 0
    found = _VALUE.findall(text, start)
    used = tuple([name for name, mark in found if not mark])
    defined = tuple([name for name, mark in found if mark]) if len(used) < len(found) else ()
    is_pure = results is not None and not defined and _PURE.match(text, start) is not None
    return _Names("", _results(results[1]) if results else (), defined, used, is_pure)


def _results(head: str) -> tuple[str, ...]:
    """Return the names of the results before the equals sign."""
    if ":" not in head and "," not in head:  # the usual line has one
        return (head,)
    return tuple([name for name, _ in _VALUE.findall(head)])


@lru_cache(maxsize=1 << 16)
def _without_number(name: str) -> str:
    return _NUMBER_OF_NAME.sub(_first_group, name) if _NAME.match(name) else name[0]


def _first_group(found: re.Match[str]) -> str:
    return found[1]


@lru_cache(maxsize=2)  # the text after a pass is also the text before the next pass
def _without_names(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text without the numbers of names, and without names."""
    count = len(split_lines(text))
    text = _NUMBER_OF_NAME.sub(_first_group, text)
    for number in _NUMBERS:
        text = number.sub("", text)
    return _split(text, count), _split(_NAME.sub("", text), count)


def _split(text: str, count: int) -> list[str]:
    """Return the lines of a text without names. The last line is empty if it consisted of names only."""
    lines = split_lines(text)
    return lines if len(lines) == count else [*lines, ""]


def _with_aliases_of(lines: list[str], other: list[str]) -> list[str]:
    """Rewrite `other` so that an alias of an attribute or a type has the name it has in `lines`."""
    taken = alias_meanings(lines)
    wanted = {meaning: name for name, meaning in taken.items()}
    names = {
        name: wanted.get(meaning) or (f"{name} of before" if name in taken else name)
        for name, meaning in alias_meanings(other).items()
    }
    if all(name == new for name, new in names.items()):
        return other
    text = "".join(other)
    growth = sum(len(names[name]) - len(name) for name in _ALIAS.findall(text) if name in names)
    if growth > _MOST_GROWTH * len(text):
        return other
    return split_lines(_ALIAS.sub(lambda match: names.get(match[0], match[0]), text))


def alias_meanings(lines: list[str]) -> dict[str, str]:
    """Return the aliases that a module defines, with their definitions, in which aliases are resolved.

    A definition that would become too long keeps its aliases.
    """
    meanings: dict[str, str] = {}
    room = _MOST_ALIASES_CHARACTERS
    found = (_ALIAS_DEFINITION.match(line) for line in lines if line[0] in "#!")
    for name, definition in (each.groups() for each in found if each):
        used = [alias for alias in _ALIAS.findall(definition) if alias in meanings]
        length = len(definition) + sum(len(meanings[alias]) - len(alias) for alias in used)
        if length > min(room, _MOST_ALIAS_CHARACTERS):
            meanings[name] = definition
            continue
        room -= length
        meanings[name] = with_meanings(definition, meanings)
    return meanings


def with_meanings(text: str, meanings: dict[str, str]) -> str:
    """Return a text with the definitions of aliases in place of the aliases."""
    return _ALIAS.sub(lambda match: meanings.get(match[0], match[0]), text)
