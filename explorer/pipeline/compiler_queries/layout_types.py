"""The types in TTGIR that have a layout, parsed from the compiler's text.

In: `tensor<128x64xf16, #ttg.blocked<…>>`, `!ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>`. Out: shape,
element, encoding. `Aliases` expands and shortens aliases (`#blocked = #ttg.blocked<…>`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.model.answers import Memory

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
class LayoutType:
    """The type of a tensor or a memory descriptor. `encoding` contains no aliases.

    `allocation` is the shape of the whole buffer if a descriptor refers to a part of it, otherwise the shape
    of the descriptor.
    """

    memory: Memory
    shape: tuple[int, ...]
    element: str
    encoding: str
    allocation: tuple[int, ...]

    @property
    def layout_shape(self) -> tuple[int, ...]:
        """The shape that the layout is for: a single buffer, or the whole buffer of a part."""
        if self.memory == "registers":
            return self.shape
        return self.allocation[-rank_of(self.encoding, len(self.allocation)) :]

    @property
    def is_part(self) -> bool:
        """Whether it refers to a part of a buffer."""
        return self.shape[-len(self.layout_shape) :] != self.layout_shape


def read_type(text: str) -> LayoutType | None:
    """Parse a type. Return None if it has no layout."""
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
    return LayoutType(memory, shape, dimensions[2].strip(), parts[1], allocation)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split("x")) if text else ()


def split_top_level(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
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
    """Return the width of an element, from its name ("f16", "bf16", "f8E5M2", "i1"); 64 for pointers."""
    number = _BITS.search(element)
    return _POINTER_BITS if element.startswith("!") or number is None else int(number[0])


def kind_of(encoding: str) -> str:
    """Return the page's name of a layout, such as "NVIDIA mma v3"."""
    name = re.split(r"[<\s]", encoding, maxsplit=1)[0]
    kind = _KINDS.get(name, name.removeprefix("#"))
    version = _MMA_VERSION.search(encoding) if kind == "NVIDIA mma" else None
    return f"{kind} v{version[1]}" if version else kind


def rank_of(encoding: str, rank: int) -> int:
    """Return the number of dimensions of a memory layout. A descriptor of several buffers has more."""
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
    """The aliases at the beginning of a module's text."""

    def __init__(self, text: str) -> None:
        self._full: dict[str, str] = {}
        for name, value in _ALIAS.findall(text):
            self._full[name] = _ALIAS_USE.sub(lambda use: self._full.get(use[0], use[0]), value.strip())

    def shortened(self, encoding: str) -> str:
        """Return an encoding with the aliases of the module: `#ttg.slice<{dim = 1, parent = #blocked}>`."""
        for name, full in sorted(self._full.items(), key=lambda item: -len(item[1])):
            encoding = encoding.replace(full, name)
        return encoding
