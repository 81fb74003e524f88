"""Test the path of a first-time visitor, from an empty editor to a shared link."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from actions import (
    COMPILE_TIMEOUT_MS,
    Visitor,
    expect_fits,
    expect_stage,
    paste_source,
    set_source,
    show_sass,
    wait_for_result,
)
from playwright.sync_api import Locator, Page, expect
from slow_jobs import SLOW

ROOT = Path(__file__).parents[2]
SOFTMAX = (ROOT / "tests/pipeline/scripts/softmax_occupancy.py").read_text()
#: A kernel that keeps the compiler waiting behind its syntax tree, without work.
WAITING = f"""import torch
{SLOW.format(seconds=60, name="waiting")}
kernel[(1,)](torch.empty(16, device="cuda"))
"""


def stage(page: Page, title: str) -> Locator:
    return page.get_by_role("group", name=f"{title}, ")


def clear_editor(page: Page) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")


def search(page: Page, title: str, text: str) -> Locator:
    """Return the visible line of a stage with the first match."""
    box = page.locator("pane-stage", has=stage(page, title)).get_by_role("searchbox")
    box.fill(text)
    box.press("Enter")
    found = stage(page, title).locator(".text-row.is-current-hit", has_text=text)
    expect(found).to_be_in_viewport()
    return found


def compiled_softmax(page: Page) -> None:
    paste_source(page, SOFTMAX)
    expect(page.locator("#subject b")).to_have_text("softmax_kernel", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)


def test_an_empty_editor_asks_for_a_kernel(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    clear_editor(page)
    expect(page.locator(".cm-placeholder")).to_contain_text("Paste a Triton kernel")
    expect(page.locator("launch-panel")).to_contain_text("Paste a kernel, with or without the code")
    expect(page.locator("message-banner")).to_be_empty()

    page.keyboard.press("Control+Enter")
    expect(page.locator("message-banner")).to_contain_text("There is nothing to compile")
    page.get_by_role("button", name="Open the gallery").click()
    expect(page.locator("#gallery-menu .card").first).to_be_visible()


def test_from_a_tutorial_to_a_link(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    clear_editor(page)
    compiled_softmax(page)
    expect(page.locator("launch-panel h2")).to_contain_text("found at line")
    # It was pasted as a whole, and opens at its kernel.
    expect(page.locator(".cm-line", has_text="def softmax_kernel")).to_be_in_viewport()
    expect_stage(page, "TTGIR", "tt.func public @softmax_kernel")

    show_sass(page)
    search(page, "TTGIR", "tt.reduce").click()
    expect(page).to_have_url(re.compile("pin="))
    expect(stage(page, "SASS").locator(".text-row.is-pinned").first).to_be_attached()

    warps = re.search(r"(\d+) warps", page.locator("#subject").inner_text())
    assert warps is not None
    other = "4" if warps[1] == "8" else "8"
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("region", name="num_warps").get_by_role("button", name=other, exact=True).click()
    expect(page).to_have_url(re.compile(r"/compare/\w+\.\.\w+"))
    expect(page.get_by_role("group", name="Different requests")).to_contain_text(
        f"num_warps {warps[1]} → {other}"
    )
    expect(page.locator("comparison-head .state.is-complete")).to_have_count(2, timeout=COMPILE_TIMEOUT_MS)
    expect(page.get_by_role("row", name="Warps per block")).to_contain_text(other)
    expect(page.locator("comparison-view")).not_to_contain_text(re.compile("pending|not compiled yet"))

    page.go_back()
    wait_for_result(page)
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#toast")).to_have_text("Link to this view copied.")
    link = page.evaluate("navigator.clipboard.readText()")

    phone = visitor(375, 740)
    phone.goto(link)
    wait_for_result(phone)
    expect(phone.locator("#subject")).to_contain_text("softmax_kernel")
    expect(phone.locator("#subject")).to_be_in_viewport()
    expect(phone.locator(".cm-line.is-pinned")).to_be_in_viewport()
    expect(stage(phone, "TTGIR").locator(".text-row.is-pinned").first).to_contain_text(re.compile(r"\w"))
    expect_fits(phone.locator("html"))

    phone.get_by_role("button", name="Find a command").click()
    phone.get_by_role("combobox", name="Command").fill("open the history")
    phone.get_by_role("option", name="Open the history").click()
    expect(phone.locator("#history-menu")).to_be_in_viewport(ratio=1)


def test_what_a_layout_conversion_became(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    show_sass(page)
    # Elsewhere in the line are names, which lead somewhere else.
    search(page, "TTGIR", "ttg.convert_layout").locator(".number").dblclick()
    became = stage(page, "SASS").locator(".text-row.is-pinned")
    expect(became.first).to_be_in_viewport()
    expect(page.locator(".cm-line.is-pinned")).to_be_in_viewport()


def test_a_cancelled_compilation_leaves_nothing_half_there(
    visitor: Visitor, own: Callable[[str], str]
) -> None:
    page = visitor()
    page.goto("/#panes=stage:ast+resources")
    wait_for_result(page)
    before = page.url
    # Its syntax tree is there long before the rest, and is shown at once.
    set_source(page, own(WAITING))
    expect(page.locator("#subject b")).to_have_text("kernel", timeout=COMPILE_TIMEOUT_MS)
    state = page.locator("status-bar .state")
    expect(state).to_have_text("compiling, reached Python AST")
    expect(page.locator("status-bar .elapsed")).to_have_text(re.compile(r"[1-9]\d* s"))
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#subject b")).to_have_text("matmul_kernel")
    expect(state).to_have_text(re.compile(r"complete in [\d.]+ \w+, edited since"))
    expect(page.locator("pane-resources")).to_contain_text("Registers per thread")
    expect(page).to_have_url(before)
