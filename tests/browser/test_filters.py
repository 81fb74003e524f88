"""Test the filters of the stage pane, and copying from it."""

from __future__ import annotations

import re

import pytest
from actions import (
    UNPINNED,
    Visitor,
    eventually,
    expect_stage,
    show_sass,
    unfold,
    wait_for_result,
    whole_text,
)
from playwright.sync_api import Locator, Page, expect


@pytest.fixture
def page(page: Page) -> Page:
    """The matmul of a first visit, with its TTGIR and its SASS."""
    expect_stage(page, "TTGIR", "tt.get_program_id")
    unfold(page.locator("pane-stage.hue-ttgir"))
    return page


def toggle(pane: Locator, title: str) -> None:
    """Choose an entry of the pane's menu."""
    pane.get_by_role("button", name="view").click()
    pane.locator(".view-menu").get_by_text(title, exact=True).click()
    pane.page.keyboard.press("Escape")


@pytest.mark.nightly
def test_the_text_is_shortened_or_written_in_full_and_the_address_says_so(
    page: Page, ttgir: Locator, visitor: Visitor
) -> None:
    function = ttgir.locator(".text-row", has_text="tt.func public @")
    expect(function).to_contain_text("tt.divisibility")
    toggle(ttgir, "Attributes")
    expect(function).not_to_contain_text("tt.divisibility")
    expect(function).to_contain_text("%a_ptr: !tt.ptr<f16> {…}")
    expect(page).to_have_url(re.compile("stage:ttgir;hide=attributes"))
    # A name behind an omitted part is still the name under the mouse.
    function.locator(".code .nv", has_text=re.compile("^%K$")).click()
    expect(ttgir.locator(".uses")).to_contain_text("%K: 1 definition")

    other = visitor()
    other.goto(page.url)
    wait_for_result(other)
    expect(other.locator("pane-stage.hue-ttgir .text-row", has_text="tt.func public @")).to_contain_text(
        "{…}"
    )
    toggle(ttgir, "Attributes")
    expect(function).to_contain_text("tt.divisibility")
    expect(page).not_to_have_url(re.compile("hide="))

    # Layouts.
    text = whole_text(page, "ttgir")
    definition = next(line for line in text if line.startswith("#mma = ")).removeprefix("#mma = ")
    accumulator = ttgir.locator(".text-row", has_text="dense<0.000000e+00>").filter(has_text="#mma")
    expect(accumulator.first).to_be_visible()
    toggle(ttgir, "Layouts in full")
    expect(ttgir.locator(".text-row", has_text="dense<0.000000e+00>").first).to_contain_text(definition)
    expect(ttgir.locator(".text-row", has_text="#mma = ")).to_have_count(1)

    # Locations stand behind the lines.
    toggle(ttgir, "Source locations")
    row = ttgir.locator(".text-row", has_text="tt.get_program_id")
    expect(row.locator(".location-note")).to_have_text(re.compile(r"loc\(line \d+:\d+"))


def test_lines_are_left_out_and_keep_their_numbers(page: Page) -> None:
    for name, stage, key, title, gone, stays in (
        ("llir", "LLVM IR", "Alt+4", "Declarations and metadata", "source_filename", "define"),
        ("ptx", "PTX", "Alt+5", "Directives", ".version", ".visible .entry"),
    ):
        page.keyboard.press(key)
        pane = page.locator(f"pane-stage.hue-{name}")
        expect_stage(page, stage, gone)
        toggle(pane, title)
        expect(pane.locator(".text-row", has_text=gone)).to_have_count(0)
        number = next(number for number, line in enumerate(whole_text(page, name), 1) if stays in line)
        expect(pane.locator(".text-row", has_text=stays).first.locator(".number")).to_have_text(str(number))
        # Matches of the search are shown in spite of the filter.
        pane.get_by_role("group").focus()
        page.keyboard.press("/")
        page.keyboard.type(gone)
        expect(pane.locator(".is-current-hit")).to_contain_text(gone)
        page.keyboard.press("Escape")


def test_machine_code_opens_without_codes_and_one_click_shows_them(page: Page) -> None:
    show_sass(page)
    pane = page.locator("pane-stage.hue-sass")
    row = pane.locator(".text-row", has_text="LDC").first
    expect(row.locator(".code")).to_have_text(re.compile("^LDC"))
    codes = pane.get_by_role("button", name="codes")
    expect(codes).to_have_attribute("aria-pressed", "false")
    codes.click()
    expect(codes).to_have_attribute("aria-pressed", "true")
    expect(row.locator(".code")).to_have_text(re.compile(r"^B\S{6}:\S+ +/\*[0-9a-f]+\*/ +LDC"))
    expect(page).to_have_url(re.compile(r"stage:sass;show=addresses\.control"))

    # The browser remembers it.
    page.goto(UNPINNED)
    wait_for_result(page)
    expect(codes).to_have_attribute("aria-pressed", "true")
    codes.click()
    expect(row.locator(".code")).to_have_text(re.compile("^LDC"))
    expect(page).not_to_have_url(re.compile("show="))


def copied(page: Page) -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.nightly
def test_lines_are_selected_and_copied(page: Page, ttgir: Locator) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = whole_text(page, "ttgir")
    # Selected by dragging, copied with numbers.
    for number in (12, 8):
        ttgir.locator(".text-row").filter(
            has=page.locator(".number", has_text=re.compile(f"^{number}$"))
        ).locator(".number").hover()
        page.mouse.down() if number == 12 else page.mouse.up()
    expect(ttgir.locator(".is-selected")).to_have_count(5)
    expect(page.locator(".is-pinned")).to_have_count(0)
    toggle(ttgir, "Copy with line numbers")
    expect(page.locator("#toast")).to_have_text("5 lines copied.")
    expected = [f"{number:2}  {text[number - 1]}" for number in range(8, 13)]
    assert copied(page) == "\n".join(expected) + "\n"

    # A long selection, by keys, is copied in its order.
    ttgir.get_by_role("group").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+End")
    page.keyboard.press("Shift+ArrowUp")
    expect(ttgir.locator(".is-selected").first).to_be_visible()
    page.keyboard.press("Control+c")
    eventually(lambda: copied(page), "\n".join(text[1:-1]) + "\n")
    page.keyboard.press("ArrowUp")
    expect(ttgir.locator(".is-selected")).to_have_count(0)

    # Everything, folded or not.
    toggle(ttgir, "Fold all")
    toggle(ttgir, "Copy all")
    eventually(lambda: copied(page), "\n".join(text) + "\n")
    expect(page.locator("#toast")).to_contain_text("lines copied.")
