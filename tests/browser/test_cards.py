"""Test that cards and drawn panes are accessible in each color scheme, on pages of a matmul."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, expect_accessible, wait_for_result
from playwright.sync_api import Page, expect


@pytest.mark.nightly
def test_the_card_of_a_tour_is_accessible(visitor: Visitor) -> None:
    page = visitor(1280, 720)
    page.goto("/#tour=shared_memory.2")
    wait_for_result(page)
    expect(page.get_by_role("button", name="Show me")).to_be_visible()
    expect_accessible(page, "tour-card")
    page.get_by_role("button", name="Show me").click()
    claims = page.get_by_role("list", name="Read from the result")
    expect(claims.locator("b").first).to_have_text(re.compile(r"\d"))
    expect(page.get_by_role("status").filter(has_text="Answer:")).to_be_visible()
    expect_accessible(page, "tour-card")


def show(page: Page, panes: str) -> None:
    """Follow a link to other panes in the same page."""
    page.evaluate("panes => { location.hash = `panes=${panes}`; }", panes)


@pytest.mark.nightly
def test_drawn_panes_and_the_lineage_are_accessible(visitor: Visitor) -> None:
    page = visitor(1280, 720)
    page.goto("/#panes=stage:ttgir")
    wait_for_result(page)
    page.locator(".text-row", has_text="tt.get_program_id").first.click()
    page.get_by_role("button", name="Why is this here?").click()
    card = page.get_by_role("region", name="Lineage of the operation")
    card.get_by_text("Pass by pass").click()
    expect(card).to_contain_text("The source has it in line")
    # The lines of the stage are checked with the whole page.
    expect_accessible(page, "operation-lineage", "pane-stage .pane-foot", "pane-stage .text-row.is-operation")

    show(page, "ptx_as_c")
    expect(page.locator("pane-ptx-as-c .text-row").first).to_be_visible()
    expect_accessible(page, "pane-ptx-as-c")

    show(page, "layouts")
    page.get_by_role("button", name=re.compile("^Accesses to global memory")).click()
    page.get_by_text("Lanes and sectors, step by step").first.click()
    page.get_by_role("group", name="Steps of the access").first.press("ArrowRight")
    expect_accessible(page, "pane-layouts")
