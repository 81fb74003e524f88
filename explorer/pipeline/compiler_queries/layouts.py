"""The layouts of a TTGIR module, from the compiler's layout engine.

In: the text of a module with layouts, printed without locations. Out: `Layouts`: the linear layout of each
combination of encoding, shape and element, and the operations that move data, with the layouts of their
operands.

Calls that can abort the compiler are made in a forked process (`isolation`).

Source: python/src/gluon_ir.cc of Triton 3.6 and 3.9 (`to_linear_layout`, `get_shared_bank_conflicts`,
`is_convert_layout_trivial`).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from explorer.model import Diagnostic, Request
from explorer.model.answers import (
    AxisInformation,
    Bases,
    Layouts,
    LayoutValue,
    Operand,
    Operation,
    TensorLayout,
)
from explorer.model.hardware import Target
from explorer.pipeline.compiler_queries.axis_information import AxisByLine, axis_information
from explorer.pipeline.compiler_queries.isolation import CompilerRefused, call_in_forks
from explorer.pipeline.compiler_queries.layout_types import Aliases, LayoutType, element_bits, kind_of
from explorer.pipeline.compiler_queries.linear_bases import bases_of
from explorer.pipeline.compiler_queries.module_operations import (
    ModuleOperation,
    ModuleText,
    ModuleValue,
    operations_of,
)
from explorer.pipeline.errors import UserError
from explorer.pipeline.targets import tools_of
from explorer.pipeline.tool_output import ToolOutput

#: Operations that move or multiply data. Other operations appear through the values that they define.
_SURVEYED = re.compile(
    r"ttg\.(convert_layout|async_copy_global_to_local|local_(alloc|load|store))|"
    r"tt\.(load|store|atomic_\w+|descriptor_(load|store|gather|scatter|reduce)|dot|dot_scaled)|"
    r"ttng\.(async_tma_(copy|gather|scatter|reduce)\w*|warp_group_dot|tc_gen5_mma(_scaled)?|"
    r"tmem_(alloc|load|store|copy))|"
    r"(amdg|amdgpu)\.(buffer_(load|store|atomic)\w*|in_thread_transpose)"
)
_SHARED_ACCESSES = ("ttg.local_load", "ttg.local_store", "ttg.local_alloc")
_MOST_LAYOUTS = 2000
#: The attribute that the first TTGIR pass adds to the module.
_CONVERTED = '"ttg.num-warps" = '
_PARSE_ERROR = re.compile(r'loc\(".*?":(\d+):\d+\): error: (.*?)\.?$')
_MOST_CHARACTERS = 200


def layouts(request: Request, target: Target) -> Layouts:
    """Compute the layouts of the module whose text is `request.source`.

    Raises:
        UserError: the text is not a module, or has no layouts.
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
    """Parse the text of a module. Return its context and the module.

    Raises:
        UserError: the text is not a module.
    """
    from triton._C import libtriton
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    getattr(libtriton, tools_of(target).passes_namespace).load_dialects(context)
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
    """Return the diagnostic for a text that the compiler cannot parse; `path` is the file of the text."""
    first = next(iter(printed.replace(str(path), "line").strip().splitlines()), "")
    place = _PARSE_ERROR.match(first)
    error = f"Line {place[1]}: {place[2]}" if place else first
    return (
        "Triton cannot parse this module, so its layouts are unknown. "
        f"{error[:_MOST_CHARACTERS]}. Check the text, or select another pass."
    )


def _without_layouts(text: ModuleText) -> str:
    """Return why a module has no layouts: it is before the first TTGIR pass, or it has no tensors."""
    if any(_CONVERTED in line for line in text.lines):
        return (
            "No tensor of this module has a layout: the kernel uses only single values. "
            "A block of values, such as the result of tl.arange, has a layout."
        )
    return (
        "No tensor of this module has a layout: the first TTGIR pass adds the layouts. "
        "Select TTGIR or a later pass."
    )


class _Survey:
    """Numbers the layouts of a module's values, and queries the compiler about each layout once."""

    def __init__(
        self,
        context: Any,
        operations: list[ModuleOperation],
        aliases: Aliases,
        text: ModuleText,
        target: Target,
    ) -> None:
        from triton._C.libtriton import gluon_ir

        self._builder = gluon_ir.GluonOpBuilder(context)
        # On other targets it aborts (3.9) or assumes warps of 32 lanes (3.6).
        self._counts_conflicts = target.vendor == "NVIDIA"
        self._operations = operations
        self._aliases = aliases
        self._text = text
        self._index: dict[LayoutType, int] = {}
        self._examples: list[ModuleValue] = []
        self._blocks: list[Any] = []
        self._values: list[dict[LayoutValue, None]] = []
        for operation in operations:
            for value in (*operation.results, *operation.operands):
                self._add(value, operation.handle)
        if not self._index:
            raise UserError(Diagnostic("error", _without_layouts(text)))
        if len(self._index) > _MOST_LAYOUTS:
            raise UserError(
                Diagnostic(
                    "error", f"The module has more than {_MOST_LAYOUTS} layouts. Use a smaller kernel."
                )
            )

    def answer(self, axis: AxisByLine, refusal: str) -> Layouts:
        surveyed = [
            operation
            for operation in self._operations
            if _SURVEYED.fullmatch(operation.name) and operation.line
        ]
        pairs = list(dict.fromkeys(filter(None, map(self._shared_access, surveyed))))
        tasks: list[Callable[[], Any]] = [partial(self._bases, index) for index in range(len(self._examples))]
        tasks += [partial(self._bank_conflicts, *pair) for pair in pairs]
        tasks += [partial(self._is_trivial, operation) for operation in surveyed]
        outcomes = iter(call_in_forks(tasks))
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
                for operation in surveyed
            ),
            refusal,
        )

    def _add(self, value: ModuleValue, operation: Any) -> None:
        if value.layout_type is None:
            return
        index = self._index.setdefault(value.layout_type, len(self._examples))
        if index == len(self._examples):
            self._examples.append(value)
            self._blocks.append(operation.get_block())
            self._values.append({})
        if value.name:
            self._values[index].setdefault(LayoutValue(value.name, value.line))

    def _bases(self, index: int) -> Bases:
        layout_type = self._examples[index].layout_type
        assert layout_type is not None
        return bases_of(self._builder, self._examples[index].handle, layout_type, self._blocks[index])

    def _layout(self, index: int, outcome: Any) -> TensorLayout:
        layout_type = self._examples[index].layout_type
        assert layout_type is not None
        refused = isinstance(outcome, CompilerRefused)
        return TensorLayout(
            self._aliases.shortened(layout_type.encoding),
            layout_type.encoding,
            kind_of(layout_type.encoding),
            layout_type.memory,
            layout_type.shape,
            layout_type.element,
            element_bits(layout_type.element),
            None if refused else outcome,
            f"The compiler has no linear layout for it: {outcome}" if refused else "",
            tuple(self._values[index]),
        )

    def _with_those_of_whole_buffers(self, outcomes: list[Any]) -> list[Any]:
        """Copy layouts: from a single buffer to several buffers, from a whole buffer to its parts."""
        known = {
            replace(layout_type, shape=(), allocation=layout_type.layout_shape): outcome
            for layout_type, outcome in zip(self._index, outcomes, strict=True)
            if not isinstance(outcome, CompilerRefused)
        }
        return [
            known.get(replace(layout_type, shape=(), allocation=layout_type.layout_shape), outcome)
            if isinstance(outcome, CompilerRefused)
            else outcome
            for layout_type, outcome in zip(self._index, outcomes, strict=True)
        ]

    def _shared_access(self, operation: ModuleOperation) -> tuple[int, int] | None:
        """Return the indices of the layouts in registers and in shared memory that data moves between."""
        if operation.name not in _SHARED_ACCESSES or not self._counts_conflicts:
            return None
        values = (*operation.operands, *operation.results)
        registers = [each for each in values if each.layout_type and each.layout_type.memory == "registers"]
        shared = [each for each in values if each.layout_type and each.layout_type.memory == "shared"]
        # For a part of a buffer, the binding assumes a whole buffer.
        if not registers or not shared or (shared[0].layout_type and shared[0].layout_type.is_part):
            return None
        return self._index_of(registers[0]), self._index_of(shared[0])

    def _conflicts_of(self, operation: ModuleOperation, conflicts: dict[tuple[int, int], Any]) -> Any:
        pair = self._shared_access(operation)
        return None if pair is None else conflicts[pair]

    def _bank_conflicts(self, registers: int, shared: int) -> int:
        layout_type = self._examples[registers].layout_type
        assert layout_type is not None
        # The enclosing module names its GPU.
        self._builder.set_insertion_point_to_end(self._blocks[registers])
        conflicts = self._builder.get_shared_bank_conflicts(
            self._builder.get_gluon_layout_from_tensor(self._examples[registers].handle)._to_ir(
                self._builder
            ),
            self._builder.get_gluon_layout_from_memdesc(self._examples[shared].handle)._to_ir(self._builder),
            list(layout_type.shape),
            element_bits(layout_type.element),
        )
        return int(conflicts)

    def _is_trivial(self, operation: ModuleOperation) -> bool | None:
        if operation.name != "ttg.convert_layout":
            return None
        result_type = operation.results[0].handle.get_type()
        return bool(self._builder.is_convert_layout_trivial(result_type, operation.operands[0].handle))

    def _operation(
        self,
        operation: ModuleOperation,
        is_trivial: Any,
        conflicts: Any,
        pointer: AxisInformation | None,
        mask: AxisInformation | None,
    ) -> Operation:
        refused = next((each for each in (is_trivial, conflicts) if isinstance(each, CompilerRefused)), None)
        return Operation(
            operation.name,
            operation.line,
            self._text.lines[operation.line - 1].strip(),
            tuple(map(self._operand, operation.operands)),
            tuple(map(self._operand, operation.results)),
            None if isinstance(conflicts, CompilerRefused) else conflicts,
            None if isinstance(is_trivial, CompilerRefused) else is_trivial,
            "" if refused is None else str(refused),
            pointer,
            mask,
        )

    def _index_of(self, value: ModuleValue) -> int:
        assert value.layout_type is not None
        return self._index[value.layout_type]

    def _operand(self, value: ModuleValue) -> Operand:
        index = None if value.layout_type is None else self._index_of(value)
        return Operand(value.name, self._aliases.shortened(value.type), index)
