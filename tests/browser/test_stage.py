"""Names and search in the stage pane, in a real browser against the real server."""

from __future__ import annotations

import re

import pytest
from actions import (
    Visitor,
    eventually,
    expect_fits,
    expect_stage,
    expect_structure,
    open_result,
    settled_box,
    wait_for_result,
    whole_text,
)
from playwright.sync_api import Locator, Page, expect
from sources import SCALE


@pytest.fixture
def page(page: Page) -> Page:
    """The matmul of a first visit, with its TTGIR and its SASS."""
    expect_stage(page, "TTGIR", "tt.get_program_id")
    expect_structure(ttgir(page))
    return page


def ttgir(page: Page) -> Locator:
    return page.locator("pane-stage.hue-ttgir")


def test_names_are_followed_and_line_numbers_stay_in_sight(page: Page) -> None:
    # When the text is scrolled sideways.
    pane = ttgir(page)
    text = pane.locator(".text")
    number = pane.locator(".text-row .number").first
    code = pane.locator(".text-row .code").first
    before, code_before = settled_box(number), settled_box(code)
    for shift in (120, 0):
        text.evaluate("(element, shift) => element.scrollTo({ left: shift })", shift)
        expect(text).to_have_class("text is-shifted" if shift else "text")
        eventually(lambda: code.bounding_box()["x"], code_before["x"] - shift)
        assert number.bounding_box()["x"] == before["x"]

    # Names are followed by keyboard alone.
    pane.get_by_role("group").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(pane.locator(".uses")).to_contain_text("#blocked: 1 definition")

    # A click on a value lights its uses, and F2 goes to its definition.
    value = pane.locator(".code .nv", has_text=re.compile(r"^%programs_per_band$"))
    value.nth(1).click()
    expect(pane.locator(".uses")).to_have_text("%programs_per_band: 1 definition, 2 uses")
    expect(pane.locator(".is-use")).to_have_count(3)
    page.keyboard.press("F2")
    expect(pane.locator(".is-cursor .is-definition")).to_have_text("%programs_per_band")
    page.keyboard.press("F3")
    expect(pane.locator(".is-cursor")).to_contain_text("arith.divsi")

    # A lower window leaves the line of the cursor in sight.
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("about:blank")
    page.goto("/#panes=stage:ptx")
    wait_for_result(page)
    pane = page.locator("pane-stage.hue-ptx")
    expect_structure(pane)
    pane.locator(".text-row", has=page.get_by_text("18", exact=True)).first.click()
    number = pane.locator(".text-row.is-cursor .number")
    expect(number).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1280, "height": 560})
    expect(number).to_be_in_viewport(ratio=1)


def test_a_text_is_searched(page: Page) -> None:
    # Keys apply to the text typed last.
    pane = ttgir(page)
    for text, key in (("tt.store", "Escape"), ("arith.muli", "Enter")):
        pane.get_by_role("group").focus()
        page.keyboard.press("/")
        page.keyboard.type(text[0])
        expect(pane.locator(".count")).to_contain_text("1 of")
        page.keyboard.type(text[1:])
        page.keyboard.press(key)
        expect(pane.locator(".text-row", has_text=text).first).to_be_in_viewport()
    expect(pane.locator(".count")).to_have_text(re.compile("^2 of"))

    # Patterns, and texts that are no patterns.
    pane.get_by_role("group").focus()
    page.keyboard.press("/")
    page.keyboard.type("ARITH.(muli|addi)")
    expect(pane.locator(".count")).to_have_text("no match")
    pane.get_by_role("button", name="Regular expression").click()
    expect(pane.locator(".count")).to_have_text(re.compile(r"^1 of \d+$"))
    expect(pane.locator(".is-current-hit .is-match").first).to_have_text(re.compile("arith"))
    search = pane.get_by_role("searchbox")
    search.press("Enter")
    expect(pane.locator(".count")).to_have_text(re.compile(r"^2 of \d+$"))
    search.press("Shift+Enter")
    expect(pane.locator(".count")).to_have_text(re.compile(r"^1 of \d+$"))
    pane.get_by_role("button", name="Match case").click()
    expect(pane.locator(".count")).to_have_text("no match")
    search.fill("(")
    expect(pane.locator(".count")).to_contain_text("group")

    # A text that cannot be had is asked for again.
    pane.get_by_role("group").focus()
    page.keyboard.press("Home")
    page.route("**/stages/ttgir", lambda route: route.abort("connectionrefused"))
    page.reload()
    expect_stage(page, "TTGIR", "tt.get_program_id")
    pane.get_by_role("searchbox").fill("arith")
    expect(pane.locator(".count")).to_have_text("the text could not be fetched")
    page.unroute("**/stages/ttgir")
    pane.get_by_role("searchbox").fill("arith.")
    expect(pane.locator(".count")).to_have_text(re.compile(r"^1 of \d+$"))


def test_paper_has_the_source_and_the_whole_text_in_front_in_black_on_white(visitor: Visitor) -> None:
    page = visitor(color_scheme="dark")
    open_result(page, SCALE, "#panes=stage:ptx,stage:ttir")
    expect_stage(page, "PTX", ".entry scale")
    rows = page.locator("pane-stage.hue-ptx .text-row")
    lines = whole_text(page, "ptx")
    assert rows.count() < len(lines)
    page.emulate_media(media="print")
    expect(rows).to_have_count(len(lines))
    expect(rows.locator(".number")).to_have_text([str(number) for number in range(1, len(lines) + 1)])
    expect(rows.locator(".code").last).to_have_text(lines[-1].strip())
    expect(page.locator("#editor .cm-line", has_text="def scale(")).to_be_visible()
    expect(page.locator(".dv-active-tab")).to_be_visible()
    for selector in ("header.bar", "launch-panel", "pipeline-path", "pane-rail", "status-bar", ".pane-foot"):
        expect(page.locator(selector).filter(visible=True)).to_have_count(0)
    body = page.locator("body")
    expect(body).to_have_css("color", "rgb(0, 0, 0)")
    expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
    # Long lines of the source are wrapped.
    page.set_viewport_size({"width": 240, "height": 800})
    expect_fits(page.locator("#editor .cm-content"))
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    eventually(lambda: rows.count() < len(lines), True)


@pytest.mark.nightly
def test_a_stage_is_edited_and_compared_with_the_original(page: Page) -> None:
    pane = ttgir(page)
    pane.get_by_role("button", name="edit", exact=True).click()
    text = pane.get_by_role("textbox", name="Text of TTGIR")
    text.locator(".cm-line", has_text="tt.get_program_id").click()
    page.keyboard.press("End")
    page.keyboard.type(" oops")
    page.keyboard.press("Control+Enter")
    expect(pane.get_by_role("alert")).to_contain_text(re.compile(r"TTGIR line \d+: .*oops"))
    expect(pane.locator(".cm-lintRange-error")).to_have_count(1)
    page.keyboard.press("End")
    for _ in " oops":
        page.keyboard.press("Backspace")
    page.keyboard.press("Home")
    page.keyboard.type("// my own\n")
    pane.get_by_role("button", name="Compile from here").click()
    page.wait_for_url("**/compare/**#stage=ttgir")
    expect(page.locator("comparison-head")).to_contain_text("edited (")
    expect(page.get_by_text("// my own")).to_be_visible()
