"""The query for the compile time and the code size: time by pass, instructions by source line, the cause.

The cause is named only if it stands out: a tensor of which a thread holds more elements than it has
registers, or an unrolled loop whose further copies are most of the instructions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import msgspec

from explorer.analysis.assembly.operations import operation_lines
from explorer.analysis.mlir.operations import operation_name
from explorer.analysis.python_loops import CopiedLoop, PythonSource
from explorer.documents.lines import shortened
from explorer.model.answers import Layouts, TensorLayout
from explorer.model.hardware import find_target
from explorer.queries.query import Query, Subject
from explorer.queries.stage_lines import source_lines
from explorer.queries.tensor_registers import elements_per_thread
from explorer.queries.why_facts import code, counted
from explorer.store import Record

#: The stages whose operations are counted, in the order of lowering.
_COUNTED = ("ttir", "ttgir", "llir", "ptx", "amdgcn")
_ASSEMBLIES = ("ptx", "amdgcn")
#: The pass that makes the first module is not one of MLIR.
_AST_WALK = "ast-to-ttir"
_ASSEMBLERS = {"cubin": "ptxas", "hsaco": "assembler and linker"}
#: Operations that only repeat, shape, move or carry a tensor: they do not say where its size comes from.
_FOLLOWING = frozenset(
    {
        "arith.constant",
        "scf.for",
        "scf.if",
        "scf.while",
        "tt.splat",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.trans",
        "ttg.convert_layout",
    }
)
_MOST_LINES = 500
_MOST_TENSORS = 20


class StepTime(msgspec.Struct, frozen=True):
    """The time of a part of the compilation."""

    name: str
    milliseconds: float


class PassTime(msgspec.Struct, frozen=True):
    """The time of all runs of a pass on the way to a stage. `index` is the run that took the longest."""

    stage: str
    name: str
    runs: int
    milliseconds: float
    index: int


class LineCount(msgspec.Struct, frozen=True):
    """The operations from a source line (0: none), by the names of the stages."""

    line: int
    text: str
    operations: dict[str, int]


class TensorSize(msgspec.Struct, frozen=True):
    """A tensor of TTGIR, defined in line `ttgir_line`, whose elements `threads` threads share.

    `source_line` is 0 if it is not known. `expression` is the source text that makes the tensor: an
    expression, or the line if the compiler does not say more, or "".
    """

    name: str
    operation: str
    shape: tuple[int, ...]
    element: str
    elements_per_thread: int
    threads: int
    ttgir_line: int
    source_line: int
    expression: str = ""


class Cause(msgspec.Struct, frozen=True):
    """Why the code is long, and its compilation slow, with advice.

    `shape` is that of the tensor that is the cause; (): a loop is.
    """

    text: str
    advice: str
    source_line: int
    shape: tuple[int, ...] = ()


class CompileTimeDocument(msgspec.Struct, frozen=True):
    """The times of a compilation and the sizes of its stages.

    `milliseconds` is the time of the whole job, null for a captured kernel. The last of `steps` is the rest.
    `lines` have the most instructions first, and `tensors` the most elements per thread. `operations` are the
    sums of the stages. `cause` is null if no single cause stands out.
    """

    milliseconds: float | None
    steps: list[StepTime]
    passes: list[PassTime]
    operations: dict[str, int]
    lines: list[LineCount]
    tensors: list[TensorSize]
    cause: Cause | None


def _find(subject: Subject) -> CompileTimeDocument:
    record = subject.record
    lines = _lines(record)
    sources = _Sources(record)
    tensors = [_with_expression(record, sources, each) for each in _tensors(subject)[:_MOST_TENSORS]]
    milliseconds = record.result.done.milliseconds if record.result.done else None
    if record.request.captured is not None:
        milliseconds = None
    return CompileTimeDocument(
        milliseconds,
        _steps(record, milliseconds),
        _passes(record),
        {name: sum(each.operations.get(name, 0) for each in lines) for name in _counted(record)},
        lines[:_MOST_LINES],
        tensors,
        _cause(record, sources, [each for each in tensors if not _is_replicated(each)][:1]),
    )


def _steps(record: Record, milliseconds: float | None) -> list[StepTime]:
    """Return the times of the AST walk, of MLIR, of LLVM, of the assembler, and of everything else."""
    stages, binary = record.result.stages, record.result.binary
    passes = record.result.passes.values()
    times = {
        "AST walk": sum(each.milliseconds for each in passes if each.name == _AST_WALK),
        "MLIR passes": sum(each.milliseconds for each in passes if each.name != _AST_WALK),
        # The step to LLVM IR begins with passes of MLIR.
        "LLVM": sum(stages[name].milliseconds for name in ("llir", *_ASSEMBLIES) if name in stages)
        - sum(each.milliseconds for each in passes if each.stage == "llir"),
    }
    if binary is not None and binary.milliseconds is not None:
        times[_ASSEMBLERS.get(binary.name, "assembler")] = binary.milliseconds
    if milliseconds is not None:
        times["script, printing and disassembly"] = milliseconds - sum(times.values())
    return [StepTime(name, round(time, 3)) for name, time in times.items() if time > 0]


def _passes(record: Record) -> list[PassTime]:
    """Return the passes with their times, the longest first."""
    runs: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for index, each in record.result.passes.items():
        runs.setdefault((each.stage, each.name), []).append((each.milliseconds, index))
    times = [
        PassTime(stage, name, len(each), round(sum(time for time, _ in each), 3), max(each)[1])
        for (stage, name), each in runs.items()
    ]
    return sorted(times, key=lambda each: -each.milliseconds)


def _counted(record: Record) -> list[str]:
    return [name for name in _COUNTED if name in record.result.stages]


def _lines(record: Record) -> list[LineCount]:
    """Count the operations of the stages by source line, the line with the most instructions first."""
    counts: dict[int, Counter[str]] = {}
    for name in _counted(record):
        stage = record.stage(name)
        lines = source_lines(record, stage)
        for number, is_one in enumerate(operation_lines(record.lines(stage.text), stage.language)):
            if is_one:
                line = lines[number] if number < len(lines) else 0
                counts.setdefault(line, Counter())[name] += 1
    texts = record.source_numbers.texts
    rows = [
        LineCount(line, shortened(texts[line - 1].strip()) if 0 < line <= len(texts) else "", dict(found))
        for line, found in counts.items()
    ]
    last = (_counted(record) or [""])[-1]
    return sorted(rows, key=lambda each: (-each.operations.get(last, 0), each.line))


class _Sources:
    """The files of a compilation, as syntax trees. Lines are numbered through all files."""

    def __init__(self, record: Record) -> None:
        self._files = record.source_numbers.files
        texts = record.source_numbers.texts
        self._trees = [
            PythonSource("\n".join(texts[each.first_line - 1 : each.last_line])) for each in self._files
        ]

    def copied_loops(self, record: Record) -> Iterator[CopiedLoop]:
        specialized = record.result.specialized
        arguments = specialized.arguments if specialized else ()
        constants = {each.name: each.value for each in arguments if each.type == "constexpr"}
        for file, tree in zip(self._files, self._trees, strict=True):
            for loop in tree.copied_loops(record.kernel or "", constants):
                before = file.first_line - 1
                yield CopiedLoop(loop.line + before, loop.last_line + before, loop.call, loop.copies)

    def expression_at(self, line: int, column: int, *, is_call: bool) -> str:
        for file, tree in zip(self._files, self._trees, strict=True):
            if file.first_line <= line <= file.last_line:
                return tree.expression_at(line - file.first_line + 1, column, is_call=is_call)
        return ""


def _tensors(subject: Subject) -> list[TensorSize]:
    """Return the tensors in registers, the most elements per thread first, then in the order of the text."""
    record = subject.record
    if "ttgir" not in record.result.stages:
        return []
    stage = record.stage("ttgir")
    text = record.text(stage.text)
    lines = text.split("\n")
    located = source_lines(record, stage)
    found = []
    for layout in subject.ask_compiler("layouts", text, Layouts).layouts:
        if layout.memory != "registers" or layout.bases is None:
            continue
        elements, threads = elements_per_thread(layout), _threads(layout)
        for value in layout.values:
            if 0 < value.line <= len(located):
                name, line = operation_name(lines[value.line - 1]), located[value.line - 1]
                what = (value.name, name, layout.shape, layout.element)
                found.append(TensorSize(*what, elements, threads, value.line, line))
    found.sort(key=lambda each: (-each.elements_per_thread, each.operation in _FOLLOWING, each.ttgir_line))
    return found


def _with_expression(record: Record, sources: _Sources, tensor: TensorSize) -> TensorSize:
    """Add the source text that makes a tensor: the expression at the operation's position, or the line."""
    stored, numbers = record.locations(record.stage("ttgir")), record.source_numbers
    positions = [
        [(line, each.column) for each in place.frames if (line := numbers.number(each.file, each.line))]
        for place in stored.locations
    ]
    own = stored.line_locations[tensor.ttgir_line - 1][:1]
    line, column = next((each for index in own for each in positions[index]), (0, 0))
    # Triton 3.6 counts columns from 0, and gives an operation the position of its last argument.
    has_positions = all(column for each in positions for _, column in each)
    is_call = tensor.operation.partition(".")[0] != "arith"
    expression = sources.expression_at(line, column, is_call=is_call) if has_positions else ""
    texts = numbers.texts[line - 1 : line] if line else ()
    return msgspec.structs.replace(
        tensor, expression=shortened(expression or "".join(texts).partition("#")[0].strip())
    )


def _is_replicated(tensor: TensorSize) -> bool:
    """Return whether several threads hold the same elements, as operands of products: not all at once."""
    return tensor.elements_per_thread * tensor.threads > math.prod(tensor.shape)


def _threads(layout: TensorLayout) -> int:
    """Return the number of threads that a layout distributes a tensor over."""
    assert layout.bases is not None
    return math.prod(2 ** len(each.bases) for each in layout.bases.inputs if each.name in ("lane", "warp"))


def _cause(record: Record, sources: _Sources, largest: list[TensorSize]) -> Cause | None:
    """Return the cause that multiplies the instructions the most, if one stands out."""
    causes = [*_large_tensor(record, largest), *_copied_loop(record, sources)]
    return max(causes, key=lambda each: each[0])[1] if causes else None


def _large_tensor(record: Record, largest: list[TensorSize]) -> Iterator[tuple[int, Cause]]:
    registers = find_target(record.request.target).device.multiprocessor.registers_per_thread
    for tensor in largest:
        if tensor.elements_per_thread <= registers:
            continue
        what = code(tensor.expression or tensor.name)
        where = f" in {record.source_numbers.words(tensor.source_line)}" if tensor.source_line else ""
        size = f"{math.prod(tensor.shape):,}"
        text = (
            f"{what}{where} has {size} elements: on {counted(tensor.threads, 'thread')}, that is "
            f"{counted(tensor.elements_per_thread, 'element')} per thread, and a thread has at most "
            f"{registers} registers. Each element has its own instructions."
        )
        advice = "Use a smaller tile or more warps, so that each thread has fewer elements."
        yield tensor.elements_per_thread, Cause(text, advice, tensor.source_line, tensor.shape)


def _copied_loop(record: Record, sources: _Sources) -> Iterator[tuple[int, Cause]]:
    name = next((each for each in reversed(_counted(record)) if each not in ("ttir", "ttgir")), "")
    loops = list(sources.copied_loops(record)) if name else []
    if not loops:
        return
    stage = record.stage(name)
    stored, numbers = record.locations(stage), record.source_numbers
    # The instructions of called functions belong to the loop with the call.
    callers = [{numbers.number(each.file, each.line) for each in place.frames} for place in stored.locations]
    is_operation = operation_lines(record.lines(stage.text), stage.language)
    operations: Counter[tuple[int, ...]] = Counter(
        indices[:1] for is_one, indices in zip(is_operation, stored.line_locations, strict=False) if is_one
    )
    for loop in loops:
        lines = range(loop.line + 1, loop.last_line + 1)
        inside = sum(
            count
            for indices, count in operations.items()
            if any(line in lines for index in indices for line in callers[index])
        )
        copies = loop.copies
        further = inside if copies is None else inside - inside // max(copies, 1)
        if 2 * further > sum(is_operation):
            times = "" if copies is None else f" {copies:,} times"
            text = (
                f"The loop in {numbers.words(loop.line)} is unrolled{times} ({code(loop.call)}): "
                f"{inside:,} of {sum(is_operation):,} instructions of {stage.title} come from its body."
            )
            plain = loop.call.rpartition(".")[0]
            advice = f"Use {code(f'{plain}.range' if plain else 'range')} without unrolling, or fewer turns."
            yield copies or 1, Cause(text, advice, loop.line)


QUERY = Query(
    name="compile_time",
    summary="Time by pass, instructions by source line, elements per thread, and why the code is long.",
    version=4,
    document=CompileTimeDocument,
    find=_find,
)
