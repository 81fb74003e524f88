"""Test the Findings pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import (
    Visitor,
    expect_accessible,
    expect_fits,
    open_example,
    open_result,
    paste_source,
    wait_for_result,
)
from playwright.sync_api import expect
from sources import SUMS

#: Its accumulator does not fit into the registers of four warps.
SPILLING = """import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, n, BLOCK: tl.constexpr, INNER: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, INNER):
        inner = start + tl.arange(0, INNER)
        x = tl.load(a + row[:, None] * n + inner[None, :])
        y = tl.load(b + inner[:, None] * n + column[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * n + column[None, :], total)


a, b = (torch.empty((2048, 2048), device="cuda", dtype=torch.float16) for _ in range(2))
c = torch.empty((2048, 2048), device="cuda")
grid = lambda meta: (triton.cdiv(2048, meta["BLOCK"]), triton.cdiv(2048, meta["BLOCK"]))
product[grid](a, b, c, 2048, BLOCK=256, INNER=32, num_warps=4)
"""
#: Each program gathers what lies apart, and stores it together.
GATHERING = """import torch
import triton
import triton.language as tl


@triton.jit
def gather(x, out, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    apart = program + tl.arange(0, BLOCK) * tl.num_programs(0)
    tl.store(out + program * BLOCK + tl.arange(0, BLOCK), tl.load(x + apart))


x = torch.randn(1 << 18, device="cuda")
gather[(256,)](x, torch.empty_like(x), BLOCK=1024)
"""


def test_a_finding_leads_to_its_line_and_operation(visitor: Visitor) -> None:
    page = visitor()
    open_result(page, SUMS, "#panes=stage:ttgir@50+findings@50")
    pane = page.locator("pane-findings")
    finding = pane.get_by_role("listitem").filter(has_text="waits for its own loads")
    expect(finding).to_contain_text("tl.range(…, num_stages=N)")
    expect(finding.get_by_text("Changes to try").locator("code").first).to_be_visible()
    expect(pane).not_to_contain_text("`")
    expect_accessible(page, "pane-findings")
    finding.get_by_role("button", name=re.compile(r"^line \d+$")).click()
    expect(page).to_have_url(re.compile(r"pin=8"))
    finding.get_by_role("button", name=re.compile(r"^TTGIR \d+$")).click()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("scf.for")


@pytest.mark.nightly
def test_a_kernel_without_a_finding_says_what_was_checked(visitor: Visitor) -> None:
    page = visitor(width=375, height=812)
    page.goto("/#panes=findings")
    open_example(page, "Vector addition")
    wait_for_result(page)
    pane = page.locator("pane-findings")
    expect(pane).to_contain_text("No static problem found.")
    pane.get_by_text(re.compile(r"^\d+ checks$")).click()
    expect(pane.get_by_role("listitem").filter(has_text="Bank conflicts: nothing found")).to_be_visible()
    expect_fits(pane)


def test_a_paste_leads_to_a_proven_change_in_two_clicks(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    paste_source(page, SPILLING)
    pane = page.locator("pane-findings")
    spills = pane.get_by_role("listitem").filter(has_text="`total` needs 512 registers")
    expect(pane).to_contain_text("needs 512 registers of a thread", timeout=60_000)
    pane.get_by_role("button", name="Try all").click()
    proven = pane.locator(".finding-trials .is-proven")
    expect(proven.first).to_contain_text("BLOCK 256 → 128", timeout=120_000)
    expect_accessible(page, "pane-findings")
    expect(proven.first).to_contain_text("same results")
    expect(pane.locator(".finding-trials").first.locator("li").first).to_have_class("is-proven")
    proven.first.get_by_role("button", name="Apply").click()
    wait_for_result(page)
    expect(pane.locator(".finding-difference")).to_contain_text(re.compile(r"spill stores and loads .* → 0"))
    expect(spills).to_have_count(0)
    expect(page.locator("status-bar")).to_contain_text(re.compile(r"spills 0"))


@pytest.mark.nightly
def test_a_change_that_changes_the_results_is_not_offered(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=findings")
    wait_for_result(page)
    paste_source(page, GATHERING)
    pane = page.locator("pane-findings")
    expect(pane).to_contain_text("of the sectors that it accesses", timeout=60_000)
    pane.get_by_role("button", name="Try the change").click()
    row = pane.locator(".finding-trials li").filter(has_text="program * BLOCK + tl.arange(0, BLOCK)")
    expect(row).to_contain_text("the kernel writes other results", timeout=120_000)
    expect(row.get_by_role("button", name="Apply")).to_have_count(0)


@pytest.mark.nightly
def test_the_link_of_a_kernel_keeps_its_trials_and_a_change_is_undone(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=findings")
    wait_for_result(page)
    paste_source(page, SUMS)
    pane = page.locator("pane-findings")
    expect(pane).to_contain_text("waits for its own loads", timeout=60_000)
    pane.get_by_role("button", name="Try all").click()
    row = pane.locator(".finding-trials .is-proven").filter(has_text="num_stages=3")
    expect(row).to_contain_text("same results", timeout=120_000)
    with page.expect_request(re.compile("/trials$")) as request:
        page.reload()
    assert request.value.method == "GET"
    expect(row).to_contain_text("same results")
    row.get_by_role("button", name="Apply").click()
    changed = "for start in tl.range(0, columns, BLOCK, num_stages=3):  # turn by turn"
    expect(page.locator(".cm-content")).to_contain_text(changed)
    expect(pane.locator(".finding-difference")).to_contain_text("registers", timeout=60_000)
    expect(pane).not_to_contain_text("waits for its own loads")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).to_contain_text("for start in range(0, columns, BLOCK):")


@pytest.mark.nightly
def test_a_kernel_is_improved_by_two_clicks(visitor: Visitor) -> None:
    page = visitor()
    open_result(page, SUMS, "#panes=findings")
    pane = page.locator("pane-findings")
    pane.get_by_role("button", name="Improve").click()
    search = pane.get_by_role("region", name="Improvement")
    expect(search.get_by_role("listitem")).to_contain_text("same results, not measured", timeout=60_000)
    changed = "for start in tl.range(0, columns, BLOCK, num_stages=3):  # turn by turn"
    expect(search.locator("ins")).to_have_text(changed)
    expect(search).to_contain_text("Time not measured")
    expect_accessible(page, "pane-findings")
    search.get_by_role("button", name="Apply").click()
    expect(page.locator(".cm-content")).to_contain_text(changed)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).to_contain_text("for start in range(0, columns, BLOCK):")
