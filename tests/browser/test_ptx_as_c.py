"""Test the pane PTX as C in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, run_command, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Visitor) -> Page:
    page = visitor(permissions=["clipboard-read", "clipboard-write"])
    page.goto("/#panes=stage:ptx+ptx_as_c")
    wait_for_result(page)
    expect(page.locator("pane-ptx-as-c .text-row").first).to_be_visible()
    return page


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_line_leads_to_its_ptx_and_to_the_source(page: Page) -> None:
    pane = page.locator("pane-ptx-as-c")
    line = pane.locator(".text-row", has_text=re.compile(r"int32_t tiles_m_r\d+ = M \+ 127;"))
    expect(line).to_have_attribute("title", re.compile(r"^PTX lines \d+, \d+"))
    line.click()
    expect(pane.locator(".is-pinned").first).to_be_visible()
    expect(page.locator("pane-stage .is-pinned").first).to_be_visible()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("ld.param")


@pytest.mark.nightly
def test_the_cursor_of_ptx_leads_to_the_c(page: Page) -> None:
    ptx = page.locator("pane-stage")
    ptx.get_by_role("group", name="PTX, ").focus()
    ptx.locator(".text-row", has_text=re.compile(r"add\.s32\s+%r\d+, %r\d+, 127;")).first.click()
    expect(page.locator("pane-ptx-as-c .is-cursor")).to_contain_text("= M + 127;")


@pytest.mark.nightly
def test_ptx_opens_it_beside(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=stage:ptx")
    wait_for_result(page)
    page.locator("pane-stage").get_by_role("button", name="as C").click()
    expect(page.locator("pane-ptx-as-c")).to_contain_text("half *a_ptr,")
    expect(page.locator("pane-ptx-as-c .facts")).to_contain_text("named")


@pytest.mark.nightly
def test_it_is_searched_and_copied_as_the_text_of_a_stage(page: Page) -> None:
    pane, ptx = page.locator("pane-ptx-as-c"), page.locator("pane-stage")
    pane.get_by_role("group", name="PTX as C, ").focus()
    page.keyboard.press("/")
    page.keyboard.type("TILES_M")
    expect(pane.locator(".count")).to_have_text(re.compile(r"^1 of \d+$"))
    expect(pane.locator(".is-current-hit .is-match").first).to_have_text("tiles_m")
    expect(ptx.locator(".is-hit")).to_have_count(0)
    pane.get_by_role("button", name="Match case").click()
    expect(pane.locator(".count")).to_have_text("no match")
    pane.get_by_role("searchbox").press("Escape")
    expect(pane.locator(".is-hit")).to_have_count(0)

    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowDown")
    expect(pane.locator(".is-selected")).to_have_count(2)
    first, second = (pane.locator(".text-row .code").nth(line).inner_text() for line in (0, 1))
    page.keyboard.press("Control+c")
    assert clipboard(page) == f"{first}\n{second}\n"
    run_command(page, "Copy with line numbers")
    expect(page.locator("#toast")).to_have_text("2 lines copied.")
    assert clipboard(page) == f"1  {first}\n2  {second}\n"

    # The same commands are about the text that was used last.
    ptx.get_by_role("group", name="PTX, ").focus()
    page.keyboard.press("Home")
    run_command(page, "Copy with line numbers")
    expect(page.locator("#toast")).to_have_text("Line 1 copied.")
    assert clipboard(page).startswith("1  //")
