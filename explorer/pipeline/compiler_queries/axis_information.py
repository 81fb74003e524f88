"""The compiler's knowledge about the pointers of global accesses: contiguity, divisibility, constancy.

In: the text of a module. Out: for the line of each access, the information about its pointer and its mask.

The coalescing pass prints the results of its analysis for the pointer of each access. To query masks and the
offsets of AMD's buffer accesses as well, probes are inserted before each access: loads whose pointers are
computed from them. They are inserted in a copy of the text that has no other use. If there are many accesses,
masks are left out; if there are very many, the last accesses are left out.

Source: lib/Dialect/TritonGPU/Transforms/Coalesce.cpp of Triton 3.6 and 3.9, built with assertions.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.model.answers import AxisInformation
from explorer.model.hardware import Target
from explorer.pipeline.compiler_queries.isolation import CompilerRefused, capture_stderr_in_fork
from explorer.pipeline.compiler_queries.layout_types import split_top_level
from explorer.pipeline.targets import tools_of

_VARIABLE = "TRITON_LLVM_DEBUG_ONLY"
_TOPIC = "tritongpu-coalesce"
_CONSIDERED = re.compile(
    r"Considering op: (?:%[^=\n]+ = )?\"?(?P<name>[\w.]+).*?"
    r"axis info of pointer: contiguity = \[(?P<contiguity>[\d, ]*)\], "
    r"divisibility = \[(?P<divisibility>[\d, ]*)\], constancy = \[(?P<constancy>[\d, ]*)\]",
    re.DOTALL,
)
_VALUE = r"%[\w$.#-]+"
_TENSOR = r"tensor<(?:[^<>]|<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>)*>"
_POINTER_ACCESS = re.compile(
    r"^\s*(?:%[^=]+ = )?"
    r"(?P<name>tt\.load|tt\.store|tt\.atomic_rmw|tt\.atomic_cas|ttg\.async_copy_global_to_local) "
)
_POINTER_TENSOR = re.compile(r"tensor<(?P<sizes>(?:\d+x)+)!tt\.ptr<(?P<element>[^<>]+)>, (?P<encoding>#.*)>")
_PLAIN_TENSOR = re.compile(r"tensor<(?P<sizes>(?:\d+x)+)(?P<element>[^,!]+), (?P<encoding>#.*)>")
_BUFFER_ACCESS = re.compile(
    rf"^\s*(?:%[^=]+ = )?(?:amdg|amdgpu)\.buffer_(?P<verb>load_to_local|load|store) "
    rf"(?:(?P<stored>{_VALUE}), )?(?P<pointer>{_VALUE})\[(?P<offsets>{_VALUE})\](?P<rest>.*)$"
)
_PROBE = "%layouts_probe_"
#: The pass prints each pair of similar accesses. The time for a line grows with the size of the module.
_MOST_WITH_MASKS = 12
_MOST_SECONDS = 6.0


AxisByLine = dict[int, tuple[AxisInformation, AxisInformation | None]]


@dataclass(frozen=True)
class _Probed:
    """An access in the text: its line, and the queried operands in order."""

    line: int
    name: str
    has_mask: bool
    is_buffer: bool


def axis_information(text: str, target: Target, folder: str) -> tuple[AxisByLine, str]:
    """Return the information by the line of the access, and the reason why there is none, or ""."""
    probed_text, accesses = _with_probes(text)
    if not accesses:
        return {}, ""
    path = Path(folder) / "probed.mlir"
    path.write_text(probed_text, encoding="utf-8")
    try:
        printed = capture_stderr_in_fork(lambda: _coalesce(path, target), _MOST_SECONDS)
        return _assign(printed, accesses), ""
    except CompilerRefused as error:
        return {}, str(error)


def _coalesce(path: Path, target: Target) -> None:
    from triton._C import libtriton
    from triton._C.libtriton import ir, passes

    os.environ[_VARIABLE] = _TOPIC
    context = ir.context()
    ir.load_dialects(context)
    getattr(libtriton, tools_of(target).passes_namespace).load_dialects(context)
    module: Any = ir.parse_mlir_module(str(path), context)
    manager = ir.pass_manager(context)
    manager.enable_debug()
    passes.ttgpuir.add_coalesce(manager)
    manager.run(module, "layouts")


def _with_probes(text: str) -> tuple[str, list[_Probed]]:
    """Insert the probes. Return the text and the accesses in the order of the text."""
    lines: list[str] = []
    accesses: list[_Probed] = []
    asks_for_masks = sum(map(_is_access, text.splitlines())) <= _MOST_WITH_MASKS
    for number, line in enumerate(text.splitlines(), 1):
        probes: list[str] = []
        if access := _POINTER_ACCESS.match(line):
            tensor = _pointer_tensor(line)
            if tensor:
                mask = _mask_of(access["name"], line) if asks_for_masks else ""
                if mask:
                    probes = _mask_probe(len(accesses), mask, *tensor)
                accesses.append(_Probed(number, access["name"], bool(mask), False))
        elif buffer := _BUFFER_ACCESS.match(line):
            tensor = _buffer_tensor(line)
            if tensor:
                mask = _buffer_mask(buffer) if asks_for_masks else ""
                probes = _offset_probe(len(accesses), buffer["pointer"], buffer["offsets"], *tensor)
                if mask:
                    probes += _mask_probe(len(accesses), mask, *tensor)
                accesses.append(_Probed(number, "buffer", bool(mask), True))
        lines += [*probes, line]
    return "\n".join(lines), accesses


def _is_access(line: str) -> bool:
    return bool(_POINTER_ACCESS.match(line) or _BUFFER_ACCESS.match(line))


def _assign(printed: str, accesses: list[_Probed]) -> AxisByLine:
    considered = [(found["name"], _information(found)) for found in _CONSIDERED.finditer(printed)]
    known: AxisByLine = {}
    position = 0
    for access in accesses:
        names = ["tt.load"] * (access.is_buffer + access.has_mask)
        if not access.is_buffer:
            names.append(access.name)
        part = considered[position : position + len(names)]
        if len(part) < len(names):
            break
        if [name for name, _ in part] != names:
            raise CompilerRefused("the output of the coalescing pass does not match the text.")
        position += len(names)
        if access.is_buffer:
            known[access.line] = (part[0][1], part[1][1] if access.has_mask else None)
        else:
            known[access.line] = (part[-1][1], part[0][1] if access.has_mask else None)
    return known


def _information(found: re.Match[str]) -> AxisInformation:
    contiguity, divisibility, constancy = (
        tuple(int(number) for number in found[name].split(",") if number.strip())
        for name in ("contiguity", "divisibility", "constancy")
    )
    return AxisInformation(contiguity, divisibility, constancy)


def _pointer_tensor(line: str) -> tuple[str, str, str] | None:
    """Return sizes, element and encoding of the access's tensor of pointers, as in the text."""
    for tensor in re.findall(_TENSOR, line):
        found = _POINTER_TENSOR.fullmatch(tensor)
        if found:
            return found["sizes"], found["element"], found["encoding"]
    return None


def _buffer_tensor(line: str) -> tuple[str, str, str] | None:
    """Return the same for a buffer access, which has one pointer, from the type of its data."""
    for tensor in reversed(re.findall(_TENSOR, line)):
        found = _PLAIN_TENSOR.fullmatch(tensor)
        if found:
            element = re.search(r"!tt\.ptr<([^<>]+)>", line)
            return found["sizes"], element[1] if element else found["element"], found["encoding"]
    return None


def _mask_of(name: str, line: str) -> str:
    """Return the mask of an access through pointers, by its keyword or by its position in the operands."""
    body = line[line.index(name) + len(name) :]
    keyword = re.search(rf"\bmask ({_VALUE})", body)
    if keyword:
        return keyword[1]
    operands = split_top_level(re.split(r"[{:]| cacheModifier| evictionPolicy", body, maxsplit=1)[0])
    place = {"tt.load": 1, "tt.store": 2}.get(name)
    return operands[place].split()[0] if place is not None and len(operands) > place else ""


def _buffer_mask(buffer: re.Match[str]) -> str:
    if buffer["verb"] == "load_to_local":
        found = re.search(rf"\bmask\s*=\s*({_VALUE})", buffer["rest"])
    else:
        found = re.match(rf", ({_VALUE})", buffer["rest"])
    return found[1] if found else ""


def _offset_probe(
    index: int, pointer: str, offsets: str, sizes: str, element: str, encoding: str
) -> list[str]:
    pointers = f"tensor<{sizes}!tt.ptr<{element}>, {encoding}>"
    name = f"{_PROBE}{index}"
    return [
        f"{name}_a = tt.splat {pointer} : !tt.ptr<{element}> -> {pointers}",
        f"{name}_b = tt.addptr {name}_a, {offsets} : {pointers}, tensor<{sizes}i32, {encoding}>",
        f"{name}_c = tt.load {name}_b : {pointers}",
    ]


def _mask_probe(index: int, mask: str, sizes: str, _element: str, encoding: str) -> list[str]:
    """Return operations that load from addresses that are as constant as the mask."""
    name = f"{_PROBE}mask_{index}"
    numbers, pointers = f"tensor<{sizes}i64, {encoding}>", f"tensor<{sizes}!tt.ptr<i8>, {encoding}>"
    return [
        f"{name}_a = arith.extui {mask} : tensor<{sizes}i1, {encoding}> to {numbers}",
        f"{name}_b = arith.constant 0 : i64",
        f"{name}_c = tt.int_to_ptr {name}_b : i64 -> !tt.ptr<i8>",
        f"{name}_d = tt.splat {name}_c : !tt.ptr<i8> -> {pointers}",
        f"{name}_e = tt.addptr {name}_d, {name}_a : {pointers}, {numbers}",
        f"{name}_f = tt.load {name}_e : {pointers}",
    ]
