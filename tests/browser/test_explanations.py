"""What operations and opcodes do, explained in the stage pane, in a real browser against the real server."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from actions import expect_stage, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Callable[..., Page]) -> Page:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    expect_stage(page, "TTGIR", "tt.get_program_id")
    expect_stage(page, "SASS", "S2R")
    return page


def test_an_operation_is_explained_under_the_mouse(page: Page) -> None:
    pane = page.locator("pane-stage.hue-ttgir")
    pane.locator(".code", has_text="tt.get_program_id").first.hover()
    card = pane.locator(".location-card .explanation")
    expect(card.locator("dt")).to_have_text("tt.get_program_id")
    expect(card.locator("dd")).to_contain_text("place of this program in the grid")


def test_an_opcode_is_explained_part_by_part_by_keyboard(page: Page) -> None:
    pane = page.locator("pane-stage.hue-sass")
    pane.get_by_role("group").focus()
    page.keyboard.press("/")
    page.keyboard.type("LDC.64")
    expect(pane.locator(".count")).to_contain_text("1 of")
    page.keyboard.press("Escape")
    pane.locator(".code", has_text="LDC.64").first.click()
    page.keyboard.press("i")
    card = pane.locator(".location-card .explanation")
    expect(card.locator("dt")).to_have_text(["LDC", ".64"])
    expect(card.locator("dd").first).to_contain_text("constant memory")
