"""Test the pane Schedule in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, expect_accessible, expect_fits, wait_for_result
from playwright.sync_api import Page, expect

VIEW = "/#panes=stage:ttgir@45+schedule@55"


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The matmul of a first visit beside its schedule."""
    page = visitor()
    page.goto(VIEW)
    wait_for_result(page)
    expect(page.get_by_role("table", name="Stages by iteration and turn")).to_be_visible()
    return page


def test_a_turn_executes_a_stage_of_each_of_three_iterations(page: Page) -> None:
    turns = page.get_by_role("table", name="Stages by iteration and turn")
    expect(turns.get_by_role("columnheader", name="Before the loop")).to_have_attribute("colspan", "2")
    cells = turns.get_by_role("button")
    expect(cells.nth(0)).to_have_accessible_name("Iteration 0, turn -2, stage 0: load ×2")
    expect(turns.get_by_role("button", name=re.compile(r", turn 0, "))).to_have_count(3)
    cells.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(cells.nth(2)).to_be_focused()
    expect(cells.nth(2)).to_have_accessible_name(re.compile(r"stage 2: .*warp_group_dot"))
    page.keyboard.press("ArrowDown")
    expect(turns.get_by_role("button", name=re.compile("^Iteration 1, turn 0, stage 1"))).to_be_focused()


@pytest.mark.nightly
def test_an_operation_leads_to_its_line_of_the_source_and_of_ttgir(page: Page) -> None:
    order = page.get_by_role("table", name="Operations of a turn in order")
    load = order.get_by_role("row", name=re.compile("tt.load")).first
    expect(load).to_contain_text("a = tl.load(")
    expect(load).to_contain_text("i + 2")
    expect(load).to_contain_text("2 · 1 · 0")
    load.get_by_role("button").click()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("ttg.async_copy_global_to_local")
    expect(page.locator("pane-stage .is-pinned").first).to_be_visible()
    expect(load).to_have_class(re.compile("is-pinned"))
    rows = order.get_by_role("row")
    before = rows.count()
    page.get_by_label(re.compile("with addresses")).click()
    expect(rows).not_to_have_count(before)
    expect(order).to_contain_text("tt.addptr")


@pytest.mark.nightly
def test_the_pass_opens_it(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=passes:ttgir")
    wait_for_result(page)
    page.get_by_role("option", name=re.compile("tritongpu-schedule-loops")).click()
    page.get_by_role("button", name="Stages and iterations of the pipelined loops").click()
    expect(page.locator("pane-schedule")).to_contain_text("An iteration takes 3 stages")


@pytest.mark.nightly
def test_it_is_read_on_a_telephone(visitor: Visitor) -> None:
    page = visitor(width=375, height=812)
    page.goto("/#panes=schedule")
    wait_for_result(page)
    pane = page.locator("pane-schedule")
    turns = pane.get_by_role("table", name="Stages by iteration and turn")
    # All turns fit, and the work of the stages is below instead of in the cells.
    expect(turns).to_be_visible()
    expect_fits(page.locator("html"), pane.locator(".schedule-scroll").first)
    expect(turns.get_by_role("button").first).to_have_text("0", use_inner_text=True)
    expect(pane.get_by_role("definition").first).to_have_text("load ×2")
    expect_accessible(page, "pane-schedule")
