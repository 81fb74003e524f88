"""Test the Registers pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import (
    Hold,
    Visitor,
    editor_line,
    expect_accessible,
    expect_fits,
    expect_stage,
    expect_structure,
    result_id,
    settled_box,
    unfold_launch,
    wait_for_result,
)
from playwright.sync_api import Page, expect


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The matmul of a first visit beside its registers."""
    page = visitor()
    page.goto("/#panes=stage:ttgir@45+registers@55")
    wait_for_result(page)
    expect(page.locator(".register-plot")).to_have_count(2)
    return page


def drag(page: Page, plot: int, start: float, end: float) -> None:
    """Choose a range of a plot, from one share of its width to another."""
    box = settled_box(page.locator(".register-plot").nth(plot))
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], middle, steps=4)
    page.mouse.up()


@pytest.mark.nightly
def test_ranges_of_a_plot_light_lines_everywhere(page: Page, visitor: Visitor) -> None:
    # What the assembler takes is said.
    head = page.locator(".registers-head")
    expect(head).to_contain_text(re.compile(r"\d+ general registers alive at most · \d+ taken"))
    expect(head).to_contain_text("no instruction names")
    expect(head).to_contain_text("limit 255")

    # A range of machine code pins its source lines.
    drag(page, 0, 0.4, 0.6)
    expect(page).to_have_url(re.compile(r"registers:s\d+-\d+.*pin="))
    expect(page.locator(".cm-line.is-pinned").first).to_be_attached()
    ttgir = page.get_by_role("group", name="TTGIR, ")
    expect(ttgir.locator(".text-row.is-pinned").first).to_be_visible()
    # The positions of these lines are highlighted in the other plot, too.
    expect(page.locator(".register-plot").nth(1).locator(".lit rect").first).to_be_attached()

    # A range of tensors lights the machine code.
    drag(page, 1, 0.55, 0.75)
    expect(page).to_have_url(re.compile(r"registers:t\d+-\d+.*pin="))
    expect(page.locator(".register-plot").nth(0).locator(".lit rect").first).to_be_attached()

    # A range is chosen by keys and kept in the link.
    plot = page.get_by_role("application", name="Live registers along the machine code")
    plot.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("Shift+PageDown")
    expect(plot.get_by_role("status")).to_contain_text("general")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"registers:s\d+-\d+"))
    other = visitor()
    other.goto(page.url)
    expect(other.locator(".register-plot").first.locator(".brush")).not_to_have_attribute("width", "0")


def test_a_tensor_lights_its_lines(page: Page) -> None:
    name = re.compile(r"%accumulator.*, 64 registers")
    bar = page.locator(".register-ranges .range", has_text=name).first
    editor_line(page, "tl.dot(")  # the editor contains only the lines near the visible lines
    bar.hover()
    expect(page.locator(".editor .lit-lines > .is-lit").first).to_be_attached()
    expect(page.locator(".registers-place").last).to_contain_text("64 registers (64 × 32 bits)")
    bar.click()
    expect(page.locator(".cm-line.is-pinned").first).to_be_attached()

    # Where no tool tells, the page says why.
    unfold_launch(page)
    page.get_by_label("Target").first.select_option("hip:gfx942")
    pane = page.locator("pane-registers")
    expect(pane).to_contain_text("gfx942: Triton's package has no tool", timeout=60_000)
    expect(pane.get_by_role("table", name="Values in the assembly")).to_contain_text("vector registers")
    expect(page.locator(".register-plot")).to_have_count(1)


@pytest.mark.nightly
def test_the_pane_is_accessible_and_fits(visitor: Visitor) -> None:
    page = visitor(width=375, height=800)
    page.goto("/#panes=registers")
    wait_for_result(page)
    expect(page.locator(".register-plot")).to_have_count(2)
    expect_fits(page.locator("html"), page.locator("pane-registers"))
    expect_accessible(page, "pane-registers")


def test_the_text_stays_in_its_place_when_the_bars_arrive(visitor: Visitor, hold: Hold) -> None:
    page = visitor()
    held = hold(page, "**/compilations/*/registers")
    with page.expect_request("**/compilations/*/registers"):
        page.goto("/#panes=stage:sass")
    expect_stage(page, "SASS", "LDC")
    stage = page.get_by_role("group", name="SASS, ")
    expect_structure(stage)
    code = stage.locator(".text-row .code").first
    before = settled_box(code)["x"]
    for route in held:
        route.continue_()
    expect(stage.locator(".gauge[title*='live register']").first).to_be_visible()
    assert settled_box(code)["x"] == before


@pytest.mark.nightly
def test_bars_beside_the_machine_code_say_how_many_registers_are_alive(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=stage:sass")
    wait_for_result(page)
    answer = page.request.get(f"/api/v1/compilations/{result_id(page)}/registers").json()
    stage = page.get_by_role("group", name="SASS, ")
    expect_structure(stage)
    bars = stage.locator(".gauge[title*='live register']")
    expect(bars.first).to_be_visible()
    # A visible row, by its number: the bar shows the tool's value for this line.
    row = stage.locator(".text-row", has=page.locator(".gauge[title*='live register']")).first
    line = int(row.locator(".number").inner_text())
    alive = next(each["general"] for each in answer["instructions"] if each["line"] == line)
    expect(row.locator(".gauge")).to_have_attribute("title", re.compile(rf"^{alive} live register"))
    row.locator(".code").click()
    expect(page.locator("pane-stage .pane-foot .place")).to_contain_text(f"{alive} live register")
    page.get_by_role("button", name="view", exact=True).click()
    page.get_by_role("checkbox", name="Live registers").uncheck()
    expect(bars).to_have_count(0)
    expect(page).to_have_url(re.compile(r"stage:sass;hide=registers"))
