"""Test the pane Barrier phases in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, open_example, violations, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """A matmul with tensor descriptors beside its mbarriers."""
    page = visitor()
    page.goto("/#panes=stage:ttgir@40+barrier_phases@60")
    wait_for_result(page)
    expect(page.locator("pane-barrier-phases")).to_contain_text("uses no mbarrier")
    open_example(page, "Matrix multiplication through tensor descriptors")
    wait_for_result(page)
    return page


def test_a_wait_leads_to_its_line_and_to_the_phase_that_it_waits_for(page: Page) -> None:
    table = page.get_by_role("table", name="Threads and mbarriers by step")
    expect(table.get_by_role("rowheader", name=re.compile("^Copies of %a, %b → program"))).to_be_visible()
    wait = table.get_by_role("button", name=re.compile(r"program, step.*: wait for .* with parity 0")).first
    wait.click()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("ttng.wait_barrier")
    expect(page.locator(".phases-detail")).to_contain_text("ttng.wait_barrier")
    assert violations(page, "pane-barrier-phases") == []


@pytest.mark.nightly
def test_the_keyboard_moves_through_steps_and_rows(page: Page) -> None:
    table = page.get_by_role("table", name="Threads and mbarriers by step")
    first = table.locator("button[tabindex='0']")
    expect(first).to_have_count(1)
    expect(first).to_have_accessible_name(re.compile("^program, step 0: expect"))
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(table.locator("button:focus")).to_have_accessible_name(re.compile("^program, step 1: copy"))
    page.keyboard.press("ArrowDown")
    expect(table.locator("button:focus")).to_have_accessible_name(re.compile("^copies, step 1: 1 under way"))
    page.keyboard.press("ArrowDown")
    expect(table.locator("button:focus")).to_have_accessible_name(re.compile(r"\[0\], steps? 1.*: phase 0"))
    page.get_by_role("button", name="Later").click()
    expect(page.get_by_text(re.compile(r"^Steps 48 to 95 of \d+"))).to_be_visible()
    expect(table.get_by_role("columnheader").first).to_have_text("48")
    expect(page).to_have_url(re.compile("barrier_phases:48"))
