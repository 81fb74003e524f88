"""Test the history and drafts that the browser stores, and the comparison with variants."""

from __future__ import annotations

import re
from contextlib import closing

import pytest
from actions import (
    TIMEOUT_MS,
    Visitor,
    compile_now,
    eventually,
    expect_accessible,
    result_id,
    run_command,
    set_source,
    wait_for_result,
)
from playwright.sync_api import Browser, Page, StorageState, expect

SCALE = '''"""Scale</script><script>alert(1)</script> \x1b[31m a vector."""
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * FACTOR, mask=offsets < n)


scale[(4,)](torch.empty(4096, device="cuda"), 4096, BLOCK=1024)
'''


@pytest.fixture(scope="module")
def compiled_before(browser: Browser, server: str) -> tuple[StorageState, str]:
    """What a browser has stored in which two versions of a kernel were compiled, and the newest result."""
    with closing(browser.new_context(base_url=server)) as context:
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        page.goto("/")
        wait_for_result(page)
        compile_source(page, SCALE.replace("FACTOR", "2.0"))
        compile_source(page, SCALE.replace("FACTOR", "3.0"))
        return context.storage_state(), page.url


@pytest.fixture
def page(visitor: Visitor, compiled_before: tuple[StorageState, str]) -> Page:
    """The page with two versions of a kernel compiled in its browser."""
    state, newest = compiled_before
    page = visitor(storage_state=state)
    page.goto(newest)
    wait_for_result(page)
    return page


def compile_source(page: Page, source: str) -> None:
    """Paste a source and wait for its result."""
    before = page.url
    compile_now(page, source)
    page.wait_for_url(lambda url: url.split("#")[0] != before.split("#")[0])
    wait_for_result(page)
    expect(page.locator("#subject b")).to_have_text("scale")


def open_menu(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(f"#{name.lower()}-menu")).to_be_visible()


@pytest.mark.nightly
def test_own_results_are_listed_opened_again_and_cleared(page: Page, visitor: Visitor) -> None:
    # What others have sent is no result of one's own.
    other = visitor()
    other.goto(page.url)
    wait_for_result(other)
    open_menu(other, "History")
    expect(other.locator(".history-entry")).to_have_count(0)

    newest = result_id(page)
    open_menu(page, "History")
    entries = page.locator(".history-entry")
    expect(entries).to_have_count(3)
    expect(entries.first).to_have_attribute("href", f"/k/{newest}")
    expect(entries.first).to_contain_text("scaleScale</script><script>alert(1)</script>")
    expect(entries.first).to_contain_text(re.compile("sm_90 · Triton .* · 4 warps.*(just now|ago)"))
    expect(entries.first.get_by_role("img", name="complete")).to_be_visible()
    expect(entries.nth(2)).to_contain_text("matmul_kernel")
    expect_accessible(page, "#history-menu")

    # A favourite moves to the top by keyboard, and stays there.
    star = page.get_by_role("button", name=re.compile("^Favourite: matmul_kernel"))
    expect(star).to_have_attribute("aria-pressed", "false")
    star.press("Enter")
    expect(entries.first).to_contain_text("matmul_kernel")
    expect(star).to_be_focused()
    expect(star).to_have_attribute("aria-pressed", "true")
    expect_accessible(page, "#history-menu")
    star.press("Enter")
    expect(entries.nth(2)).to_contain_text("matmul_kernel")
    entries.nth(1).click()
    expect(page.locator(".cm-content")).to_contain_text("* 2.0")
    wait_for_result(page)

    # A result that is only opened again keeps its place. The next visit has all entries.
    page.goto("/")
    wait_for_result(page)
    open_menu(page, "History")
    expect(entries.first).to_have_attribute("href", f"/k/{newest}")

    # A broken history is an empty one.
    kept = page.evaluate("localStorage.history")
    page.keyboard.press("Escape")
    page.evaluate("localStorage.setItem('history', '[{\"id\": 1}, null, 7')")
    open_menu(page, "History")
    expect(entries).to_have_count(0)

    # The history is cleared.
    page.evaluate("kept => localStorage.setItem('history', kept)", kept)
    page.keyboard.press("Escape")
    run_command(page, "clear the history")
    expect(page.locator("#toast")).to_have_text("History cleared.")
    page.reload()
    wait_for_result(page)
    open_menu(page, "History")
    expect(page.locator("#history-menu")).to_have_text(
        "What you compile is listed here, in this browser only."
    )


@pytest.mark.nightly
def test_a_result_is_compared_with_others(page: Page) -> None:
    # An earlier version of the text.
    open_menu(page, "Compare")
    versions = page.get_by_role("region", name="version of this kernel")
    expect(versions.get_by_role("link")).to_have_count(1)
    expect_accessible(page, "#compare-menu")
    versions.get_by_role("link").click()
    expect(page.get_by_role("group", name="Different requests")).to_contain_text(
        "source 1 line added, 1 removed"
    )
    page.go_back()
    wait_for_result(page)

    # Two stages of one result.
    open_menu(page, "Compare")
    page.get_by_role("region", name="stage of the same").get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"#stage=\w+\.\.\w+$"))
    expect(page.locator("comparison-diff .text-row .code").first).not_to_be_empty()
    page.go_back()
    wait_for_result(page)

    # A pasted link. Anything else is refused.
    shown = result_id(page)
    open_menu(page, "Compare")
    field = page.get_by_role("textbox", name="Link or id of another result")
    field.fill("https://example.org/nothing")
    field.press("Enter")
    message = "field => field.validationMessage.split(' of ')[0]"
    eventually(lambda: field.evaluate(message), "Paste the address")
    field.fill(page.url + "#pin=3")
    field.press("Enter")
    expect(page).to_have_url(re.compile(rf"/compare/{shown}\.\.{shown}$"))
    expect(page.get_by_role("group", name="Different requests")).to_contain_text("Both requests are equal.")


@pytest.mark.nightly
def test_a_result_is_compared_with_another_number_of_warps_target_or_triton(page: Page) -> None:
    shown = result_id(page)
    page.keyboard.press("Escape")
    run_command(page, "compare with")
    warps = page.get_by_role("region", name="num_warps")
    expect(warps.get_by_role("button", name="4", exact=True)).to_have_count(0)
    warps.get_by_role("button", name="8", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/compare/{shown}\.\.\w+$"))
    expect(page.get_by_role("region", name="After").locator(".state")).to_have_class("state is-complete")
    expect(page.get_by_role("group", name="Different requests")).to_contain_text("num_warps 4 → 8")
    page.wait_for_function("() => JSON.parse(localStorage.history)[0].facts.startsWith('8 warps')")
    page.go_back()
    wait_for_result(page)
    assert result_id(page) == shown
    open_menu(page, "History")
    expect(page.locator(".history-entry").first).to_contain_text("8 warps")

    # Another target or Triton.
    page.keyboard.press("Escape")
    for choice in ("target", "Triton"):
        open_menu(page, "Compare")
        page.get_by_role("region", name=choice, exact=True).get_by_role("button").first.click()
        expect(page.get_by_role("group", name="Different requests")).to_contain_text(choice.lower())
        page.go_back()
        wait_for_result(page)


@pytest.mark.nightly
def test_closing_the_tab_loses_nothing(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    set_source(page, SCALE.replace("FACTOR", "5.0"))
    expect(page.locator(".cm-content")).to_contain_text("* 5.0")
    again = page.context.new_page()
    page.close()
    again.goto("/")
    expect(again.locator(".cm-content")).to_contain_text("* 5.0")
    wait_for_result(again)
    expect(again.locator("#subject b")).to_have_text("scale")
