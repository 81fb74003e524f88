"""Test the Roofline pane in a browser.

The profile is that of `measured_recordings.py`; its counters and samples come from a real H200.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from actions import (
    Visitor,
    eventually,
    expect_accessible,
    expect_fits,
    open_result,
    run_command,
    settled_box,
    wait_for_result,
)
from measured_recordings import COMMAND, source_of
from playwright.sync_api import Locator, Page, Position, expect
from sources import SCALE

from explorer.examples import find_example

RUN = "recorded-measured_vector_add-0"
#: Two lines of the source: the loads are asked for at 19, their data is waited for where it is added, at 21.
LOAD, STORE = 19, 21
#: The layout's part of the address, with the SASS beside the pane.
BESIDE = "#panes=stage:sass@45+roofline{state}@55"

#: The pairs of labels, and of labels and dots, of a plot that have a point in common: their boxes as they are
#: turned, a pixel of which may be touched.
CROSSING = """plot => {
  const corners = element => {
    const { x, y, width, height } = element.getBBox();
    const matrix = element.getScreenCTM();
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
      .map(([right, down]) => new DOMPoint(right, down).matrixTransform(matrix));
  };
  const sides = ([first, second, third]) => [[first, second], [second, third]]
    .map(([from, to]) => ({ x: to.x - from.x, y: to.y - from.y }));
  const along = (box, { x, y }) => box.map(corner => (corner.x * x + corner.y * y) / Math.hypot(x, y));
  const cross = (one, other) => [...sides(one), ...sides(other)].every(side => {
    const [first, second] = [along(one, side), along(other, side)];
    return Math.max(...first) - 1 > Math.min(...second) && Math.max(...second) - 1 > Math.min(...first);
  });
  const labels = [...plot.querySelectorAll(".annotation-text")];
  const dots = [...plot.querySelectorAll(".points path.point")];
  return labels.flatMap((label, index) => [...labels.slice(index + 1), ...dots]
    .filter(other => cross(corners(label), corners(other)))
    .map(other => `${label.textContent} × ${other.textContent || "dot"}`));
}"""

Opened = Callable[..., Page]


@pytest.fixture
def opened(visitor: Visitor) -> Opened:
    """Compiles the vector addition and opens it with the pane."""

    def open_compiled(
        state: str = "",
        triton: str = "3.6.0",
        panes: str = BESIDE,
        example: str = "",
        page: Page | None = None,
        **options: object,
    ) -> Page:
        if page:
            page.goto("about:blank")
        page = page or visitor(**options)
        source = find_example(example).source if example else source_of("vector_add")
        open_result(page, source, panes.format(state=state), triton=triton)
        return page

    return open_compiled


def body(page: Page) -> Locator:
    """Return the pane's view of the run."""
    return page.locator(".roofline-body")


def row(page: Page, name: str) -> Locator:
    """A row of a table, by its first cell."""
    return body(page).locator("tr", has=page.get_by_role("rowheader", name=name, exact=True))


def test_a_recording_says_how_far_the_kernel_is_from_the_limit(opened: Opened) -> None:
    # Another Triton's recording says that it is of other code.
    page = opened(triton="3.9.0")
    expect(page.locator(".roofline-badge.is-other")).to_contain_text(
        "compiled by Triton 3.6.0, the shown result by Triton 3.9.0"
    )
    page.locator("pane-roofline").get_by_role("button", name="Compile with Triton 3.6.0").click()
    wait_for_result(page)
    expect(page.locator(".roofline-badge.is-other")).to_be_hidden()

    origin = page.locator(".roofline-run-origin")
    expect(origin).to_contain_text("recorded on NVIDIA H200, Triton 3.6.0, 2026-11-20")
    expect(origin.locator(".roofline-badge")).to_have_attribute("title", re.compile(COMMAND))
    expect(origin).not_to_contain_text("not the machine code")
    expect(body(page).locator(".roofline-verdict")).to_contain_text("DRAM")
    # 3.2258 GB in 0.737 ms against the 4.38 TB/s of a copy: the highest rate that was ever reached.
    expect(body(page).locator(".roofline-verdict b")).to_have_text("99.9 %")
    expect(row(page, "DRAM")).to_contain_text("3.23 GBmeasured")
    expect(body(page).locator(".roofline-check")).to_contain_text("Matches the reference")

    # Measurements are shown with their sources.
    page.get_by_role("tab", name="Measured").click()
    expect(page).to_have_url(re.compile(r"roofline:\.measured"))
    expect(row(page, "cold")).to_contain_text("737 µs")
    expect(row(page, "cold").get_by_role("img", name="11 launches from 733 µs to 741 µs")).to_be_visible()
    expect(row(page, "DRAM, bytes")).to_contain_text("3,225,780,992")
    expect(row(page, "operations, fp32")).to_contain_text("268,435,456")
    expect(row(page, "throttled by")).to_contain_text("power limit")
    body(page).get_by_text("metrics as the profiler names them").click()
    expect(row(page, "dram__bytes_read.sum")).to_contain_text("2,147,513,600")


def test_the_plot_has_roofs_and_dots_and_its_numbers_as_a_table(opened: Opened) -> None:
    # A dot tells its bounds where the mouse is.
    page = opened()
    dot = body(page).locator(".plot-canvas .points path.point").last
    box = settled_box(dot)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hover = body(page).locator(".hoverlayer .hovertext")
    expect(hover).to_contain_text("DRAM")
    expect(hover).to_contain_text("99.9 % of 364 GFLOP/s, measured, by DRAM")

    plot = body(page).get_by_role("img", name=re.compile("^Roofline of .*H200"))
    expect(plot.locator(".annotation-text", has_text="DRAM 4.8 TB/s, measured 4.38 TB/s")).to_be_visible()
    # The bytes of DRAM, L2 and L1 are equal: the dots share one place in the plot, with a note.
    expect(plot.locator(".annotation-text", has_text="DRAM, L2, L1")).to_be_visible()
    page.locator("plot-figure summary").click()
    numbers = page.locator("plot-figure table")
    expect(numbers).to_contain_text("kernel, DRAM")
    expect(numbers.locator("tr", has_text="kernel, DRAM")).to_contain_text("measured bytes")
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    assert "DRAM" in saved.value.path().read_text()
    assert saved.value.suggested_filename == "roofline-add_kernel.svg"


@pytest.mark.nightly
def test_labels_of_the_plot_never_cross(opened: Opened) -> None:
    page: Page | None = None
    for example in ("vector_add", "matmul", "flash_attention"):
        page = opened(panes="#panes=roofline", example=example, page=page)
        plot, roofs = body(page).locator(".plot-canvas"), body(page).locator(".roofline-roofs")
        for width in (300, 340, 480, 700, 1000):
            case = f"{example}, {width}"
            page.locator("pane-roofline").evaluate("(pane, width) => pane.style.width = `${width}px`", width)
            drawn = plot.evaluate("plot => plot.clientWidth")
            expect(plot.locator(".main-svg").first, case).to_have_attribute("width", str(drawn))
            # The roof and the dot.
            expect(plot.locator(".annotation-text", has_text="DRAM").nth(1), case).to_be_attached()
            eventually(partial(plot.evaluate, CROSSING), [])
            # Labels that a narrow plot omits are below it.
            expect(roofs, case).to_be_visible(visible=width < 508)
        expect(plot.locator(".annotation-text", has_text="DRAM 4.8 TB/s")).to_be_visible()
        expect(roofs.locator("li").first).to_have_text(
            re.compile(r"^DRAM: datasheet 4\.8 TB/s, measured 4\.\d+ TB/s$")
        )


@pytest.mark.nightly
def test_the_run_and_the_tab_are_in_the_link(opened: Opened) -> None:
    # A link with another kernel's run says so by name.
    recorded = ":recorded-flash_attention-0"
    page = opened(state=f"{recorded}.hot", panes="#panes=stage:sass@45+roofline{state}@55")
    pane = page.locator("pane-roofline")
    expect(pane).to_contain_text("of attention_kernel, from the example flash_attention")
    expect(pane).to_contain_text("The result shown is of another kernel, add_kernel.")
    expect(pane.locator(".roofline-hot-lines")).to_have_count(0)
    expect(page.locator("pane-stage.has-heat"), "that of the recording of what is shown").to_have_count(1)
    page.goto(re.sub(r"#.*", f"#panes=run{recorded}", page.url))
    expect(page.locator("pane-run")).to_contain_text("The result shown is of another kernel, add_kernel.")
    page = opened(state=recorded, page=page)
    page.locator("pane-roofline").get_by_role("button", name="Show another run").click()
    expect(page.locator(".roofline-run-origin")).to_contain_text("recorded on NVIDIA H200")

    page = opened(state=f":{RUN}.measured", page=page)
    expect(page.get_by_role("tab", name="Measured")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="Measured").press("ArrowRight")
    expect(page).to_have_url(re.compile(f"roofline:{RUN}.hot"))
    expect(page.get_by_role("tab", name="Hot lines")).to_be_focused()
    page = opened(state=":recorded-nothing-7", page=page)
    expect(page.locator("pane-roofline")).to_contain_text("This run cannot be shown")
    page.get_by_role("button", name="Show another run").click()
    expect(body(page).locator(".roofline-verdict")).to_be_visible()


@pytest.mark.nightly
def test_samples_are_heat_and_hot_lines_lead_to_their_source(opened: Opened) -> None:
    # Heat is beside the source and in the stages.
    page = opened(state=":.hot", panes="#panes=stage:sass@30+stage:ttir@30+roofline{state}@40")
    sass = page.get_by_role("group", name="SASS, ")
    # 60 % of the samples wait where the first loaded value is added.
    hottest = sass.locator(".text-row", has=page.locator(".number[data-heat='60']"))
    expect(hottest).to_contain_text("FADD")
    hottest.locator(".number").hover()
    expect(page.locator(".location-card:popover-open")).to_contain_text(
        re.compile(r"\d+\.\d\s% of the samples: long scoreboard")
    )
    source = page.locator(".cm-heat .heat", has_text=re.compile("^87$"))
    expect(source).to_have_attribute("title", re.compile("long scoreboard"))
    store = page.get_by_role("group", name="TTIR, ").locator(".text-row", has_text="tt.store")
    expect(store.locator(".number")).to_have_attribute("data-heat", "87")

    # A hot line leads to its source and its hottest instruction.
    line = body(page).get_by_role("row").nth(1)
    expect(line).to_contain_text(f"line {STORE}")
    expect(line).to_contain_text("long scoreboard 81.5")
    line.get_by_role("button").click()
    expect(page.locator(".cm-line.is-pinned")).to_contain_text("tl.store")
    expect(sass.locator(".text-row.is-cursor .number")).to_have_attribute("data-heat", "60")
    body(page).get_by_role("button", name=f"line {LOAD}").click()
    expect(page.locator(".cm-line.is-pinned")).to_contain_text("tl.load")


@pytest.mark.nightly
def test_heat_is_switched_off_by_a_command_and_stays_off(opened: Opened) -> None:
    page = opened(state=":.hot")
    expect(page.locator("pane-stage.has-heat")).to_have_count(1)
    run_command(page, "samples as heat")
    expect(page.locator("pane-stage.has-heat")).to_have_count(0)
    expect(page.locator(".cm-heat")).to_have_count(0)
    box = page.get_by_label("Show the samples beside the source and in the stages")
    expect(box).not_to_be_checked()
    page.reload()
    wait_for_result(page)
    expect(box).not_to_be_checked()
    expect(page.locator("pane-stage.has-heat")).to_have_count(0)
    box.check()
    expect(page.locator("pane-stage.has-heat")).to_have_count(1)
    # Who has asked for it has it without the pane, too.
    page.goto(re.sub(r"#.*", "#panes=stage:sass", page.url))
    page.reload()
    expect(page.locator("pane-stage.has-heat")).to_have_count(1)


@pytest.mark.nightly
def test_the_timeline_of_each_warp_is_read_by_mouse_and_by_keyboard(opened: Opened) -> None:
    page = opened(state=":.timeline")
    timeline = page.get_by_role("application", name="Timeline of 24 scopes")
    said = body(page).get_by_role("status").first
    expect(said).to_have_text("8 warps, 1.93 µs")
    box = settled_box(timeline)

    def at(share: float, depth: int) -> Position:
        """Return a position in the first warp, by share of the visible time and by depth."""
        return {"x": 104 + (box["width"] - 104) * share, "y": 22 + 13 * depth + 6}

    timeline.hover(position=at(0.15, 1))
    expect(said).to_contain_text("load: 500 ns")
    timeline.hover(position=at(0.4, 1))
    expect(said).to_contain_text("store: 250 ns")
    # A double-clicked scope fills the middle third: 0.65 of the whole would be behind the first block.
    timeline.dblclick(position=at(0.4, 1))
    timeline.hover(position=at(0.65, 1))
    expect(said).to_contain_text("store: 250 ns")

    page.mouse.move(5, 5)
    page.reload()
    expect(said).to_have_text("8 warps, 1.93 µs")
    expect(row(page, "load")).to_contain_text("55.6 %500 ns8")
    expect(body(page)).to_contain_text("12 further scopes left out")
    timeline = page.get_by_role("application", name="Timeline of 24 scopes in 8 warps")
    timeline.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text("program: 900 ns from 0 ns on, block 0, warp 0, multiprocessor 0")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("load: 500 ns from 50 ns on")
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("warp 1")
    with page.expect_download() as saved:
        body(page).get_by_role("link", name="trace.json").click()
    assert "traceEvents" in saved.value.path().read_text()


@pytest.mark.nightly
def test_what_is_loaded_and_shown_without_a_run(visitor: Visitor) -> None:
    # A first visit does without the library of plots.
    page = visitor()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    wait_for_result(page)
    assert not [url for url in asked if "plotly" in url or "/panes/roofline" in url]

    # An empty pane says what would fill it.
    open_result(page, SCALE.replace("x * factor", "x + factor"))
    run_command(page, "Show Roofline")
    pane = page.locator("pane-roofline")
    expect(pane).to_contain_text("This kernel has no runs and no profiles")
    expect(pane).to_contain_text("profiles recorded on an H200")
    pane.get_by_role("button", name="Run the kernel").click()
    expect(page.locator("pane-run")).to_be_visible()


@pytest.mark.nightly
def test_a_run_that_was_just_made_is_shown_beside_the_run_pane(visitor: Visitor) -> None:
    page = visitor()
    source = SCALE.replace("x * factor", "x - factor").replace("torch.empty", "torch.ones")
    open_result(page, source, "#panes=run@50+roofline@50")
    page.locator("pane-run").get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".roofline-run-origin")).to_have_text(
        "interpreted: counted, not timed", timeout=60_000
    )
    expect(body(page).locator(".roofline-verdict")).to_contain_text("The launch is too small to have a limit")
    page.get_by_role("tab", name="Measured").click()
    expect(body(page)).to_contain_text("16,384 bytes")


@pytest.mark.nightly
def test_the_pane_is_accessible_and_fits(opened: Opened) -> None:
    page = opened(panes="#panes=roofline", width=375, height=800)
    for tab, shown in (
        ("Roofline", "plot-figure"),
        ("Measured", "th:text-is('cold')"),
        ("Hot lines", ".roofline-hot-lines"),
        ("Timeline", "[role=application]"),
    ):
        page.locator("pane-roofline").get_by_role("tab", name=tab).click()
        expect(body(page).locator(shown).first, tab).to_be_attached()
        expect(body(page).locator("table").first, tab).to_be_attached()
        expect_fits(page.locator("html"), body(page))
        expect_accessible(page, "pane-roofline")
