"""Test that readers who do not know the page reach each answer with at most three clicks.

Each starts from a result of the gallery, in a new profile. The browser counts the clicks.
"""

from __future__ import annotations

import re
from functools import partial

import pytest
from actions import (
    UNPINNED,
    Visitor,
    eventually,
    expect_stage,
    expect_structure,
    open_example,
    show_sass,
    unfold_launch,
    wait_for_result,
    whole_text,
)
from playwright.sync_api import Locator, Page, expect

MOST_CLICKS = 3
COUNT_CLICKS = """addEventListener("click", ({ isTrusted }) => {
  if (isTrusted) sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
}, true)"""


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """A matmul of the gallery, with no click yet."""
    page = visitor()
    page.add_init_script(COUNT_CLICKS)
    page.goto(UNPINNED)
    wait_for_result(page)
    # A first visit shows the same result, so that only its arrival distinguishes the two.
    with page.expect_response("**/api/v1/gallery/*"):
        open_example(page, "Matrix multiplication, autotuned")
    expect(page.locator("#subject b")).to_have_text("matmul_kernel")
    wait_for_result(page)
    page.evaluate("sessionStorage.removeItem('clicks')")
    return page


def clicks(page: Page) -> int:
    return int(page.evaluate("Number(sessionStorage.getItem('clicks'))"))


def click_operation(page: Page, text: str) -> Locator:
    """Scroll to an operation in the TTGIR that a first visit shows, and click it; return its pane."""
    expect_stage(page, "TTGIR", "tt.get_program_id")
    pane = page.locator("pane-stage.hue-ttgir")
    line = next(number for number, each in enumerate(whole_text(page, "ttgir"), 1) if text in each)
    row = pane.locator(".text-row").filter(has=page.locator(".number", has_text=re.compile(f"^{line}$")))
    expect_structure(pane)
    scroller = pane.locator(".text")
    scroller.hover()

    def is_below(place: float) -> bool:
        return bool(scroller.evaluate("(element, place) => element.scrollTop > place", place))

    while not row.count():
        before = scroller.evaluate("element => element.scrollTop")
        page.mouse.wheel(0, 400)
        eventually(partial(is_below, before), True)
    expect(row).to_contain_text(text)
    row.locator(".code").click(position={"x": 10, "y": 8})
    return pane


def test_the_reason_of_the_size_of_shared_memory(page: Page) -> None:
    page.locator("status-bar").get_by_role("button", name=re.compile("^shared")).click()
    reason = page.locator("pane-memory .memory-reason")
    expect(reason).to_contain_text("96 KiB (98,304 B) are alive at once")
    largest = reason.locator("li").first
    expect(largest).to_contain_text("a · 3×128×64 f16: 48 KiB (49,152 B), 3 slots of 16 KiB")
    expect(largest.get_by_role("button")).to_have_text(re.compile(r"ttg\.local_alloc %a, line \d+"))
    expect(largest).to_be_in_viewport(ratio=1)
    assert clicks(page) == 1


def test_the_pass_that_made_an_operation(page: Page) -> None:
    pane = click_operation(page, "ttng.warp_group_dot ")
    pane.get_by_role("button", name="Why is this here?").click()
    expect(page.get_by_role("region", name="Lineage of the operation")).to_contain_text(
        "Made by tritongpu-accelerate-matmul from tt.dot, source line"
    )
    assert clicks(page) == 2


def test_the_instructions_of_an_operation(page: Page) -> None:
    pane = click_operation(page, "ttg.async_copy_global_to_local")
    pane.get_by_role("button", name="Why is this here?").click()
    lineage = page.get_by_role("region", name="Lineage of the operation")
    lineage.get_by_role("button", name=re.compile(r"^\d+ SASS instructions$")).click()
    instructions = page.locator("pane-stage.hue-sass .text-row.is-operation")
    expect(instructions.first).to_be_visible()
    expect(page.locator("pane-stage.hue-sass .text-row.is-operation.is-cursor")).to_be_in_viewport()
    assert clicks(page) == MOST_CLICKS


def test_two_configurations_compared(page: Page) -> None:
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("region", name="configuration").get_by_role("button", name="num_stages 4").first.click()
    expect(page.get_by_role("heading", name="Resources")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("group", name="Different requests")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Registers per thread"))).to_contain_text(
        re.compile(r"\d+\s+\d+\s+[+−±]\d+")
    )
    assert clicks(page) == 2


def test_two_configurations_of_the_table_compared(page: Page) -> None:
    """Test the other way: compile all, tick two rows, compare."""
    unfold_launch(page)
    section = page.get_by_role("region", name="Autotune configurations")
    section.get_by_role("button", name=re.compile("^Compile the other")).click()
    expect(section.get_by_role("button", name="All compiled")).to_be_visible(timeout=240_000)
    expect(section).to_contain_text("Tick two rows to compare them.")
    for index in (0, 5):
        section.get_by_role("checkbox", name=f"Compare configuration {index}").check()
    expect(section.get_by_role("link", name="Compare")).to_have_attribute(
        "href", re.compile(r"/compare/\w+\.\.\w+")
    )


def test_an_instruction_names_its_operation(page: Page) -> None:
    show_sass(page)
    sass = page.locator("pane-stage.hue-sass")
    sass.locator(".text-row", has_text="LDC").first.locator(".code").click(position={"x": 10, "y": 8})
    sass.get_by_role("button", name="Why is this here?").click()
    expect(page.get_by_role("region", name="Lineage of the operation")).to_be_visible()
    assert clicks(page) == MOST_CLICKS
