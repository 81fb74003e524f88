"""A canvas for text and rounded boxes, in the fonts and colors of the page.

Everything is drawn at twice its size and scaled down at the end, which smooths the corners.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

Face = Literal["sans", "mono"]
#: The anchor of a text: left, middle or right, on its baseline.
Anchor = Literal["ls", "ms", "rs"]

_SCALE = 2
_ROOT_BLOCK = re.compile(r":root\s*\{(.*?)\}", re.DOTALL)
_COLOR = re.compile(r"--([\w-]+):\s*(#[0-9a-fA-F]{3,8})\s*;")
_ELLIPSIS = "…"
#: More characters than fit into a line. Names from user code are cut before they are measured.
_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Look:
    """The look of the page: the files of its fonts, and the style sheet of its tokens (first block)."""

    sans: bytes
    mono: bytes
    tokens: str

    @cached_property
    def colors(self) -> dict[str, str]:
        """The colors by their names in the style sheet."""
        block = _ROOT_BLOCK.search(self.tokens)
        return dict(_COLOR.findall(block[1])) if block else {}

    def color(self, name: str) -> str:
        """Return a color by its name, or the accent color for unknown names."""
        return self.colors.get(name, self.colors["accent"])


def plain(text: str) -> str:
    """Return a text as one line of printable characters."""
    words = " ".join(text[:_MOST_CHARACTERS].split())
    return "".join(character for character in words if character.isprintable())


class Canvas:
    """An image to draw on. Lengths are pixels of the finished image, colors are names of tokens."""

    def __init__(self, look: Look, width: int, height: int, background: str) -> None:
        self._look = look
        self._image = Image.new("RGB", (width * _SCALE, height * _SCALE), look.color(background))
        self._draw = ImageDraw.Draw(self._image)

    def text(
        self,
        place: tuple[float, float],
        text: str,
        *,
        size: int,
        color: str = "text",
        face: Face = "sans",
        weight: int = 400,
        anchor: Anchor = "ls",
        room: float | None = None,
    ) -> float:
        """Write one line, cut to the width `room`; return its width."""
        font = _font(self._look, face, size * _SCALE, weight)
        text = plain(text)
        if room is not None:
            text = _cut(text, font, room * _SCALE)
        x, y = place
        self._draw.text((x * _SCALE, y * _SCALE), text, self._look.color(color), font, anchor)
        return font.getlength(text) / _SCALE

    def width(self, text: str, *, size: int, face: Face = "sans", weight: int = 400) -> float:
        return _font(self._look, face, size * _SCALE, weight).getlength(plain(text)) / _SCALE

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        *,
        fill: str | None = None,
        edge: str | None = None,
        edge_width: float = 1,
        radius: float = 0,
    ) -> None:
        """Draw a box with rounded corners."""
        color = self._look.color
        self._draw.rounded_rectangle(
            tuple(round(length * _SCALE) for length in (left, top, right, bottom)),
            round(radius * _SCALE),
            fill=color(fill) if fill else None,
            outline=color(edge) if edge else None,
            width=round(edge_width * _SCALE),
        )

    def arrow(self, left: float, right: float, y: float, color: str) -> None:
        fill, head = self._look.color(color), 8
        self._draw.line(
            [(left * _SCALE, y * _SCALE), ((right - head) * _SCALE, y * _SCALE)], fill, round(1.5 * _SCALE)
        )
        corners = [(right - head, y - 5), (right, y), (right - head, y + 5)]
        self._draw.polygon([(x * _SCALE, corner * _SCALE) for x, corner in corners], fill)

    def png(self) -> bytes:
        """Return the finished image as a PNG."""
        width, height = self._image.size
        small = self._image.resize((width // _SCALE, height // _SCALE), Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        small.save(buffer, "PNG")
        return buffer.getvalue()


@lru_cache(maxsize=32)
def _font(look: Look, face: Face, size: int, weight: int) -> ImageFont.FreeTypeFont:
    # The basic layout engine ignores the direction of characters.
    file = io.BytesIO(look.mono if face == "mono" else look.sans)
    font = ImageFont.truetype(file, size, layout_engine=ImageFont.Layout.BASIC)
    font.set_variation_by_axes([weight])
    return font


def _cut(text: str, font: ImageFont.FreeTypeFont, room: float) -> str:
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(text + _ELLIPSIS) > room:
        text = text[:-1]
    return text.rstrip() + _ELLIPSIS
