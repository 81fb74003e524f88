"""Test the preview image of a link, with kernel names of any kind."""

from __future__ import annotations

import io
from dataclasses import replace

import msgspec
import pytest
from PIL import Image, ImageChops

from explorer.card import HEIGHT, WIDTH, draw_card
from explorer.card.canvas import plain
from explorer.documents import ApiLinks, CompilationDocument
from explorer.model import Diagnostic, Request
from explorer.views.card import page_look

MARGIN = 60
BACKGROUND = (14, 17, 22)
HOSTILE = [
    "<script>alert(1)</script>",
    "\u202eevil\u202c\u2066name",
    "line\nbreak\ttab\x00\x1b[31m",
    "\ud800 alone",
    "名前" * 40,
    "שלום עולם",
    "👩‍👩‍👧‍👦" * 50,
    "W" * 100_000,
    "",
]


@pytest.fixture(scope="module")
def document(services, vector_add) -> CompilationDocument:
    request = Request(source=vector_add, target="cuda:90", triton=services.triton_version(None))
    record = services.queue.complete(request)
    return CompilationDocument.of(record, ApiLinks(record.id), {})


def picture(document: CompilationDocument) -> Image.Image:
    return Image.open(io.BytesIO(draw_card(document, page_look()))).convert("RGB")


def ink(image: Image.Image) -> tuple[int, int, int, int]:
    """Return the bounding box of everything that is not background."""
    box = ImageChops.difference(image, Image.new("RGB", image.size, BACKGROUND)).getbbox()
    assert box is not None
    return box


def heading(image: Image.Image) -> Image.Image:
    return image.crop((0, 100, WIDTH, 210))


def test_it_is_as_large_as_chats_want_it_and_keeps_its_margins(document):
    image = picture(document)
    assert image.size == (WIDTH, HEIGHT) == (1200, 630)
    left, top, right, bottom = ink(image)
    assert left >= MARGIN
    assert top >= 40
    assert right <= WIDTH - MARGIN
    assert bottom <= HEIGHT - 40


def test_what_differs_is_seen(document):
    first = picture(document)
    assert document.resources is not None
    changes = {
        "kernel": "another_kernel",
        "triton": "3.6.0",
        "stages": [msgspec.structs.replace(stage, lines=stage.lines + 1) for stage in document.stages],
        "resources": msgspec.structs.replace(document.resources, registers=255),
        "status": "failed",
    }
    for name, value in changes.items():
        other = picture(msgspec.structs.replace(document, **{name: value}))
        assert ImageChops.difference(first, other).getbbox() is not None, name


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_no_name_leaves_its_room_or_changes_the_rest(document, name):
    usual = picture(document)
    image = picture(msgspec.structs.replace(document, kernel=name))
    left, _, right, _ = ink(image)
    assert left >= MARGIN
    assert right <= WIDTH - MARGIN
    below = (0, 215, WIDTH, HEIGHT)
    assert ImageChops.difference(image.crop(below), usual.crop(below)).getbbox() is None


def test_a_long_name_is_cut_where_its_room_ends(document):
    names = ["a" * 60 + "b", "a" * 60 + "c"]
    first, second = (heading(picture(msgspec.structs.replace(document, kernel=name))) for name in names)
    assert ink(first)[2] > 0.9 * (WIDTH - MARGIN)
    assert ImageChops.difference(first, second).getbbox() is None


def test_only_characters_that_can_be_seen_are_drawn():
    assert plain("a\u202eb\u2066c\x1b[0m\nd\x00\ud800") == "abc[0m d"


def test_a_failure_shows_where_it_ended_and_why(document):
    stages = [stage for stage in document.stages if stage.name in ("ast", "ttir")]
    error = Diagnostic(severity="error", message="x" * 1_000_000, line=5)
    failed = msgspec.structs.replace(
        document, status="failed", stages=stages, resources=None, diagnostics=[error]
    )
    image = picture(failed)
    red = [pixel for _, pixel in image.getcolors(WIDTH * HEIGHT) if pixel == (255, 123, 123)]
    assert red
    assert ink(image)[2] <= WIDTH - MARGIN
    other = picture(msgspec.structs.replace(failed, diagnostics=[replace(error, message="y")]))
    below = (0, 400, WIDTH, HEIGHT)
    assert ImageChops.difference(image.crop(below), other.crop(below)).getbbox() is not None


def test_more_stages_than_there_are_do_no_harm(document):
    many = [msgspec.structs.replace(document.stages[0], name=f"stage{n}") for n in range(1000)]
    assert ink(picture(msgspec.structs.replace(document, stages=many)))[2] <= WIDTH - MARGIN
