"""Test the explanations of operations and opcodes in the stage pane, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from actions import UNPINNED, expect_stage, expect_structure, show_sass, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Callable[..., Page]) -> Page:
    page = visitor()
    page.goto(UNPINNED)
    wait_for_result(page)
    expect_stage(page, "TTGIR", "tt.get_program_id")
    show_sass(page)
    expect_stage(page, "SASS", "S2R")
    for stage in ("ttgir", "sass"):
        expect_structure(page.locator(f"pane-stage.hue-{stage}"))
    return page


def test_an_operation_is_explained_under_the_mouse(page: Page) -> None:
    pane = page.locator("pane-stage.hue-ttgir")
    pane.locator(".code", has_text="tt.get_program_id").first.hover()
    card = pane.locator(".location-card .explanation")
    expect(card.locator("dt")).to_have_text("tt.get_program_id")
    expect(card.locator("dd")).to_contain_text("index of this program in the grid")


def test_an_opcode_is_explained_part_by_part_by_keyboard(page: Page) -> None:
    pane = page.locator("pane-stage.hue-sass")
    pane.get_by_role("group").focus()
    page.keyboard.press("/")
    page.keyboard.type("LDC.64")
    expect(pane.locator(".count")).to_contain_text("1 of")
    page.keyboard.press("Escape")
    pane.locator(".code", has_text="LDC.64").first.click()
    # The browser reports the scroll after the key.
    pane.locator(".text").evaluate("""text => {
        text.scrollTop += 1;
        text.dispatchEvent(new KeyboardEvent("keydown", { key: "i", bubbles: true }));
    }""")
    card = pane.locator(".location-card .explanation")
    expect(card.locator("dt")).to_have_text(["LDC", ".64"])
    expect(card.locator("dd").first).to_contain_text("constant memory")
