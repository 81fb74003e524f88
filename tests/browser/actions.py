"""What users do with the page, and what they wait for."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

#: Makes a page in a profile of its own: the fixture `visitor`.
Visitor = Callable[..., Page]
COMPILE_TIMEOUT_MS = 60_000

#: A small kernel and its launch.
SCALE = """import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * factor, mask=offsets < n)


x = torch.empty(4096, device="cuda")
scale[(4,)](x, x, 4096, 2.0, BLOCK=1024)
"""


def wait_for_result(page: Page, status: str = "complete") -> None:
    """Wait until the last compilation has come to this end."""
    expect(page.locator("status-bar .state")).to_have_class(f"state is-{status}", timeout=COMPILE_TIMEOUT_MS)


def stage_text(page: Page, title: str) -> str:
    """What is to be seen of a stage, by the title on its tab."""
    return page.get_by_role("group", name=f"{title}, ").inner_text()


def expect_stage(page: Page, title: str, text: str) -> None:
    """Wait until a stage, by the title on its tab, shows a text."""
    expect(page.get_by_role("group", name=f"{title}, ")).to_contain_text(text, timeout=COMPILE_TIMEOUT_MS)


def set_source(page: Page, source: str) -> None:
    """Replace the source as a user would who pastes another."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.locator("#editor .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")


def open_example(page: Page, title: str) -> None:
    """Choose an example from the gallery."""
    page.get_by_role("button", name="Gallery").click()
    page.locator("#gallery-menu .card", has_text=title).click()


def result_id(page: Page) -> str:
    """The id of what is shown."""
    found = re.search(r"/k/(\w+)", page.url)
    assert found
    return found[1]


def whole_text(page: Page, stage: str) -> list[str]:
    """The lines of a stage, as they are downloaded."""
    response = page.request.get(f"/api/v1/compilations/{result_id(page)}/stages/{stage}")
    return response.text().rstrip("\n").split("\n")
