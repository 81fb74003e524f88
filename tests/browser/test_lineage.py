"""Test the lineage of operations in stage panes, in a real browser against the real server."""

from __future__ import annotations

import re

import pytest
from actions import UNPINNED, Visitor, compile_now, compiled, violations, wait_for_result
from playwright.sync_api import Locator, Page, expect
from tritons import TRITONS

from explorer.examples import find_example


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """A page for the matmul of the gallery."""
    return visitor()


def address(page: Page, stage: str, text: str) -> tuple[str, int]:
    """Return the address of the matmul, and the number of the first line of a stage with a text."""
    result = compiled(page, find_example("matmul").source, triton=TRITONS[-1])
    lines = page.request.get(f"/api/v1/compilations/{result}/stages/{stage}").text().split("\n")
    return f"/k/{result}", next(number for number, each in enumerate(lines, 1) if text in each)


def pane(page: Page, stage: str) -> Locator:
    return page.locator(f"pane-stage.hue-{stage}")


def lineage(page: Page) -> Locator:
    return page.get_by_role("region", name="Lineage of the operation")


def scroll_to(page: Page, stage: str, text: str) -> Locator:
    """Open the matmul, and bring the first line with a text in sight, by the keyboard; return its row."""
    matmul, line = address(page, stage, text)
    page.goto(f"{matmul}#panes=stage:ttgir@50+stage:sass@50&cursor={stage}.{line}")
    wait_for_result(page)
    search = pane(page, stage).get_by_role("searchbox")
    search.fill(text)
    search.press("Enter")
    return pane(page, stage).locator(".text-row", has_text=text).first


def test_three_clicks_lead_from_an_operation_to_its_instructions(page: Page) -> None:
    row = scroll_to(page, "ttgir", "ttng.warp_group_dot ")
    row.click()
    pane(page, "ttgir").get_by_role("button", name="lineage", exact=True).click()
    expect(lineage(page)).to_contain_text("Made by tritongpu-accelerate-matmul from tt.dot")
    lineage(page).get_by_role("button", name=re.compile(r"^\d+ SASS instructions$")).click()
    marked = pane(page, "sass").locator(".text-row.is-operation")
    expect(marked.first).to_be_visible()
    expect(pane(page, "sass").locator(".text-row.is-operation.is-cursor")).to_be_visible()
    expect(pane(page, "ttgir").locator(".text-row.is-operation")).to_contain_text("ttng.warp_group_dot ")


@pytest.mark.nightly
def test_an_instruction_leads_to_its_operation(page: Page) -> None:
    scroll_to(page, "sass", "LDGSTS").click()
    pane(page, "sass").get_by_role("button", name="lineage", exact=True).click()
    expect(lineage(page)).to_contain_text("ttg.async_copy_global_to_local")
    expect(lineage(page)).to_contain_text("Made by tritongpu-pipeline from tt.load, source line")
    operation = pane(page, "ttgir").locator(".text-row.is-operation")
    expect(operation).to_contain_text("ttg.async_copy_global_to_local")
    expect(operation).to_be_visible()


@pytest.mark.nightly
def test_a_step_leads_to_the_module_after_the_pass(page: Page) -> None:
    scroll_to(page, "ttgir", "ttng.warp_group_dot ").click()
    page.keyboard.press("o")
    lineage(page).locator(".lineage-step", has_text="tritongpu-schedule-loops").click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-schedule-loops")
    expect(page.locator("pane-passes .lineage-text")).to_contain_text("loop.stage")


@pytest.mark.nightly
def test_another_line_is_followed_and_the_address_keeps_it(page: Page, visitor: Visitor) -> None:
    scroll_to(page, "ttgir", "ttng.warp_group_dot ").click()
    pane(page, "ttgir").get_by_role("button", name="lineage", exact=True).click()
    expect(lineage(page)).to_contain_text("tt.dot")
    pane(page, "ttgir").locator(".text-row", has_text="ttg.async_wait").first.click()
    expect(lineage(page)).to_contain_text("Made by tritongpu-pipeline from tt.load")
    expect(page).to_have_url(re.compile(r"lineage=\d+"))
    other = visitor()
    other.goto(page.url)
    expect(lineage(other)).to_contain_text("Made by tritongpu-pipeline from tt.load")
    other.get_by_role("button", name="Close the lineage").click()
    expect(lineage(other)).to_be_hidden()
    expect(other.locator(".is-operation")).to_have_count(0)


@pytest.mark.nightly
def test_instructions_stay_in_sight_when_their_pane_is_selected(page: Page) -> None:
    matmul, line = address(page, "ttgir", "ttg.convert_layout")
    page.goto(f"{matmul}#panes=stage:ttgir;lineage={line}@50+stage:sass@50&line=ttgir.{line}")
    instructions = pane(page, "sass").locator(".text-row.is-operation")
    expect(instructions.first).to_be_visible()
    lineage(page).get_by_role("button", name=re.compile(r"^\d+ SASS instructions$")).click()
    expect(pane(page, "sass").locator(".text-row.is-cursor .number")).to_be_in_viewport(ratio=1)


@pytest.mark.nightly
def test_a_line_without_an_operation_says_so(page: Page) -> None:
    page.goto(UNPINNED)
    pane(page, "ttgir").locator(".text-row", has_text="#blocked").first.click()
    pane(page, "ttgir").get_by_role("button", name="lineage", exact=True).click()
    expect(lineage(page)).to_contain_text("no operation in line 1")


@pytest.mark.nightly
def test_a_line_says_why_it_is_here(page: Page) -> None:
    scroll_to(page, "ttgir", "ttg.local_alloc").click()
    pane(page, "ttgir").get_by_role("button", name="lineage", exact=True).click()
    card = lineage(page)
    expect(card).to_contain_text("allocates it: 49,152 bytes")
    card.get_by_text("Pass by pass").click()
    way = card.get_by_role("list").filter(has_text="The source has it in line")
    expect(way).to_contain_text("tl.load")
    expect(way).to_contain_text("observed")
    expect(card.get_by_role("link", name="Buffer")).to_have_attribute("href", "/glossary#buffer")
    # A statement leads to its pass.
    way.get_by_role("button", name="tritongpu-pipeline").first.click()
    expect(page.locator("pane-passes")).to_contain_text("tritongpu-pipeline")
    assert violations(page, "pane-passes", "operation-lineage") == []


@pytest.mark.nightly
def test_another_kernel_begins_without_lineage(page: Page) -> None:
    matmul, line = address(page, "ttgir", "ttng.warp_group_dot ")
    page.goto(f"{matmul}#panes=stage:ttgir;lineage={line}")
    expect(lineage(page)).to_contain_text("Made by tritongpu-accelerate-matmul from tt.dot")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    compile_now(page, find_example("vector_add").source)
    wait_for_result(page)
    expect(page).not_to_have_url(re.compile("lineage="))
    expect(lineage(page)).to_be_hidden()
    assert not any("/lineage" in each for each in requests)
