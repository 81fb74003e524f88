"""Test the Resources pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Visitor) -> Page:
    page = visitor()
    page.goto("/#panes=resources")
    wait_for_result(page)
    expect(page.locator("pane-resources .curve").first).to_be_visible()
    return page


def test_it_says_what_limits_the_blocks(page: Page) -> None:
    pane = page.locator("pane-resources")
    expect(pane.get_by_role("heading", name="Blocks on a multiprocessor: 2")).to_be_visible()
    expect(pane.locator("tr.is-limit th")).to_have_text(["registers", "shared memory"])
    expect(pane).to_contain_text("16 of 64 warps can be active")
    expect(pane.locator(".curve")).to_have_count(3)


def test_a_grid_that_is_typed_makes_other_waves(page: Page) -> None:
    pane = page.locator("pane-resources")
    grid = pane.get_by_label("grid")
    expect(pane).to_contain_text(re.compile(r"256 blocks, 264 at once: 1 wave\."))
    grid.fill("529")
    grid.press("Enter")
    expect(pane).to_contain_text(
        "529 blocks, 264 at once: 3 waves. The last has 1 block, so that 67 % of the places are used."
    )
    pane.get_by_label("multiprocessors").fill("300")
    pane.get_by_label("multiprocessors").press("Tab")
    expect(pane).to_contain_text("600 at once: 1 wave.")
    grid.fill("0")
    grid.press("Enter")
    expect(pane).to_contain_text("Each number of 'grid' must be from 1")


def test_the_instruction_mix_is_told_by_loop(page: Page) -> None:
    mix = page.locator("pane-resources table.mix")
    expect(mix.get_by_role("row", name=re.compile("^tensor 4 4 –"))).to_be_visible()
    expect(mix.get_by_role("row", name=re.compile("copy global to shared, 128 bits"))).to_be_visible()
