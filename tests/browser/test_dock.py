"""The arrangement of the panes: tabs are dragged, and a new arrangement keeps what the panes do."""

from __future__ import annotations

import re

from actions import eventually, open_result
from playwright.sync_api import Page, expect
from sources import SCALE


def groups(page: Page) -> list[list[str]]:
    """The tabs of each group, in the order of the page."""
    return [
        [tab.inner_text().strip("×\n ") for tab in group.get_by_role("tab").all()]
        for group in page.locator(".dv-groupview").all()
    ]


def test_a_tab_is_dragged_into_another_group_and_beside_a_group(page: Page) -> None:
    open_result(page, SCALE, "#panes=log,resources+memory,registers")
    tab = page.get_by_role("tab", name="Resources")
    bars = page.locator(".dv-void-container")
    dock = page.locator(".dock")

    def expect_groups(*expected: list[str]) -> None:
        eventually(lambda: groups(page), list(expected))

    # Before a tab, and into the empty part of a bar.
    tab.drag_to(page.get_by_role("tab", name="Memory"), target_position={"x": 4, "y": 10})
    expect_groups(["Log"], ["Resources", "Memory", "Registers"])
    tab.drag_to(bars.first)
    expect_groups(["Log", "Resources"], ["Memory", "Registers"])

    # Below the other group, to the edge of the dock, and back.
    tab.drag_to(page.locator("pane-registers, pane-memory").last, target_position={"x": 200, "y": 600})
    expect_groups(["Log"], ["Memory", "Registers"], ["Resources"])
    expect(page).to_have_url(re.compile(r"\+\(memory,registers\*?@\d+\+resources@\d+\)@"))
    tab.drag_to(dock, target_position={"x": 3, "y": 300})
    expect_groups(["Resources"], ["Log"], ["Memory", "Registers"])

    # The whole group by its bar.
    bars.last.drag_to(page.get_by_role("tab", name="Log"))
    expect_groups(["Resources"], ["Log", "Memory", "Registers"])


def test_a_tab_that_has_no_room_is_in_a_list(page: Page) -> None:
    page.set_viewport_size({"width": 900, "height": 800})
    open_result(page, SCALE, "#panes=stage:ttir,stage:ttgir,memory,registers,layouts,resources@50+log@50")
    page.locator(".dv-tabs-overflow-dropdown-default").click()
    page.locator(".dv-tabs-overflow-container").get_by_text("Resources").click()
    expect(page.locator("pane-resources")).to_be_visible()
    expect(page.locator(".dv-tabs-overflow-container")).to_have_count(0)


def test_a_new_arrangement_keeps_the_searches(page: Page) -> None:
    open_result(page, SCALE, "#panes=stage:ttir,passes+stage:ttgir")
    pane = page.get_by_role("group", name="TTIR, ").locator("xpath=ancestor::pane-stage")
    passes = page.get_by_role("searchbox", name="Search all passes")
    pane.get_by_role("searchbox").fill("tt.")
    expect(pane.get_by_role("status")).to_have_text(re.compile(r"^1 of \d+$"))
    page.get_by_role("tab", name="Passes").click()
    passes.fill("tt.load")
    passes.press("Enter")
    page.keyboard.press("Control+Shift+f")
    dialog = page.locator("dialog.stage-search")
    dialog.get_by_role("combobox").fill("tt.store")
    status = dialog.get_by_role("status")
    expect(status).to_have_text("2 matches in 2 texts.")

    # In a narrow window, all panes are in one group.
    page.set_viewport_size({"width": 700, "height": 900})
    eventually(lambda: groups(page), [["TTIR", "Passes", "TTGIR"]])
    expect(status).to_have_text("2 matches in 2 texts.")
    expect(dialog.get_by_role("option")).to_have_count(2)
    page.keyboard.press("Escape")
    # A search that begins there is kept, too.
    page.get_by_role("tab", name="Passes").click()
    before = page.url
    passes.fill("tt.store")
    passes.press("Enter")
    expect(page).not_to_have_url(before)
    page.set_viewport_size({"width": 1440, "height": 900})
    eventually(lambda: groups(page), [["TTIR", "Passes"], ["TTGIR"]])
    expect(passes).to_have_value("tt.store")
    page.get_by_role("tab", name="TTIR").click()
    expect(pane.get_by_role("searchbox")).to_have_value("tt.")
    expect(pane.get_by_role("status")).to_have_text(re.compile(r"^1 of \d+$"))
