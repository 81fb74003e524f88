"""Why a buffer of shared memory exists, its lifetime, and the accesses that a barrier separates.

In: the answer to `allocation`, and lines of the module after the pass that allocates. The allocation is the
compiler's. The accesses of each operation to a buffer, and so the hazards of a barrier, are modeled by the
compiler's rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from explorer.analysis.memory.barriers import WAITS
from explorer.analysis.memory.memory_map_types import BarrierMap, BufferMap, FunctionMap, HazardMap, Place
from explorer.analysis.memory.shared_memory import effect_of
from explorer.queries.why_facts import Basis, WhyFact, WhyLink, code, counted, listed

_WHERE = "lines are those after the pass that allocates"
_ALLOCATION = f"the compiler's allocation; {_WHERE}"
_RULES = f"the rules of the compiler's barrier analysis; {_WHERE}"
_DEFINITIONS = f"the definitions of Triton's operations; {_WHERE}"

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


def buffers_at(
    functions: Sequence[FunctionMap], lines: Sequence[int]
) -> Iterator[tuple[FunctionMap, BufferMap]]:
    """Yield the buffers that the operations in these lines of the allocating module own."""
    for function in functions:
        for buffer in function.buffers:
            if buffer.use != "virtual" and buffer.first.line in lines:
                yield function, buffer


def buffer_facts(function: FunctionMap, buffer: BufferMap) -> Iterator[WhyFact]:
    """Yield the place, users and lifetime of a buffer, and the buffers that share its bytes."""
    first, last = buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes - 1
    slots = (
        f": {buffer.slots} slots of {counted(buffer.size_bytes // buffer.slots, 'byte')}"
        if buffer.slots > 1
        else ""
    )
    owner = f"{code(buffer.first.operation)} in line {buffer.first.line} of the module"
    kind = "needs it as scratch while it runs" if buffer.use == "scratch" else "allocates it"
    yield WhyFact(
        f"{owner} {kind}: {counted(buffer.size_bytes, 'byte')}, from byte {first:,} to {last:,}{slots}.",
        "observed",
        _ALLOCATION,
        _links(function, [buffer.first]),
    )
    if buffer.use != "scratch":
        yield from _users(function, buffer)
        yield WhyFact(
            f"It lives from operation {buffer.start} to {buffer.end - 1}: the last that may use it is "
            f"{_words(buffer.last)}.",
            "observed",
            _ALLOCATION,
            _links(function, [buffer.last]),
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


def _users(function: FunctionMap, buffer: BufferMap) -> Iterator[WhyFact]:
    for verb, letter in (("writes", "w"), ("reads", "r")):
        users = [
            each
            for each in (buffer.first, *buffer.uses)
            if letter in effect_of(each.operation, is_mbarrier=buffer.holds_mbarriers)
        ]
        if users:
            names = listed(f"{code(each.operation)} in line {each.line} of the module" for each in users)
            plural = verb if len(users) == 1 else verb.removesuffix("s")
            yield WhyFact(
                f"{names} {plural} it.",
                "modelled",
                _DEFINITIONS,
                _links(function, users),
            )


def fence_facts(functions: Sequence[FunctionMap], lines: Sequence[int]) -> Iterator[WhyFact]:
    """Yield the accesses that the fence in these lines of the allocating module orders."""
    for function in functions:
        fences = sorted(each.place.position for each in function.marks if each.kind == "fence")
        own = [each.place for each in function.marks if each.kind == "fence" and each.place.line in lines]
        found = [fact for fence in own for fact in _ordered(function, fence, fences)]
        yield from found
        if own and not found:
            yield WhyFact(
                "It orders writes to shared memory by threads before reads by the tensor cores or the TMA. "
                "The module does not say which ones.",
                "inferred",
                _DEFINITIONS,
            )


def _ordered(function: FunctionMap, fence: Place, fences: Sequence[int]) -> Iterator[WhyFact]:
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
            if fence.position == next((at for at in fences if at > each.position), None)
        ]
        readers = [each for each in buffer.uses if _has_name(each, _BY_ASYNC_PROXY)]
        # In a loop, the reads of the next turn can stand before the fence.
        after = [each for each in readers if each.position > fence.position] or readers
        if before and after:
            yield WhyFact(
                f"It orders the write of {listed(map(_words, before))} (generic proxy) before the read of "
                f"{listed(map(_words, after))} (async proxy). Without it, the read could miss what threads "
                f"have written to {code(buffer.name)}.",
                "modelled",
                _DEFINITIONS,
                _links(function, [*before, *after]),
            )


def _has_name(place: Place, names: Sequence[str]) -> bool:
    return place.operation.rpartition(".")[2] in names


def barrier_facts(
    functions: Sequence[FunctionMap], lines: Sequence[int], ordinal: int, count: int, maker: WhyLink | None
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
            yield from _placed(function, before[ordinal % len(before)], is_one, maker)
            if count > len(before) and not scratch:
                yield _copied(len(before), count)
        else:
            yield from _inside(function, scratch[0])
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
    function: FunctionMap, barrier: BarrierMap, is_one: bool, maker: WhyLink | None
) -> Iterator[WhyFact]:
    words = {
        "program": "It stands in the module before memory is allocated",
        "compiler": f"{code(maker.label) if maker else 'A pass'} has put it in",
        "modelled": "The lowering to LLVM puts it in",
    }[barrier.source]
    is_seen = barrier.source != "modelled"
    basis: Basis = "inferred" if not is_one else "observed" if is_seen else "modelled"
    yield WhyFact(
        f"{words}, before {_words(barrier.following)}.",
        basis,
        ("the module that is lowered to LLVM" if is_seen else _RULES)
        + ("" if is_one else ", and the order of the barriers of this operation"),
        (
            *((maker,) if maker and barrier.source == "compiler" else ()),
            *_links(function, [barrier.following]),
        ),
    )
    for hazard in barrier.hazards:
        yield _hazard(function, hazard)
    if not barrier.hazards:
        yield WhyFact(barrier.reason, "modelled", _RULES)


def _copied(count: int, copies: int) -> WhyFact:
    return WhyFact(
        f"It has been copied, as where LLVM unrolls a loop: {counted(copies, 'barrier')} of this stage come "
        f"from the operation, for {count} in the module.",
        "inferred",
        "the number of barriers with this location",
    )


def _hazard(function: FunctionMap, hazard: HazardMap) -> WhyFact:
    could = "read" if hazard.kind == "read after write" else "overwrite"
    done = "read" if hazard.kind == "write after read" else "written"
    names = _names(function, sorted({hazard.before_buffer, hazard.after_buffer}))
    iteration = " of the iteration before" if hazard.around_loop else ""
    return WhyFact(
        f"Without it, {_words(hazard.after)} could {could} bytes {hazard.first_byte:,} to "
        f"{hazard.end_byte - 1:,} ({names}) before {_words(hazard.before)}{iteration} has {done} them: "
        f"{hazard.kind}.",
        "modelled",
        _RULES,
        _links(function, [hazard.before, hazard.after]),
    )


def _inside(function: FunctionMap, buffer: BufferMap) -> Iterator[WhyFact]:
    first, last = buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes - 1
    yield WhyFact(
        f"{_words(buffer.first)} is lowered to stores into its scratch buffer, bytes {first:,} to {last:,}, "
        "this barrier, and loads from there: values go to other warps.",
        "inferred",
        "line information, and the order of the barriers of this operation",
        _links(function, [buffer.first]),
    )


def _words(place: Place) -> str:
    return (
        f"{code(place.operation)} in line {place.line} of the module" if place.line else code(place.operation)
    )


def _names(function: FunctionMap, indices: Sequence[int]) -> str:
    by_index = {each.index: each for each in function.buffers}
    return listed(code(by_index[index].name) for index in indices if index in by_index)


def _links(function: FunctionMap, places: Sequence[Place]) -> tuple[WhyLink, ...]:
    return tuple(
        WhyLink(f"{each.operation}, line {each.line} of the module", "", function.pass_index, each.line)
        for each in dict.fromkeys(places)
        if each.line
    )[:4]
