"""The run pane, in a real browser against the real server."""

from __future__ import annotations

from actions import Visitor, wait_for_result
from playwright.sync_api import expect


def test_the_pane_says_what_would_fill_it(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=run")
    pane = page.locator("pane-run")
    expect(pane).to_contain_text("as soon as it is compiled")
    wait_for_result(page)
    expect(pane.get_by_role("button", name="Run", exact=True)).to_be_visible()
    pane.locator(".run-setup summary").click()
    pane.get_by_label("launch").select_option(label="Inputs made here")
    grid = pane.get_by_label("grid")
    expect(grid).to_have_value("cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)")
    grid.fill("cdiv(M, UNKNOWN")
    expect(pane.get_by_role("alert").filter(has_text="A bracket of")).to_be_visible()
    grid.fill("cdiv(M, UNKNOWN)")
    expect(pane.get_by_role("alert").filter(has_text="UNKNOWN is not known")).to_be_visible()
