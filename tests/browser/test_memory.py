"""Test the Memory pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import (
    Visitor,
    compiled,
    editor_line,
    expect_accessible,
    expect_fits,
    open_example,
    unfold_launch,
    wait_for_result,
)
from playwright.sync_api import Page, Route, expect
from tritons import TRITONS

VIEW = "#panes=stage:ttgir@45+memory@55"

#: Tiles that need more than any GPU has.
TOO_LARGE = """import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rows[:, None] * K + k + inner[None, :])
        b = tl.load(b_ptr + (k + inner)[:, None] * BLOCK + rows[None, :])
        total += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * BLOCK + rows[None, :], total.to(tl.float16))


x = torch.empty((128, 1024), device="cuda", dtype=torch.float16)
product[(1,)](x, x, x, 1024, BLOCK=128, BLOCK_K=128, num_stages=4, num_warps=8)
"""


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The matmul of a first visit beside its memory."""
    page = visitor()
    page.goto(f"/{VIEW}")
    wait_for_result(page)
    expect(page.locator(".memory-map").first).to_be_visible()
    return page


def test_the_map_shows_what_the_compiler_has_allocated(page: Page, visitor: Visitor) -> None:
    pane = page.locator("pane-memory")
    expect(pane.locator(".memory-head")).to_contain_text("96 KiB (98,304 B) for 3 buffers")
    expect(pane.locator(".memory-map .buffer")).to_have_count(3)
    # Classes of other panes have no hold on the picture.
    strip = pane.locator(".memory-map .strip").first
    assert strip.evaluate("each => each.getBBox().height") == 5
    rows = pane.get_by_role("table", name="Buffers").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text(re.compile(r"^aexplicit49,1520"))
    expect(rows.nth(2)).to_contain_text("scratch of ttg.convert_layout")

    # A buffer lights its two operations in all panes.
    editor_line(page, "tl.dot(")  # the editor contains only the lines near the visible lines
    page.locator(".memory-map .buffer").first.hover()
    expect(page.locator(".editor .lit-lines > .is-lit").first).to_be_attached()
    # Buffers that are alive at the same time are marked, and the two operations are named.
    expect(page.locator(".memory-map .buffer.is-neighbour")).to_have_count(1)
    expect(page.locator("pane-memory section .hint")).to_have_text(
        re.compile(r"^a · .*48 KiB: from ttg\.local_alloc %a, line \d+ to ttg\.local_dealloc, line \d+\.$")
    )
    page.locator(".memory-map .buffer").first.click()
    expect(page.locator(".memory-details")).to_contain_text("3 of 16 KiB (16,384 B)")
    expect(page).to_have_url(re.compile(r"memory:0\.b0"))
    page.locator(".memory-details .link").first.click()
    expect(page.locator(".cm-line.is-pinned")).to_have_count(1)
    expect(page.get_by_role("group", name="TTGIR, ").locator(".is-pinned").first).to_be_visible()

    # A link shows the same buffer.
    page.locator(".memory-map .buffer.is-scratch").click()
    expect(page).to_have_url(re.compile(r"memory:0\.b2"))
    other = visitor()
    other.goto(page.url)
    expect(other.locator(".memory-details h3")).to_have_text("scratch of ttg.convert_layout")
    expect(other.locator(".memory-map .buffer.is-chosen")).to_have_count(1)


@pytest.mark.nightly
def test_barriers_say_what_they_protect(page: Page) -> None:
    # Older versions do not report their barriers.
    unfold_launch(page)
    page.get_by_role("combobox", name="Triton version").select_option(label=f"Triton {TRITONS[0]}")
    expect(page.locator("#subject")).to_contain_text(f"Triton {TRITONS[0]}")
    wait_for_result(page)
    expect(page.locator(".memory-legend .is-barrier")).to_be_visible()
    page.get_by_role("listbox", name="Buffers and barriers").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    details = page.locator(".memory-details")
    expect(details).to_contain_text("read after write: ttg.async_copy_global_to_local")
    expect(details).to_contain_text("ttng.warp_group_dot")
    expect(details).to_contain_text("membar pass")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-line.is-pinned").first).to_be_attached()

    # A kernel without shared memory says so.
    open_example(page, "Vector addition")
    expect(page.locator("pane-memory")).to_contain_text("uses no shared memory")


@pytest.mark.nightly
def test_a_kernel_that_is_refused_shows_what_it_needs(visitor: Visitor) -> None:
    page = visitor()
    page.goto(f"/k/{compiled(page, TOO_LARGE)}{VIEW}")
    wait_for_result(page, "failed")
    refusal = page.locator(".memory-reason")
    expect(refusal).to_contain_text("too much")
    expect(refusal).to_contain_text("4 slots of 32 KiB")
    page.get_by_role("button", name="Compile with fewer stages").click()
    stages = page.locator(".memory-stages li")
    expect(stages).to_have_text(
        [re.compile("num_stages = 4: .*KiB.*, too much"), re.compile(r"num_stages = 3: .*KiB \([\d,]+ B\)$")],
        timeout=60_000,
    )


@pytest.mark.nightly
def test_the_pane_is_accessible_and_fits(visitor: Visitor) -> None:
    page = visitor(width=375, height=800)
    page.goto("/#panes=memory:0.x0")
    wait_for_result(page)
    expect(page.locator(".memory-details")).to_be_visible()
    expect_fits(page.locator("html"), page.locator("pane-memory"))
    expect_accessible(page, "pane-memory")


@pytest.mark.nightly
def test_an_answer_that_is_not_there_is_asked_for_again(visitor: Visitor) -> None:
    # A server with too much to do is asked again.
    page = visitor()
    answers = iter((503, 503))

    def refuse(route: Route) -> None:
        status = next(answers, 200)
        if status == 200:
            route.continue_()
        else:
            problem = {"error": "Temporarily unavailable", "detail": "Later."}
            route.fulfill(status=status, headers={"Retry-After": "1"}, json=problem)

    page.route("**/allocation", refuse)
    page.goto(f"/{VIEW}")
    wait_for_result(page)
    expect(page.locator(".memory-map .buffer")).to_have_count(3)

    # An ended query can be tried again.
    killed = {"error": "No answer", "detail": "The process was killed."}
    page.goto("about:blank")
    page.route("**/allocation", lambda route: route.fulfill(status=422, json=killed), times=1)
    page.goto(f"/{VIEW}")
    wait_for_result(page)
    expect(page.locator("pane-memory")).to_contain_text("The process was killed.")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".memory-map .buffer")).to_have_count(3)
