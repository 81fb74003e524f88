"""Test the Compilation pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, expect_accessible, wait_for_result
from playwright.sync_api import expect


@pytest.mark.nightly
def test_the_times_and_the_elements_per_thread_lead_to_passes_and_lines(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=compile_time")
    wait_for_result(page)
    pane = page.locator("pane-compile-time")
    expect(pane).to_contain_text("No single cause of the compile time or of the code size stands out.")
    expect(
        pane.get_by_role("table", name="Time by step").get_by_role("row", name=re.compile("ptxas"))
    ).to_be_visible()
    expect(pane.get_by_role("table", name="Elements per thread", exact=True)).to_contain_text("128×128 f32")
    expect_accessible(page, "pane-compile-time")
    # The heads of the tables have marks of the glossary.
    lines = pane.get_by_role("table", name="Operations and instructions by source line", exact=True)
    lines.locator("tbody").get_by_role("button").first.click()
    expect(page).to_have_url(re.compile(r"pin=\d+"))
    passes = pane.get_by_role("table", name="Time by pass", exact=True)
    passes.locator("tbody").get_by_role("button").first.click()
    expect(page).to_have_url(re.compile(r"passes:\w+\.\d+"))
