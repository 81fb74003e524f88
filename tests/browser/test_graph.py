"""Test the Graph pane in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from actions import Visitor, compiled, eventually, expect_stage, set_source, wait_for_result
from altered_results import long_module, store_altered, with_stage_text
from playwright.sync_api import Locator, Page, expect

from explorer.examples import find_example
from explorer.store import Store

DRAWN_TIMEOUT_MS = 60_000
#: Operations, more than the most nodes that are drawn.
LARGE = 5_100
HOSTILE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    value = tl.inline_asm_elementwise(
        "mov.b32 $0, $1; // <img src=x onerror=alert(1)> ]; evil -> n0", "=r,r", [at], tl.int32, True, 1
    )
    tl.store(out + at, value)


kernel[(1,)](torch.empty(64, dtype=torch.int32, device="cuda"), 64)
"""


def drawn(page: Page) -> Locator:
    """Wait until the pane shows a drawing, and return it."""
    pane = page.locator("pane-graph")
    expect(pane.locator(".graph-svg .node").first).to_be_attached(timeout=DRAWN_TIMEOUT_MS)
    return pane


def node(pane: Locator, text: str) -> Locator:
    return pane.locator(".graph-svg .node", has_text=text).first


@pytest.fixture
def page(visitor: Visitor) -> Page:
    page = visitor()
    page.goto("/#panes=stage:ttgir@45+graph:ttgir@55")
    wait_for_result(page)
    expect_stage(page, "TTGIR", "tt.get_program_id")
    drawn(page)
    return page


@pytest.mark.nightly
def test_a_graph_opens_at_a_scale_at_which_its_path_can_be_read(page: Page) -> None:
    pane = page.locator("pane-graph")
    # 0.9 to 9
    expect(pane.locator(".graph-svg > g")).to_have_attribute(
        "transform", re.compile(r"scale\((0\.9\d*|[1-9](\.\d+)?)\)")
    )
    expect(pane.locator(".node.compute").first).to_be_in_viewport()
    addresses = pane.locator(".node.address")
    expect(addresses.filter(has_text="address of tt.store")).to_have_count(1)
    folded = pane.locator(".node").count()
    pane.get_by_label("addresses").check()
    expect(addresses).to_have_count(0, timeout=DRAWN_TIMEOUT_MS)
    drawn(page)
    eventually(lambda: pane.locator(".node").count() > 2 * folded, True)
    expect(page).to_have_url(re.compile(r"graph:ttgir\.addresses"))
    pane.get_by_label("addresses").uncheck()
    pane.get_by_role("searchbox").fill("tt.make_range")
    expect(pane.locator(".node.is-match").first).to_contain_text(re.compile("address|index arithmetic"))

    # Texts of users are only drawn.
    set_source(page, HOSTILE)
    wait_for_result(page)
    expect(node(pane, "elementwise_inline_asm")).to_contain_text("<img src", timeout=DRAWN_TIMEOUT_MS)
    expect(pane.locator("img, script, a, foreignObject")).to_have_count(0)


def test_nodes_and_lines_lead_to_each_other(page: Page) -> None:
    # Lines that are lit elsewhere light their nodes.
    page.get_by_role("group", name="TTGIR, ").get_by_text("tt.get_program_id").hover()
    # The program's index is part of every address.
    expect(page.locator("pane-graph .node.is-lit").first).to_contain_text("shared index arithmetic")

    # By keyboard.
    pane = page.locator("pane-graph")
    frame = pane.locator(".graph-frame")
    pane.get_by_role("searchbox").fill("scf.yield")
    expect(pane.locator(".count")).to_have_text("1 of 1")
    frame.focus()
    page.keyboard.press("ArrowDown")
    expect(pane.locator(".place")).not_to_contain_text("scf.yield")
    expect(pane.locator(".node.is-chosen")).to_have_count(1)
    expect(page.locator("pane-stage .is-cursor")).to_have_count(1)
    before = pane.locator(".graph-svg > g").get_attribute("transform")
    page.keyboard.press("+")
    expect(pane.locator(".graph-svg > g")).not_to_have_attribute("transform", before or "")
    page.keyboard.press("Enter")
    expect(page.locator("pane-stage .is-cursor")).to_have_count(1)

    # A node that is found and clicked shows its line in the stage.
    pane.get_by_role("searchbox").fill("warp_group_dot %a")
    expect(pane.locator(".count")).to_have_text("1 of 1")
    expect(pane.locator(".place")).to_contain_text("warp_group_dot")
    expect(pane.locator(".place")).to_contain_text("line ")
    line = re.search(r"line (\d+)", pane.locator(".place").inner_text())
    assert line is not None
    pane.locator(".node.is-match").click()
    cursor = page.locator("pane-stage .is-cursor")
    expect(cursor).to_contain_text("ttng.warp_group_dot %a")
    expect(cursor.locator(".number")).to_have_text(line[1])
    expect(page.locator(".cm-content .cm-line", has_text="tl.dot")).to_be_visible()


@pytest.mark.nightly
def test_a_part_of_a_graph_is_chosen_found_and_downloaded(page: Page) -> None:
    # A loop alone is in the address.
    pane = page.locator("pane-graph")
    whole = pane.locator(".node").count()
    pane.get_by_label("Part that is drawn").select_option(label="\u2003scf.for")
    expect(pane.locator(".facts")).to_contain_text("1 loop")
    expect(page).to_have_url(re.compile(r"graph:ttgir\.c\d"))
    expect(pane.locator(".edge.carried").first).to_be_attached(timeout=DRAWN_TIMEOUT_MS)
    eventually(lambda: 5 < pane.locator(".node").count() < whole, True)
    expect(pane.locator(".node", has_text="arith.constant")).to_have_count(0)
    pane.get_by_label("constants").check()
    expect(page).to_have_url(re.compile(r"graph:ttgir\.c\d\.constants"))

    # Machine code is drawn in blocks.
    pane.get_by_label("Stage that is drawn").select_option(label="SASS")
    expect(pane.locator(".edge.back").first).to_be_attached(timeout=DRAWN_TIMEOUT_MS)
    expect(pane.locator(".cluster.loop")).to_have_count(1)
    for button, name, beginning in (
        ("Save as SVG", "matmul_kernel-sm_90-graph-sass.svg", "<?xml"),
        ("Download the graph as DOT", "matmul_kernel-graph-sass.dot", "digraph"),
    ):
        with page.expect_download() as download:
            pane.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        assert Path(download.value.path()).read_text().startswith(beginning)

    # An instruction is found in a block that leaves it out.
    expect(pane.locator(".node", has_text="HGMMA")).to_have_count(0)
    pane.get_by_role("searchbox").fill("hgmma")
    expect(pane.locator(".count")).to_have_text("1 of 1")
    expect(pane.locator(".place")).to_contain_text("in 1 loop")
    pane.get_by_role("searchbox").fill("no such instruction")
    expect(pane.locator(".count")).to_have_text("no match")


@pytest.mark.parametrize(("at", "mark"), [("line=ttgir.", "is-chosen"), ("pin=", "is-pinned")])
def test_a_graph_opens_at_the_operation_that_the_address_names(visitor: Visitor, at: str, mark: str) -> None:
    page = visitor()
    example = find_example("matmul").source
    result = compiled(page, example)
    if mark == "is-pinned":
        text = example
    else:
        text = page.request.get(f"/api/v1/compilations/{result}/stages/ttgir").text()
    last_store = max(
        number for number, line in enumerate(text.split("\n"), 1) if re.search(r"t[lt]\.store", line)
    )
    page.goto(f"/k/{result}#panes=stage:ttgir@45+graph:ttgir@55&{at}{last_store}")
    pane = drawn(page)
    expect(pane.locator(f".node.{mark}", has_text="tt.store")).to_be_in_viewport()


@pytest.mark.nightly
def test_a_link_to_a_pass_that_is_not_there_leads_back_to_the_stage(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=stage:ttgir@45+graph:ttgir;pass=999@55")
    pane = page.locator("pane-graph")
    expect(pane).to_contain_text("This compilation has no pass 999")
    pane.get_by_role("button", name="Graph of the stage").click()
    drawn(page)
    expect(page).to_have_url(re.compile(r"graph:ttgir(?!;)"))


@pytest.mark.nightly
def test_a_large_graph_is_cut_in_words_and_can_be_cancelled(visitor: Visitor, store: Store) -> None:
    page = visitor()
    matmul = store.find(compiled(page, find_example("matmul").source))
    large = store_altered(store, matmul, with_stage_text(matmul, "ttgir", long_module(LARGE)))
    page.goto(f"/k/{large.id}#panes=stage:ttgir@45+graph:ttgir@55")
    pane = page.locator("pane-graph")
    cancel = pane.get_by_role("button", name="Cancel")
    cancel.click(timeout=DRAWN_TIMEOUT_MS)
    expect(pane).to_contain_text("The layout was canceled")
    expect(pane.locator(".graph-cut")).to_contain_text("only the first 5,000 are shown")
    pane.get_by_role("button", name="Draw 1,000 nodes of it").click()
    expect(pane.locator(".graph-svg .node")).to_have_count(1000, timeout=DRAWN_TIMEOUT_MS)
    pane.get_by_label("constants").check()
    # The page answers while thousands of nodes are laid out.
    page.get_by_role("button", name="Gallery").click()
    expect(page.locator("#gallery-menu")).to_be_visible()
    page.keyboard.press("Escape")
    expect_stage(page, "TTGIR", "%v1 = arith.addi")
    expect(pane.locator(".graph-svg .node")).to_have_count(5000, timeout=90_000)


@pytest.mark.nightly
def test_a_graph_that_is_not_drawn_says_why(visitor: Visitor) -> None:
    # The drawing can be canceled, too.
    page = visitor()
    page.add_init_script("""
        const parse = DOMParser.prototype.parseFromString;
        DOMParser.prototype.parseFromString = function (...texts) {
          DOMParser.prototype.parseFromString = parse;
          const buttons = [...document.querySelectorAll("pane-graph button")];
          buttons.find((button) => button.textContent === "Cancel").click();
          return parse.apply(this, texts);
        };
    """)
    page.goto("/#panes=graph")
    pane = page.locator("pane-graph")
    expect(pane).to_contain_text("The layout was canceled", timeout=DRAWN_TIMEOUT_MS)
    pane.get_by_role("button", name="Try again").click()
    drawn(page)

    # A compilation that fails has none.
    set_source(page, "import triton\n\n\n@triton.jit\ndef kernel(a):\n    a +\n")
    wait_for_result(page, "failed")
    expect(pane).to_contain_text("This compilation has no graphs")
    # Nothing of the graph before is left.
    expect(pane.locator(".node")).to_have_count(0)
    expect(pane).not_to_contain_text("operations")
