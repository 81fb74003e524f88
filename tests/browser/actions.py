"""What users do with the page, and what they wait for."""

from __future__ import annotations

from playwright.sync_api import Page, expect

COMPILE_TIMEOUT_MS = 60_000


def wait_for_result(page: Page, status: str = "complete") -> None:
    """Wait until the last compilation has come to this end."""
    expect(page.locator("status-bar .state")).to_have_class(f"state is-{status}", timeout=COMPILE_TIMEOUT_MS)


def stage_text(page: Page, title: str) -> str:
    """What is to be seen of a stage, by the title on its tab."""
    return page.get_by_role("group", name=f"{title}, ").inner_text()


def expect_stage(page: Page, title: str, text: str) -> None:
    """Wait until a stage, by the title on its tab, shows a text."""
    expect(page.get_by_role("group", name=f"{title}, ")).to_contain_text(text, timeout=COMPILE_TIMEOUT_MS)


def set_source(page: Page, source: str) -> None:
    """Replace the source as a user would who pastes another."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")


def open_example(page: Page, title: str) -> None:
    """Choose an example from the gallery."""
    page.get_by_role("button", name="Gallery").click()
    page.locator("#gallery-menu .card", has_text=title).click()
