"""Test the palette, the help sheet, arrangements of panes and browser history by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from actions import COLOR_RULES, Hold, expect_stage, run_command, violations, wait_for_result
from playwright.sync_api import Page, expect

from explorer.pipeline.stages import STAGES
from explorer.views.panes import PANES

DOCUMENTATION = Path(__file__).parents[2] / "docs/commands.md"


def open_palette(page: Page) -> None:
    """Open the palette and wait until it has the focus."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()


def test_the_palette_has_every_command_and_finds_by_a_few_letters(page: Page) -> None:
    # Every command is documented.
    documented = DOCUMENTATION.read_text(encoding="utf-8")
    page.keyboard.press("Control+k")
    options = page.locator(".palette-option")
    expect(options.first).to_be_visible()
    titles = [text.strip() for text in options.locator("span:first-child").all_inner_texts()]
    assert len(titles) > 25
    # Panes and stages are listed in docs/page.md, which another test compares with the code.
    listed = {f"Show {title}" for title in [pane.title for pane in PANES] + [stage.title for stage in STAGES]}
    undocumented = [title for title in titles if title not in listed and f"| {title} |" not in documented]
    assert undocumented == [], "describe them in docs/commands.md"
    page.keyboard.press("Escape")
    expect(page.locator("dialog.palette")).to_have_count(0)

    # A few letters and arrow keys find one.
    open_palette(page)
    page.keyboard.type("shptx")
    chosen = page.locator(".palette-option[aria-selected=true]")
    expect(chosen).to_have_text(re.compile("Show PTX"))
    page.keyboard.press("Enter")
    expect_stage(page, "PTX", ".visible .entry")

    open_palette(page)
    first = chosen.inner_text()
    page.keyboard.press("ArrowDown")
    expect(chosen).not_to_have_text(first)
    page.keyboard.type("zzzz")
    expect(page.locator("dialog.palette")).to_contain_text("No command matches")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.palette")).to_have_count(0)

    # The palette opens from the editor.
    page.locator(".cm-content").click()
    run_command(page, "high contrast")
    expect(page.locator("html")).to_have_attribute("data-theme", "contrast")


@pytest.mark.nightly
def test_opening_the_page_is_one_step_and_brings_the_panes_back(page: Page) -> None:
    # The first one is that of the empty tab.
    assert page.evaluate("history.length") == 2
    run_command(page, "two stages")
    expect(page.get_by_role("tab")).to_have_count(2)
    expect(page).to_have_url(re.compile("#panes="))
    assert page.evaluate("history.length") == 3
    # The page opens with the panes that were open last.
    page.goto("/")
    wait_for_result(page)
    expect(page).to_have_url(re.compile("#panes="))
    assert page.evaluate("history.length") == 4
    expect(page.get_by_role("tab")).to_have_count(2)

    # Panes are arranged by preset.
    run_command(page, "panes read only")
    expect(page.locator("launch-panel")).to_be_hidden()
    expect(page).to_have_url(re.compile("&read$"))
    run_command(page, "panes lowering")
    expect(page.locator("launch-panel")).to_be_visible()
    expect(page.get_by_role("tab", selected=True, name="Findings")).to_be_visible()


def test_back_and_forward_go_through_the_views(page: Page) -> None:
    before = page.url
    page.keyboard.press("Alt+4")
    expect_stage(page, "LLVM IR", "define")
    expect(page).not_to_have_url(before)
    after = page.url
    page.go_back()
    expect(page).to_have_url(before)
    expect_stage(page, "TTGIR", "tt.func")
    page.go_forward()
    expect(page).to_have_url(after)
    expect_stage(page, "LLVM IR", "define")

    # High contrast is what the system asks for.
    page.emulate_media(contrast="more")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "contrast")


@pytest.mark.nightly
def test_enter_waits_for_commands_that_are_still_loaded(page: Page, hold: Hold) -> None:
    held = hold(page, "**/api/v1/tours")
    with page.expect_request("**/api/v1/tours"):
        open_palette(page)
    page.keyboard.type("What is a program?")
    page.keyboard.press("Enter")
    expect(page.locator("dialog.palette")).to_contain_text("No command matches")
    with page.expect_response("**/api/v1/tours"):
        held[0].continue_()
    expect(page.get_by_role("region", name="Tour")).to_contain_text("Step 1 of 7")
    expect(page.locator("dialog.palette")).to_have_count(0)


@pytest.mark.nightly
def test_the_help_sheet_lists_what_has_keys(page: Page) -> None:
    page.keyboard.press("Shift+?")
    sheet = page.get_by_role("dialog")
    for words in ("Compile now", "Find a command", "Show TTGIR", "Unpin all lines"):
        expect(sheet).to_contain_text(words)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    # A key works at once after the palette has closed.
    page.keyboard.press("Control+k")
    expect(page.locator(".palette-option").first).to_be_visible()
    page.evaluate("""() => {
        document.querySelector("dialog.palette").close();
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    }""")
    expect(page.get_by_role("dialog", name="Keyboard and mouse")).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()

    # Palette and help are accessible.
    for theme in ("light", "dark", "high contrast"):
        rules = COLOR_RULES if theme != "light" else ()
        run_command(page, f"theme: {theme}")
        expect(page.locator("html")).to_have_attribute("data-theme", theme.removeprefix("high "))
        page.keyboard.press("Control+k")
        expect(page.locator(".palette-option").first).to_be_visible()
        assert violations(page, "dialog.palette", rules=rules) == [], theme
        page.keyboard.press("Escape")
        page.keyboard.press("Shift+?")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert violations(page, "#help", rules=rules) == [], theme
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
