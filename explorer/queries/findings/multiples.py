"""What the compiler does not know about the addresses and masks of accesses, and changes that tell it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from explorer.analysis.layouts.global_access import bytes_of_element
from explorer.analysis.mlir.argument_uses import arguments_behind
from explorer.analysis.source_edits import EditableSource, edited
from explorer.model import LineEdit
from explorer.model.hardware import LANE_ACCESS_BYTES
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Change
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.why_facts import code, counted, listed

#: The limits of the width of an access that arguments of the kernel decide.
UNKNOWN = ("divisibility", "mask")
_PROVEN = {
    "contiguity": "{count} consecutive addresses",
    "divisibility": "that the address is a multiple of {count} elements",
    "mask": "that the mask is equal for {count} consecutive elements",
}
MOVE_TOGETHER = (
    "Load the elements between them, too, or store the elements that a program needs next to each other."
)


def cause_and_advice(case: Case, access: AccessRow) -> tuple[str, str]:
    """Return what limits the width of an access, all that binds together, and what changes it."""
    if access.limits == ("layout",):
        return (
            f"The layout gives a thread {counted(access.allowed['layout'], 'consecutive element')}.",
            "Use fewer warps or a larger tile, so that a thread has more consecutive elements.",
        )
    proven = [_PROVEN[each].format(count=access.allowed[each]) for each in access.limits]
    cause = f"The compiler can prove only {' and only '.join(proven)}."
    if len(proven) > 1:
        cause += " Both must change."
    return cause, " ".join(_advice(case, access, each) for each in access.limits)


def distance(access: AccessRow) -> int | None:
    """Return the distance of neighbors along the dimension of an access in the launch; None: not known."""
    return access.distances[access.dimension] if access.distances and access.dimension is not None else None


def _advice(case: Case, access: AccessRow, limit: str) -> str:
    if limit == "mask":
        return "Use a bound that is divisible by 16, or leave the mask out where the tile is always full."
    if limit == "contiguity":
        apart = distance(access)
        if apart is not None and abs(apart) > 1:
            return f"In this launch, neighboring elements are {abs(apart):,} elements apart. {MOVE_TOGETHER}"
        promise = "; `tl.max_contiguous` states what the compiler cannot prove" if apart == 1 else ""
        return (
            "Compute the offsets of neighboring elements from `tl.arange` without a stride, or with a stride "
            f"of `tl.constexpr` 1{promise}."
        )
    if unaligned := _unaligned(case, access):
        return (
            f"The compiler does not know that {listed(map(code, unaligned))} begins at a multiple of 16 "
            "bytes. Pass a tensor that does, which a part such as `x[1:]` does not, and let the kernel be "
            "specialized for it."
        )
    if _is_no_multiple(access):
        return (
            f"In this launch, it is a multiple of only {counted(access.multiple or 1, 'element')}: a promise "
            "of more is false. Begin each tile at a multiple of 16 bytes, and pad rows to it."
        )
    return (
        "Pass strides and offsets that are divisible by 16, or state it with `tl.multiple_of` around their "
        "products, if it is true in every launch."
    )


def _is_no_multiple(access: AccessRow) -> bool:
    """Return whether the addresses of the launch are multiples of no more than the compiler can prove."""
    return access.multiple is not None and access.multiple <= access.allowed["divisibility"]


def _unaligned(case: Case, access: AccessRow) -> list[str]:
    """Return the tensors of an access that the compiler does not know to begin at a multiple of 16 bytes."""
    behind = arguments_behind(case.functions, {access.line: access.dimension})
    return [
        each.name
        for each in (case.result.specialized.arguments if case.result.specialized else ())
        if each.name in behind and each.type.startswith("*") and not each.specialization
    ]


def possible_bytes(case: Case, access: AccessRow) -> tuple[int, int]:
    """Return the most bytes that a lane can move at once, and the bytes of a thread in all."""
    bases = None if access.layout is None else case.layouts.layouts[access.layout].bases
    if bases is None:
        return 0, 0
    registers = next((each.bases for each in bases.inputs if each.name == "register"), ())
    held = prod(2 for basis in registers if any(basis)) * bytes_of_element(access.element)
    return min(LANE_ACCESS_BYTES, held), held


def known_multiples(
    case: Case, accesses: Iterable[AccessRow], without: Iterable[LineEdit] = ()
) -> Iterator[Change]:
    """Propose to tell the compiler what the integer arguments of accesses are multiples of.

    It knows this only of multiples of 16. A constexpr tells it the value; a hint is a promise, which holds in
    this launch. Each argument is proposed alone, and then all. If the proposals contain the changes
    `without`, only all are. Nothing is proposed where the addresses of the launch do not fit.
    """
    specialized = case.result.specialized
    if specialized is None or specialized.launch is None or case.has_guesses:
        return
    accesses = [
        each
        for each in accesses
        if not ("divisibility" in each.limits and (_is_no_multiple(each) or _unaligned(case, each)))
        and not ("contiguity" in each.limits and distance(each) not in (None, 1))
    ]
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
    before = {each.line: each for each in without}
    source = EditableSource(edited(case.record.request.source, before.values())) if before else case.editable
    no_mask = "no mask, because all elements are inside in every launch, and " if before else ""
    alone = [] if before else [{name: multiple} for name, multiple in multiples.items()]
    for chosen in (*alone, *([multiples] if len(alone) != 1 and multiples else [])):
        names = listed([code(name) for name in chosen])
        edits = source.as_constants(kernel, chosen)
        constants = f"{names} as `tl.constexpr`, which compiles the kernel for each value"
        yield from line_changes(_both(before, edits), no_mask + constants)
        edits = source.with_multiples(kernel, chosen)
        words = listed([f"{code(name)} is a multiple of {multiple}" for name, multiple in chosen.items()])
        yield from line_changes(_both(before, edits), f"{no_mask}promise that {words} in every launch")


def _both(before: Mapping[int, LineEdit], edits: Iterable[LineEdit]) -> list[LineEdit]:
    """Return the edits after others, with the others; none if there are none after them."""
    after = {each.line: each for each in edits}
    return [each for _, each in sorted({**before, **after}.items())] if after else []
