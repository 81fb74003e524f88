"""Test that a reader finds panes without knowing the page: at first sight, by name, and by the figures."""

from __future__ import annotations

import re
from functools import partial

import pytest
from actions import (
    Visitor,
    eventually,
    expect_fits,
    expect_stage,
    result_id,
    set_source,
    show_sass,
    wait_for_result,
)
from playwright.sync_api import Locator, Page, expect
from sources import SCALE

from explorer.views.panes import PANES

NAMED = [pane.title for pane in PANES if not pane.per_stage]
FIGURES = {
    "registers": "registers",
    "spills": "registers",
    "shared": "memory",
    "warps": "resources",
    "occupancy": "resources",
    "complete in": "passes",
}
OVERLAPPING = """root => {
    const boxes = [...root.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        const words = text.textContent;
        return { words, left: left + 1, right: right - 1, top: top + 3, bottom: bottom - 3 };
    });
    return boxes.flatMap((one, index) => boxes.slice(index + 1)
        .filter((other) => one.left < other.right && other.left < one.right
            && one.top < other.bottom && other.top < one.bottom)
        .map((other) => [one.words, other.words]));
}"""


#: Sums the layout shifts of a visit.
SHIFTED = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) window.shifted += value;
    }).observe({ type: "layout-shift", buffered: true });
"""


def rail(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Panes")


def test_a_first_visit_starts_at_a_pinned_loop_and_its_first_steps(visitor: Visitor) -> None:
    page = visitor()
    page.add_init_script(SHIFTED)
    page.goto("/")
    wait_for_result(page)
    # The same line is pinned in every pane, and in view, and the page does not move while this arrives.
    pinned = page.locator("#editor .cm-line.is-pinned")
    expect(pinned).to_contain_text("tl.dot(")
    expect(pinned).to_be_in_viewport()
    expect(page.locator("pane-stage.hue-ttgir .is-pinned").first).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"/k/\w+#pin=\d+$"))
    assert "layout-shift" in page.evaluate("PerformanceObserver.supportedEntryTypes")
    # The observer reports with the frame after a shift.
    page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))")
    assert page.evaluate("window.shifted") < 0.05
    show_sass(page)
    expect(page.locator("pane-stage.hue-sass .is-pinned").first).to_be_in_viewport()

    # Links stay as they are.
    other = visitor()
    other.goto("/#panes=stage:ttgir")
    wait_for_result(other)
    expect(other.locator(".is-pinned")).to_have_count(0)
    assert "pin=" not in other.url

    # Every stage has a word on its card.
    expect(page.locator("pipeline-path .node-summary")).to_have_text([re.compile(r"\S")] * 6)
    expect_fits(page.locator("pipeline-path .node"))

    # One line says what the page does until it is dismissed.
    line = page.locator("first-steps")
    expect(line).to_contain_text("what the Triton compiler makes of each line")
    line.get_by_role("button", name="Dismiss").click()
    expect(line).to_be_hidden()

    # Aliases and constants are folded, and the address is short.
    page.keyboard.press("Escape")
    expect(page.locator(".is-pinned")).to_have_count(0)
    page.locator("pane-stage.hue-ttgir .text").press("Home")
    expect_stage(page, "TTGIR", "tt.get_program_id")
    pane = page.locator("pane-stage.hue-ttgir")
    expect(pane.locator(".folded")).to_have_text([re.compile("more layouts"), re.compile("more constants")])
    expect(pane.locator(".folded").first).to_be_in_viewport(ratio=1)
    assert "fold" not in page.url
    pane.locator(".folded").first.click()
    pane.locator(".folded").click()
    expect(page).to_have_url(re.compile(r"stage:ttgir;fold=none"))

    # The next visit keeps the line dismissed and the parts unfolded.
    page.reload()
    wait_for_result(page)
    expect(line).to_be_hidden()
    expect_stage(page, "TTGIR", "arith.constant")
    expect(pane.locator(".folded")).to_have_count(0)

    # Text that is scrolled sideways stays out of the gutter.
    text = page.locator("pane-stage.hue-ttgir .text")
    text.evaluate("text => { text.scrollLeft = 120; }")
    expect(text).to_have_class(re.compile("is-shifted"))
    covered = text.evaluate("""text => {
        const row = text.querySelectorAll(".text-row")[4];
        const { left, right, top, height } = row.querySelector(".stripe").getBoundingClientRect();
        const at = (x) => document.elementFromPoint(x, top + height / 2).className;
        return [at(left - 2), at(left + 1), at(right - 2)];
    }""")
    assert [
        "fold" in covered[0] or "number" in covered[0],
        "stripe" in covered[1],
        "stripe" in covered[2],
    ] == [
        True,
        True,
        True,
    ]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (375, 800)])
def test_all_panes_are_named_and_open(visitor: Visitor, width: int, height: int) -> None:
    page = visitor(width=width, height=height)
    page.goto("/")
    wait_for_result(page)
    names = rail(page).get_by_role("button")
    expect(names).to_have_text(NAMED)
    if width > 720:
        expect(names.last).to_be_in_viewport(ratio=1)
    registers = rail(page).get_by_role("button", name="Registers")
    registers.focus()
    page.keyboard.press("Enter")
    expect(page.locator("pane-registers")).to_be_visible()
    expect(registers).to_have_attribute("aria-pressed", "true")
    if width > 720:
        expect(page).to_have_url(re.compile(r"registers\*"))


def test_a_pane_that_was_only_looked_at_gives_its_tab_to_the_next(page: Page) -> None:
    tabs = page.locator(".dv-groupview").first.locator(".tab-label")
    expect(tabs).to_have_text(["TTIR", "TTGIR", "LLVM IR", "Passes"])
    preview = page.locator(".is-preview > .tab-label")

    def open_pane(name: str) -> None:
        page.get_by_role("button", name="Add a pane here").first.click()
        page.locator("#pane-menu").get_by_role("button", name=name, exact=True).click()

    for name in ("Memory", "Graph"):
        open_pane(name)
        expect(preview).to_have_text([name])
        expect(preview).to_have_css("font-style", "italic")
    expect(tabs).to_have_text(["TTIR", "TTGIR", "LLVM IR", "Passes", "Graph"])

    # A double click on the tab keeps a pane, and so do Enter on the tab and a click inside.
    preview.dblclick()
    expect(preview).to_have_count(0)
    open_pane("Compilation")
    expect(preview).to_have_text(["Compilation"])
    page.locator(".dv-tab:has(> .is-preview)").press("Enter")
    expect(preview).to_have_count(0)
    open_pane("Registers")
    expect(preview).to_have_text(["Registers"])
    page.locator("pane-registers").click()
    expect(preview).to_have_count(0)
    open_pane("Memory")
    expect(tabs).to_have_text(
        ["TTIR", "TTGIR", "LLVM IR", "Passes", "Graph", "Compilation", "Registers", "Memory"]
    )


def test_figures_and_words_lead_to_the_panes_that_explain_them(page: Page) -> None:
    for words, pane in FIGURES.items():
        page.locator("status-bar").get_by_role("button", name=re.compile(f"^{words}")).click()
        expect(page.locator(f"pane-{pane}")).to_be_visible()

    # The palette knows the field's words.
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.type("bank conflict")
    chosen = page.locator(".palette-option[aria-selected=true]")
    expect(chosen).to_contain_text("Show Layouts")
    expect(chosen.locator("small")).to_have_text("bank conflict")
    page.keyboard.press("Enter")
    expect(page.locator("pane-layouts")).to_be_visible()


def test_the_first_example_shows_its_hot_lines_and_a_short_script_its_first_line(visitor: Visitor) -> None:
    page = visitor(width=1280, height=720)
    page.goto("/#panes=roofline:.hot")
    wait_for_result(page)
    expect(page.locator(".roofline-hot-lines").first).to_be_visible()
    expect(page.locator(".roofline-badge.is-other")).to_have_count(0)
    profiled = page.locator("#subject").inner_text()
    set_source(page, SCALE)
    expect(page.locator("#subject b")).to_have_text("scale")
    newest = page.request.get("/api/v1/tritons").json()["default"]
    assert f"Triton {newest}" not in profiled
    expect(page.locator("#subject")).to_contain_text(f"Triton {newest}")

    # A short script starts at its first line.
    wait_for_result(page)
    other = visitor(width=1280, height=720)
    other.goto(f"/k/{result_id(page)}")
    expect(other.locator("#subject b")).to_have_text("scale")
    expect_stage(other, "TTGIR", "tt.store")
    assert other.locator("#editor .cm-scroller").evaluate("element => element.scrollTop") == 0


@pytest.mark.nightly
def test_charts_fit_a_narrow_window(visitor: Visitor) -> None:
    page = visitor(width=1280, height=720)
    page.goto("/#panes=roofline@52+stage:sass@48")
    wait_for_result(page)
    body = page.locator(".roofline-body")
    expect(body.get_by_role("table").first).to_be_visible()
    # Widths are rounded.
    wider = "frames => frames.filter(frame => frame.scrollWidth > frame.clientWidth + 1).length"
    for frames in (body, body.locator(".run-scroll")):
        eventually(partial(frames.evaluate_all, wider), 0)

    # No words of the charts overlap.
    for width, panes in ((1280, "memory@50+registers@50"), (375, "memory,registers")):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto("about:blank")
        page.goto(f"/#panes={panes}")
        wait_for_result(page)
        for name in ("memory", "registers"):
            rail(page).get_by_role("button", name=name.capitalize()).click()
            chart = page.locator(f"pane-{name} svg").first
            expect(chart.locator("text").first, f"{name}, {width}").to_be_attached()
            eventually(partial(chart.evaluate, OVERLAPPING), [])
