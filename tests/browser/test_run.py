"""Test the Run pane in a browser; kernels run in Triton's interpreter.

Features that need a GPU are tested with a hand-written profile.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

import pytest
from actions import (
    DOCUMENT,
    SIZE_RULES,
    THEMES,
    Visitor,
    choose_scheme,
    compile_now,
    expect_accessible,
    expect_fits,
    open_result,
    result_id,
    set_source,
    unfinished,
    violations,
    wait_for_result,
)
from playwright.sync_api import Locator, Page, Route, expect
from sources import SCALE

#: 1000 elements are no multiple of the block: the mask keeps the last program inside of the tensors.
ADD = """import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def reference(x, y):
    return x + y


x, y = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
out = torch.empty_like(x)
add[(4,)](x, y, out, 1000, BLOCK=256)
"""
WRONG = ADD.replace("x + y, mask", "x + y + (offsets == 777), mask")
KERNEL_ONLY = ADD.split("\n\ndef reference")[0].replace(
    "out_ptr + offsets, x + y", "out_ptr + offsets, x * y"
)
ENDLESS = ADD.replace("    mask = ", "    for _ in range(2000000000):\n        offsets += n - n\n    mask = ")
RUN_TIMEOUT_MS = 60_000

Opened = Callable[..., Page]
Own = Callable[[str], str]


@pytest.fixture
def opened(visitor: Visitor) -> Opened:
    """Opens the result of a source beside the run pane."""

    def open_source(source: str, **options: object) -> Page:
        page = visitor(**options)
        open_result(page, source, "#panes=run")
        return page

    return open_source


def compile_source(page: Page, source: str) -> None:
    """Replace the source, and wait until another result is shown."""
    before = result_id(page)
    compile_now(page, source)
    expect(page).not_to_have_url(re.compile(before), timeout=RUN_TIMEOUT_MS)
    wait_for_result(page)


def start(page: Page) -> None:
    page.locator("pane-run").get_by_role("button", name="Run", exact=True).click()


def result(page: Page) -> Locator:
    """Wait until the run ends, and return its view."""
    found = page.get_by_role("article", name="Result of the run")
    expect(found.locator(".run-state")).to_have_class(
        re.compile("is-(complete|failed)"), timeout=RUN_TIMEOUT_MS
    )
    return found


def test_a_first_visit_leads_to_running_and_to_the_roofline(page: Page) -> None:
    status = page.get_by_role("contentinfo", name="Result")
    status.get_by_role("button", name="Run the kernel").click()
    page.locator("pane-run").get_by_role("button", name="Cancel").click()
    status.get_by_role("button", name="Roofline").click()
    expect(page.locator("pane-roofline")).to_be_visible()

    # Inputs of an autotuned kernel leave to the configuration what it sets.
    page.goto("/#panes=run")
    wait_for_result(page)
    pane = page.locator("pane-run")
    pane.get_by_text("How it is run").click()
    pane.get_by_label("launch", exact=True).select_option("inputs")
    expect(pane).to_contain_text("Compiled in: BLOCK_M = 128")
    expect(pane.get_by_label("Shape of b_ptr")).to_have_value("K, N")
    expect(pane.get_by_label("Value of stride_am")).to_have_value("K")
    pane.get_by_label("sizes").fill("M = 150, N = 130, K = 70")
    pane.get_by_role("textbox", name="Reference in torch").click()
    page.keyboard.type("a_ptr @ b_ptr")
    start(page)
    ran = result(page)
    expect(ran).to_contain_text("It matches the reference.")
    expect(ran.get_by_role("row", name=re.compile("^c_ptr 150 × 130"))).to_be_visible()


def test_a_kernel_is_run_and_matches_and_its_bytes_are_counted(opened: Opened, own: Own) -> None:
    page = opened(own(ADD))
    expect(page.locator("pane-run")).to_contain_text("This kernel has no runs")
    start(page)
    ran = result(page)
    expect(ran).to_contain_text("It matches the reference.")
    expect(ran).to_contain_text("Interpreted on the CPU: results and counts are exact, times mean nothing.")
    totals = ran.get_by_role("table", name="Totals")
    expect(totals.get_by_role("row", name="loaded 8,000 bytes in 250 sectors")).to_be_visible()
    expect(totals.get_by_role("row", name="stored 4,000 bytes in 125 sectors")).to_be_visible()
    expect(totals.get_by_role("row", name="different sectors in the grid 375")).to_be_visible()
    ran.get_by_role("button", name="Show line 11").click()
    expect(page.locator("#editor .cm-line.is-pinned")).to_have_text(re.compile("y = tl.load"))
    expect(page).to_have_url(re.compile(r"panes=run:\w+"))

    # Bytes that several lanes ask for are told as such.
    compile_source(page, own(ADD.replace("tl.load(x_ptr + offsets,", "tl.load(x_ptr + offsets // 2,")))
    expect(page.get_by_role("article", name="Result of the run")).to_be_hidden()
    start(page)
    ran = result(page)
    # 2000 elements of 4 bytes, of which 1000 are 500 different ones: 63 sectors for x, 125 for y.
    loaded = ran.get_by_role("table", name="Totals").get_by_role("row", name="loaded")
    expect(loaded).to_contain_text(
        re.compile(r"8,000 bytes\s*in 188 sectors, each byte requested 1\.33 times")
    )
    twice = ran.get_by_role("table", name="Counts by source line").locator('tr[data-line="10"]')
    expect(twice).to_contain_text(re.compile(r"1\.98 \W"))
    expect(ran).to_contain_text("is how many times the same bytes are requested")

    # An element that is no number is told in words.
    compile_source(
        page, own(ADD.replace("x + y, mask", "tl.where(offsets == 777, float('nan'), x + y), mask"))
    )
    expect(page.get_by_role("article", name="Result of the run")).to_be_hidden()
    start(page)
    row = result(page).get_by_role("table", name="Outputs against the reference").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").nth(2)).to_have_text("[777]")
    expect(row.get_by_role("cell").nth(3)).to_have_text("NaN or infinite")
    expect(row.get_by_role("cell").nth(4)).to_have_text(re.compile(r"\d"))


def test_a_wrong_kernel_shows_the_worst_element_and_the_next_run_is_its_own(opened: Opened, own: Own) -> None:
    page = opened(own(WRONG))
    start(page)
    ran = result(page)
    expect(ran.locator(".run-state")).to_have_text("✗ ran, with errors")
    expect(ran).to_contain_text("It does not match the reference.")
    row = ran.get_by_role("table", name="Outputs against the reference").get_by_role("row").nth(1)
    expect(row).to_contain_text("[777]")
    kernel, expected = row.get_by_role("cell").nth(3), row.get_by_role("cell").nth(4)
    assert float(kernel.inner_text()) == pytest.approx(float(expected.inner_text()) + 1, abs=1e-4)
    expect(page.locator("#editor .cm-lintRange-error")).to_have_count(1)
    entry = page.get_by_role("navigation", name="Runs of this kernel").get_by_role("button")
    expect(entry).to_contain_text("does not match the reference")
    expect(entry).to_have_class(re.compile("is-failed"))
    wrong = result_id(page)
    page.reload()
    expect(result(page)).to_contain_text("It does not match the reference.")
    expect(entry).to_contain_text("does not match the reference")
    expect(entry).to_have_class(re.compile("is-failed"))
    wait_for_result(page)

    compile_source(page, own(ADD))
    expect(page.get_by_role("article", name="Result of the run")).to_be_hidden()
    expect(page.locator("#editor .cm-lintRange-error")).to_have_count(0)
    before = page.get_by_role("link", name="the runs of the version before")
    expect(before).to_have_attribute("href", re.compile(wrong))
    start(page)
    expect(result(page)).to_contain_text("It matches the reference.")
    expect(entry).to_have_accessible_name(re.compile("matches the reference"))
    expect(entry).to_have_class(re.compile("is-complete"))
    expect(before).to_be_hidden()


@pytest.mark.nightly
def test_a_server_that_has_gone_is_waited_for(opened: Opened, own: Own) -> None:
    page = opened(own(ADD))
    page.route(DOCUMENT, unfinished)
    page.route("**/runs/*/events?*", lambda route: route.abort("connectionrefused"))
    start(page)
    expect(page.locator(".run-progress-words")).to_have_text(
        "Interpreter: the server does not answer, trying again"
    )
    page.unroute(DOCUMENT)
    page.unroute("**/runs/*/events?*")
    expect(result(page)).to_contain_text("It matches the reference.")

    # The source that was just typed is run.
    set_source(page, own(WRONG.replace("1000", "1005")))
    start(page)
    ran = result(page)
    expect(ran).to_contain_text("It does not match the reference.")
    expect(ran).to_contain_text("1,005")
    set_source(page, "import triton\n")
    start(page)
    expect(page.locator("pane-run .run-refusal")).to_contain_text("There is nothing to run")


def test_an_endless_kernel_is_cancelled_and_the_next_run_works(opened: Opened, own: Own) -> None:
    page = opened(own(ENDLESS))
    pane = page.locator("pane-run")
    start(page)
    progress = pane.locator(".run-progress")
    expect(progress.get_by_role("status")).to_have_text(re.compile("^Interpreter: "))
    expect(progress.locator(".run-elapsed")).to_have_text(re.compile(r"[2-9] s"), timeout=RUN_TIMEOUT_MS)
    pane.get_by_text("How it is run").click()
    pane.get_by_label("seed").fill("1")
    start(page)
    expect(progress.get_by_role("status")).to_have_text("Interpreter: next in the queue")
    progress.get_by_role("button", name="Cancel").click()
    expect(result(page)).to_contain_text("Canceled")
    runs = pane.get_by_role("navigation", name="Runs of this kernel").get_by_role("button")
    expect(runs).to_have_count(2)
    runs.nth(1).click()
    progress.get_by_role("button", name="Cancel").click()
    expect(progress).to_be_hidden()
    expect(result(page).locator(".run-state")).to_have_text("✗ failed")
    expect(result(page)).to_contain_text(re.compile("cancel", re.IGNORECASE))
    compile_source(page, own(ADD))
    start(page)
    expect(result(page)).to_contain_text("It matches the reference.")


@pytest.mark.nightly
def test_the_benchmark_runs_at_its_own_sizes_until_others_are_typed(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=run:recorded-matmul-0")
    wait_for_result(page)
    pane = page.locator("pane-run")
    # The profile is of the benchmark, whose only size is not among the sizes of the kernel's inputs.
    summary = pane.locator(".run-setup-summary")
    expect(summary).to_contain_text("the script's benchmark · check, counts")
    pane.get_by_text("How it is run").click()
    sizes, launch = pane.get_by_label("sizes"), pane.get_by_label("launch", exact=True)
    expect(sizes).to_have_value("")
    sizes.fill("size = 64")
    launch.select_option("inputs")
    expect(sizes).to_have_value("M = 2048, N = 2048, K = 2048")
    launch.select_option("benchmark")
    expect(sizes).to_have_value("size = 64")
    start(page)
    expect(result(page)).to_contain_text("It matches the reference.")


@pytest.mark.nightly
def test_what_was_recorded_of_the_gallery_is_shown_where_there_is_no_gpu(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=run")
    wait_for_result(page)
    runs = page.get_by_role("navigation", name="Runs of this kernel")
    runs.get_by_role("button", name=re.compile("NVIDIA H200.*autotune")).click()
    ran = result(page)
    expect(ran).to_contain_text("Recorded on NVIDIA H200")
    expect(ran).to_contain_text("It matches the reference.")
    expect(ran.locator(".run-sweep svg .scatterlayer .trace")).to_have_count(2)
    tuning = ran.locator(".run-autotuning")
    fastest = tuning.locator("tr.is-best")
    expect(fastest).to_contain_text("1 ×")
    config = fastest.get_by_role("rowheader").inner_text().split(",")[0].strip()
    before = result_id(page)
    fastest.get_by_role("button", name=f"Open configuration {config}").click()
    expect(page).not_to_have_url(re.compile(before), timeout=RUN_TIMEOUT_MS)
    wait_for_result(page)
    shown = page.locator("launch-panel .variant.is-shown .name")
    expect(shown).to_have_text(config)


@pytest.mark.nightly
def test_inputs_are_made_for_a_kernel_that_nothing_launches(opened: Opened, own: Own) -> None:
    page = opened(own(KERNEL_ONLY))
    pane = page.locator("pane-run")
    pane.get_by_text("How it is run").click()
    expect(pane.get_by_label("launch")).to_have_value("inputs")
    expect(pane.get_by_label("Shape of x_ptr")).to_have_value("n")
    grid = pane.get_by_label("grid")
    expect(grid).to_have_value("cdiv(n, BLOCK)")
    pane.get_by_label("sizes").fill("n = 777")
    pane.get_by_label("Distribution of y_ptr").select_option("ascending")
    pane.get_by_role("textbox", name="Reference in torch").click()
    page.keyboard.type("x_ptr * y_ptr")

    grid.fill("cdiv(n, BLOCK")
    expect(pane.get_by_role("alert").filter(has_text="A bracket of")).to_be_visible()
    grid.fill("cdiv(n, unknown)")
    expect(
        pane.get_by_role("alert").filter(has_text="unknown is not known: there is n, BLOCK")
    ).to_be_visible()
    start(page)
    expect(pane.locator(".run-refusal")).to_contain_text("unknown is not known")
    grid.fill("cdiv(n, BLOCK)")
    start(page)
    ran = result(page)
    expect(ran).to_contain_text("It matches the reference.")
    expect(ran.get_by_role("table", name="Totals")).to_contain_text("6,216 bytes")
    mark = ran.get_by_role("heading", level=2).evaluate("each => getComputedStyle(each, '::after').content")
    assert mark == '"guessed arguments"'


@pytest.mark.nightly
def test_a_run_is_started_by_keyboard_from_anywhere(visitor: Visitor, own: Own) -> None:
    page = visitor()

    def before_the_end(route: Route) -> None:
        document = route.fetch().json()
        runs = [dict(row, status="running") for row in document["runs"]]
        route.fulfill(json=document | {"runs": runs})

    # The end of a run arrives before a list that has it: a key that is pressed meanwhile starts another run.
    page.route(re.compile(r"/compilations/\w+/runs$"), before_the_end)
    page.goto("/")
    wait_for_result(page)
    compile_source(page, own(ADD))
    page.keyboard.press("Control+Shift+Enter")
    expect(page.get_by_role("tab", name="Run")).to_be_visible()
    expect(result(page)).to_contain_text("It matches the reference.")
    runs = page.get_by_role("navigation", name="Runs of this kernel")
    expect(runs.get_by_role("button")).to_have_count(1)
    page.keyboard.press("Control+Shift+Enter")
    expect(runs.get_by_role("button")).to_have_count(2)
    expect(runs.get_by_role("button").first).to_have_attribute("aria-current", "true")
    second = page.url
    runs.get_by_role("button").nth(1).click()
    expect(runs.get_by_role("button").nth(1)).to_have_attribute("aria-current", "true")
    expect(page).not_to_have_url(second)


def test_a_recording_shows_times_sweep_and_configurations(opened: Opened) -> None:
    page = opened(SCALE)
    runs = page.get_by_role("navigation", name="Runs of this kernel")
    entry = runs.get_by_role("button", name=re.compile("NVIDIA H200"))
    expect(entry).to_contain_text("Triton 3.6.0, 2026-11-20")
    entry.click()
    ran = result(page)
    expect(ran).to_contain_text("Recorded on NVIDIA H200, driver 580.00, Triton 3.6.0")
    expect(ran).to_contain_text(
        "The profile was recorded with Triton 3.6.0. The result shown was compiled by"
    )
    times = ran.get_by_role("table", name="Times of one launch")
    expect(times.get_by_role("row", name=re.compile("Proton.* cold 4 µs 3.9 µs – 4.2 µs"))).to_be_visible()
    sweep = ran.locator(".run-sweep")
    expect(sweep.locator("svg .scatterlayer .trace")).to_have_count(2)
    expect(sweep.locator(".xtitle")).to_have_text("size")
    sweep.get_by_text("As a table").click()
    expect(sweep.get_by_role("row", name="8,192 failed")).to_be_visible()
    with page.expect_download() as download:
        sweep.get_by_role("link", name="CSV").click()
    header = next(csv.reader(download.value.path().read_text().splitlines()))
    assert header[:2] == ["size", "triton (GB/s)"]
    tuning = ran.locator(".run-autotuning")
    expect(tuning).to_contain_text("Configuration 0 is the fastest of 2: 4 µs")
    expect(tuning).to_contain_text("=out of shared memory")
    expect(ran.get_by_role("link", name="trace.json")).to_be_visible()

    # It is opened in the Roofline pane.
    ran.get_by_role("button", name="Open in the Roofline pane").click()
    expect(page.get_by_role("tab", name="Roofline", selected=True).first).to_be_visible()
    expect(page).to_have_url(re.compile("roofline:recorded-scale-0"))


@pytest.mark.nightly
def test_of_many_configurations_the_fastest_are_drawn(visitor: Visitor) -> None:
    def timed(config: int) -> dict[str, object]:
        median = None if config == 7 else 1000.0 * (50 - config)
        problem = "OutOfResources: shared memory\nTraceback" if config == 7 else ""
        times = dict.fromkeys(("median_ns", "low_ns", "high_ns"), median)
        return {
            "config": config, "arguments": {"BLOCK": 2**config}, "options": {}, "problem": problem, **times,
        }  # fmt: skip

    page = visitor(width=1280, height=720)
    autotuning = {"configs": [timed(config) for config in range(40)], "best": 39}
    page.route("**/measurements/autotuning", lambda route: route.fulfill(json=autotuning))
    open_result(page, SCALE, "#panes=run")
    tuning = result(page).locator(".run-autotuning")
    expect(tuning.locator("svg .barlayer .point")).to_have_count(24)
    # Each bar says whose it is.
    expect(tuning.locator("svg .ytick text")).to_have_text([str(config) for config in range(16, 40)])
    expect(tuning).to_contain_text("The plot has the 24 fastest of the 39 that were timed")
    rows = tuning.get_by_role("table", name="Configurations by time").locator("tbody tr")
    expect(rows).to_have_count(40)
    expect(rows.last).to_contain_text("OutOfResources: shared memory")
    expect(rows.last).not_to_contain_text("Traceback")
    # Whatever is scrolled to, the tabs of the panes stay.
    hidden = page.locator("pane-run .visually-hidden")
    assert hidden.count() > 1
    for index in range(hidden.count()):
        hidden.nth(index).evaluate("element => element.scrollIntoView()")
    tuning.evaluate("element => element.scrollIntoView()")
    expect(page.get_by_role("tab", name="Run")).to_be_in_viewport(ratio=1)


@pytest.mark.nightly
def test_what_only_the_server_knows_of_runs_and_measures_is_shown(visitor: Visitor) -> None:
    # A run that the queue had no place for is not said to wait.
    page = visitor()

    def refuse_one(route: Route) -> None:
        answer = route.fetch()
        document = answer.json()
        known = [
            dict(row, status="queued", recorded=None, id="refused") for row in document["recordings"][:1]
        ]
        route.fulfill(response=answer, json=document | {"runs": known})

    page.route(re.compile(r"/compilations/\w+/runs$"), refuse_one)
    open_result(page, SCALE, "#panes=run")
    runs = page.get_by_role("navigation", name="Runs of this kernel")
    expect(runs.get_by_role("button", name="not started yet")).to_have_count(1)

    # A measure is offered and shown.
    page.unroute_all()
    page.goto("about:blank")

    def with_measure(route: Route) -> None:
        document = route.fetch().json()
        energy = {"name": "energy", "description": "Reads the energy.", "devices": ["interpreter"]}
        document["measures"].append(energy | {"measurement": "energy"})
        route.fulfill(json=document)

    def with_measurement(route: Route) -> None:
        document = route.fetch().json()
        document["measurements"].append({"name": "energy", "size": 10})
        route.fulfill(json=document)

    page.route("**/page.json", with_measure)
    page.route(re.compile(r"/api/v1/runs/recorded-scale-0(\?.*)?$"), with_measurement)
    page.route(
        "**/measurements/energy", lambda route: route.fulfill(json={"joules": 1.5, "samples_ns": [1, 2]})
    )
    open_result(page, SCALE, "#panes=run")
    section = result(page).locator("[data-measurement=energy]")
    expect(section.get_by_role("row", name="joules 1.5")).to_be_visible()
    expect(section.get_by_role("row", name="samples ns [1,2]")).to_be_visible()
    page.get_by_text("How it is run").click()
    page.get_by_role("checkbox", name="energy").check()
    expect(page.locator(".run-setup-summary")).to_contain_text("check, counts, energy")


@pytest.mark.nightly
def test_a_gpu_comes_first_and_is_asked_for_what_it_can_do(opened: Opened, own: Own) -> None:
    """Replace the server's responses by responses of a server with GPUs, and collect the requests."""
    page = opened(own(ADD))
    asked: list[dict[str, object]] = []

    def with_gpus(route: Route) -> None:
        document = route.fetch().json()
        document["devices"]["gpu"] = {
            "available": True,
            "reason": "",
            "names": ["NVIDIA H200", "NVIDIA H200"],
        }
        route.fulfill(json=document)

    def refuse(route: Route) -> None:
        asked.append(route.request.post_data_json["run"])
        problem = {"error": "The GPU is gone", "kind": "no_device", "detail": "Run it in the interpreter."}
        route.fulfill(status=503, json=problem)

    page.route("**/api/v1/compilations/*/runs", with_gpus)
    page.route("**/api/v1/runs?*", refuse)
    page.reload()
    wait_for_result(page)
    pane = page.locator("pane-run")
    expect(pane.get_by_label("Run on")).to_have_value("gpu")
    expect(pane.get_by_label("Run on")).to_contain_text("GPU: NVIDIA H200")
    pane.get_by_role("button", name="Profile").click()
    expect(pane.locator(".run-refusal")).to_have_text("The GPU is gone. Run it in the interpreter.")
    assert asked[-1]["device"] == "gpu"
    assert asked[-1]["measures"] == ["check", "time", "counters", "samples", "timeline", "roofs"]
    pane.get_by_role("button", name="Sweep").click()
    expect(pane.locator(".run-refusal")).to_contain_text("The script has no benchmark")
    assert len(asked) == 1
    pane.get_by_label("Run on").select_option("interpreter")
    start(page)
    expect(pane.locator(".run-refusal")).to_contain_text("The GPU is gone")
    assert asked[1]["device"] == "interpreter"
    assert asked[1]["measures"] == ["check", "counts"]


@pytest.mark.nightly
def test_the_pane_is_accessible_and_fits(visitor: Visitor) -> None:
    page = visitor(width=1280, height=720)
    ticket = page.request.post("/api/v1/compilations", data={"source": SCALE, "target": "cuda:90"}).json()
    page.goto(f"/k/{ticket['id']}#panes=run")
    wait_for_result(page)
    expect(page.locator("pane-run .run-autotuning")).to_be_attached()
    page.get_by_text("How it is run").click()
    page.get_by_label("launch", exact=True).select_option("inputs")
    expect(page.get_by_role("table", name="Inputs to make")).to_be_attached()
    expect_accessible(page, "pane-run", schemes=THEMES)
    for width in (1280, 375):
        page.set_viewport_size({"width": width, "height": 720})
        for theme in THEMES:
            choose_scheme(page, theme)
            expect_fits(page.locator("html"))
    assert violations(page, rules=SIZE_RULES) == []
