"""Names from the compiler: arguments and values of TTGIR, and the locations that PTX shares with them.

Triton names the values of its IR after the variables of the source that they are assigned to. An
instruction of PTX has the location of the operation that it comes from. A location has a name if all values
with it have that name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence

from explorer.analysis.ptx_as_c.translate import Names

_FUNCTION = re.compile(r"^\s*(?:tt|llvm)\.func (?:public )?@")
_ARGUMENT = re.compile(r"%([A-Za-z_][\w.]*): ((?:[^,{()<]|<[^<>]*(?:<[^<>]*>[^<>]*)*>)+)")
_RESULTS = re.compile(r"^\s*((?:%[\w.]+(?::\d+)?(?:, )?)+) = ")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_NUMBERED = re.compile(r"(.+)_\d+")


def identifiers_in(texts: Iterable[str]) -> set[str]:
    """Return the words in texts of Python that may be names."""
    return {name for text in texts for name in _IDENTIFIER.findall(text)}


def read_names(
    module: str,
    module_places: Sequence[Sequence[Hashable]],
    ptx_places: Sequence[Sequence[Hashable]],
    identifiers: Collection[str],
) -> Names:
    """Read the names for PTX from a module of TTGIR.

    `module_places` and `ptx_places` have the locations of each line, which are compared with each other.
    `identifiers` are the names in the source: others are the compiler's own.
    """
    arguments: tuple[tuple[str, str], ...] = ()
    by_place: dict[Hashable, set[str]] = {}
    for line, places in zip(module.split("\n"), module_places, strict=False):
        if not arguments and _FUNCTION.match(line):
            arguments = tuple((name, kind.strip()) for name, kind in _ARGUMENT.findall(line))
        results = _RESULTS.match(line)
        if not results or not places:
            continue
        # A loop or a branch has the name of its first result; instructions with its location control it.
        if " = scf." in line:
            by_place.setdefault(places[0], set()).add("")
        names = {_source_name(each, identifiers) for each in re.findall(r"%([\w.]+)", results[1])}
        by_place.setdefault(places[0], set()).update(names)
    numbers: dict[Hashable, int] = {}
    found, placed = {}, {}
    for number, places in enumerate(ptx_places, 1):
        if places:
            placed[number] = numbers.setdefault(places[0], len(numbers))
            names = by_place.get(places[0], set())
            if len(names) == 1 and (name := next(iter(names))):
                found[number] = name
    return Names(arguments, found, placed)


def _source_name(value: str, identifiers: Collection[str]) -> str:
    """Return the variable that a value is named after; "" if there is none, or two candidates."""
    numbered = _NUMBERED.fullmatch(value)
    shorter = numbered[1] if numbered else ""
    candidates = [name for name in (value, shorter) if name in identifiers]
    return candidates[0] if len(candidates) == 1 else ""
