"""Test the search over all stages in a browser."""

from __future__ import annotations

import re

from actions import expect_accessible
from playwright.sync_api import Page, expect


def test_a_search_finds_lines_of_all_stages_and_goes_to_them(page: Page) -> None:
    page.keyboard.press("Control+Shift+f")
    field = page.get_by_role("combobox", name="Search all stages")
    expect(field).to_be_focused()
    dialog = page.locator("dialog.stage-search")
    status = dialog.get_by_role("status")
    lines = dialog.get_by_role("option")
    page.keyboard.type("hgmma.64")
    expect(status).to_have_text(re.compile(r"^\d+ matches in 1 text\.$"))
    expect(dialog.get_by_role("button", name=re.compile("^TTIR"))).to_have_text("TTIR 0")
    page.get_by_role("button", name="Match case").last.click()
    expect(status).to_have_text("No match.")
    page.get_by_role("button", name="Match case").last.click()
    dialog.get_by_role("button", name="Regular expression").click()
    field.fill(r"tl\.load|tt\.store|HGMMA\.\d+")
    expect(status).to_have_text(re.compile(r"matches in (\d+) texts\.$"))
    expect(dialog.locator(".search-text b")).to_have_text(["Python source", "TTIR", "TTGIR", "SASS"])
    expect_accessible(page, "dialog.stage-search")

    # The modules after passes are searched on request.
    dialog.get_by_label("passes").check()
    expect(dialog.locator(".search-text b", has_text="after ").first).to_be_attached()
    dialog.get_by_label("passes").uncheck()

    # More lines are listed on request.
    field.fill(r"\bmov\.")
    expect(lines.last).to_have_text(re.compile(r"^\d+ more$"))
    few = lines.count()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(lines).not_to_have_count(few)

    # An expression that takes for ever is stopped, and the page goes on.
    field.fill(r"(\S+\s*)+§")
    expect(status).to_have_text(re.compile("^Stopped: the expression takes too long"), timeout=15_000)
    field.fill(r"HGMMA\.\d+")
    expect(status).to_have_text(re.compile(r"matches in 1 text\.$"))
    number = lines.nth(1).locator(".number").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(re.compile(rf"&line=sass\.{number}$"))
    cursor = page.get_by_role("group", name=re.compile("^SASS, ")).locator(".is-cursor")
    expect(cursor).to_contain_text("HGMMA")
    expect(page.get_by_role("group", name=re.compile("^SASS, "))).to_be_focused()

    # A line of the source is pinned. The search comes back with its last words.
    page.keyboard.press("Control+Shift+f")
    expect(field).to_have_value(r"HGMMA\.\d+")
    field.fill("tl\\.dot")
    expect(status).to_have_text("1 match in 1 text.")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-line.is-pinned")).to_contain_text("tl.dot(")

    # In a small window, the list scrolls between the field and the status.
    page.set_viewport_size({"width": 375, "height": 600})
    page.keyboard.press("Control+Shift+f")
    field.fill("r")
    expect(status).to_have_text(re.compile(r"in \d+ texts\.$"))
    for part in (field, lines.first, status):
        expect(part).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
