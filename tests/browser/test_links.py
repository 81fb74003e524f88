"""Test the links between panes: hover cards, double clicks and the cursor in the address."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from actions import (
    Hold,
    Visitor,
    editor_line,
    eventually,
    expect_lit,
    expect_stage,
    expect_structure,
    lit_rows,
    result_id,
    settled_box,
    show_sass,
    wait_for_result,
    whole_text,
)
from playwright.sync_api import Locator, Page, expect

TWO_FRAMES = "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"


@pytest.fixture
def page(page: Page) -> Page:
    """The matmul of a first visit, with its TTGIR and its SASS."""
    show_sass(page)
    expect_stage(page, "TTGIR", "tt.get_program_id")
    expect(page.locator("pane-stage.hue-ttgir .stripe:not(.is-blank)").first).to_be_visible()
    for stage in ("ttgir", "sass"):
        expect_structure(page.locator(f"pane-stage.hue-{stage}"))
    return page


def source_line(page: Page, text: str) -> tuple[int, str]:
    """The number and the text of the source line that holds `text`."""
    source = page.request.get(f"/api/v1/compilations/{result_id(page)}/source").text()
    return next((number, line) for number, line in enumerate(source.split("\n"), 1) if text in line)


def test_the_card_shows_where_the_line_under_the_mouse_or_the_cursor_comes_from(
    page: Page, ttgir: Locator
) -> None:
    number, text = source_line(page, "tl.program_id(axis=0)")
    ttgir.locator(".text-row", has_text="tt.get_program_id").hover()
    card = page.locator(".location-card:popover-open")
    expect(card.locator("code").filter(has_text=text.strip())).to_be_visible()
    expect(card.locator(".where")).to_have_text(re.compile(f"^line {number}"))
    page.mouse.move(5, 5)
    expect(card).to_have_count(0)

    # Instructions of LLVM IR that come from library functions list the calls that lead there.
    page.keyboard.press("Alt+4")
    pane = page.locator("pane-stage.hue-llir")
    expect_stage(page, "LLVM IR", "define")
    pane.get_by_role("group").focus()
    page.keyboard.press("/")
    page.keyboard.type("@llvm.nvvm.read.ptx.sreg.ctaid.x()")
    hit = pane.locator(".is-current-hit")
    expect(hit).to_contain_text("ctaid")
    hit.locator(".number").click()
    page.mouse.move(5, 5)
    expect(card).to_have_count(0)
    page.keyboard.press("i")
    expect(card.locator("code").first).to_contain_text("tl.program_id")
    page.keyboard.press("ArrowDown")
    expect(card).to_have_count(0)


def test_a_line_under_the_mouse_is_linked_when_its_locations_arrive(
    page: Page, ttgir: Locator, hold: Hold
) -> None:
    held = hold(page, "**/stages/ttgir/locations")
    line = ttgir.locator(".text-row", has_text="tt.get_program_id")
    for is_clicked in (False, True):
        with page.expect_request("**/stages/ttgir/locations"):
            page.reload()
        # Folding moves the lines below.
        expect(ttgir.locator(".folded")).to_have_count(2)
        page.mouse.move(5, 5)
        line.hover()
        expect_lit(page)
        if is_clicked:
            line.locator(".number").click()
        for route in held:
            route.continue_()
        held.clear()
        if is_clicked:
            expect(page.locator(".cm-line.is-pinned")).to_have_text(re.compile(r"tl\.program_id\(axis=0\)"))
            continue
        expect_lit(page, "tl.program_id(axis=0)")
        expect(page.locator(".cm-line.is-pinned")).to_have_count(0)
        card = page.locator(".location-card:popover-open")
        expect(card.locator("code").filter(has_text="tl.program_id(axis=0)")).to_be_visible()
        expect(card.locator(".explanation dt")).to_have_text("tt.get_program_id")


def test_lines_and_names_lead_to_each_other(page: Page, ttgir: Locator, visitor: Visitor) -> None:
    # A source line says what it became.
    facts = page.get_by_role("group", name="Operations of the source line")
    expect(facts).to_contain_text("Point at a line")
    number, _ = source_line(page, "accumulator = tl.dot(")
    editor_line(page, "tl.dot(").hover()
    expect(facts.locator(".source-line")).to_have_text(f"line {number}")
    for stage, title in (("ttgir", "TTGIR"), ("sass", "SASS")):
        document = page.request.get(f"/api/v1/compilations/{result_id(page)}/stages/{stage}/locations").json()
        count = dict(document["source_line_operations"])[number]
        cell = facts.locator(".source-stage", has_text=title)
        expect(cell.locator("b")).to_have_text(str(count))
        share = 100 * count / document["operations"]
        expect(cell.locator("span")).to_have_text("<1 %" if share < 1 else f"{int(share + 0.5)} %")

    # A click with the control key goes to the definition.
    value = ttgir.locator(".code .nv", has_text=re.compile(r"^%programs_per_band$"))
    value.nth(1).click(modifiers=["ControlOrMeta"])
    expect(ttgir.locator(".is-cursor .is-definition")).to_have_text("%programs_per_band")
    expect(page.locator(".is-pinned")).to_have_count(0)

    # The cursor is part of the address.
    ttgir.get_by_role("group").focus()
    page.keyboard.press("End")
    last = str(len(whole_text(page, "ttgir")))
    expect(ttgir.locator(".is-cursor .number")).to_have_text(last)
    expect(page).to_have_url(re.compile(rf"[#&]line=ttgir\.{last}$"))
    other = visitor()
    other.goto(page.url)
    wait_for_result(other)
    expect(other.locator("pane-stage.hue-ttgir .is-cursor .number")).to_have_text(last)
    expect(other.locator("pane-stage.hue-ttgir .is-cursor")).to_be_in_viewport()

    # A double click scrolls every pane.
    sass = page.locator("pane-stage.hue-sass")
    scrolled = "pane => pane.querySelector('.text').scrollTop"
    assert sass.evaluate(scrolled) == 0
    ttgir.get_by_role("group").focus()
    page.keyboard.press("/")
    page.keyboard.type("tt.store")
    hit = ttgir.locator(".is-current-hit")
    expect(hit).to_contain_text("tt.store")
    number, text = source_line(page, "tl.store(")
    hit.locator(".number").dblclick()
    expect(page).to_have_url(re.compile(f"pin={number}$"))
    expect(page.locator(".cm-line.is-pinned")).to_have_text(text)
    expect(page.locator(".cm-line.is-pinned")).to_be_in_viewport()
    expect(sass.locator(".is-pinned").first).to_be_in_viewport()
    assert sass.evaluate(scrolled) > 0


def test_lights_and_marks_are_drawn_beside_the_rows(page: Page, ttgir: Locator) -> None:
    line = ttgir.locator(".text-row", has_text="tt.get_program_id").first
    line.hover()
    eventually(lambda: any("tt.get_program_id" in row for row in lit_rows(ttgir)), True)
    # The browser paints each row again that gets another class.
    assert ttgir.locator(".text-row.is-lit").count() == 0
    light = ttgir.locator(".lit-lines > .is-lit").first
    assert light.bounding_box()["width"] >= ttgir.locator(".text-frame").bounding_box()["width"]
    # The numbers of a text that is scrolled sideways do not cover it.
    ttgir.locator(".text").evaluate("text => { text.scrollLeft = 120; }")
    expect(ttgir.locator(".text")).to_have_class(re.compile("is-shifted"))
    assert int(ttgir.locator(".lit-lines").evaluate("lights => getComputedStyle(lights).zIndex")) > 0

    # The marks beside the scroll bar follow the height.
    line.click()
    marks = ttgir.locator(".marks path[d^=M]").first
    before = marks.get_attribute("d")
    page.set_viewport_size({"width": 1440, "height": 500})
    eventually(lambda: marks.get_attribute("d") != before, True)


def test_the_pointer_makes_the_browser_draw_little(page: Page, ttgir: Locator) -> None:
    # It computes the style of the lit lines alone.
    line = ttgir.locator(".text-row", has_text="tt.get_program_id").first
    expect(line.locator(".stripe:not(.is-blank)")).to_be_visible()
    every = int(page.evaluate("document.querySelectorAll('*').length"))

    def recomputes_few() -> bool:
        page.mouse.move(5, 5)
        expect(page.locator(".is-lit")).to_have_count(0)
        return bool(style_changes(page, line.hover) < every / 4)

    # What the page does by itself at the same moment counts, too, but not every time.
    eventually(recomputes_few, True)

    # It lays the page out few times.
    source = editor_line(page, "tl.program_id(axis=0)")
    source.hover()
    place = settled_box(source)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def layouts() -> int:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return int(next(each["value"] for each in metrics if each["name"] == "LayoutCount"))

    def lays_out_few() -> bool:
        page.mouse.move(5, 5)
        expect(page.locator(".is-lit")).to_have_count(0)
        page.evaluate(TWO_FRAMES)
        before = layouts()
        page.mouse.move(place["x"] + 90, place["y"] + place["height"] / 2)
        expect(ttgir.locator(".lit-lines > .is-lit").first).to_be_attached()
        page.evaluate(TWO_FRAMES)
        return layouts() - before <= 2

    # What the page does by itself at the same moment counts, too, but not every time.
    eventually(lays_out_few, True)

    # Tabs and marks of folds have no layers.
    expect(ttgir.locator(".folded").first).to_be_in_viewport(ratio=1)
    trees: list[list[dict[str, Any]]] = []
    client.on("LayerTree.layerTreeDidChange", lambda event: trees.append(event.get("layers", [])))
    client.send("DOM.enable")
    client.send("LayerTree.enable")

    def has_layers() -> bool:
        # A frame that draws something reports its layers.
        ttgir.locator(".text-row").nth(3 + len(trees) % 2).hover()
        page.evaluate(TWO_FRAMES)
        return any(trees)

    eventually(has_layers, True)
    nodes = {layer["backendNodeId"] for tree in trees for layer in tree if "backendNodeId" in layer}
    described = [client.send("DOM.describeNode", {"backendNodeId": node})["node"] for node in nodes]
    classes = " ".join(" ".join(node.get("attributes", [])) for node in described)
    assert "text" in classes
    assert "dv-tabs-container" not in classes
    assert "folded" not in classes


def style_changes(page: Page, act: Callable[[], None]) -> int:
    """Return how many elements got a computed style again until a line is lit by `act`."""
    browser = page.context.browser
    assert browser is not None
    client = browser.new_browser_cdp_session()
    counts: list[int] = []
    complete: list[bool] = []

    def collect(message: dict[str, Any]) -> None:
        counts.extend(each["args"].get("elementCount", 0) for each in message["value"])

    client.on("Tracing.dataCollected", collect)
    client.on("Tracing.tracingComplete", lambda _: complete.append(True))
    config = {"includedCategories": ["disabled-by-default-devtools.timeline", "devtools.timeline"]}
    client.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
    act()
    expect(page.locator(".editor .lit-lines > .is-lit").first).to_be_attached()
    client.send("Tracing.end")
    # Playwright receives events while it waits for the page.
    eventually(lambda: page.evaluate("1") == len(complete), True)
    return sum(counts)
