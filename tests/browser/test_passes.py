"""Test the Passes pane: changes of each pass, tracing of operations, LLVM's own passes."""

import re

import pytest
from actions import SCHEMES, UNPINNED, Hold, Visitor, choose_scheme, eventually, wait_for_result
from playwright.sync_api import Page, expect

#: The number of characters that a column shows, and the share of the changed lines that it shows in full.
READABLE = """() => {
  const column = document.querySelector("comparison-diff .text");
  const { left } = column.querySelector(".diff-row:not(.is-fold) .code").getBoundingClientRect();
  const context = document.createElement("canvas").getContext("2d");
  context.font = getComputedStyle(column.querySelector(".text-row")).font;
  const room = column.getBoundingClientRect().left + column.clientWidth - left;
  const characters = Math.floor(room / Math.max(8, context.measureText("0").width));
  const lines = [...column.querySelectorAll(":is(.is-added, .is-removed, .is-moved) .code")];
  const whole = lines.filter(({ textContent }) => textContent.length <= characters);
  return { characters, share: whole.length / lines.length };
}"""


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """Open the passes of the first example."""
    page = visitor()
    page.goto(UNPINNED)
    wait_for_result(page)
    page.get_by_role("button", name=re.compile("passes to TTGIR")).click()
    expect(page.locator("pane-passes .diff-row").first).to_be_visible()
    return page


def test_passes_are_stepped_through_and_their_changes_limited(page: Page, visitor: Visitor) -> None:
    # By keyboard.
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

    # What only moved is said to have moved.
    page.get_by_role("option", name=re.compile("triton-licm")).click()
    moved = page.locator("pane-passes .pass-line").get_by_role(
        "img", name=re.compile(r"\d+ operations? moved")
    )
    expect(moved).to_have_text(re.compile(r"⇅\d"))
    expect(page.locator("comparison-diff .is-moved .sign").first).to_have_text("⇅")

    # Long types are folded until they are asked for.
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    expect(title).to_have_text("tritongpu-accelerate-matmul")
    load = page.locator("comparison-diff .diff-row", has_text="tt.addptr").first
    expect(load.locator(".is-cut")).to_be_visible()
    expect(load.locator(".code")).to_have_attribute("title", re.compile(r"tensor<.*#blocked"))
    page.keyboard.press("t")
    expect(load).to_contain_text("#blocked")
    expect(page).to_have_url(re.compile(r"passes:ttgir\.\d+\.y"))

    # A change is limited to a kind of operation.
    rows = page.locator("comparison-diff :is(.is-added, .is-removed)")
    expect(rows.filter(has_text="warp_group_dot")).not_to_have_count(0)
    page.get_by_label("Operations that are shown").select_option("ttg.convert_layout")
    expect(rows.filter(has_text="warp_group_dot")).to_have_count(0)
    expect(rows).not_to_have_count(0)
    expect(rows.filter(has_not_text="ttg.convert_layout")).to_have_count(0)
    other = visitor()
    other.goto(page.url)
    expect(other.get_by_label("Operations that are shown")).to_have_value("ttg.convert_layout")
    expect(other.locator("comparison-diff :is(.is-added, .is-removed)")).to_have_count(rows.count())


@pytest.mark.nightly
def test_an_operation_is_followed_and_a_link_leads_to_its_difference(page: Page, visitor: Visitor) -> None:
    # To where it came from.
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    made = page.locator("comparison-diff .is-added", has_text="warp_group_dot").first
    made.click()
    lineage = page.get_by_role("region", name="Lineage of the operation")
    expect(lineage).to_contain_text(
        re.compile(r"Made by tritongpu-accelerate-matmul from tt\.dot, source line \d+")
    )
    expect(lineage.locator("[aria-current]")).to_contain_text("tritongpu-accelerate-matmul")
    touched = page.locator(".pass.is-touched")
    expect(touched.filter(has_text="tritongpu-pipeline")).to_have_count(1)
    expect(touched.filter(has_text="tritongpu-coalesce")).to_have_count(0)
    page.keyboard.press("b")
    expect(page.locator(".lineage-text")).to_contain_text("tt.dot")
    page.get_by_role("button", name="Close the lineage").click()
    expect(lineage).to_be_hidden()
    expect(touched).to_have_count(0)

    # A link leads to the same difference.
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    expect(page.locator("comparison-diff.is-unified")).to_be_visible()
    other = visitor(width=1920)
    for form, flag in (("split", "s"), ("unified", "u")):
        page.keyboard.press("u")
        expect(page.locator(f"comparison-diff.is-{form}")).to_be_visible()
        expect(page).to_have_url(re.compile(rf"passes:ttgir\.\d+\.{flag}"))
        other.goto("about:blank")
        other.goto(page.url)
        expect(other.locator("pane-passes h3")).to_have_text("tritongpu-accelerate-matmul")
        expect(other.locator(f"comparison-diff.is-{form} .is-added").first).to_contain_text(
            re.compile(r"#|%")
        )


@pytest.mark.nightly
def test_the_form_of_a_change_follows_the_width(page: Page, visitor: Visitor, hold: Hold) -> None:
    # It keeps the change in sight.
    held = hold(page, "**/passes/*/alignment")
    with page.expect_request("**/passes/*/alignment"):
        page.get_by_role("option", name=re.compile("tritongpu-pipeline")).click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-pipeline")
    place = page.locator("pane-passes .pass-tools .count")
    expect(place).to_be_empty()
    # Keys apply to the pass that is named, whose change is still to come.
    page.keyboard.press("n")
    page.keyboard.press("n")
    for route in held:
        route.continue_()
    page.unroute("**/passes/*/alignment")
    expect(place).to_have_text(re.compile(r"^3 of \d+$"))
    shown = place.inner_text()
    for columns in (2, 1):
        page.keyboard.press("w")
        expect(page.locator("comparison-diff .text")).to_have_count(columns)
        expect(place).to_have_text(shown)

    # A change has the width of the page, and back.
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    expect(page.locator("comparison-diff .text")).to_have_count(1)
    page.get_by_role("button", name="Full width").click()
    expect(page.locator("#editor")).to_be_hidden()
    expect(page.locator("comparison-diff .text")).to_have_count(2)
    eventually(lambda: page.evaluate(READABLE)["characters"] >= 72, True)
    other = visitor()
    other.goto(page.url)
    expect(other.locator("pane-passes .diff-row").first).to_be_visible()
    expect(other.locator("#editor")).to_be_hidden()
    # Behind another tab it does not keep the page, and has it again in front.
    page.get_by_role("tab", name="TTGIR").first.click()
    expect(page.locator("#editor")).to_be_visible()
    page.get_by_role("tab", name="Passes").click()
    expect(page.locator("#editor")).to_be_hidden()
    page.keyboard.press("w")
    expect(page.locator("#editor")).to_be_visible()
    expect(page.get_by_role("listbox", name="Passes")).to_be_visible()


def test_the_list_stays_at_full_width_and_the_controls_are_one_row(visitor: Visitor) -> None:
    # 1280 × 720 at 125 %.
    page = visitor(width=1024, height=576)
    page.goto("/#panes=passes:ttgir..w")
    wait_for_result(page)
    options = page.get_by_role("listbox", name="Passes").get_by_role("option")
    options.filter(has_text="tritongpu-pipeline").click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-pipeline")
    expect(page.locator("#editor")).to_be_hidden()
    names = page.locator("pane-passes .pass-name")
    assert names.evaluate_all("names => names.every((name) => name.scrollWidth <= name.clientWidth)")
    controls = page.locator("pane-passes .pass-tools > :is(button, select)")
    expect(controls.last).to_be_in_viewport(ratio=1)
    middle = "({ top, height }) => Math.round(top + height / 2)"
    rows = controls.evaluate_all(
        f"all => new Set(all.map((one) => ({middle})(one.getBoundingClientRect()))).size"
    )
    assert rows == 1

    # Escape leads from the pass to its row of the list.
    page.get_by_role("button", name="Types and attributes in full (T)").focus()
    page.keyboard.press("Escape")
    expect(page.locator("#editor")).to_be_visible()
    expect(page.get_by_role("listbox", name="Passes")).to_be_focused()
    expect(options.filter(has_text="tritongpu-pipeline")).to_be_in_viewport()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("width", "shares"),
    [
        (1440, {"": (54, 0.5), "#panes=passes": (76, 0.8)}),
        (1280, {"": (47, 0.35), "#panes=passes": (70, 0.7)}),
    ],
)
def test_changes_are_read_without_a_key(
    visitor: Visitor, width: int, shares: dict[str, tuple[int, float]]
) -> None:
    page = visitor(width=width, height=900)
    for view, (characters, share) in shares.items():
        page.goto("about:blank")
        page.goto(f"/{view}")
        wait_for_result(page)
        if not view:
            page.get_by_role("button", name=re.compile("passes to TTGIR")).click()
        page.get_by_role("option", name=re.compile("tritongpu-pipeline")).click()
        expect(page.locator("pane-passes h3")).to_have_text("tritongpu-pipeline")
        expect(page.get_by_role("group", name=": tritongpu-pipeline, ")).not_to_have_count(0)
        expect(page.locator("comparison-diff .is-removed .code .is-cut").first).to_be_visible()

        def is_readable(characters: int = characters, share: float = share) -> bool:
            found = page.evaluate(READABLE)
            return bool(found["characters"] >= characters and found["share"] >= share)

        eventually(is_readable, True)
        chosen = page.get_by_role("listbox", name="Passes").get_by_role("option", selected=True)
        expect(chosen).to_be_in_viewport(ratio=1)


@pytest.mark.nightly
def test_a_text_is_searched_in_all_passes_and_those_of_llvm_are_watched(page: Page, visitor: Visitor) -> None:
    page.keyboard.press("o")
    box = page.get_by_role("searchbox", name="Search all passes")
    expect(box).to_be_focused()
    page.keyboard.type("warp_group_dot ")
    page.keyboard.press("Enter")
    options = page.get_by_role("listbox", name="Passes").get_by_role("option")
    expect(options.first).to_contain_text(
        re.compile(r"tritongpu-accelerate-matmul.*appears, 1 line", re.DOTALL)
    )
    expect(options.last).to_contain_text("vanishes")
    other = visitor()
    other.goto(page.url)
    expect(other.get_by_role("searchbox", name="Search all passes")).to_have_value("warp_group_dot")
    found = other.get_by_role("listbox", name="Passes").get_by_role("option")
    expect(found).to_have_count(options.count())
    expect(found.last).to_contain_text("vanishes")
    box.fill("")
    page.keyboard.press("Enter")
    expect(page.get_by_role("option", name=re.compile("tritongpu-coalesce"))).to_be_visible()

    # LLVM's own passes are watched when asked for.
    page.get_by_role("button", name="Gallery").click()
    page.get_by_role("button", name=re.compile("Vector addition")).click()
    expect(page.locator("#subject b")).to_have_text("add_kernel", timeout=60_000)
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


@pytest.mark.nightly
def test_graph_and_layouts_are_shown_as_a_pass_has_left_them(page: Page, visitor: Visitor) -> None:
    # The module is drawn and in the link.
    passes = page.get_by_role("listbox", name="Passes")
    passes.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
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

    # The Graph pane goes from pass to pass and back to the stage.
    page.get_by_role("tab", name="Passes").click()
    passes.get_by_role("option", name=re.compile("tritongpu-coalesce(?!-)")).click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-coalesce")
    page.get_by_role("button", name="Graph of the module after this pass").click()
    dots = graph.locator(".graph-svg .node", has_text=re.compile("tt.dot"))
    expect(dots).to_have_count(1, timeout=60_000)
    choice = graph.get_by_label("Stage that is drawn")
    choice.select_option(label="after tritongpu-accelerate-matmul")
    expect(graph.locator(".graph-svg .node", has_text="warp_group_dot")).not_to_have_count(0, timeout=60_000)
    expect(dots).to_have_count(0)
    choice.select_option(label="SASS")
    expect(graph.locator(".facts")).to_contain_text("block", timeout=60_000)
    expect(page).to_have_url(re.compile(r"graph:sass(?!;)"))

    # Layouts.
    page.get_by_role("tab", name="Passes").click()
    passes.get_by_role("option", name=re.compile("tritongpu-coalesce(?!-)")).click()
    page.get_by_role("button", name="Layouts after this pass").click()
    layouts = page.locator("pane-layouts")
    expect(layouts.get_by_label("Text whose layouts are shown").locator("option:checked")).to_have_text(
        "after tritongpu-coalesce", timeout=60_000
    )
    # Matrix instructions are chosen by a later pass.
    expect(layouts.locator(".layout-label").first).to_contain_text("#blocked")
    expect(layouts.locator(".layout-list")).not_to_contain_text("#mma")
    page.get_by_role("tab", name="Passes").click()
    passes.get_by_role("option", name=re.compile("ast-to-ttir")).click()
    expect(page.locator("pane-passes h3")).to_have_text("ast-to-ttir")
    expect(page.get_by_role("button", name="Graph of the module after this pass")).to_be_visible()
    expect(page.get_by_role("button", name="Layouts after this pass")).to_have_count(0)


#: Whether there is a mark beside every row that differs and, where every row is as high as a mark at least,
#: beside no other. The marks follow the window a moment later.
ARE_MARKED = """
(isExact) => [...document.querySelectorAll("comparison-diff .text-frame")].every((column) => {
  const marks = column.querySelector(".marks");
  if (marks.clientHeight !== column.clientHeight) return false;
  const scale = Math.min(1, column.clientHeight / column.querySelector(".text-space").clientHeight);
  const isMarked = (y) =>
    [...marks.children].some((path) => path.isPointInFill(new DOMPoint(4, Math.round(y * scale) + 0.5)));
  const rows = [...column.querySelectorAll(".diff-row")].map((row) => ({
    differs: ["is-added", "is-removed", "is-moved"].some((name) => row.classList.contains(name)),
    marked: isMarked(row.offsetTop + row.offsetHeight / 2),
  }));
  return rows.some(({ differs }) => differs)
    && rows.every(({ differs, marked }) => (differs ? marked : !marked || !isExact));
})
"""


@pytest.mark.nightly
def test_marks_beside_the_scroll_bar_are_where_the_changes_are(page: Page) -> None:
    """Test in both color schemes, with equal lines folded, and with the text fully visible or not."""
    page.get_by_role("option", name=re.compile("tritongpu-accelerate-matmul")).click()
    expect(page.locator("pane-passes h3")).to_have_text("tritongpu-accelerate-matmul")
    for form in ("unified", "split"):
        if form == "split":
            page.keyboard.press("u")
        expect(page.locator(f"comparison-diff.is-{form}")).to_be_visible()
        expect(page.locator("comparison-diff .is-fold").first).to_be_visible()
        for height in (640, 1600):
            before = page.locator("comparison-diff").evaluate("element => element.clientHeight")
            page.set_viewport_size({"width": 1440, "height": height})
            page.wait_for_function(
                "before => document.querySelector('comparison-diff').clientHeight !== before", arg=before
            )
            for scheme in SCHEMES:
                choose_scheme(page, scheme)
                page.wait_for_function(ARE_MARKED, arg=height == 1600)
