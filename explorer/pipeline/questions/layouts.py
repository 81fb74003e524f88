"""The layouts of a TTGIR module, as the compiler's own layout engine says them.

In: the text of a module with layouts, printed without locations. Out: `Layouts`: for each encoding, shape and
element the linear layout; the operations that move data, with the layouts of their operands.

What aborts the compiler is asked in a copy of the process (`isolation`).

Source: python/src/gluon_ir.cc of Triton 3.6 and 3.9 (`to_linear_layout`, `get_shared_bank_conflicts`,
`is_convert_layout_trivial`).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from explorer.model import Diagnostic, Request
from explorer.pipeline.errors import UserError
from explorer.pipeline.questions.axis_information import AxisByLine, AxisInformation, axis_information
from explorer.pipeline.questions.isolation import Refused, in_copies
from explorer.pipeline.questions.layout_types import Aliases, LaidOutType, element_bits, kind_of
from explorer.pipeline.questions.linear_bases import Bases, bases_of
from explorer.pipeline.questions.module_operations import (
    FoundOperation,
    FoundValue,
    ModuleText,
    operations_of,
)
from explorer.pipeline.targets import Target
from explorer.pipeline.tool_output import ToolOutput

#: Operations that move data, or multiply it. Others are told of by the values that they define.
_TOLD = re.compile(
    r"ttg\.(convert_layout|async_copy_global_to_local|local_(alloc|load|store))|"
    r"tt\.(load|store|atomic_\w+|descriptor_(load|store|gather|scatter|reduce)|dot|dot_scaled)|"
    r"ttng\.(async_tma_(copy|gather|scatter|reduce)\w*|warp_group_dot|tc_gen5_mma(_scaled)?|"
    r"tmem_(alloc|load|store|copy))|"
    r"(amdg|amdgpu)\.(buffer_(load|store|atomic)\w*|in_thread_transpose)"
)
_SHARED_ACCESSES = ("ttg.local_load", "ttg.local_store", "ttg.local_alloc")
_MOST_LAYOUTS = 2000
#: The module's own attribute that the first TTGIR pass adds.
_CONVERTED = '"ttg.num-warps" = '
_PARSE_ERROR = re.compile(r'loc\(".*?":(\d+):\d+\): error: (.*?)\.?$')
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class LayoutValue:
    """A value of the module's text, and the line that defines it."""

    name: str
    line: int


@dataclass(frozen=True)
class TensorLayout:
    """How one encoding lays out tensors of one shape and element.

    `label` is the encoding as the text has it. `shape` is that of the tensor; `bases` are for its last
    dimensions only where there are several buffers, and for the whole buffer where it is a part of one.
    Without `bases`, `reason` says why.
    """

    label: str
    encoding: str
    kind: str
    memory: Literal["registers", "shared", "tensor memory"]
    shape: tuple[int, ...]
    element: str
    element_bits: int
    bases: Bases | None
    reason: str
    values: tuple[LayoutValue, ...]


@dataclass(frozen=True)
class Operand:
    """A value that an operation takes or makes; `layout` is an index, None where it has none."""

    name: str
    type: str
    layout: int | None


@dataclass(frozen=True)
class Operation:
    """An operation that moves data, with what the compiler says of it.

    `bank_conflicts` are excess wavefronts of each plain access; where there are none, it was not asked for,
    or `refusal` says why not.
    `is_trivial` says of a conversion that nothing moves.
    """

    name: str
    line: int
    text: str
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...]
    bank_conflicts: int | None
    is_trivial: bool | None
    refusal: str
    pointer: AxisInformation | None
    mask: AxisInformation | None


@dataclass(frozen=True)
class Layouts:
    """All layouts of a module and the operations that move data between them."""

    layouts: tuple[TensorLayout, ...]
    operations: tuple[Operation, ...]
    axis_refusal: str


def layouts(request: Request, target: Target) -> Layouts:
    """Find the layouts of the module whose text is `request.source`.

    Raises:
        UserError: the text is no module, or has no layouts.
    """
    text = ModuleText(request.source)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.mlir"
        path.write_text(request.source, encoding="utf-8")
        context, module = parse_module(path, target)
        axis, axis_refusal = axis_information(request.source, target, folder)
    operations = list(operations_of(module, text))
    return _Survey(context, operations, Aliases(request.source), text, target).answer(axis, axis_refusal)


def parse_module(path: Path, target: Target) -> tuple[Any, Any]:
    """Parse a module's text; return its context and the module.

    Raises:
        UserError: it is none.
    """
    from triton._C import libtriton
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    getattr(libtriton, target.passes_namespace).load_dialects(context)
    with ToolOutput().active() as output:
        try:
            module = ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:
            raise UserError(
                Diagnostic("error", _unreadable(output.new_text() or str(error), path))
            ) from error
    module.context = context
    return context, module


def _unreadable(printed: str, path: Path) -> str:
    """What a user is told of a text that the compiler's own parser refuses; `path` is where that lies."""
    first = next(iter(printed.replace(str(path), "line").strip().splitlines()), "")
    place = _PARSE_ERROR.match(first)
    said_of = f" of line {place[1]}: {place[2]}" if place else f": {first}"
    return (
        "Triton cannot read this module, so that its layouts are not known. "
        f"It says{said_of[:_MOST_CHARACTERS]}. Look at the text there, or at the layouts after another pass."
    )


def _without_layouts(text: ModuleText) -> str:
    """Why a module has none: it is too early for them, or there is nothing to lay out."""
    if any(_CONVERTED in line for line in text.lines):
        return (
            "No tensor of this module has a layout: the kernel works with single values only. "
            "A block of values, as tl.arange makes one, gets a layout."
        )
    return (
        "No tensor of this module has a layout: they come with the first TTGIR pass. "
        "Look at TTGIR, or after a later pass."
    )


class _Survey:
    """Numbers the layouts of a module's values, and asks the compiler about each of them once."""

    def __init__(
        self,
        context: Any,
        operations: list[FoundOperation],
        aliases: Aliases,
        text: ModuleText,
        target: Target,
    ) -> None:
        from triton._C.libtriton import gluon_ir

        self._builder = gluon_ir.GluonOpBuilder(context)
        # Elsewhere it aborts (3.9) or counts as for warps of 32 lanes (3.6).
        self._counts_conflicts = target.vendor == "NVIDIA"
        self._operations = operations
        self._aliases = aliases
        self._text = text
        self._index: dict[LaidOutType, int] = {}
        self._examples: list[FoundValue] = []
        self._blocks: list[Any] = []
        self._values: list[dict[LayoutValue, None]] = []
        for operation in operations:
            for value in (*operation.results, *operation.operands):
                self._add(value, operation.handle)
        if not self._index:
            raise UserError(Diagnostic("error", _without_layouts(text)))
        if len(self._index) > _MOST_LAYOUTS:
            raise UserError(Diagnostic("error", f"The module has more than {_MOST_LAYOUTS} layouts."))

    def answer(self, axis: AxisByLine, refusal: str) -> Layouts:
        told = [
            operation for operation in self._operations if _TOLD.fullmatch(operation.name) and operation.line
        ]
        pairs = list(dict.fromkeys(filter(None, map(self._shared_access, told))))
        tasks: list[Callable[[], Any]] = [partial(self._bases, index) for index in range(len(self._examples))]
        tasks += [partial(self._bank_conflicts, *pair) for pair in pairs]
        tasks += [partial(self._is_trivial, operation) for operation in told]
        outcomes = iter(in_copies(tasks))
        bases = self._with_those_of_whole_buffers([next(outcomes) for _ in self._examples])
        layouts = tuple(self._layout(index, outcome) for index, outcome in enumerate(bases))
        conflicts = {pair: next(outcomes) for pair in pairs}
        return Layouts(
            layouts,
            tuple(
                self._operation(
                    operation,
                    next(outcomes),
                    self._conflicts_of(operation, conflicts),
                    *axis.get(operation.line, (None, None)),
                )
                for operation in told
            ),
            refusal,
        )

    def _add(self, value: FoundValue, operation: Any) -> None:
        if value.laid_out is None:
            return
        index = self._index.setdefault(value.laid_out, len(self._examples))
        if index == len(self._examples):
            self._examples.append(value)
            self._blocks.append(operation.get_block())
            self._values.append({})
        if value.name:
            self._values[index].setdefault(LayoutValue(value.name, value.line))

    def _bases(self, index: int) -> Bases:
        laid_out = self._examples[index].laid_out
        assert laid_out is not None
        return bases_of(self._builder, self._examples[index].handle, laid_out, self._blocks[index])

    def _layout(self, index: int, outcome: Any) -> TensorLayout:
        laid_out = self._examples[index].laid_out
        assert laid_out is not None
        refused = isinstance(outcome, Refused)
        return TensorLayout(
            self._aliases.shortened(laid_out.encoding),
            laid_out.encoding,
            kind_of(laid_out.encoding),
            laid_out.memory,
            laid_out.shape,
            laid_out.element,
            element_bits(laid_out.element),
            None if refused else outcome,
            f"The compiler gives no linear layout of it: {outcome}" if refused else "",
            tuple(self._values[index]),
        )

    def _with_those_of_whole_buffers(self, outcomes: list[Any]) -> list[Any]:
        """Of several buffers in a row, each one is laid out as a single one is, and a part as its whole."""
        known = {
            replace(laid_out, shape=(), allocation=laid_out.layout_shape): outcome
            for laid_out, outcome in zip(self._index, outcomes, strict=True)
            if not isinstance(outcome, Refused)
        }
        return [
            known.get(replace(laid_out, shape=(), allocation=laid_out.layout_shape), outcome)
            if isinstance(outcome, Refused)
            else outcome
            for laid_out, outcome in zip(self._index, outcomes, strict=True)
        ]

    def _shared_access(self, operation: FoundOperation) -> tuple[int, int] | None:
        """The layouts in registers and in shared memory that data is moved between, as indices."""
        if operation.name not in _SHARED_ACCESSES or not self._counts_conflicts:
            return None
        values = (*operation.operands, *operation.results)
        registers = [each for each in values if each.laid_out and each.laid_out.memory == "registers"]
        shared = [each for each in values if each.laid_out and each.laid_out.memory == "shared"]
        # Of a part of a buffer, the binding counts as if it were a whole one.
        if not registers or not shared or (shared[0].laid_out and shared[0].laid_out.is_part):
            return None
        return self._index_of(registers[0]), self._index_of(shared[0])

    def _conflicts_of(self, operation: FoundOperation, conflicts: dict[tuple[int, int], Any]) -> Any:
        pair = self._shared_access(operation)
        return None if pair is None else conflicts[pair]

    def _bank_conflicts(self, registers: int, shared: int) -> int:
        laid_out = self._examples[registers].laid_out
        assert laid_out is not None
        # The module around says which GPU it is for.
        self._builder.set_insertion_point_to_end(self._blocks[registers])
        conflicts = self._builder.get_shared_bank_conflicts(
            self._builder.get_gluon_layout_from_tensor(self._examples[registers].handle)._to_ir(
                self._builder
            ),
            self._builder.get_gluon_layout_from_memdesc(self._examples[shared].handle)._to_ir(self._builder),
            list(laid_out.shape),
            element_bits(laid_out.element),
        )
        return int(conflicts)

    def _is_trivial(self, operation: FoundOperation) -> bool | None:
        if operation.name != "ttg.convert_layout":
            return None
        result_type = operation.results[0].handle.get_type()
        return bool(self._builder.is_convert_layout_trivial(result_type, operation.operands[0].handle))

    def _operation(
        self,
        operation: FoundOperation,
        is_trivial: Any,
        conflicts: Any,
        pointer: AxisInformation | None,
        mask: AxisInformation | None,
    ) -> Operation:
        refused = next((each for each in (is_trivial, conflicts) if isinstance(each, Refused)), None)
        return Operation(
            operation.name,
            operation.line,
            self._text.lines[operation.line - 1].strip(),
            tuple(map(self._operand, operation.operands)),
            tuple(map(self._operand, operation.results)),
            None if isinstance(conflicts, Refused) else conflicts,
            None if isinstance(is_trivial, Refused) else is_trivial,
            "" if refused is None else str(refused),
            pointer,
            mask,
        )

    def _index_of(self, value: FoundValue) -> int:
        assert value.laid_out is not None
        return self._index[value.laid_out]

    def _operand(self, value: FoundValue) -> Operand:
        index = None if value.laid_out is None else self._index_of(value)
        return Operand(value.name, self._aliases.shortened(value.type), index)
