"""Why an access to global memory on an AMD GPU is a buffer operation, or is none.

In: a module in TTGIR. Out: a sentence. Triton's pass makes a buffer operation of an access to a tensor if the
offsets from a scalar pointer have 32 bits, and either the tensor is known to be within 2 GiB
(`tt.pointer_range = 32` of the argument) or the offsets are proven to be.

Source: ConvertToBufferOps.cpp and `get_tensor_specialization` of the AMD backend, Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from explorer.analysis.mlir.operations import Function, Operation, find_operation, shown_name

_BUFFER = re.compile(r"(?:amdg|amdgpu)\.buffer_(?:load|store|atomic)\w*")
_PLAIN = ("tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas", "ttg.async_copy_global_to_local")
_FORWARDS = ("tt.splat", "tt.addptr", "tt.broadcast", "tt.expand_dims", "tt.bitcast", "ttg.convert_layout")
_TENSOR_OF_POINTERS = re.compile(r"tensor<[^>]*!tt\.ptr<")
_WIDE_OFFSETS = re.compile(r",\s*tensor<[\dx]*xi64\b")
_POINTER_ARGUMENT = re.compile(r"(%[\w$.-]+): !tt\.ptr<[^<>]*>(?: \{([^{}]*)\})?")
_MAKES_BUFFER_OPERATIONS = re.compile(r"tritonamdgpu-convert-buffer-ops")


def makes_buffer_operations(pass_name: str) -> bool:
    return _MAKES_BUFFER_OPERATIONS.search(pass_name) is not None


def buffer_statement(text: str, line: int, *, has_pass: bool) -> str:
    """Return why the access in a line is a buffer operation, or is none; "" if the line has no access.

    `has_pass`: the compilation has run the pass that makes buffer operations.
    """
    place = find_operation(text, line)
    if place is None:
        return ""
    function, operation = place
    if not _BUFFER.fullmatch(operation.name) and operation.name not in _PLAIN:
        return ""
    makers = {result: each for each in function.operations for result in each.results}
    pointers = [shown_name(each) for each in operation.operands]
    bases = [found for each in operation.operands if (found := _base(function, makers, each))]
    base, in_range = bases[0] if bases else ("", False)
    if _BUFFER.fullmatch(operation.name):
        return _is_buffer_operation(base, in_range=in_range)
    prefix = f"It is no buffer operation: `{operation.name}` "
    if not has_pass:
        return f"{prefix}stays: the pass that makes buffer operations did not run (AMDGCN_USE_BUFFER_OPS)."
    if (
        pointers
        and not _TENSOR_OF_POINTERS.search(operation.whole_text)
        and not _is_tensor(operation, makers)
    ):
        return f"{prefix}accesses one element, and only accesses of tensors become buffer operations."
    if _has_wide_offsets(operation, makers):
        return f"{prefix}has offsets of 64 bits, and a buffer instruction adds offsets of 32 bits."
    if base and not in_range:
        return (
            f"{prefix}uses `{base}` without `tt.pointer_range`: its tensor is not known to be within 2 GiB, "
            "and the compiler has not proven that the offsets are."
        )
    return f"{prefix}does not meet the other conditions of the pass, such as a type that the GPU supports."


def _is_buffer_operation(base: str, *, in_range: bool) -> str:
    if in_range:
        return (
            f"It is a buffer operation, because the specialization gives `{base}` the attribute "
            "`tt.pointer_range = 32`: its tensor is within 2 GiB, so that offsets of 32 bits suffice."
        )
    named = f" (`{base}` has no `tt.pointer_range`)" if base else ""
    return (
        "It is a buffer operation, because the compiler has proven that the offsets from its scalar pointer "
        f"are not negative and within 2 GiB{named}."
    )


def _base(function: Function, makers: Mapping[str, Operation], value: str) -> tuple[str, bool] | None:
    """Return the argument that a pointer comes from, and whether it has a range of 32 bits."""
    seen = set()
    while (maker := makers.get(value)) is not None and maker.name in _FORWARDS and value not in seen:
        seen.add(value)
        value = maker.operands[0]
    for name, attributes in _POINTER_ARGUMENT.findall(function.operation.text):
        if name == shown_name(value):
            return name.removeprefix("%"), "tt.pointer_range = 32" in attributes
    return None


def _is_tensor(operation: Operation, makers: Mapping[str, Operation]) -> bool:
    return any(
        _TENSOR_OF_POINTERS.search(makers[each].whole_text)
        for each in operation.operands[:1]
        if each in makers
    )


def _has_wide_offsets(operation: Operation, makers: Mapping[str, Operation]) -> bool:
    maker = makers.get(operation.operands[0]) if operation.operands else None
    while maker is not None and maker.name in _FORWARDS:
        if maker.name == "tt.addptr" and _WIDE_OFFSETS.search(maker.text):
            return True
        maker = makers.get(maker.operands[0])
    return False
