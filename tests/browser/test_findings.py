"""Test the Findings pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import Visitor, expect_accessible, expect_fits, open_example, wait_for_result
from playwright.sync_api import expect

#: The loop of the gallery's reduction is not pipelined: it sets no number of stages.
EXAMPLE = "Reduction through shared memory"


def test_a_finding_leads_to_its_line_and_operation(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=stage:ttgir@50+findings@50")
    open_example(page, EXAMPLE)
    wait_for_result(page)
    pane = page.locator("pane-findings")
    finding = pane.get_by_role("listitem").filter(has_text="no iteration starts ahead")
    expect(finding).to_contain_text("tl.range(…, num_stages=N)")
    expect_accessible(page, "pane-findings")
    finding.get_by_role("button", name=re.compile(r"^line \d+$")).click()
    expect(page).to_have_url(re.compile(r"pin=25"))
    finding.get_by_role("button", name=re.compile(r"^TTGIR \d+$")).click()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("scf.for")


@pytest.mark.nightly
def test_a_kernel_without_a_finding_says_what_was_checked(visitor: Visitor) -> None:
    page = visitor(width=375, height=812)
    page.goto("/#panes=findings")
    open_example(page, "Vector addition")
    wait_for_result(page)
    pane = page.locator("pane-findings")
    expect(pane).to_contain_text("No static problem found.")
    pane.get_by_text(re.compile(r"^\d+ checks$")).click()
    expect(pane.get_by_role("listitem").filter(has_text="Bank conflicts: nothing found")).to_be_visible()
    expect_fits(page)
