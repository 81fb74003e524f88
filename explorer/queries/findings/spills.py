"""Spills: a thread has too few registers, so that values go to local memory and come back."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.mlir.tensor_registers import LiveRange, pressure
from explorer.queries.findings.case import Case, NotChecked
from explorer.queries.findings.changes import more_warps, smaller_blocks
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.why_facts import code, counted, listed

TITLE = "Spilled registers"
#: Measured on an H200: to avoid fewer bytes per thread makes kernels slower as often as faster.
_MANY_BYTES = 256
#: The tensors that are named need at least this share of the registers of all, unless there are too many.
_NAMED = 0.75
_MOST_TENSORS = 5
#: A line counts if it has at least this share of the spill instructions of the line that has the most.
_MANY_SPILLS = 1 / 3
#: The names of the values that say what spills store and load.
SPILL_VALUES = ("bytes stored by spills, per thread", "bytes loaded by spills, per thread")


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for the binary if it spills, unless ptxas has fallen back to few registers."""
    if (
        case.resources.registers is not None
        and spilled_bytes(case) >= _MANY_BYTES
        and not case.diagnostics("register_cliff")
    ):
        yield finding_of_spills(case, "spills")


def spilled_bytes(case: Case) -> int:
    """Return the bytes that the spills of a thread store and load."""
    return sum(_stored_and_loaded(case))


def spill_words(case: Case) -> str:
    """Return the bytes of the spills of a thread, as the end of a sentence. A value can be loaded often."""
    stored, loaded = _stored_and_loaded(case)
    return f"spill instructions of a thread store {counted(stored, 'byte')} and load {loaded:,}"


def _stored_and_loaded(case: Case) -> tuple[int, int]:
    return case.resources.spill_stores_bytes or 0, case.resources.spill_loads_bytes or 0


def finding_of_spills(case: Case, rule: str, text: str = "") -> Finding:
    """Return a finding about spills, whose cause are the tensors that are alive at once.

    The usual text names the largest tensor if it does not fit, otherwise the registers of all. The line of
    TTGIR where tensors need the most is one of the source lines with the spill instructions.
    """
    resources, (stored, loaded) = case.resources, _stored_and_loaded(case)
    registers, stack = resources.registers or 0, resources.stack_bytes
    line, most, alive = _largest(case)
    limit = case.target.device.multiprocessor.registers_of_a_thread(resources.threads or 1)
    source_line = case.source_line(line) or (case.source_line(alive[0].first) if alive else 0)
    return Finding(
        rule=rule,
        severity="warning",
        text=text or _text(case, alive, most, registers),
        evidence=(
            Value(SPILL_VALUES[0], stored, "B", "observed"),
            Value(SPILL_VALUES[1], loaded, "B", "observed"),
            *([] if stack is None else [Value("stack of a thread", stack, "B", "observed")]),
            Value("registers per thread", registers, "", "observed"),
            *([Value("registers of the tensors alive at once", most, "", "modelled")] if alive else []),
        ),
        cause=(
            f"The tensors alive at once need {counted(most, 'register')}, and a thread can have {limit}: "
            f"{listed(_names(case, alive, most))}."
            if most > registers
            else ""
        ),
        advice="Use more warps or a smaller tile, so that a thread holds less of each tensor.",
        source_line=source_line,
        ttgir_line=line,
        cost=(
            Cost(
                (most - limit) / most, "registers that the tensors alive at once need are missing", "modelled"
            )
            if most > limit
            else None
        ),
        changes=(*more_warps(case, most), *smaller_blocks(case, _sizes(alive))),
        tour="occupancy",
        terms=("spill", "register-pressure"),
    )


def _text(case: Case, alive: list[LiveRange], most: int, registers: int) -> str:
    if not alive:
        return f"{registers} registers are not enough for a thread: {spill_words(case)}."
    largest = alive[0].registers > registers or most <= registers
    name, needed = (
        (f"{_name(case, alive[0])} needs", alive[0].registers)
        if largest
        else ("The tensors alive at once need", most)
    )
    words = f"{name} {counted(needed, 'register')} of a thread, which has {registers}; {spill_words(case)}."
    return words[0].upper() + words[1:]


def _largest(case: Case) -> tuple[int, int, list[LiveRange]]:
    """Return the line of TTGIR where tensors need the most registers, the sum, and the tensors.

    It is a line of a source line with many of the spill instructions, if tensors need more than a thread has
    there. Addresses do not count: the assembler computes them again rather than keep them.
    """
    try:
        document = case.tensors
    except NotChecked:
        return 0, 0, []
    held = [each for each in document.tensors if "!tt.ptr" not in each.type]
    sums = pressure(held, len(document.pressure))
    spills = case.spill_lines
    with_spills = {line for line, count in spills.items() if count >= _MANY_SPILLS * max(spills.values())}
    there = [
        count * (source in with_spills) for count, source in zip(sums, document.source_lines, strict=False)
    ]
    if max(there, default=0) > (case.resources.registers or 0):
        sums = there
    most = max(sums, default=0)
    line = sums.index(most) + 1 if sums else 0
    alive = [each for each in held if each.registers and each.first <= line < max(each.last, each.first + 1)]
    return line, most, sorted(alive, key=lambda each: (-each.registers, each.name not in case.variables))


def _sizes(alive: list[LiveRange]) -> set[int]:
    """Return the sizes of the tensors that need at least half of the registers of the largest."""
    large = (each.type.split()[0] for each in alive if 2 * each.registers >= alive[0].registers)
    return {int(size) for shape in large for size in shape.split("×")}


def _names(case: Case, alive: list[LiveRange], most: int) -> Iterator[str]:
    """Yield the largest tensors, each with its registers. Several values can belong to one variable."""
    held: dict[tuple[str, str], list[int]] = {}
    for each in alive:
        held.setdefault((_name(case, each), " ".join(each.type.split()[:2])), []).append(each.registers)
    left = most
    for (name, type_), registers in sorted(held.items(), key=lambda each: -sum(each[1]))[:_MOST_TENSORS]:
        if left <= (1 - _NAMED) * most:
            return
        times = f"{len(registers)} × " if len(registers) > 1 else ""
        yield f"{name} ({times}{type_}) needs {sum(registers):,}"
        left -= sum(registers)


def _name(case: Case, each: LiveRange) -> str:
    """Return the variable that a tensor is, otherwise what it is, and the line that computes it."""
    if name := case.variables.get(each.name):
        return code(name)
    line = case.source_line(each.first)
    what = "a mask" if each.element_bits == 1 else "a tensor"
    return f"{what} of line {line}" if line else what
