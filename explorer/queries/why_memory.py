"""Why a buffer of shared memory exists, its lifetime, and the accesses that a barrier separates.

In: the answer to `allocation`, and lines of the module after the pass that allocates. Statements cite lines
of TTGIR where the operation has one. The allocation is the compiler's. The accesses of each operation to a
buffer, and so the hazards of a barrier, are modeled by the compiler's rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.memory.hazards import PRODUCT_WAIT, WAITS, waited_number
from explorer.analysis.memory.memory_map_types import BarrierMap, BufferMap, FunctionMap, HazardMap, Place
from explorer.analysis.memory.shared_memory import effect_of
from explorer.analysis.mlir.operations import operation_name
from explorer.queries.why_facts import Basis, WhyFact, WhyLink, code, counted, listed

_ALLOCATION = "the compiler's allocation"
_RULES = "the rules of the compiler's barrier analysis"
_DEFINITIONS = "the definitions of Triton's operations"
_ACCESSES = "the accesses, slots and waits of the operations"

#: Operations by which the threads of a block write to shared memory.
_BY_THREADS = ("local_alloc", "local_store", "local_scatter")
#: Operations by which the tensor cores and the TMA read shared memory.
_BY_ASYNC_PROXY = (
    "warp_group_dot",
    "tc_gen5_mma",
    "tc_gen5_mma_scaled",
    "tmem_copy",
    "async_tma_copy_local_to_global",
    "async_tma_reduce",
    "async_tma_scatter",
)

#: Who waits for what, and what follows for the rest.
_COUNTED_WAITS = {
    "ttg.async_wait": (
        "Each thread",
        "groups of copies",
        "All older groups are complete; other threads know it after a barrier.",
    ),
    PRODUCT_WAIT: (
        "Each warp group",
        "asynchronous products",
        "All its older products are complete, and no longer read shared memory.",
    ),
}
_EARLIER = {0: "", 1: " in the iteration before"}


@dataclass(frozen=True)
class Citations:
    """Names places of the allocating module: by the line of TTGIR, or else by their own line."""

    allocating: WhyLink
    ttgir: Mapping[Place, int]

    def words(self, place: Place) -> str:
        """Return the operation with its line (without one, a later pass has made it)."""
        name = code(place.operation)
        if place in self.ttgir:
            return f"{name} in line {self.ttgir[place]} of TTGIR"
        if place.line:
            return f"{name} in line {place.line} of the module after {code(self.allocating.label)}"
        return name

    def links(self, places: Sequence[Place]) -> tuple[WhyLink, ...]:
        """Return links to the first places."""
        return tuple(
            WhyLink(f"TTGIR, line {self.ttgir[each]}", "ttgir", None, self.ttgir[each])
            if each in self.ttgir
            else WhyLink(
                f"{self.allocating.label}, line {each.line}", "", self.allocating.pass_index, each.line
            )
            for each in dict.fromkeys(places)
            if each.line
        )[:4]


def places_of(functions: Sequence[FunctionMap]) -> set[Place]:
    """Return the places that statements about buffers, fences and barriers can cite."""
    return {
        place
        for function in functions
        for place in (
            *(each for buffer in function.buffers for each in (buffer.first, buffer.last, *buffer.uses)),
            *(each.following for each in function.barriers),
            *(
                place
                for each in function.barriers
                for hazard in each.hazards
                for place in (hazard.before, hazard.after)
            ),
        )
        if place.line
    }


def buffers_at(
    functions: Sequence[FunctionMap], lines: Sequence[int]
) -> Iterator[tuple[FunctionMap, BufferMap]]:
    """Yield the buffers that the operations in these lines of the allocating module own."""
    for function in functions:
        for buffer in function.buffers:
            if buffer.use != "virtual" and buffer.first.line in lines:
                yield function, buffer


def buffer_facts(function: FunctionMap, buffer: BufferMap, at: Citations) -> Iterator[WhyFact]:
    """Yield the place, users and lifetime of a buffer, and the buffers that share its bytes."""
    first, last = buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes - 1
    slots = (
        f": {buffer.slots} slots of {counted(buffer.size_bytes // buffer.slots, 'byte')}"
        if buffer.slots > 1
        else ""
    )
    kind = "needs it as scratch while it runs" if buffer.use == "scratch" else "allocates it"
    yield WhyFact(
        f"{at.words(buffer.first)} {kind}: {counted(buffer.size_bytes, 'byte')}, "
        f"from byte {first:,} to {last:,}{slots}.",
        "observed",
        _ALLOCATION,
        at.links([buffer.first]),
    )
    if buffer.use != "scratch":
        yield from _users(buffer, at)
        yield WhyFact(
            f"It lives from operation {buffer.start} to {buffer.end - 1}: the last that may use it is "
            f"{at.words(buffer.last)}.",
            "observed",
            _ALLOCATION,
            at.links([buffer.last]),
        )
    if buffer.shares_bytes_with:
        yield WhyFact(
            f"It shares bytes with {_names(function, buffer.shares_bytes_with)}, which live at other times.",
            "observed",
            _ALLOCATION,
        )
    if buffer.alive_with:
        yield WhyFact(
            f"Alive at the same time, and so elsewhere: {_names(function, buffer.alive_with)}.",
            "observed",
            _ALLOCATION,
        )


def _users(buffer: BufferMap, at: Citations) -> Iterator[WhyFact]:
    for verb, letter in (("writes", "w"), ("reads", "r")):
        users = [
            each
            for each in (buffer.first, *buffer.uses)
            if letter in effect_of(each.operation, is_mbarrier=buffer.holds_mbarriers)
        ]
        if users:
            names = listed(map(at.words, users))
            plural = verb if len(users) == 1 else verb.removesuffix("s")
            yield WhyFact(
                f"{names} {plural} it.",
                "modelled",
                _DEFINITIONS,
                at.links(users),
            )


def fence_facts(functions: Sequence[FunctionMap], lines: Sequence[int], at: Citations) -> Iterator[WhyFact]:
    """Yield the accesses that the fence in these lines of the allocating module orders."""
    for function in functions:
        fences = sorted(each.place.position for each in function.marks if each.kind == "fence")
        own = [each.place for each in function.marks if each.kind == "fence" and each.place.line in lines]
        found = [fact for fence in own for fact in _ordered(function, fence, fences, at)]
        yield from found
        if own and not found:
            yield WhyFact(
                "It orders writes to shared memory by threads before reads by the tensor cores or the TMA. "
                "The module does not say which ones.",
                "inferred",
                _DEFINITIONS,
            )


def _ordered(function: FunctionMap, fence: Place, fences: Sequence[int], at: Citations) -> Iterator[WhyFact]:
    """Yield a fact for each buffer between whose writes and reads a fence stands."""
    for buffer in function.buffers:
        if buffer.use != "explicit" or buffer.holds_mbarriers:
            continue
        writers = [each for each in buffer.uses if "w" in effect_of(each.operation, is_mbarrier=False)]
        # A buffer that nothing else writes was allocated with its data.
        writers = [each for each in writers or [buffer.first] if _has_name(each, _BY_THREADS)]
        before = [
            each
            for each in writers
            if fence.position == next((other for other in fences if other > each.position), None)
        ]
        readers = [each for each in buffer.uses if _has_name(each, _BY_ASYNC_PROXY)]
        # In a loop, the reads of the next turn can stand before the fence.
        after = [each for each in readers if each.position > fence.position] or readers
        if before and after:
            yield WhyFact(
                f"It orders the write of {listed(map(at.words, before))} (generic proxy) before the read of "
                f"{listed(map(at.words, after))} (async proxy). Without it, the read could miss what threads "
                f"have written to {code(buffer.name)}.",
                "modelled",
                _DEFINITIONS,
                at.links([*before, *after]),
            )


def _has_name(place: Place, names: Sequence[str]) -> bool:
    return place.operation.rpartition(".")[2] in names


def wait_facts(text: str) -> Iterator[WhyFact]:
    """Yield what the number of a wait for copies or products means."""
    name = operation_name(text)
    number = waited_number(text)
    if name not in _COUNTED_WAITS or number is None:
        return
    who, what, effect = _COUNTED_WAITS[name]
    some = f"the {number} newest {what} are" if number > 1 else f"the newest of its {what} is"
    done = f"at most {some} under way. {effect}" if number else f"all its {what} are complete."
    yield WhyFact(f"{who} waits until {done}", "observed", _DEFINITIONS)


def barrier_facts(
    functions: Sequence[FunctionMap],
    lines: Sequence[int],
    ordinal: int,
    count: int,
    maker: WhyLink | None,
    at: Citations,
) -> Iterator[WhyFact]:
    """Yield why a barrier exists.

    The barrier has the number `ordinal`, from 0 on, among the `count` barriers in its stage that come from
    operations in these lines of the allocating module. `maker` is the pass that inserts barriers (None: the
    lowering to LLVM).
    """
    if not lines:
        yield WhyFact(
            "The operation that it comes from is unknown, and so what it protects.", "inferred", "lineage"
        )
        return
    for function in functions:
        before = [each for each in function.barriers if _belongs(function, each, lines)]
        scratch = [each for each in function.buffers if each.use == "scratch" and each.first.line in lines]
        if not before and not scratch:
            continue
        is_one = count == len(before) and not scratch
        if before and (ordinal < len(before) or not scratch):
            yield from _placed(function, before[ordinal % len(before)], is_one, maker, at)
            if count > len(before) and not scratch:
                yield _copied(len(before), count)
        else:
            yield from _inside(scratch[0], at)
        return
    yield WhyFact(
        "The operation that it comes from needs no barrier for shared memory by the rules that are modelled "
        "here. It orders something else, such as signals or copies.",
        "inferred",
        _RULES,
    )


def _belongs(function: FunctionMap, barrier: BarrierMap, lines: Sequence[int]) -> bool:
    """Return whether a barrier has the location of an operation in these lines.

    The compiler gives it the location of the operation after it, or of the wait before it.
    """
    if barrier.source == "lowering":
        position = barrier.following.position - 1
        return any(each.place.position == position and each.place.line in lines for each in function.marks)
    if barrier.following.line in lines:
        return not _preceding(function, barrier)
    return any(each.line in lines for each in _preceding(function, barrier))


def _preceding(function: FunctionMap, barrier: BarrierMap) -> list[Place]:
    """Return the wait that a barrier follows."""
    position = barrier.following.position - 1
    return [
        mark.place
        for mark in function.marks
        if mark.place.position == position and mark.place.operation in WAITS
    ]


def _placed(
    function: FunctionMap, barrier: BarrierMap, is_one: bool, maker: WhyLink | None, at: Citations
) -> Iterator[WhyFact]:
    words = {
        "program": "It stands in the module before memory is allocated",
        "compiler": f"{code(maker.label) if maker else 'A pass'} has put it in",
        "modelled": "The lowering to LLVM puts it in",
        "lowering": f"The lowering of {code(PRODUCT_WAIT)} to LLVM makes it",
    }[barrier.source]
    is_seen = barrier.source in ("program", "compiler")
    basis: Basis = "inferred" if not is_one else "observed" if is_seen else "modelled"
    yield WhyFact(
        f"{words}, before {at.words(barrier.following)}.",
        basis,
        ("the module that is lowered to LLVM" if is_seen else _RULES)
        + ("" if is_one else ", and the order of the barriers of this operation"),
        (
            *((maker,) if maker and barrier.source == "compiler" else ()),
            *at.links([barrier.following]),
        ),
    )
    for hazard in barrier.hazards:
        yield _hazard(function, hazard, at)
    if not barrier.hazards:
        yield WhyFact(barrier.reason, "modelled", _RULES)


def _copied(count: int, copies: int) -> WhyFact:
    return WhyFact(
        f"It has been copied, as where LLVM unrolls a loop: {counted(copies, 'barrier')} of this stage come "
        f"from the operation, for {count} in the module.",
        "inferred",
        "the number of barriers with this location",
    )


def _hazard(function: FunctionMap, hazard: HazardMap, at: Citations) -> WhyFact:
    is_read, was_read = hazard.kind == "read after write", hazard.kind == "write after read"
    done = "read" if was_read else "written"
    names = _names(function, sorted({hazard.before_buffer, hazard.after_buffer}))
    span = f"bytes {hazard.first_byte:,} to {hazard.end_byte - 1:,} ({names})"
    before, after = at.words(hazard.before), at.words(hazard.after)
    if hazard.races:
        source, could = _ACCESSES, "read" if is_read else "overwrite"
        slot, it = ("a slot in ", "it") if _is_slotted(function, hazard) else ("", "them")
        iteration = _EARLIER.get(hazard.iterations, f" {hazard.iterations} iterations before")
        text = (
            f"Without it, {after} could {could} {slot}{span} before {before} has {done} {it}{iteration}: "
            f"{hazard.kind}."
        )
    else:
        source, does = _RULES, "reads" if is_read else "writes"
        pair = f"{after} {does} them after {before} has {done} them"
        text = (
            f"By the rules of the compiler, it orders this pair: of {span}, {pair}. No access that conflicts "
            "without the barrier was found."
            if hazard.overlaps
            else f"The compiler's barrier analysis takes {span} as a whole: {pair}. But the two use "
            "different slots, and so have no bytes in common: the barrier is not needed for them."
        )
    return WhyFact(text, "modelled", source, at.links([hazard.before, hazard.after]))


def _is_slotted(function: FunctionMap, hazard: HazardMap) -> bool:
    slots = {each.index: each.slots for each in function.buffers}
    return hazard.before_buffer == hazard.after_buffer and slots.get(hazard.before_buffer, 1) > 1


def _inside(buffer: BufferMap, at: Citations) -> Iterator[WhyFact]:
    first, last = buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes - 1
    yield WhyFact(
        f"{at.words(buffer.first)} is lowered to stores into its scratch buffer, bytes {first:,} to "
        f"{last:,}, this barrier, and loads from there: values go to other warps.",
        "inferred",
        "line information, and the order of the barriers of this operation",
        at.links([buffer.first]),
    )


def _names(function: FunctionMap, indices: Sequence[int]) -> str:
    by_index = {each.index: each for each in function.buffers}
    return listed(code(by_index[index].name) for index in indices if index in by_index)
