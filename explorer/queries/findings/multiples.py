"""What the compiler does not know about the addresses and masks of accesses, and changes that tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from explorer.analysis.mlir.argument_uses import arguments_behind
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Change
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.why_facts import code, listed

#: The cause and the advice for each limit of the width of an access that arguments of the kernel decide.
UNKNOWN = {
    "divisibility": (
        "The compiler can prove only that the address is a multiple of {count} elements.",
        "Pass strides and offsets that are divisible by 16, or state it with `tl.multiple_of` around their "
        "products.",
    ),
    "mask": (
        "The compiler can prove only that the mask is equal for {count} consecutive elements.",
        "Use a bound that is divisible by 16, or leave the mask out where the tile is always full.",
    ),
}


def known_multiples(case: Case, accesses: Sequence[AccessRow]) -> Iterator[Change]:
    """Propose to tell the compiler what the integer arguments of accesses are multiples of.

    It knows this only of multiples of 16. A constexpr tells it the value; a hint is a promise, which holds in
    this launch. Each argument is proposed alone, and then all.
    """
    specialized = case.result.specialized
    if specialized is None or specialized.launch is None or case.has_guesses:
        return
    needed = max((each.allowed.get("instruction", 1) for each in accesses), default=1)
    possible = {
        each.name: multiple
        for each in specialized.arguments
        if type(each.value) is int and not each.specialization
        # The largest power of two that divides the value.
        if (multiple := min(needed, each.value & -each.value)) > 1
    }
    used = arguments_behind(case.functions, {each.line: each.dimension for each in accesses})
    multiples = {name: multiple for name, multiple in possible.items() if name in used}
    kernel = case.record.kernel or ""
    alone = [{name: multiple} for name, multiple in multiples.items()]
    for chosen in (*alone, *([multiples] if len(alone) > 1 else [])):
        names = listed([code(name) for name in chosen])
        edits = case.editable.as_constants(kernel, chosen)
        yield from line_changes(edits, f"{names} as `tl.constexpr`, which compiles the kernel for each value")
        edits = case.editable.with_multiples(kernel, chosen)
        words = listed([f"{code(name)} is a multiple of {multiple}" for name, multiple in chosen.items()])
        yield from line_changes(edits, f"promise that {words} in every launch")
