"""Test the glossary: marks and cards in the page, by mouse and by keyboard, its page, and the palette."""

from __future__ import annotations

import re

import pytest
from actions import SIZE_RULES, Visitor, expect_fits, run_command, violations, wait_for_result
from playwright.sync_api import Page, expect


def test_a_term_is_explained_where_it_is_read(page: Page) -> None:
    run_command(page, "Show Resources")
    pane = page.locator("pane-resources")
    term = pane.get_by_role("rowheader", name="Registers per thread").get_by_role("button").first
    expect(term).to_have_text("Registers")
    card = page.get_by_role("dialog", name="Glossary")
    term.hover()
    expect(card).to_contain_text("A place of 32 bits")
    page.mouse.move(5, 5)
    expect(card).to_be_hidden()
    # By keyboard: the focus opens the card, Enter goes into it, and Escape back.
    term.focus()
    expect(card).to_be_visible()
    page.keyboard.press("Enter")
    expect(card.get_by_role("link", name="Glossary")).to_be_focused()
    assert violations(page, ".term-card") == []
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(term).to_be_focused()


@pytest.mark.nightly
def test_the_palette_finds_a_term_and_its_page_shows_it(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("swizzling")
    option = page.get_by_role("option", name=re.compile("^Swizzling"))
    with page.context.expect_page() as opened:
        option.click()
    glossary = opened.value
    expect(glossary).to_have_url(re.compile(r"/glossary#swizzle$"))
    expect(glossary.locator(":target")).to_contain_text("permutes the elements of each row")
    for width in (375, 1440):
        glossary.set_viewport_size({"width": width, "height": 900})
        expect_fits(glossary.locator("html"))
        assert violations(glossary, rules=SIZE_RULES) == [], width
    assert violations(glossary) == []
    # The filter finds names before texts, and a link to a hidden term shows it.
    glossary.keyboard.press("/")
    glossary.keyboard.type("bank")
    expect(glossary.locator(".glossary-entry:visible dt")).to_have_text(["Bank", "Bank conflict"])
    expect(glossary.get_by_role("status").first).to_have_text(re.compile(r"^2 of \d+ terms$"))
    assert violations(glossary) == []


@pytest.mark.nightly
def test_the_glossary_reads_without_scripts_and_on_a_phone(visitor: Visitor) -> None:
    page = visitor(375, 720, java_script_enabled=False)
    page.goto("/glossary#occupancy")
    expect(page.locator("#occupancy")).to_be_in_viewport()
    expect(page.locator("#occupancy").get_by_role("link", name="NVIDIA")).to_be_visible()
    page.goto("/glossary#barrier")
    expect(page.locator("#barrier").get_by_role("link", name="How does a sum")).to_have_count(0)
    expect(page.locator("#barrier")).to_contain_text("Tour:")


@pytest.mark.nightly
def test_the_register_peak_is_explained(page: Page) -> None:
    wait_for_result(page)
    run_command(page, "Show Registers")
    expect(page.get_by_role("button", name="Why so many?")).to_be_visible()
    run_command(page, "Explain the register peak")
    card = page.get_by_role("region", name="Why so many registers are live")
    expect(card).to_contain_text("general registers are live, the most anywhere")
    expect(card).to_contain_text("observed")
