"""Test that color-blind readers can distinguish the stripes of adjacent source lines."""

from __future__ import annotations

import math
import re
from itertools import combinations
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[1] / "explorer/static/tokens.css"
THEMES = {
    "dark": ":root {",
    "light": ':root[data-theme="light"] {',
    "contrast": ':root[data-theme="contrast"] {',
}
#: Simulation of complete dichromacy in linear sRGB.
#: Source: Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision
#: Deficiency, IEEE Transactions on Visualization and Computer Graphics 15(6), 2009; severity 1.0.
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
#: In OKLab, 0.02 is a difference that is just noticed side by side: these are several times as much.
LEAST_OF_NEIGHBOURS = 0.12
LEAST_OF_ALL = 0.07
LEAST_CONTRAST = 3

Colour = tuple[float, float, float]


def colours(theme: str) -> tuple[list[Colour], Colour]:
    """The stripes of a theme and the panel behind them, in linear sRGB."""
    block = TOKENS.read_text(encoding="utf-8").split(THEMES[theme], 1)[1].split("}", 1)[0]
    tokens = dict(re.findall(r"--([\w-]+): #([0-9a-f]{3,6});", block))
    count = sum(name.startswith("stripe-") for name in tokens)
    return [linear(tokens[f"stripe-{index}"]) for index in range(count)], linear(tokens["panel"])


def linear(digits: str) -> Colour:
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    values = [int(digits[index : index + 2], 16) / 255 for index in (0, 2, 4)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values
    )
    return red, green, blue


def seen(colour: Colour, vision: str) -> Colour:
    red, green, blue = (
        min(1, max(0, sum(factor * value for factor, value in zip(row, colour, strict=True))))
        for row in VISIONS[vision]
    )
    return red, green, blue


def oklab(colour: Colour) -> Colour:
    """Source: Björn Ottosson, A perceptual color space for image processing, 2020."""
    red, green, blue = colour
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def contrast(one: Colour, other: Colour) -> float:
    light, dark = sorted(
        (0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (one, other)), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISIONS)
def test_neighbouring_stripes_are_told_apart(theme: str, vision: str) -> None:
    stripes, _ = colours(theme)
    assert len(stripes) == 8
    points = [oklab(seen(colour, vision)) for colour in stripes]
    for index, point in enumerate(points):
        for distance in (1, 2):
            other = points[(index + distance) % len(points)]
            assert math.dist(point, other) >= LEAST_OF_NEIGHBOURS, f"{index} and {distance} lines further"
    assert min(math.dist(one, other) for one, other in combinations(points, 2)) >= LEAST_OF_ALL


@pytest.mark.parametrize("theme", THEMES)
def test_stripes_stand_out_from_the_panel(theme: str) -> None:
    stripes, panel = colours(theme)
    assert min(contrast(colour, panel) for colour in stripes) >= LEAST_CONTRAST


def test_the_page_knows_how_many_colours_there_are() -> None:
    script = (TOKENS.parent / "core/format.js").read_text(encoding="utf-8")
    assert f"STRIPES = {len(colours('dark')[0])};" in script
