"""The changes of a launch that rules propose: more or fewer warps, stages, and elements of a tile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from explorer.analysis.block_sizes import BlockUse
from explorer.analysis.mlir.texts import buffer_sizes, tensor_sizes
from explorer.model import LineEdit
from explorer.model.limits import MOST_EDITS
from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Change
from explorer.queries.why_facts import code, listed_lines

_MOST_STAGES = 5
_LOOP_STAGES = (3, 4)


def more_warps(case: Case, needed_registers: int = 0) -> Iterator[Change]:
    """Propose twice the warps, and twice as many again.

    The first number is larger if with twice the warps, a thread still needs more than twice its registers.
    The assembler does with fewer than the model says, because it computes some values again.
    """
    warps, processor = case.options.get("num_warps"), case.target.device.multiprocessor
    if not isinstance(warps, int):
        return
    first, most = 2 * warps, processor.warps_per_block
    while 2 * first <= most:
        possible = processor.registers_of_a_thread(first * processor.warp_size)
        if needed_registers * warps <= 2 * first * possible:
            break
        first *= 2
    for count in range(first, min(2 * first, most) + 1, first):
        yield Change(f"warps {warps} → {count}", {"num_warps": count})


def fewer_warps(case: Case) -> Iterator[Change]:
    """Propose half of the warps."""
    warps = case.options.get("num_warps")
    if isinstance(warps, int) and warps > 1:
        yield Change(f"warps {warps} → {warps // 2}", {"num_warps": warps // 2})


def smaller_blocks(
    case: Case, of_sizes: Collection[int] | None = None, *, of_loops: bool = False
) -> Iterator[Change]:
    """Propose half of each size of a tile, the largest first, and then half of all.

    `of_sizes` are the sizes of the tensors in question; None: of all tensors. With `of_loops`, only sizes
    that make more turns of a loop, but not more programs.
    """
    sizes = {
        name: size
        for name, (size, use) in _block_sizes(case).items()
        if not (of_loops and use.by_grid) and (of_sizes is None or size in of_sizes)
    }
    for name, size in sizes.items():
        yield Change(f"{name} {size} → {size // 2}", constants={name: size // 2})
    if len(sizes) > 1:
        halves = {name: size // 2 for name, size in sizes.items()}
        words = ", ".join(f"{name} {size} → {size // 2}" for name, size in sizes.items())
        yield Change(words, constants=dict(halves))


def larger_blocks(case: Case, of_sizes: Collection[int]) -> Iterator[Change]:
    """Propose twice each size of a tile that is one of `of_sizes`, so that there are fewer programs.

    A size is left out if with twice of it, the buffers of the loops do not fit into shared memory.
    """
    possible = case.target.device.multiprocessor.shared_bytes_per_block
    buffers = buffer_sizes(case.ttgir)
    for name, (size, use) in _block_sizes(case).items():
        needed = sum(count * (1 + (size in sizes)) for sizes, count in buffers)
        if use.by_grid and size in of_sizes and needed <= possible:
            yield Change(f"{name} {size} → {2 * size}", constants={name: 2 * size})


def stages(case: Case, *, more: bool) -> Iterator[Change]:
    """Propose more pipeline stages than now, or fewer, the smallest change first."""
    now = case.options.get("num_stages")
    if isinstance(now, int) and not isinstance(now, bool):
        for count in range(max(now, 1) + 1, _MOST_STAGES) if more else range(now - 1, 0, -1):
            yield Change(f"stages {now} → {count}", {"num_stages": count})


def loop_stages(case: Case, line: int) -> Iterator[Change]:
    """Propose a number of stages for the loop at a line of the source."""
    for count in _LOOP_STAGES:
        yield from line_changes([case.editable.with_stages(line, count)])


def without_masks(case: Case, lines: Collection[int]) -> Iterator[Change]:
    """Propose accesses without their masks, in lines where these are always true in the launch."""
    edits = case.editable.without_masks(case.full_masks & {*lines})
    yield from line_changes(edits, "no mask, because all elements are inside: this must hold in every launch")


def line_changes(
    edits: Iterable[LineEdit | None],
    words: str = "",
    *,
    may_be_faster: bool = True,
    is_exact: bool = True,
    is_correction: bool = False,
) -> tuple[Change, ...]:
    """Return the change of lines of the source, which `words` describe, otherwise the first new line.

    There is none without lines, or with more lines than a configuration can change.
    """
    found = tuple(each for each in edits if each is not None)
    if not 0 < len(found) <= MOST_EDITS:
        return ()
    lines = listed_lines(each.line for each in found).capitalize()
    text = f"{lines}: {words or code(found[0].text.strip())}"
    return (Change(text, {}, {}, found, may_be_faster, is_exact, is_correction),)


def _block_sizes(case: Case) -> dict[str, tuple[int, BlockUse]]:
    """Return the constexpr arguments by which programs or turns share the work, the largest first."""
    specialized = case.result.specialized
    used = tensor_sizes(case.ttgir)
    found = {
        each.name: (each.value, use)
        for each in (specialized.arguments if specialized else ())
        if each.type == "constexpr"
        and isinstance(each.value, int)
        and not isinstance(each.value, bool)
        and each.value > 1
        and each.value & (each.value - 1) == 0
        and each.value in used
        and (use := case.block_uses.get(each.name))
        and (use.by_grid or use.by_loop)
    }
    return dict(sorted(found.items(), key=lambda each: -each[1][0]))
