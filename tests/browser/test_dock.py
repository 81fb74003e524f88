"""The arrangement of the panes by mouse."""

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
