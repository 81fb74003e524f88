"""The passes pane: what each pass did, an operation's way through them, and LLVM's own passes."""

import re

import pytest
from actions import Visitor, wait_for_result
from playwright.sync_api import Page, expect


@pytest.fixture(params=["light", "dark"])
def page(visitor: Visitor, request: pytest.FixtureRequest) -> Page:
    """The passes of the first example, looked at in both colour schemes."""
    page = visitor(color_scheme=request.param)
    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name=re.compile("passes to TTGIR")).click()
    expect(page.locator("pane-passes .diff-row").first).to_be_visible()
    return page


def test_passes_are_stepped_through_by_keyboard(page: Page) -> None:
    title = page.locator("pane-passes h3")
    first = title.inner_text()
    expect(page.locator("pane-passes .pass-words")).to_contain_text(re.compile(r"\w+ .{40}"))
    page.get_by_role("listbox", name="Passes").focus()
    page.keyboard.press("ArrowDown")
    expect(title).not_to_have_text(first)
    second = title.inner_text()
    page.keyboard.press("j")
    expect(title).not_to_have_text(second)
    page.keyboard.press("k")
    expect(title).to_have_text(second)
    expect(page).to_have_url(re.compile(r"passes:ttgir\.\d+"))


def test_a_link_leads_to_the_same_difference(page: Page, visitor: Visitor) -> None:
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    page.keyboard.press("u")
    expect(page.locator("comparison-diff.is-unified")).to_be_visible()
    expect(page).to_have_url(re.compile(r"passes:ttgir\.\d+\.u"))
    other = visitor()
    other.goto(page.url)
    expect(other.locator("pane-passes h3")).to_have_text("tritongpu-accelerate-matmul")
    expect(other.locator("comparison-diff.is-unified .is-added").first).to_contain_text(re.compile(r"#|%"))


def test_an_operation_is_followed_to_where_it_came_from(page: Page) -> None:
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    made = page.locator("comparison-diff .is-added", has_text="warp_group_dot").first
    made.click()
    steps = page.locator(".lineage-step")
    expect(steps.first).to_contain_text("made by")
    expect(page.locator(".lineage-step[aria-current]")).to_contain_text("tritongpu-accelerate-matmul")
    page.keyboard.press("b")
    expect(page.locator(".lineage-text")).to_contain_text("tt.dot")
    page.get_by_role("button", name="Stop following the operation").click()
    expect(page.locator("pass-lineage")).to_be_hidden()


def test_what_only_moved_is_said_to_have_moved(page: Page) -> None:
    page.get_by_role("option", name=re.compile("triton-licm")).click()
    expect(page.locator("pane-passes .moved")).to_contain_text("moved")
    expect(page.locator("comparison-diff .is-moved .sign").first).to_have_text("⇅")


def test_llvm_passes_are_watched_when_asked_for(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Gallery").click()
    page.get_by_role("button", name=re.compile("Vector addition")).click()
    wait_for_result(page)
    page.get_by_role("button", name=re.compile("passes to LLVM IR")).click()
    page.get_by_role("button", name="LLVM's own passes").click()
    expect(page.get_by_role("option", name=re.compile("SROAPass|InstCombinePass")).first).to_be_visible(
        timeout=120_000
    )
    expect(page.locator("pane-passes .diff-row").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"passes:llvm"))
    page.get_by_role("button", name="Triton's passes").click()
    expect(page.get_by_role("option", name=re.compile("ast-to-ttir"))).to_be_visible()


def test_the_module_after_a_pass_is_drawn_and_in_the_link(page: Page, visitor: Visitor) -> None:
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-accelerate-matmul")
    page.keyboard.press("g")
    graph = page.locator("pane-graph")
    # The pass makes the operation that later passes split into parts.
    dot = graph.locator(".graph-svg .node", has_text="ttng.warp_group_dot").first
    expect(dot).to_be_attached(timeout=60_000)
    expect(graph.get_by_label("Stage that is drawn").locator("option:checked")).to_have_text(
        "after tritongpu-accelerate-matmul"
    )
    expect(page).to_have_url(re.compile(r"graph:ttgir;pass=\d+"))
    other = visitor()
    other.goto(page.url)
    same = other.locator("pane-graph")
    expect(same.locator(".facts")).to_have_text(graph.locator(".facts").inner_text(), timeout=60_000)
    same.get_by_role("searchbox").fill("ttng.warp_group_dot")
    place = same.locator(".place").get_by_role("button")
    expect(place).to_contain_text("TTGIR after tritongpu-accelerate-matmul, line ")
    place.click()
    expect(other.locator("pane-passes .is-marked").first).to_contain_text("ttng.warp_group_dot")


def test_the_graph_pane_goes_from_pass_to_pass_and_back_to_the_stage(page: Page) -> None:
    page.get_by_role("option", name=re.compile("tritongpu-coalesce(?!-)")).click()
    page.get_by_role("button", name="Graph of the module after this pass").click()
    graph = page.locator("pane-graph")
    dots = graph.locator(".graph-svg .node", has_text=re.compile("tt.dot "))
    expect(dots).to_have_count(1, timeout=60_000)
    choice = graph.get_by_label("Stage that is drawn")
    choice.select_option(label="after tritongpu-accelerate-matmul")
    expect(graph.locator(".graph-svg .node", has_text="warp_group_dot")).not_to_have_count(0, timeout=60_000)
    expect(dots).to_have_count(0)
    choice.select_option(label="SASS")
    expect(graph.locator(".facts")).to_contain_text("block", timeout=60_000)
    expect(page).to_have_url(re.compile(r"graph:sass(?!;)"))


def test_layouts_are_shown_as_a_pass_has_left_them(page: Page) -> None:
    page.get_by_role("option", name=re.compile("tritongpu-coalesce(?!-)")).click()
    page.get_by_role("button", name="Layouts after this pass").click()
    layouts = page.locator("pane-layouts")
    expect(layouts.get_by_label("Text whose layouts are shown").locator("option:checked")).to_have_text(
        "after tritongpu-coalesce", timeout=60_000
    )
    # Matrix instructions are chosen by a later pass.
    expect(layouts.locator(".layout-label").first).to_contain_text("#blocked")
    assert "#mma" not in layouts.locator(".layout-list").inner_text()
    page.get_by_role("tab", name="Passes").click()
    page.get_by_role("option", name=re.compile("ast-to-ttir")).click()
    expect(page.locator("pane-passes h3")).to_have_text("ast-to-ttir")
    expect(page.get_by_role("button", name="Graph of the module after this pass")).to_be_visible()
    expect(page.get_by_role("button", name="Layouts after this pass")).to_have_count(0)


#: Whether the canvas beside each column is as high as the column, with a mark beside every row that differs
#: and, where every row is as high as a mark at least, beside no other. They follow the window a moment later.
ARE_MARKED = """
(isExact) => [...document.querySelectorAll("comparison-diff .text-frame")].every((column) => {
  const canvas = column.querySelector("canvas");
  if (canvas.height !== column.clientHeight) return false;
  const height = column.querySelector(".text-space").clientHeight;
  const scale = Math.min(1, canvas.clientHeight / height) * devicePixelRatio;
  const context = canvas.getContext("2d");
  const alpha = (y) => context.getImageData(3, Math.round(y * scale), 1, 1).data[3];
  const rows = [...column.querySelectorAll(".diff-row")].map((row) => ({
    differs: ["is-added", "is-removed", "is-moved"].some((name) => row.classList.contains(name)),
    marked: alpha(row.offsetTop + row.offsetHeight / 2) > 0,
  }));
  return rows.some(({ differs }) => differs)
    && rows.every(({ differs, marked }) => (differs ? marked : !marked || !isExact));
})
"""


@pytest.mark.parametrize("keys", ["", "u"], ids=["side by side", "unified"])
def test_marks_beside_the_scroll_bar_are_where_the_changes_are(page: Page, keys: str) -> None:
    """With equal lines folded, and the text all in sight or not."""
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-accelerate-matmul")
    if keys:
        page.keyboard.press(keys)
        expect(page.locator("comparison-diff.is-unified")).to_be_visible()
    expect(page.locator("comparison-diff .is-fold").first).to_be_visible()
    for height in (420, 1600):
        before = page.locator("comparison-diff").evaluate("element => element.clientHeight")
        page.set_viewport_size({"width": 1440, "height": height})
        page.wait_for_function(
            "before => document.querySelector('comparison-diff').clientHeight !== before", arg=before
        )
        page.wait_for_function(ARE_MARKED, arg=height == 1600)
