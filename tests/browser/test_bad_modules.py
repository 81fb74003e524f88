"""Test in a browser that a pane reports a module it cannot read, and that other panes still work."""

from __future__ import annotations

import dataclasses

import pytest
from actions import Visitor, compiled, expect_stage, open_result, wait_for_result
from altered_results import ROTATING, SCALAR, Alter, store_altered, with_stage_text
from playwright.sync_api import Page, expect
from tritons import TRITONS

from explorer.examples import find_example
from explorer.model import Allocation
from explorer.store import Record, Store

BESIDE = "#panes=layouts@25+memory@25+registers@25+graph:ttgir@25"
DRAWN_TIMEOUT_MS = 60_000


@pytest.fixture
def matmul(visitor: Visitor, store: Store) -> Record:
    """The result of a first visit, by the version of the profiles."""
    return store.find(compiled(visitor(), find_example("matmul").source, triton=TRITONS[-1]))


@pytest.fixture
def show(visitor: Visitor, store: Store, matmul: Record):
    """Open the altered result."""

    def show(alter: Alter, view: str = BESIDE) -> Page:
        page = visitor(width=1920)
        page.goto(f"/k/{store_altered(store, matmul, alter).id}{view}")
        wait_for_result(page)
        return page

    return show


def expect_graph(page: Page) -> None:
    expect(page.locator("pane-graph .graph-svg .node").first).to_be_attached(timeout=DRAWN_TIMEOUT_MS)


def expect_buffers(page: Page, count: int) -> None:
    expect(page.locator("pane-memory .memory-map .buffer")).to_have_count(count)


def expect_machine_code(page: Page) -> None:
    expect(page.locator("pane-registers")).to_contain_text("general registers alive at most")


def test_a_kernel_of_single_values_says_why_nothing_has_a_layout(visitor: Visitor) -> None:
    page = visitor(width=1920)
    open_result(page, SCALAR, BESIDE)
    for pane in ("pane-layouts", "pane-registers"):
        expect(page.locator(pane)).to_contain_text("the kernel uses only single values")
    expect(page.locator("pane-memory")).to_contain_text("uses no shared memory")
    expect_machine_code(page)
    expect_graph(page)


def test_an_encoding_that_nobody_knows_takes_only_the_layouts_away(show, matmul: Record) -> None:
    text = matmul.text(matmul.stage("ttgir").text).replace("#ttg.nvidia_mma<", "#ttg.quantum<")
    page = show(with_stage_text(matmul, "ttgir", text))
    for pane in ("pane-layouts", "pane-registers"):
        expect(page.locator(pane)).to_contain_text("unknown attribute `quantum` in dialect `ttg`")
    expect_buffers(page, 3)
    expect_machine_code(page)
    expect_graph(page)


@pytest.mark.nightly
def test_a_layout_without_a_picture_has_the_reason_in_its_place(show, matmul: Record) -> None:
    page = show(with_stage_text(matmul, "ttgir", ROTATING), "#panes=layouts:shared@60+stage:ttgir@40")
    pane = page.locator("pane-layouts")
    expect(pane.get_by_role("heading", name="#shared")).to_be_visible()
    expect(pane).to_contain_text("The compiler has no linear layout for it")
    pane.get_by_role("option", name="#blocked 64 × 64").click()
    expect(pane.locator(".layout-canvas")).to_be_visible()
    expect_stage(page, "TTGIR", "amd_rotating_shared")


@pytest.mark.nightly
@pytest.mark.parametrize("buffers", [0, 1])
def test_a_dump_that_is_cut_off_says_so_above_what_there_is(show, buffers: int) -> None:
    def shortened(entry):
        if isinstance(entry, Allocation):
            return dataclasses.replace(entry, buffers=entry.buffers[:buffers])
        return entry

    page = show(shortened)
    pane = page.locator("pane-memory")
    expect(pane.locator(".warning")).to_contain_text(f"truncated: {3 - buffers} of 3 buffers")
    expect(pane).not_to_contain_text("uses no shared memory")
    expect_buffers(page, buffers)
    expect_machine_code(page)
    expect(page.locator("pane-layouts h3").first).to_be_visible()
    expect_graph(page)


@pytest.mark.nightly
def test_a_missing_dump_is_no_compilation_that_stopped(show) -> None:
    page = show(lambda entry: None if isinstance(entry, Allocation) else entry)
    expect(page.locator("pane-memory")).to_contain_text("report of the allocation is missing or truncated")
    expect_machine_code(page)
    expect_graph(page)
