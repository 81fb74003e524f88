"""Test the pane PTX as C in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Visitor) -> Page:
    page = visitor()
    page.goto("/#panes=stage:ptx+ptx_as_c")
    wait_for_result(page)
    expect(page.locator("pane-ptx-as-c .text-row").first).to_be_visible()
    return page


def test_a_line_leads_to_its_ptx_and_to_the_source(page: Page) -> None:
    pane = page.locator("pane-ptx-as-c")
    line = pane.locator(".text-row", has_text=re.compile(r"int32_t tiles_m_r\d+ = M \+ 127;"))
    expect(line).to_have_attribute("title", re.compile(r"^PTX lines \d+, \d+"))
    line.click()
    expect(pane.locator(".is-pinned").first).to_be_visible()
    expect(page.locator("pane-stage .is-pinned").first).to_be_visible()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("ld.param")


def test_the_cursor_of_ptx_leads_to_the_c(page: Page) -> None:
    ptx = page.locator("pane-stage")
    ptx.get_by_role("group", name="PTX, ").focus()
    ptx.locator(".text-row", has_text=re.compile(r"add\.s32\s+%r\d+, %r\d+, 127;")).first.click()
    expect(page.locator("pane-ptx-as-c .is-cursor")).to_contain_text("= M + 127;")


def test_ptx_opens_it_beside(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=stage:ptx")
    wait_for_result(page)
    page.locator("pane-stage").get_by_role("button", name="as C").click()
    expect(page.locator("pane-ptx-as-c")).to_contain_text("half *a_ptr,")
    expect(page.locator("pane-ptx-as-c .facts")).to_contain_text("named")
