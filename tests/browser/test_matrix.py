"""Test the page of a matrix: results, order, marks, a comparison, a failure, and a small window."""

import json
import re
import time
import urllib.request

import pytest
from actions import (
    COMPILE_TIMEOUT_MS,
    expect_fits,
    open_result,
    unfold_launch,
    violations,
    wait_for_result,
)
from playwright.sync_api import expect

from explorer.model.limits import MOST_CELLS

#: A block with more elements than a warp has registers.
SPILLED = 16384
SOURCE = """
import torch
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": size}, num_warps=1) for size in (SPILLED, 100, 128)], key=["n"])
@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


scale[(4,)](torch.empty(4096, device="cuda"), 4095)
""".replace("SPILLED", str(SPILLED))
#: The kernel alone, with a grid that the script computes.
PLAIN = (
    re.sub(r"@triton.autotune.*\n|scale\[.*", "", SOURCE)
    + """
grid = lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)
scale[grid](torch.empty(4096, device="cuda"), 4095, BLOCK=1024)
"""
)


def ask(server, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


@pytest.fixture(scope="module")
def matrix(server):
    """The address of a matrix of three configurations, one of which fails, when it is compiled."""
    body = {"compilation": {"source": SOURCE, "target": "cuda:90"}, "configurations": "all"}
    ticket = ask(server, "/api/v1/matrices", body)
    while ask(server, ticket["api"])["is_at_work"]:
        time.sleep(0.1)
    return ticket["url"]


def test_results_are_sorted_marked_opened_and_compared(visitor, matrix):
    page = visitor()
    page.goto(matrix)
    expect(page.locator("#subject")).to_have_text("scale 3 configurations × 1 target × 1 Triton version")
    expect(page.get_by_role("status").first).to_have_text("3 of 3 compiled · 1 failed")
    rows = page.locator("matrix-table tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("power of 2")
    titles = page.locator("matrix-table thead th").all_inner_texts()
    (column,) = (index for index, title in enumerate(titles) if title.startswith("Spills"))
    for size, mark in ((SPILLED, "worst"), (128, "best")):
        cell = rows.filter(has_text=f"BLOCK={size}").locator("th, td").nth(column)
        expect(cell).to_contain_text(f", {mark}")
    # No other metric except the time to compile is a goal.
    assert {rows.get_by_text(mark).count() for mark in (", best", ", worst")} <= {1, 2}
    page.get_by_role("columnheader", name="Registers").get_by_role("button").click()
    expect(rows.first).to_contain_text("BLOCK=128")
    expect(page.get_by_role("columnheader", name="Registers")).to_have_attribute("aria-sort", "ascending")
    expect(rows.last).to_contain_text("BLOCK=100")  # unknown values are last
    page.get_by_role("group", name="Metric").get_by_role("button", name="Registers").click()
    expect(page).to_have_url(re.compile("#registers$"))
    cells = page.get_by_role("table", name="Registers per thread").get_by_role("cell")
    expect(cells).to_have_count(3)
    expect(cells.nth(1).get_by_role("link", name="failed")).to_be_visible()
    expect(cells.get_by_text(", best")).to_have_count(0)
    assert violations(page) == []
    for size in (SPILLED, 128):
        page.get_by_role("checkbox", name=f"Compare BLOCK={size}, sm_90").check()
    first, second = (cells.nth(index).get_by_role("link").get_attribute("href") for index in (0, 2))
    expect(page.get_by_role("link", name="Compare the two")).to_have_attribute(
        "href", f"/compare/{first.removeprefix('/k/')}..{second.removeprefix('/k/')}"
    )
    cells.nth(2).get_by_role("link").click()
    expect(page).to_have_url(re.compile(re.escape(second)))


@pytest.mark.nightly
def test_the_table_fits_a_phone(visitor, matrix):
    page = visitor(width=375, height=700)
    for fragment in ("", "#instructions"):
        page.goto("about:blank")
        page.goto(f"{matrix}{fragment}")
        expect(page.locator("matrix-table tbody tr")).to_have_count(3)
        expect_fits(page.locator("html"))


def test_the_configurations_of_the_launch_panel_open_as_a_matrix(page):
    wait_for_result(page)
    unfold_launch(page)
    page.get_by_role("button", name="Several…").click()
    targets = page.get_by_role("region", name="Several targets")
    targets.get_by_role("checkbox", name=re.compile("^sm_80")).check()
    targets.get_by_role("button", name="Open as a matrix").click()
    expect(page).to_have_url(re.compile(r"/m/\w+$"), timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("#subject")).to_contain_text("× 2 targets × 1 Triton version")


@pytest.mark.nightly
def test_lists_of_values_are_compiled_as_a_matrix(visitor):
    page = visitor()
    open_result(page, PLAIN)
    unfold_launch(page)
    page.get_by_role("button", name="Try values…").click()
    lists = page.get_by_role("region", name="Lists of values")
    block = lists.get_by_label("Values of BLOCK")
    expect(block).to_be_focused()
    block.fill("64, wide")
    expect(lists.get_by_role("alert").filter(has_text="wide is not a number")).to_be_visible()
    expect(block).to_have_attribute("aria-invalid", "true")
    block.fill(", ".join(map(str, range(1, MOST_CELLS + 2))))
    expect(lists.get_by_role("alert").filter(has_text=f"at most {MOST_CELLS}")).to_be_visible()
    expect(lists.get_by_role("table")).to_have_count(0)

    block.fill("64, 128")
    lists.get_by_label("Values of num_warps").fill("2")
    lists.get_by_text("For sm_90").click()
    lists.get_by_role("checkbox", name=re.compile("^sm_80")).check()
    expect(lists).to_contain_text("2 × 1 values for 2 targets: 4 compilations.")
    expect(lists.locator("tr.variant")).to_have_count(4)
    lists.get_by_role("button", name=re.compile("BLOCK=128, num_warps=2, .*sm_90")).click()
    expect(page.get_by_role("table", name="Arguments")).to_contain_text("128")
    expect(lists.locator("tr.variant.is-shown")).to_have_count(1)
    wait_for_result(page)

    lists.get_by_role("button", name="Open as a matrix").click()
    expect(page).to_have_url(re.compile(r"/m/\w+$"), timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("#subject")).to_contain_text("2 configurations × 2 targets × 1 Triton version")
    expect(page.get_by_role("status").first).to_have_text("4 compiled", timeout=COMPILE_TIMEOUT_MS)
    server, _, path = page.url.partition("/m/")
    document = ask(f"{server}/", f"api/v1/matrices/{path}")
    assert [each["settings"] for each in document["configurations"]] == [
        {"BLOCK": block, "num_warps": 2} for block in (64, 128)
    ]
    compiled = [
        ask(f"{server}/", f"api/v1/compilations/{cell['id']}")["specialization"] for cell in document["cells"]
    ]
    assert [each["grid"][0] for each in compiled] == [64, 64, 32, 32]  # computed from BLOCK
    assert {each["options"]["num_warps"] for each in compiled} == {2}
