"""Test that cards, dialogs and drawn panes are accessible in each color scheme, on one page of a matmul."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from actions import SCHEMES, TIMEOUT_MS, choose_scheme, violations, wait_for_result
from playwright.sync_api import Browser, Page, expect


@pytest.fixture(scope="module")
def shared_page(browser: Browser, server: str) -> Iterator[Page]:
    """The page after a first visit. Each test opens another address in it."""
    context = browser.new_context(
        base_url=server, viewport={"width": 1280, "height": 720}, reduced_motion="reduce"
    )
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    page.goto("/")
    wait_for_result(page)
    yield page
    context.close()


def open_question(page: Page) -> None:
    page.goto("/#tour=shared_memory.2")
    expect(page.get_by_role("button", name="Show me")).to_be_visible()


def open_answer(page: Page) -> None:
    open_question(page)
    page.get_by_role("button", name="Show me").click()
    claims = page.get_by_role("list", name="Read from the result")
    expect(claims.locator("b").first).to_have_text(re.compile(r"\d"))
    expect(page.get_by_role("status").filter(has_text="Answer:")).to_be_visible()


def open_gallery(page: Page) -> None:
    page.get_by_role("button", name="Gallery", exact=True).click()
    expect(page.get_by_role("dialog", name="Gallery")).to_be_visible()


def open_lineage(page: Page) -> None:
    page.goto("/#panes=stage:ttgir")
    page.locator(".text-row", has_text="tt.get_program_id").first.click()
    page.get_by_role("button", name="Why is this here?").click()
    card = page.get_by_role("region", name="Lineage of the operation")
    card.get_by_text("Pass by pass").click()
    expect(card).to_contain_text("The source has it in line")


def open_c(page: Page) -> None:
    page.goto("/#panes=ptx_as_c")
    expect(page.locator("pane-ptx-as-c .text-row").first).to_be_visible()


def open_motion(page: Page) -> None:
    page.goto("/#panes=layouts")
    page.get_by_role("button", name=re.compile("^Global memory")).click()
    page.get_by_text("Lanes and sectors, step by step").first.click()
    page.get_by_role("group", name="Steps of the access").first.press("ArrowRight")


@pytest.mark.parametrize(
    ("opens", "card"),
    [
        (open_question, "tour-card"),
        (open_answer, "tour-card"),
        (open_gallery, "#gallery-menu"),
        (open_lineage, "pane-stage"),
        (open_c, "pane-ptx-as-c"),
        (open_motion, "pane-layouts"),
    ],
)
def test_a_card_is_accessible(shared_page: Page, opens: Callable[[Page], None], card: str) -> None:
    shared_page.goto("about:blank")
    shared_page.goto("/")
    wait_for_result(shared_page)
    opens(shared_page)
    for scheme in SCHEMES:
        choose_scheme(shared_page, scheme)
        assert violations(shared_page, card) == [], scheme
