"""Test the pictures that panes save, in a browser."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from actions import Visitor, run_command, wait_for_result
from playwright.sync_api import Browser, Page, expect

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
SVG = "{http://www.w3.org/2000/svg}"
#: Counts the pixels of a PNG that differ from its first pixel, the background.
DRAWN_PIXELS = """async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    return new Uint32Array(data.buffer).reduce((sum, pixel, _, [first]) => sum + (pixel !== first), 0);
}"""

PANES = pytest.mark.parametrize(
    ("pane", "ready", "name", "word"),
    [
        ("memory", ".memory-map .buffer", "memory", "48 KiB · ops"),
        ("registers", ".register-ranges .range", "registers", "Tensors of TTGIR in registers per thread"),
        ("graph:ttgir", ".graph-svg .node", "graph-ttgir", "ttng.warp_group_dot"),
        ("layouts:mma", ".layout-canvas", "layouts", "dimension 0 ↓"),
    ],
)


def saved(page: Page, kind: str) -> tuple[str, Path]:
    """Press a button of the pane and return the name of the file and where it is."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save as {kind}").click()
    return download.value.suggested_filename, Path(download.value.path())


@PANES
def test_a_pane_is_saved_as_a_picture(visitor: Visitor, pane: str, ready: str, name: str, word: str) -> None:
    page = visitor()
    page.goto(f"/#panes={pane}")
    wait_for_result(page)
    expect(page.locator(ready).first).to_be_attached(timeout=60_000)

    file_name, file = saved(page, "SVG")
    assert file_name == f"matmul_kernel-sm_90-{name}.svg"
    root = ElementTree.fromstring(file.read_bytes())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert width > 300
    assert height > 200
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    assert any(word in text for text in texts), texts
    assert texts[0].startswith("matmul_kernel · ")
    addresses = [
        value
        for each in root.iter()
        for key, value in each.attrib.items()
        if key.endswith("href") or "url(" in value
    ]
    assert [each for each in addresses if not each.startswith("data:image/png;base64,")] == []
    assert not {each.tag for each in root.iter()} & {f"{SVG}foreignObject", f"{SVG}script", f"{SVG}style"}

    file_name, file = saved(page, "PNG")
    assert file_name == f"matmul_kernel-sm_90-{name}.png"
    data = file.read_bytes()
    assert data.startswith(PNG_SIGNATURE)
    assert struct.unpack(">II", data[16:24]) == (2 * width, 2 * height)
    assert page.evaluate(DRAWN_PIXELS, base64.b64encode(data).decode()) > 10_000


def test_the_picture_has_what_is_scrolled_out_of_sight_and_opens_alone(
    visitor: Visitor, browser: Browser, tmp_path: Path
) -> None:
    page = visitor(width=500, height=400, color_scheme="light")
    page.goto("/#panes=memory")
    wait_for_result(page)
    last = page.locator(".memory > .hint")
    expect(last).not_to_be_in_viewport()
    expect(last).to_have_text(re.compile("^Source: Triton"))
    with page.expect_download() as download:
        run_command(page, "save picture svg")
    file = tmp_path / "memory.svg"
    download.value.save_as(file)
    alone = browser.new_page(viewport={"width": 700, "height": 900}, offline=True)
    alone.goto(file.as_uri())
    texts = alone.evaluate(
        "[...document.querySelectorAll('text')].filter(({ textContent }) =>"
        " textContent === 'Source:').map((each) => each.getBoundingClientRect().width > 20)"
    )
    assert texts == [True]
    # The picture has the theme of the page.
    assert alone.evaluate("document.querySelector('svg > rect').getAttribute('fill')") == "#ffffff"
    alone.close()
