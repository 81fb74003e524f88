"""Test that the style sheets and the scripts have the four text sizes of `tokens.css` and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STATIC = Path("explorer/static")
SHEETS = sorted(path for path in STATIC.rglob("*.css") if STATIC / "dist" not in path.parents)
#: A declaration of `font`, `font-size`, or a size of dockview.
SIZE = re.compile(r"(?<![\w-])(?:font|(?:--dv-[\w-]+-)?font-size):([^;}]+)")
SCRIPTS = sorted(path for path in STATIC.rglob("*.js") if STATIC / "dist" not in path.parents)
#: A size in the font of a canvas, of a plot, or of a text in SVG.
DRAWN_SIZE = re.compile(
    r"""\dpx \$\{|[fF]ont: \{[^}]*size: \d|"font-size": \d|FONT_PX = \d|font = [^;]*\b\d{2}\b"""
)
ALLOWED = re.compile(r"\s*inherit|\s*(?:[1-9]00 )?var\(--size-(?:small|text|large|title)\)(?!\w)")


@pytest.mark.parametrize("sheet", SHEETS, ids=str)
def test_text_has_a_size_of_the_scale(sheet: Path) -> None:
    values = SIZE.findall(sheet.read_text(encoding="utf-8"))
    assert [value for value in values if not ALLOWED.match(value)] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=str)
def test_text_is_drawn_in_a_size_of_the_scale(script: Path) -> None:
    assert DRAWN_SIZE.findall(script.read_text(encoding="utf-8")) == []


def test_the_scale_has_four_sizes() -> None:
    assert len(re.findall(r"--size-\w+:", (STATIC / "tokens.css").read_text(encoding="utf-8"))) == 4
    assert sum("--size-title" in sheet.read_text(encoding="utf-8") for sheet in SHEETS) > 1
