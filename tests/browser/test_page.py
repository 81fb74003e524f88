"""Test the page in a browser against a real server."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from actions import (
    COMPILE_TIMEOUT_MS,
    DOCUMENT,
    THEMES,
    Hold,
    Visitor,
    compile_now,
    compiled,
    eventually,
    expect_accessible,
    expect_fits,
    expect_lit,
    expect_stage,
    lit_rows,
    open_example,
    open_result,
    result_id,
    set_source,
    show_sass,
    stage_text,
    unfinished,
    unfold_launch,
    wait_for_result,
)
from playwright.sync_api import Page, expect
from slow_jobs import ENDLESS
from sources import SCALE

from explorer.examples import find_example

LOAD_LINE, STORE_LINE = 9, 10


@pytest.fixture
def scale_page(visitor: Visitor) -> Page:
    """The page with the result of `SCALE`."""
    page = visitor()
    open_result(page, SCALE)
    show_sass(page)
    return page


@pytest.mark.machine
def test_first_visit_shows_a_compiled_kernel(page: Page) -> None:
    expect(page).to_have_url(re.compile(r"/k/\w{12}$"))
    expect(page.locator("#subject b")).to_have_text("matmul_kernel")
    nodes = page.locator("pipeline-path .node")
    expect(nodes).to_have_count(6)
    expect(page.locator("pipeline-path .node.is-done")).to_have_count(6)
    assert nodes.first.inner_text().startswith("Python AST")
    expect_stage(page, "TTGIR", "tt.func public @")
    show_sass(page)
    expect_stage(page, "SASS", "SR_CTAID.X")
    expect(page.locator("status-bar .facts")).to_contain_text(
        re.compile(r"registers \d+.*shared.*occupancy \d+ %")
    )


def test_typing_and_control_enter_compile(page: Page, own: Callable[[str], str], hold: Hold) -> None:
    before = page.url
    set_source(page, SCALE)
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    expect(page).not_to_have_url(before)
    expect_stage(page, "TTGIR", "@scale(")
    show_sass(page)
    expect_stage(page, "SASS", "scale:")
    unfold_launch(page)
    table = page.get_by_role("table", name="Arguments")
    expect(table).to_contain_text("16-byte aligned")
    expect(page.locator("launch-panel h2")).to_have_text("Launch · found at line 14")

    # A stage still to come can be chosen.
    page.route(DOCUMENT, unfinished)
    held = hold(page, "**/events?*")
    with page.expect_request("**/events?*"):
        compile_now(page, own(SCALE))
    page.locator("pipeline-path .node", has_text="PTX").click()
    expect(page.get_by_role("tab", name="PTX")).to_have_attribute("aria-selected", "true")
    page.unroute(DOCUMENT)
    for route in held:
        route.continue_()
    page.unroute("**/events?*")
    expect_stage(page, "PTX", ".entry scale")
    wait_for_result(page)

    # The clock stands still: the pause in typing that starts a compilation never ends.
    # A pasted script needs none.
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(hours=1))
    with page.expect_request("**/api/v1/compilations?*"):
        set_source(page, SCALE)
    page.keyboard.press("Control+End")
    page.keyboard.type("# typed")
    with page.expect_request("**/api/v1/compilations?*"):
        page.keyboard.press("Control+Enter")
    page.clock.resume()
    wait_for_result(page)


def test_the_editor_keeps_what_was_typed_and_takes_examples(page: Page, hold: Hold) -> None:
    # Opening the shown example again keeps its launch. The first visit shows this example.
    open_example(page, "Matrix multiplication, autotuned")
    expect(page.locator("launch-panel tr.variant")).not_to_have_count(0)
    expect(page.locator("launch-panel h2")).to_contain_text("found at line")

    # An example that comes late takes nothing away.
    hold(page, "**/api/v1/gallery/softmax")
    open_example(page, "Fused softmax")
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/gallery/softmax")):
        set_source(page, SCALE)
    expect(page.locator("#subject b")).to_have_text("scale", timeout=60_000)
    expect(page.locator("#editor .cm-content")).to_contain_text("def scale(")
    wait_for_result(page)

    # The typed source is there on the next visit. A mouse over the editor would load its commands at once.
    page.mouse.move(0, 0)
    page.goto("/")
    wait_for_result(page)
    expect(page.locator("#subject b")).to_have_text("scale")

    # An example replaces the source once the commands of the editor are loaded. Then it is linked.
    held = hold(page, "**/editing-*.js")
    open_example(page, "Vector addition")
    expect(page.locator("#subject b")).to_have_text("add_kernel", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    expect(page.locator("#editor .cm-content")).not_to_contain_text("def add_kernel")
    for route in held:
        route.continue_()
    expect(page.locator(".cm-line", has_text="def add_kernel")).to_be_in_viewport()
    page.get_by_role("group", name="TTGIR, ").locator(".text-row", has_text="tt.load").first.hover()
    expect_lit(page, "x = tl.load")


def test_lines_are_lit_pinned_and_shared(scale_page: Page, visitor: Visitor) -> None:
    # A line lights its lines everywhere.
    page = scale_page
    page.locator(".text-row", has_text="tt.store").hover()
    expect_lit(page, "tl.store")
    sass = page.get_by_role("group", name="SASS, ")
    eventually(lambda: any("STG" in row for row in lit_rows(sass)), True)
    expect(page.locator(".pane-foot .place").first).to_have_text(f"line {STORE_LINE}")

    page.locator(".cm-line", has_text="x = tl.load").hover()
    ttgir = page.get_by_role("group", name="TTGIR, ")
    eventually(lambda: sum("tt.load" in row for row in lit_rows(ttgir)), 1)

    # A click pins.
    page.locator(".text-row", has_text="tt.load").click()
    expect(page).to_have_url(re.compile(rf"[#&]line=ttgir\.\d+&pin={LOAD_LINE}$"))
    page.mouse.move(5, 5)
    expect(page.locator(".cm-line.is-pinned")).to_have_text(re.compile("tl.load"))

    # Share copies the link to this very view.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#toast")).to_have_text("Link to this view copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url

    # A permalink shows the same in a fresh profile.
    page.get_by_role("tab", name="Resources").click()
    expect(page).to_have_url(re.compile(r"panes=.*resources\*.*line=ttgir\.\d+&pin="))

    other = visitor()
    other.goto(page.url)
    wait_for_result(other)
    expect(other.locator("pane-resources")).to_contain_text("Registers per thread")
    expect(other.locator(".cm-content")).to_contain_text("def scale(x_ptr")
    expect(other.locator(".cm-line.is-pinned")).to_have_text(re.compile("tl.load"))
    expect(other.locator(".text-row.is-pinned", has_text="tt.load")).to_be_visible()
    eventually(lambda: stage_text(other, "TTGIR") == stage_text(page, "TTGIR"), True)
    expect(other).to_have_url(page.url)

    # Escape lets go.
    page.keyboard.press("Escape")
    expect(page.locator(".is-pinned")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("pin="))


def test_everything_can_be_downloaded_and_reached(scale_page: Page) -> None:
    page = scale_page
    page.get_by_role("button", name="Share", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert any(name.endswith("/result.json") for name in archive.namelist())
    page.get_by_role("button", name="Share", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="PTX").click()
    assert download.value.suggested_filename == "scale.ptx"
    assert ".visible .entry scale" in Path(download.value.path()).read_text()

    # A pane opens, closes and splits.
    page.get_by_role("button", name="Split to the right").first.click()
    expect(page.get_by_role("tab", name="TTGIR")).to_have_count(2)
    page.get_by_role("button", name="Add a pane here").last.click()
    page.locator("#pane-menu").get_by_role("button", name="LLVM IR").click()
    expect(page.get_by_role("group", name="LLVM IR, ")).to_contain_text("define")
    tabs = page.get_by_role("tab", name="LLVM IR")
    count = tabs.count()
    tabs.last.hover()
    tabs.last.locator(".tab-close").click()
    expect(tabs).to_have_count(count - 1)

    # The keyboard reaches stages and help.
    page.keyboard.press("Alt+2")
    expect(page.get_by_role("group", name="TTIR, ")).to_contain_text("tt.func")
    page.get_by_role("group", name="TTIR, ").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".text-row.is-cursor")).to_have_count(1)
    page.keyboard.press("Shift+?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()

    # Search finds in the whole text.
    page.get_by_role("tab", name="SASS").click()
    page.get_by_role("group", name="SASS, ").focus()
    page.keyboard.press("/")
    page.keyboard.type("exit")
    expect(page.locator("pane-stage .count", has_text=re.compile(r"1 of \d"))).to_be_visible()
    expect(page.locator(".text-row.is-current-hit")).to_contain_text("EXIT")

    # Passes show what each has changed.
    page.get_by_role("button", name=re.compile("passes to TTGIR")).click()
    options = page.get_by_role("option").filter(has=page.locator(".added"))
    expect(options.first).to_be_visible()
    changed = options.count()
    expect(page.locator("pane-passes .diff-row:is(.is-added, .is-moved)").first).to_be_visible()
    page.get_by_label("changed only").uncheck()
    expect(page.locator(".pass-list [role=option]").nth(changed)).to_be_attached()
    expect(page).to_have_url(re.compile(r"passes:ttgir\*"))


def test_a_failure_shows_its_own_stages_and_the_earlier_result_is_one_click_away(scale_page: Page) -> None:
    page = scale_page
    set_source(page, SCALE.replace("tl.arange(0, BLOCK)", "tl.arange(0, 100)").replace("scale", "broken"))
    wait_for_result(page, "failed")
    banner = page.locator("message-banner")
    expect(banner).to_contain_text("power of")
    expect(banner).to_contain_text("line 8")
    marker = page.locator(".cm-lint-marker-error")
    expect(marker).to_have_count(1)
    line = page.locator(".cm-line", has_text="tl.arange(0, 100)")
    expect(line.locator(".cm-lintRange-error").first).to_be_visible()
    eventually(lambda: abs(marker.bounding_box()["y"] - line.bounding_box()["y"]) < 19, True)
    expect(page.locator(".node.is-failed")).to_have_count(1)
    expect(page.locator("#subject b")).to_have_text("broken")
    expect(page).to_have_title(re.compile("broken"))
    expect(page.locator("#panes")).to_contain_text("The compilation stopped before TTGIR.")
    page.locator(".node", has_text="Python AST").click()
    expect(page.get_by_role("group", name="Python AST, ")).to_contain_text("'broken'")
    page.get_by_role("tab", name="TTGIR").click()
    banner.get_by_role("button", name=re.compile("Show the earlier result: scale, sm_90, Triton")).click()
    expect_stage(page, "TTGIR", "@scale(")
    expect(banner).to_contain_text("The panes show an earlier result: scale, sm_90")
    expect(page.locator("status-bar .state")).to_have_class("state is-failed")
    banner.get_by_role("button", name="Show the failure").click()
    expect(page.locator("#panes")).to_contain_text("The compilation stopped before TTGIR.")


@pytest.mark.nightly
def test_a_failure_that_an_option_or_another_version_avoids_offers_it(scale_page: Page) -> None:
    page = scale_page
    set_source(
        page,
        """import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, k, B: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.arange(0, K)
    sums = tl.zeros([B, B], tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + i[:, None] * k + start + j[None, :])
        y = tl.load(b + (start + j[:, None]) * B + i[None, :])
        sums += tl.dot(x, y)
    tl.store(c + i[:, None] * B + i[None, :], sums)


a, b, c = (torch.empty((128, 4096), device="cuda", dtype=torch.float16) for _ in range(3))
product[(1,)](a, b, c, 4096, B=128, K=256, num_stages=2)
""",
    )
    wait_for_result(page, "failed")
    banner = page.locator("message-banner")
    expect(banner).to_contain_text("shared memory")
    banner.get_by_role("button", name=re.compile("Compile with num_stages=")).click(
        timeout=3 * COMPILE_TIMEOUT_MS
    )
    wait_for_result(page)
    expect(page.get_by_label("stages", exact=True)).to_have_value("1")

    # Another version.
    head = "import triton\nimport triton.language as tl\n\n\n"
    body = (
        "    block = tl.make_block_ptr(x, (n,), (1,), (0,), (64,), (0,))\n"
        "    tl.store(x + tl.arange(0, 64), tl.load(block))\n"
    )
    set_source(page, f"{head}@triton.jit\ndef removed(x, n):\n{body}")
    wait_for_result(page, "failed")
    expect(banner).to_contain_text("Block pointers")
    banner.get_by_role("button", name="Compile with Triton 3.6.0").click(timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("#subject")).to_contain_text("Triton 3.6.0", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    expect(banner).to_be_hidden()
    expect(page.get_by_label("Triton version")).to_have_value("3.6.0")


def test_a_script_that_cannot_be_read_shows_nothing_of_the_one_before(scale_page: Page) -> None:
    page = scale_page
    set_source(page, "import triton\n\nx = = 1\n")
    wait_for_result(page, "failed")
    expect(page.locator("#subject b")).to_have_text("No kernel")
    expect(page.locator("launch-panel h2")).to_have_text("Launch · source error")
    expect(page.locator("launch-panel .state-hint")).to_contain_text("Line 3: ")
    expect(page.locator(".text-row", has_text="scale")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^Compile with"))).to_have_count(0)

    # A syntax error is underlined.
    set_source(page, SCALE.replace("BLOCK: tl.constexpr):", "BLOCK: tl.constexpr)"))
    wait_for_result(page, "failed")
    expect(page.locator("message-banner")).to_contain_text("line 7")
    expect(page.locator(".cm-lintRange-error, .cm-lintPoint-error").first).to_be_attached()


def test_another_target_and_arguments_by_hand(scale_page: Page) -> None:
    # An AMD target ends in its own machine code.
    page = scale_page
    unfold_launch(page)
    page.get_by_label("Target", exact=True).select_option("hip:gfx942")
    expect(page.locator("#subject")).to_contain_text("gfx942", timeout=60_000)
    wait_for_result(page)
    expect(page.locator("pipeline-path .node")).to_have_count(5)
    expect_stage(page, "AMDGCN", "s_endpgm")

    # Arguments by hand.
    page.get_by_label("Launch", exact=True).select_option("form")
    value = page.get_by_label("Value of BLOCK")
    expect(value).to_have_value("1024")
    value.fill("256")
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("tensor<256x", timeout=60_000)
    wait_for_result(page)


@pytest.mark.parametrize(
    ("path", "late", "state"),
    [
        ("/k/{result}", "**/api/v1/compilations/{result}", "sending"),
        ("/k/{result}", "**/page.json", "nothing compiled yet"),
        ("/", "**/api/v1/gallery/*", "nothing compiled yet"),
        ("/", "**/page.json", "nothing compiled yet"),
    ],
)
def test_what_comes_late_does_not_replace_what_was_typed(
    visitor: Visitor, path: str, late: str, state: str, hold: Hold
) -> None:
    page = visitor()
    result = compiled(page, find_example("matmul").source)
    pattern = late.format(result=result)
    held = hold(page, pattern)
    with page.expect_request(pattern):
        page.goto(path.format(result=result))
    # The browser requests some documents before the page does.
    expect(page.locator("status-bar .state")).to_have_text(state)
    set_source(page, SCALE)
    expect(page.locator("#editor .cm-content")).to_contain_text("def scale(")
    page.route(pattern, lambda route: route.continue_())
    for route in held:
        route.continue_()
    expect(page.locator("#subject b")).to_have_text("scale")
    expect(page.locator("#editor .cm-content")).to_contain_text("def scale(")


def test_the_theme_follows_the_system_until_one_is_chosen(visitor: Visitor) -> None:
    page = visitor(color_scheme="light")
    page.goto("/")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Change the theme").click()
    expect(root).to_have_attribute("data-theme", "dark")
    wait_for_result(page)
    page.reload()
    expect(root).to_have_attribute("data-theme", "dark")
    wait_for_result(page)

    # An unknown permalink says so.
    page.goto("/k/zzzzzzzzzzzz")
    expect(page.locator("message-banner")).not_to_be_empty()
    expect(page.locator("status-bar .state")).to_have_class("state is-failed")


def test_a_lost_connection_is_said_and_waited_for(scale_page: Page, own: Callable[[str], str]) -> None:
    page = scale_page
    expect_stage(page, "TTGIR", "@scale(")
    page.context.set_offline(True)
    set_source(page, SCALE + "\n")
    expect(page.locator("message-banner")).to_contain_text("cannot be reached")
    expect_stage(page, "TTGIR", "@scale(")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    wait_for_result(page)

    # A server that has gone is waited for.
    page.route(DOCUMENT, unfinished)
    page.route("**/compilations/*/events?*", lambda route: route.abort("connectionrefused"))
    set_source(page, own(SCALE))
    page.keyboard.press("Control+Enter")
    expect(page.locator("status-bar .state")).to_have_text("the server does not answer, trying again")
    expect_stage(page, "TTGIR", "@scale(")
    page.unroute(DOCUMENT)
    page.unroute("**/compilations/*/events?*")
    wait_for_result(page)
    expect(page.locator("status-bar .state")).to_contain_text("complete in")


@pytest.mark.nightly
def test_what_is_being_compiled_survives_loading_the_page_again(
    scale_page: Page, own: Callable[[str], str]
) -> None:
    page = scale_page
    before = result_id(page)
    set_source(page, own(f"{ENDLESS}\n{SCALE}"))
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    elapsed = page.locator("status-bar .elapsed")
    expect(elapsed).to_have_text(re.compile(r"^[3-9] s$"))
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("while True:")
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    # The time goes on, too.
    assert int(elapsed.inner_text().removesuffix(" s")) >= 3
    expect_stage(page, "TTGIR", "@scale(")
    # A link opens the view that it names.
    page.goto(f"/k/{before}")
    wait_for_result(page)
    expect(page.locator(".cm-content")).not_to_contain_text("while True:")
    page.reload()
    wait_for_result(page)
    expect(page.locator(".cm-content")).not_to_contain_text("while True:")

    # What a script prints is only text.
    attack = "<img src=x onerror=document.title='owned'>"
    set_source(page, f'print("{attack}")\n' + SCALE)
    expect(page.locator(".cm-content")).to_contain_text("onerror")
    page.get_by_role("tab", name="Log").click()
    expect(page.locator("pane-log .output pre", has_text=attack)).to_be_visible(timeout=60_000)
    assert page.locator("pane-log img").count() == 0


@pytest.mark.nightly
def test_the_page_is_accessible_and_fits_the_window(page: Page) -> None:
    expect_stage(page, "TTGIR", "tt.func public @")
    expect_fits(page.locator("html"))
    expect_accessible(page, schemes=THEMES)
    for width, height in ((1280, 720), (375, 812)):
        page.set_viewport_size({"width": width, "height": height})
        page.reload()
        wait_for_result(page)
        expect_stage(page, "TTGIR", "tt.func public @")
        expect_fits(page.locator("html"))
