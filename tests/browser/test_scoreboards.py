"""Test the control codes of SASS on the card, and the lines between instructions that scoreboards connect."""

from __future__ import annotations

import re

import pytest
from actions import expect_stage, open_example, run_command, whole_text
from playwright.sync_api import Locator, Page, expect

VIEW = "#panes=stage:sass"


@pytest.fixture
def pane(page: Page) -> Locator:
    """The SASS of a first visit, when it is known who waits for whom."""
    page.goto(f"{page.url.partition('#')[0]}{VIEW}")
    expect_stage(page, "SASS", "LDC")
    pane = page.locator("pane-stage.hue-sass")
    expect(pane).to_have_class(re.compile("has-scoreboards"))
    return pane


def go_to(page: Page, pane: Locator, line: int) -> None:
    """Put the cursor on a line of the stage by the keyboard, and open its card."""
    pane.get_by_role("group").focus()
    page.keyboard.press("Home")
    for _ in range(line - 1):
        page.keyboard.press("ArrowDown")
    expect(pane.locator(".text-row.is-cursor .number")).to_have_text(str(line))
    page.keyboard.press("i")


def first_wait(lines: list[str]) -> tuple[int, str]:
    """The line of the first instruction that waits, and its control code's first field."""
    for number, text in enumerate(lines, 1):
        if (found := re.match(r"(B\S{6}):", text)) and re.search(r"\d", found[1]):
            return number, found[1]
    raise AssertionError("no instruction waits")


def test_the_card_tells_each_field_and_lines_lead_to_what_is_waited_for(page: Page, pane: Locator) -> None:
    lines = whole_text(page, "sass")
    line, field = first_wait(lines)
    go_to(page, pane, line)
    card = pane.locator(".location-card .control-code")
    expect(card.locator("dt").first).to_have_text(field)
    scoreboard = re.findall(r"\d", field)[0]
    expect(card.locator("dd").first).to_contain_text(f"Waits for scoreboard {scoreboard}: the result of ")
    expect(card).to_contain_text("The warp issues its next instruction after")
    wait = pane.locator(f".scoreboard-line.is-wait[data-to='{line}'][data-scoreboard='{scoreboard}']").first
    expect(wait).to_be_attached()
    setter = int(wait.get_attribute("data-from") or 0)
    assert f":W{scoreboard}:" in lines[setter - 1]

    # The line ends at the row.
    box, row = wait.bounding_box(), pane.locator(".text-row.is-cursor").bounding_box()
    assert box and row
    assert row["y"] < box["y"] + box["height"] < row["y"] + row["height"]

    go_to(page, pane, setter)
    expect(pane.locator(f".scoreboard-line.is-set[data-to='{line}']").first).to_be_attached()
    expect(card).to_contain_text(
        re.compile(rf"Sets scoreboard {scoreboard} until its result is written\. SASS lines? ")
    )


@pytest.mark.nightly
def test_lines_of_scoreboards_can_be_hidden(page: Page, pane: Locator) -> None:
    line, field = first_wait(whole_text(page, "sass"))
    go_to(page, pane, line)
    expect(pane.locator(".scoreboard-line").first).to_be_attached()
    run_command(page, "Show or hide: scoreboards")
    expect(pane.locator(".scoreboard-line")).to_have_count(0)
    expect(pane).not_to_have_class(re.compile("has-scoreboards"))
    expect(page).to_have_url(re.compile("hide=scoreboards"))
    pane.get_by_role("group").focus()
    page.keyboard.press("i")
    expect(pane.locator(".location-card .control-code dt").first).to_have_text(field)


@pytest.mark.nightly
def test_a_mask_of_lanes_is_told_in_words(page: Page) -> None:
    open_example(page, "Fused softmax")
    page.locator("pipeline-path .node", has_text="PTX").click()
    expect_stage(page, "PTX", ".entry softmax")
    pane = page.locator("pane-stage.hue-ptx")
    pane.get_by_role("group").focus()
    page.keyboard.press("/")
    page.keyboard.type("shfl.sync.bfly")
    expect(pane.locator(".count")).to_contain_text("1 of")
    page.keyboard.press("Escape")
    pane.locator(".code", has_text="shfl.sync.bfly").first.click()
    page.keyboard.press("i")
    card = pane.locator(".location-card .explanation")
    expect(card.locator("dt").last).to_have_text("-1")
    expect(card.locator("dd").last).to_contain_text("for the whole warp")
