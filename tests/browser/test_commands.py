"""Everything by keyboard: the palette, the help sheet, the arrangements of panes, the way back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from actions import Visitor, expect_stage, wait_for_result
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from explorer.views.panes import PANES

DOCUMENTATION = Path(__file__).parents[2] / "docs/commands.md"


def open_palette(page: Page) -> None:
    """Press its keys, and wait until it takes letters."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="What to do")).to_be_focused()


def run_command(page: Page, words: str) -> None:
    """Do what the palette finds first for `words`."""
    open_palette(page)
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    expect(page.locator("dialog.palette")).to_have_count(0)


def test_every_command_is_documented(page: Page) -> None:
    documented = DOCUMENTATION.read_text(encoding="utf-8")
    page.keyboard.press("Control+k")
    options = page.locator(".palette-option")
    expect(options.first).to_be_visible()
    titles = [text.strip() for text in options.locator("span:first-child").all_inner_texts()]
    assert len(titles) > 25
    panes = {f"Show {pane.title}" for pane in PANES}
    undocumented = [title for title in titles if title not in panes and f"| {title} |" not in documented]
    assert undocumented == [], "describe them in docs/commands.md"


def test_the_palette_finds_by_a_few_letters_and_arrow_keys(page: Page) -> None:
    open_palette(page)
    page.keyboard.type("shptx")
    chosen = page.locator(".palette-option[aria-selected=true]")
    expect(chosen).to_have_text(re.compile("Show PTX"))
    page.keyboard.press("Enter")
    expect_stage(page, "PTX", ".visible .entry")

    open_palette(page)
    first = chosen.inner_text()
    page.keyboard.press("ArrowDown")
    assert chosen.inner_text() != first
    page.keyboard.type("zzzz")
    expect(page.locator("dialog.palette")).to_contain_text("Nothing here is called")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.palette")).to_have_count(0)


def test_the_palette_opens_from_the_editor(page: Page) -> None:
    page.locator(".cm-content").click()
    run_command(page, "high contrast")
    expect(page.locator("html")).to_have_attribute("data-theme", "contrast")


def test_the_help_sheet_lists_what_has_keys(page: Page) -> None:
    page.keyboard.press("Shift+?")
    sheet = page.get_by_role("dialog")
    for words in ("Compile now", "Find a command", "Show TTGIR", "Let pinned lines go"):
        expect(sheet).to_contain_text(words)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_panes_are_arranged_by_preset_and_remembered(page: Page) -> None:
    run_command(page, "two stages")
    expect(page.get_by_role("tab")).to_have_count(2)
    page.goto("/")
    wait_for_result(page)
    expect(page.get_by_role("tab")).to_have_count(2)
    run_command(page, "panes read only")
    expect(page.locator("launch-panel")).to_be_hidden()
    expect(page).to_have_url(re.compile("&read$"))
    run_command(page, "panes lowering")
    expect(page.locator("launch-panel")).to_be_visible()
    expect(page.get_by_role("tab", selected=True, name="SASS")).to_be_visible()


def test_back_and_forward_go_through_the_views(page: Page) -> None:
    before = page.url
    page.keyboard.press("Alt+4")
    expect_stage(page, "LLVM IR", "define")
    after = page.url
    assert after != before
    page.go_back()
    expect(page).to_have_url(before)
    expect_stage(page, "TTGIR", "tt.func")
    page.go_forward()
    expect(page).to_have_url(after)
    expect_stage(page, "LLVM IR", "define")


def test_high_contrast_is_what_the_system_asks_for(visitor: Visitor) -> None:
    page = visitor(contrast="more")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-theme", "contrast")


@pytest.mark.parametrize("theme", ["light", "dark", "high contrast"])
def test_palette_and_help_are_accessible(page: Page, theme: str) -> None:
    run_command(page, f"theme: {theme}")

    def violations() -> list[tuple[str, str]]:
        found = Axe().run(page, context={"exclude": [[".cm-scroller"]]}).response["violations"]
        return [(each["id"], node["html"][:160]) for each in found for node in each["nodes"]]

    assert violations() == []
    page.keyboard.press("Control+k")
    expect(page.locator(".palette-option").first).to_be_visible()
    assert violations() == []
    page.keyboard.press("Escape")
    page.keyboard.press("Shift+?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations() == []
