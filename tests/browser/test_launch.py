"""Test the launch panel: arguments, configurations and targets."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from actions import (
    COMPILE_TIMEOUT_MS,
    THEMES,
    Visitor,
    eventually,
    expect_accessible,
    expect_fits,
    open_result,
    run_command,
    set_source,
    unfold_launch,
    wait_for_result,
)
from playwright.sync_api import Locator, Page, expect
from tritons import TRITONS

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * factor, mask=offsets < n)
"""
SCALE = f"""{KERNEL}

x = torch.empty(4096, device="cuda")
scale[(4,)](x, 4095, 2.0, BLOCK=1024)
"""
TRANSPOSE = """

@triton.jit
def transpose(a, b, M, stride_am, stride_bn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    tile = tl.load(a + rows[:, None] * stride_am + columns[None, :], mask=rows[:, None] < M)
    tl.store(b + columns[:, None] * stride_bn + rows[None, :], tl.trans(tile))
"""
TUNED = SCALE.replace(
    "@triton.jit",
    '@triton.autotune([triton.Config({"BLOCK": size}) for size in (128, 100, 256)], key=["n"])\n@triton.jit',
).replace(", BLOCK=1024", "")

#: Configurations that differ in registers, shared memory, stages and warps, and take little time to compile.
PRODUCT = """import torch
import triton
import triton.language as tl


@triton.autotune(
    [
        triton.Config({"BLOCK": block}, num_stages=stages, num_warps=warps)
        for block, stages, warps in ((16, 2, 1), (64, 4, 4), (32, 3, 2), (64, 2, 8))
    ],
    key=["k"],
)
@triton.jit
def product(a, b, c, k, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK, BLOCK], tl.float32)
    for start in range(0, k, BLOCK):
        x = tl.load(a + i[:, None] * k + start + i[None, :])
        y = tl.load(b + (start + i[:, None]) * BLOCK + i[None, :])
        sums += tl.dot(x, y)
    tl.store(c + i[:, None] * BLOCK + i[None, :], sums)


a, b, c = (torch.empty((64, 4096), device="cuda", dtype=torch.float16) for _ in range(3))
product[(1,)](a, b, c, 4096)
"""


def configs(page: Page) -> Locator:
    """The rows of the table of configurations."""
    return page.get_by_role("region", name="Autotune configurations").locator("tr.variant")


def compile_all(page: Page, region: str) -> None:
    """Compile all rows of a table, and wait for the last one."""
    section = page.get_by_role("region", name=region)
    expect(section.locator("tr.variant").first).to_be_visible()
    rows = section.locator("tr.variant").count()
    section.get_by_role("button", name=re.compile("^Compile (all|the)")).click()
    expect(section.locator("tr.variant:is(.is-complete, .is-failed)")).to_have_count(
        rows, timeout=3 * COMPILE_TIMEOUT_MS
    )
    expect(section.get_by_role("button", name="Cancel")).to_be_hidden()


def numbers(page: Page, column: str) -> list[int]:
    """Return the cells of a column of the configurations."""
    return [int(text) for text in configs(page).locator(f".column-{column}").all_inner_texts()]


def by_hand(page: Page) -> None:
    """Edit the arguments of `SCALE` by hand."""
    open_result(page, SCALE)
    unfold_launch(page)
    page.get_by_label("Launch", exact=True).select_option("form")
    expect(page.get_by_label("Value of BLOCK")).to_have_value("1024")
    wait_for_result(page)


@pytest.mark.nightly
def test_all_configurations_compile_sort_and_open(visitor: Visitor) -> None:
    page = visitor()
    open_result(page, PRODUCT)
    unfold_launch(page)
    expect(configs(page)).to_have_count(4)
    compile_all(page, "Autotune configurations")
    expect(page.get_by_role("button", name="All compiled")).to_be_disabled()
    assert len(set(numbers(page, "registers"))) > 2
    expect(configs(page).first.locator(".column-shared_bytes")).to_have_text(re.compile(r"\d+ KiB"))

    # Compiled configurations are remembered while the source changes.
    compiled = numbers(page, "registers")
    set_source(page, SCALE)
    expect(configs(page)).to_have_count(0)
    wait_for_result(page)
    set_source(page, PRODUCT)
    expect(page.get_by_role("button", name="All compiled")).to_be_visible()
    eventually(lambda: numbers(page, "registers"), compiled)
    wait_for_result(page)

    section = page.get_by_role("region", name="Autotune configurations")

    registers = section.get_by_role("columnheader", name="Registers per thread")
    for order in ("ascending", "descending"):
        section.get_by_role("button", name="Registers per thread").click()
        expect(registers).to_have_attribute("aria-sort", order)
        found = numbers(page, "registers")
        assert found == sorted(found, reverse=order == "descending")
    section.get_by_role("button", name="Stages", exact=True).click()
    expect(section.get_by_role("columnheader", name="Stages", exact=True)).to_have_attribute(
        "aria-sort", "ascending"
    )
    assert numbers(page, "num_stages") == sorted(numbers(page, "num_stages"))

    row = configs(page).filter(has=page.get_by_role("button", name="configuration 3"))
    shown = row.locator(".column-registers").inner_text()
    before = page.url
    row.get_by_role("button").click()
    expect(page).not_to_have_url(before)
    wait_for_result(page)
    expect(row).to_have_attribute("aria-current", "true")
    expect(page.locator("status-bar .facts")).to_contain_text(f"registers {shown}")


@pytest.mark.nightly
def test_a_configuration_is_compiled_and_opened_by_keyboard_alone_and_all_are_cancelled(
    visitor: Visitor, own: Callable[[str], str]
) -> None:
    page = visitor()
    open_result(page, own(PRODUCT))
    run_command(page, "go to the launch")
    shown = page.get_by_role("button", name="configuration 0")
    focused = page.locator(":focus")
    for _ in range(60):
        if shown.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(shown).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_accessible_name(re.compile("configuration 2"))
    before = page.url
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(before, timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    expect(focused).to_have_accessible_name(re.compile("configuration 2, complete"))
    page.keyboard.press("End")
    expect(focused).to_have_accessible_name(re.compile("configuration 3"))

    # Compiling all can be canceled.
    sizes = ", ".join(str(2**power) for power in range(4, 14))
    open_result(page, own(TUNED.replace("128, 100, 256", sizes) + "import time; time.sleep(2)\n"))
    expect(configs(page)).to_have_count(10)
    section = page.get_by_role("region", name="Autotune configurations")
    section.get_by_role("button", name="Compile the other 9").click()
    expect(section.get_by_role("progressbar")).to_be_visible()
    expect(section.get_by_role("status")).to_have_text(re.compile(r"^\d of 9$"))
    expect(section.get_by_role("button", name=re.compile(", compiling|, reached"))).not_to_have_count(0)
    with page.expect_request(lambda request: request.method == "DELETE"):
        section.get_by_role("button", name="Cancel").click()
    expect(section.get_by_role("progressbar")).to_be_hidden()
    expect(section.get_by_role("button", name=re.compile(", waits|, compiling"))).to_have_count(0)
    expect(section.get_by_role("button", name=re.compile("^Compile the other"))).to_be_enabled()
    expect(page.locator("status-bar .state")).to_have_class("state is-complete")


@pytest.mark.nightly
def test_a_configuration_that_fails_says_why_and_several_targets_are_compared(visitor: Visitor) -> None:
    page = visitor()
    open_result(page, TUNED)
    unfold_launch(page)
    expect(configs(page)).to_have_count(3)
    compile_all(page, "Autotune configurations")
    failed = page.locator("launch-panel tbody", has=page.locator("tr.is-failed"))
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text("power of 2")
    expect(page.locator("launch-panel .progress-words").last).to_have_text("1 failure")
    expect(page.locator("tr.variant.is-complete")).to_have_count(2)

    # Several targets and versions are compiled and compared.
    open_result(page, SCALE)
    page.get_by_role("button", name="Several…").click()
    section = page.get_by_role("region", name="Several targets")
    expect(section.get_by_role("group", name="NVIDIA").get_by_label("sm_90")).to_be_checked()
    section.get_by_role("group", name="AMD").get_by_label("gfx942").check()
    for version in (TRITONS[0], "3.6.0"):
        section.get_by_role("group", name="Triton").get_by_label(version).check()
    rows = section.locator("tr.variant")
    expect(rows).to_have_count(4)
    compile_all(page, "Several targets")
    expect(section.locator("tr.variant.is-complete")).to_have_count(4)

    for words in (f"sm_90 by Triton {TRITONS[0]}", "gfx942 by Triton 3.6.0"):
        section.get_by_role("checkbox", name=re.compile(f"Compare .*{re.escape(words)}")).check()
    link = section.get_by_role("link", name="Compare")
    expect(link).to_have_attribute("href", re.compile(r"^/compare/\w{12}\.\.\w{12}$"))
    section.get_by_role("button", name=re.compile(r"gfx942 by Triton 3\.6\.0")).click()
    expect(page.locator("#subject")).to_contain_text("gfx942  ·  Triton 3.6.0")
    wait_for_result(page)
    # The result of the older version is before, although it was ticked last.
    opened = (link.get_attribute("href") or "").removeprefix("/compare/").partition("..")[0]
    expect(page).to_have_url(re.compile(f"/k/{opened}"))

    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Several…").click()
    expect(section.get_by_role("group", name="AMD").get_by_label("gfx942")).to_be_checked()


@pytest.mark.nightly
def test_cells_are_checked_by_their_type(visitor: Visitor) -> None:
    page = visitor()
    by_hand(page)
    specialization = page.get_by_label("Specialization of n", exact=True)
    expect(specialization).to_have_value("")
    specialization.select_option("divisible by 16")
    expect(page.get_by_role("alert").filter(has_text="4095 is not a multiple of 16.")).to_be_visible()
    page.get_by_label("Value of n", exact=True).fill("1")
    expect(specialization).to_have_value("equal to 1")
    page.get_by_label("Type of x_ptr").fill("*fp17")
    expect(page.get_by_role("alert").filter(has_text="*fp17 is not a type of Triton.")).to_be_visible()
    page.get_by_label("Type of x_ptr").fill("*bf16")
    expect(page.get_by_role("alert").filter(has_text="*fp17")).to_have_count(0)
    page.get_by_label("Value of BLOCK").fill("")
    expect(page.get_by_role("alert").filter(has_text="A constant needs a value")).to_be_visible()
    page.get_by_label("Value of BLOCK").fill("512")
    page.get_by_label("warps", exact=True).fill("four")
    expect(page.get_by_role("alert").filter(has_text="warps: A whole number from 1 up")).to_be_visible()
    page.get_by_label("warps", exact=True).fill("2")
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("tensor<512xbf16", timeout=60_000)
    wait_for_result(page)

    # A bad value stays in its cell and is not sent.
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))
    value = page.get_by_label("Value of n", exact=True)
    value.fill("99999999999")
    message = page.locator("launch-panel").get_by_role("alert")
    expect(message.filter(has_text="i32 goes from −2147483648 to 2147483647.")).to_be_visible()
    expect(value).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Control+Enter")
    expect(page.locator("message-banner")).to_contain_text("n: i32 goes from")
    assert [body for body in sent if "99999999999" in body] == []

    page.goto("/")
    expect(value).to_have_value("99999999999")
    expect(message.filter(has_text="i32 goes from")).to_be_visible()
    expect(page.locator("launch-panel h2")).to_have_text("Launch · by hand")
    value.fill("4096")
    expect(page.locator("#subject b")).to_have_text("scale", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    expect(page.get_by_label("Specialization of n", exact=True)).to_have_value("divisible by 16")


@pytest.mark.nightly
def test_drafts_keep_mode_arguments_and_options(visitor: Visitor) -> None:
    page = visitor()
    by_hand(page)
    page.get_by_label("Value of BLOCK").fill("256")
    page.get_by_label("warps", exact=True).fill("2")
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("tensor<256x", timeout=60_000)
    wait_for_result(page)
    page.goto("/")
    wait_for_result(page)
    expect(page.locator("launch-panel h2")).to_have_text("Launch · by hand")
    expect(page.get_by_label("Value of BLOCK")).to_have_value("256")
    expect(page.get_by_label("warps", exact=True)).to_have_value("2")

    # Nothing of one source is inherited by another.
    page.get_by_label("Value of BLOCK").fill("512")
    page.get_by_label("warps", exact=True).fill("2")
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("tensor<512x", timeout=60_000)
    wait_for_result(page)
    set_source(page, SCALE.replace("x * factor", "x / factor"))
    expect(page.locator("launch-panel h2")).to_have_text(
        "Launch · found at line 14", timeout=COMPILE_TIMEOUT_MS
    )
    wait_for_result(page)
    expect(page.locator("#subject")).to_contain_text("4 warps")
    page.get_by_label("Launch", exact=True).select_option("signature")
    expect(page.get_by_label("Signature")).to_have_value("*fp32:16, i32, fp32, 1024")


@pytest.mark.nightly
def test_arguments_are_explained_and_rare_options_shown_on_demand(page: Page) -> None:
    unfold_launch(page)
    # By keyboard.
    name = page.get_by_role("button", name="M, N, K")
    name.focus()
    page.keyboard.press("Enter")
    expect(name).to_have_attribute("aria-expanded", "true")
    about = page.locator(f"#{name.get_attribute('aria-controls')}")
    expect(about).to_contain_text("2048 is 16 × 128")
    pointers = page.get_by_role("button", name="a_ptr, b_ptr, c_ptr")
    expect(pointers).to_have_attribute("title", re.compile("strides 2048, 1 in elements: contiguous"))
    expect(pointers).to_have_attribute("title", re.compile("multiple of 16 bytes.*8 elements"))
    expect(page.get_by_role("row", name="BLOCK_K constexpr")).to_contain_text("64 elements")

    # Options that few kernels need are shown on demand, and while they are set.
    more = page.get_by_role("button", name="More options")
    fused, ptxas = page.get_by_label("(enable_fp_fusion)"), page.get_by_label("(ptx_options)")
    open_result(page, SCALE)
    expect(more).to_have_attribute("aria-expanded", "false")
    expect(fused).to_have_count(0)
    more.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    expect(ptxas).to_be_visible()
    more.press("Enter")
    expect(page.locator("#more-options")).to_be_hidden()
    more.press("Enter")
    fused.select_option("off")
    ptxas.fill("-O1")
    with page.expect_request(lambda request: '"ptx_options":"-O1"' in (request.post_data or "")) as sent:
        ptxas.press("Tab")
    assert sent.value.post_data_json["options"] == {"enable_fp_fusion": False, "ptx_options": "-O1"}
    page.get_by_label("Launch", exact=True).select_option("form")
    expect(page.locator("launch-panel h2")).to_have_text("Launch · by hand")

    page.goto("/")
    expect(ptxas).to_have_value("-O1")
    expect(fused).to_have_value("off")
    expect(more).to_be_disabled()
    page.get_by_label("Target", exact=True).select_option("hip:gfx942")
    expect(ptxas).to_have_value("-O1")
    fused.select_option("")
    ptxas.fill("")
    ptxas.press("Enter")
    expect(ptxas).to_have_count(0)
    expect(more).to_be_enabled()
    expect(fused).to_be_visible()


def test_the_launch_is_a_line_until_it_is_unfolded(visitor: Visitor) -> None:
    page = visitor(1280, 720)
    open_result(page, SCALE + "\n" * 40)
    fold = page.get_by_role("button", name=re.compile("the launch"))
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(fold).to_have_text(re.compile(r"sm_90 · Triton [\d.]+ · grid 4$"))
    expect(page.get_by_label("Target", exact=True)).to_be_hidden()
    lines = page.locator("#editor .cm-scroller").evaluate(
        "scroller => scroller.clientHeight / scroller.querySelector('.cm-line').offsetHeight"
    )
    assert lines >= 24

    # By keyboard.
    fold.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "true")
    page.get_by_label("warps", exact=True).fill("8")
    expect(page.locator("#subject")).to_contain_text("8 warps")
    wait_for_result(page)
    page.reload()
    wait_for_result(page)
    expect(page.get_by_label("warps", exact=True)).to_be_visible()
    fold.press("Enter")
    expect(fold).to_have_accessible_name(re.compile(r"^Show the launch: .* · grid 4 · num_warps=8$"))
    expect_accessible(page, "launch-panel", schemes=THEMES)
    run_command(page, "go to the launch")
    expect(fold).to_be_focused()
    expect(fold).to_have_attribute("aria-expanded", "true")


def test_the_panel_says_where_the_arguments_come_from(page: Page) -> None:
    title, hint = page.locator("launch-panel h2"), page.locator("launch-panel .state-hint")
    unfold_launch(page)
    set_source(page, SCALE)
    expect(title).to_have_text("Launch · found at line 14", timeout=COMPILE_TIMEOUT_MS)
    page.get_by_label("Launch", exact=True).select_option("signature")
    expect(title).to_have_text("Launch · by signature")
    page.get_by_label("Launch", exact=True).select_option("0")
    expect(title).to_have_text("Launch · found at line 14")
    set_source(page, SCALE.replace("import torch", "import torch ("))
    expect(title).to_have_text("Launch · source error", timeout=COMPILE_TIMEOUT_MS)
    expect(hint).to_contain_text("Line 1: ")
    set_source(page, "import os\nos._exit(3)\n" + SCALE)
    page.keyboard.press("Control+Enter")
    wait_for_result(page, "failed")
    expect(title).to_have_text("Launch · no kernel found")
    set_source(page, KERNEL)
    expect(title).to_have_text("Launch · guessed", timeout=COMPILE_TIMEOUT_MS)
    expect(hint).to_contain_text("The source has no launch")
    set_source(page, f'{KERNEL}\nopen("weights.bin")\n')
    expect(hint).to_contain_text("The script ends with an error at line", timeout=COMPILE_TIMEOUT_MS)
    page.keyboard.press("Control+Enter")
    expect(page.locator("message-banner")).to_contain_text("weights.bin", timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("message-banner")).to_contain_text("these arguments are guessed")
    wait_for_result(page, "failed")
    expect(page.locator("status-bar")).to_contain_text("script failed, guesses complete")
    expect(page.locator("status-bar")).to_contain_text("1 error")
    expect(hint).to_contain_text("The script ends with an error at line")


@pytest.mark.nightly
def test_a_kernel_without_a_launch_is_compiled_at_once_and_its_guesses_can_be_changed(
    visitor: Visitor,
) -> None:
    page = visitor()
    open_result(page, SCALE)
    unfold_launch(page)
    page.get_by_label("warps", exact=True).fill("8")
    set_source(page, KERNEL + TRANSPOSE)
    expect(page.locator("#subject b")).to_have_text("scale", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    expect(page.locator("launch-panel h2")).to_have_text("Launch · guessed")
    expect(page.get_by_label("warps", exact=True)).to_have_value("")
    expect(page.get_by_label("Type of x_ptr")).to_have_value("*fp32")
    expect(page.get_by_label("Type of factor")).to_have_value("fp32")
    expect(page.get_by_label("Specialization of n", exact=True)).to_have_value("divisible by 16")
    expect(page.locator("abbr.guess")).to_have_count(4)
    expect(page.locator("abbr.guess").first).to_have_attribute("title", re.compile(r"address .* line 9\."))

    page.get_by_label("Kernel", exact=True).select_option("transpose")
    expect(page.locator("#subject b")).to_have_text("transpose", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    block = page.get_by_label("Value of BLOCK_M")
    expect(block).to_have_value("64")
    block.fill("32")
    expect(page.locator("launch-panel h2")).to_have_text("Launch · by hand")
    expect(page.locator("launch-panel .state-hint")).to_contain_text("6 of 7 arguments are guessed")
    expect(block).to_be_focused()
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("32x64xf32", timeout=60_000)
    wait_for_result(page)


def test_a_source_without_a_kernel_is_told_from_one_that_cannot_be_read(visitor: Visitor) -> None:
    page = visitor()
    for source, title, words in (
        ("x = 1\n", "Launch · no kernel found", "@triton.jit or @gluon.jit"),
        ("def f(:\n", "Launch · source error", "Line 1: "),
    ):
        page.add_init_script(f"localStorage.setItem('draft', JSON.stringify({{source: {source!r}}}))")
        page.goto("/")
        expect(page.locator("launch-panel h2")).to_have_text(title, timeout=COMPILE_TIMEOUT_MS)
        expect(page.locator("launch-panel .state-hint")).to_contain_text(words)


@pytest.mark.nightly
def test_the_launch_is_accessible_and_fits_a_phone(visitor: Visitor) -> None:
    page = visitor(375, 812)
    page.goto("/")
    wait_for_result(page)
    unfold_launch(page)
    page.get_by_role("button", name="Several…").click()
    expect(page.get_by_role("region", name="Several targets")).to_be_visible()
    expect_fits(page.locator("html"))
    page.get_by_role("button", name="M, N, K").click()
    page.get_by_role("button", name="Try values…").click()
    page.get_by_label("Values of num_warps").fill("2, 4")
    page.get_by_label("Values of num_stages").fill("none")
    expect(page.get_by_role("alert").filter(has_text="none is not a whole number")).to_be_visible()
    page.get_by_role("button", name="More options").click()
    expect(page.get_by_label("(ptx_options)")).to_be_visible()
    expect_accessible(page, "launch-panel", schemes=THEMES)
    page.get_by_label("Launch", exact=True).select_option("form")
    expect(page.get_by_label("Value of BLOCK_M")).to_be_visible()
    expect(page.get_by_label("(ptx_options)")).to_be_visible()
    expect_fits(page.locator("html"))
    page.get_by_label("Value of M", exact=True).fill("nonsense")
    expect(page.get_by_role("alert").filter(has_text="i32 takes a whole number")).to_be_visible()
    expect_accessible(page, "launch-panel", schemes=THEMES)


def test_figures_say_that_arguments_are_guessed_until_they_are_confirmed(visitor: Visitor) -> None:
    page = visitor()
    open_result(page, KERNEL, "#panes=resources")
    heading = page.get_by_role("heading", name="Resources of the binary")
    mark = "heading => getComputedStyle(heading, '::after').content"
    expect(page.locator("launch-panel h2")).to_have_text("Launch · guessed")
    assert heading.evaluate(mark) == '"guessed arguments"'
    unfold_launch(page)
    page.get_by_role("button", name="Confirm the guesses").click()
    expect(page.locator("launch-panel h2")).to_have_text("Launch · by hand")
    wait_for_result(page)
    eventually(lambda: heading.evaluate(mark), "none")
    expect(page.get_by_label("Type of x_ptr")).to_have_value("*fp32")


def test_a_script_that_reads_arguments_has_a_field_for_them(visitor: Visitor) -> None:
    page = visitor()
    script = f"import argparse\n{SCALE}".replace(
        "x = torch",
        "parser = argparse.ArgumentParser()\nparser.add_argument('--rows', type=int, required=True)\n"
        "rows = parser.parse_args().rows\nx = torch",
    ).replace("4095", "rows")
    page.goto("/")
    wait_for_result(page)
    set_source(page, script)
    title = page.locator("launch-panel h2")
    expect(title).to_have_text("Launch · guessed", timeout=COMPILE_TIMEOUT_MS)
    field = page.get_by_label("script arguments")
    unfold_launch(page)
    field.fill("--rows 4095")
    field.press("Enter")
    page.keyboard.press("Control+Enter")
    expect(title).to_have_text(re.compile("Launch · found at line"), timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    page.reload()
    wait_for_result(page)
    expect(field).to_have_value("--rows 4095")
