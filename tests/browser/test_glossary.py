"""Test the glossary: its page, and the palette."""

from __future__ import annotations

import re

from actions import Visitor, violations
from playwright.sync_api import Page, expect


def test_the_palette_finds_a_term_and_its_page_shows_it(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Command").fill("swizzling")
    option = page.get_by_role("option", name=re.compile("^Swizzling"))
    with page.context.expect_page() as opened:
        option.click()
    glossary = opened.value
    expect(glossary).to_have_url(re.compile(r"/glossary#swizzle$"))
    expect(glossary.locator(":target")).to_contain_text("permutes the elements of each row")
    # The filter finds names before texts, and a link to a hidden term shows it.
    glossary.keyboard.press("/")
    glossary.keyboard.type("bank")
    expect(glossary.locator(".glossary-entry:visible dt")).to_have_text(["Bank", "Bank conflict"])
    expect(glossary.get_by_role("status").first).to_have_text(re.compile(r"^2 of \d+ terms$"))
    assert violations(glossary) == []


def test_the_glossary_reads_without_scripts_and_on_a_phone(visitor: Visitor) -> None:
    page = visitor(375, 720, java_script_enabled=False)
    page.goto("/glossary#occupancy")
    expect(page.locator("#occupancy")).to_be_in_viewport()
    expect(page.locator("#occupancy").get_by_role("link", name="NVIDIA")).to_be_visible()
    page.goto("/glossary#barrier")
    expect(page.locator("#barrier").get_by_role("link", name="How does a sum")).to_have_count(0)
    expect(page.locator("#barrier")).to_contain_text("Tour:")
