"""A canvas that draws text and rounded boxes in the look of the page: its fonts, its colours.

Everything is drawn at twice its size and made smaller at the end, so that corners are smooth.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

Face = Literal["sans", "mono"]
#: What text is placed by: left, middle or right, on its baseline.
Anchor = Literal["ls", "ms", "rs"]

_SCALE = 2
_ROOT_BLOCK = re.compile(r":root\s*\{(.*?)\}", re.DOTALL)
_COLOUR = re.compile(r"--([\w-]+):\s*(#[0-9a-fA-F]{3,8})\s*;")
_ELLIPSIS = "…"
#: More than any line has room for. What a user has named is cut before it is measured.
_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Look:
    """What the page looks like: the files of its fonts, and its tokens, of which the first block counts."""

    sans: bytes
    mono: bytes
    tokens: str

    @cached_property
    def colours(self) -> dict[str, str]:
        """The colours by their names in the style sheet."""
        block = _ROOT_BLOCK.search(self.tokens)
        return dict(_COLOUR.findall(block[1])) if block else {}

    def colour(self, name: str) -> str:
        """A colour by its name, and one for the stages that have none of their own."""
        return self.colours.get(name, self.colours["accent"])


def plain(text: str) -> str:
    """A text as one line of characters that can be seen, none of which changes how others are placed."""
    words = " ".join(text[:_MOST_CHARACTERS].split())
    return "".join(character for character in words if character.isprintable())


class Canvas:
    """A picture under way. Lengths are pixels of the finished picture, colours names of tokens."""

    def __init__(self, look: Look, width: int, height: int, background: str) -> None:
        self._look = look
        self._image = Image.new("RGB", (width * _SCALE, height * _SCALE), look.colour(background))
        self._draw = ImageDraw.Draw(self._image)

    def text(
        self,
        place: tuple[float, float],
        text: str,
        *,
        size: int,
        colour: str = "text",
        face: Face = "sans",
        weight: int = 400,
        anchor: Anchor = "ls",
        room: float | None = None,
    ) -> float:
        """Write one line, cut to `room`; return how wide it is."""
        font = _font(self._look, face, size * _SCALE, weight)
        text = plain(text)
        if room is not None:
            text = _cut(text, font, room * _SCALE)
        x, y = place
        self._draw.text((x * _SCALE, y * _SCALE), text, self._look.colour(colour), font, anchor)
        return font.getlength(text) / _SCALE

    def width(self, text: str, *, size: int, face: Face = "sans", weight: int = 400) -> float:
        """How wide a line would be."""
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
        """Draw a box with round corners."""
        colour = self._look.colour
        self._draw.rounded_rectangle(
            tuple(round(length * _SCALE) for length in (left, top, right, bottom)),
            round(radius * _SCALE),
            fill=colour(fill) if fill else None,
            outline=colour(edge) if edge else None,
            width=round(edge_width * _SCALE),
        )

    def arrow(self, left: float, right: float, y: float, colour: str) -> None:
        """Draw an arrow to the right."""
        fill, head = self._look.colour(colour), 8
        self._draw.line(
            [(left * _SCALE, y * _SCALE), ((right - head) * _SCALE, y * _SCALE)], fill, round(1.5 * _SCALE)
        )
        corners = [(right - head, y - 5), (right, y), (right - head, y + 5)]
        self._draw.polygon([(x * _SCALE, corner * _SCALE) for x, corner in corners], fill)

    def png(self) -> bytes:
        """The finished picture."""
        width, height = self._image.size
        small = self._image.resize((width // _SCALE, height // _SCALE), Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        small.save(buffer, "PNG")
        return buffer.getvalue()


@lru_cache(maxsize=32)
def _font(look: Look, face: Face, size: int, weight: int) -> ImageFont.FreeTypeFont:
    # The basic engine places one character after another, whatever their direction.
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
