"""The types of TTGIR that have a layout, read from the compiler's own text of them.

In: `tensor<128x64xf16, #ttg.blocked<…>>`, `!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>`.
Out: shape, element, encoding. Aliases (`#blocked = #ttg.blocked<…>`) are put in and taken out as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Memory = Literal["registers", "shared", "tensor memory"]

_SHAPED = re.compile(r"(?:!?ttg?\.)?(tensor|memdesc)<(.*)>", re.DOTALL)
_SHAPE = re.compile(r"((?:\d+x)*)(.*)", re.DOTALL)
_SIZES = re.compile(r"\d+(?:x\d+)*")
_ALIAS = re.compile(r"^(#\w+) = (.+)$", re.MULTILINE)
_ALIAS_USE = re.compile(r"#\w+(?![\w.])")
_BITS = re.compile(r"\d+")
_MMA_VERSION = re.compile(r"versionMajor = (\d+)")

_KINDS = {
    "#ttg.blocked": "blocked",
    "#ttg.slice": "slice",
    "#ttg.dot_op": "dot operand",
    "#ttg.nvidia_mma": "NVIDIA mma",
    "#ttg.amd_mfma": "AMD mfma",
    "#ttg.amd_wmma": "AMD wmma",
    "#ttg.linear": "linear",
    "#ttg.swizzled_shared": "swizzled shared",
    "#ttg.padded_shared": "padded shared",
    "#ttg.amd_rotating_shared": "rotating shared",
    "#ttg.nvmma_shared": "NVIDIA mma shared",
    "#ttg.shared_linear": "linear shared",
    "#ttg.partitioned_shared": "partitioned shared",
    "#ttng.tensor_memory_encoding": "tensor memory",
    "#ttng.tensor_memory_scales_encoding": "tensor memory scales",
}
_POINTER_BITS = 64


@dataclass(frozen=True)
class LaidOutType:
    """A tensor or a memory descriptor. `encoding` has no aliases in it.

    `allocation` is the shape of the buffer that a descriptor is a part of; its own where it is all of it.
    """

    memory: Memory
    shape: tuple[int, ...]
    element: str
    encoding: str
    allocation: tuple[int, ...]

    @property
    def layout_shape(self) -> tuple[int, ...]:
        """What the layout is for: of several buffers in a row, each one; of a part, the whole buffer."""
        if self.memory == "registers":
            return self.shape
        return self.allocation[-rank_of(self.encoding, len(self.allocation)) :]

    @property
    def is_part(self) -> bool:
        """Whether it is a part of a buffer."""
        return self.shape[-len(self.layout_shape) :] != self.layout_shape


def read_type(text: str) -> LaidOutType | None:
    """Read a type; None where it has no layout."""
    shaped = _SHAPED.fullmatch(text.strip())
    if not shaped:
        return None
    parts = split_top_level(shaped[2])
    if len(parts) < 2 or not parts[1].startswith("#"):
        return None
    dimensions = _SHAPE.fullmatch(parts[0])
    assert dimensions is not None
    memory: Memory = "registers"
    if shaped[1] == "memdesc":
        memory = "tensor memory" if any("tensor_memory" in part for part in parts[2:]) else "shared"
    shape = _sizes(dimensions[1][:-1])
    allocation = next((_sizes(part) for part in parts[2:] if _SIZES.fullmatch(part)), shape)
    return LaidOutType(memory, shape, dimensions[2].strip(), parts[1], allocation)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split("x")) if text else ()


def split_top_level(text: str) -> list[str]:
    """Split at the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character in "<{[(":
            depth += 1
        elif character in "}])" or (character == ">" and text[position - 1] != "-"):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def element_bits(element: str) -> int:
    """The width of an element: that in its name ("f16", "bf16", "f8E5M2", "i1"); of pointers, 64."""
    number = _BITS.search(element)
    return _POINTER_BITS if element.startswith("!") or number is None else int(number[0])


def kind_of(encoding: str) -> str:
    """What the page calls a layout: its name in the compiler, in words; "NVIDIA mma v3"."""
    name = re.split(r"[<\s]", encoding, maxsplit=1)[0]
    kind = _KINDS.get(name, name.removeprefix("#"))
    version = _MMA_VERSION.search(encoding) if kind == "NVIDIA mma" else None
    return f"{kind} v{version[1]}" if version else kind


def rank_of(encoding: str, rank: int) -> int:
    """How many dimensions a memory layout is for: a descriptor has more where there are several buffers."""
    order = re.search(r"\border = \[([^\]]*)\]", encoding)
    if order:
        return len(order[1].split(","))
    stated = re.search(r"\brank = (\d+)", encoding)
    if stated:
        return int(stated[1])
    offsets = re.search(r"\boffset = \[\[([^\]]*)\]", encoding)
    if offsets:
        return len(offsets[1].split(","))
    return min(rank, 2)


class Aliases:
    """The aliases that stand at the head of a module's text."""

    def __init__(self, text: str) -> None:
        self._full: dict[str, str] = {}
        for name, value in _ALIAS.findall(text):
            self._full[name] = _ALIAS_USE.sub(lambda use: self._full.get(use[0], use[0]), value.strip())

    def shortened(self, encoding: str) -> str:
        """An encoding as the module's text has it: `#ttg.slice<{dim = 1, parent = #blocked}>`."""
        for name, full in sorted(self._full.items(), key=lambda item: -len(item[1])):
            encoding = encoding.replace(full, name)
        return encoding
