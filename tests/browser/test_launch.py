"""The launch panel: arguments, configurations and targets, as a user fills them in and reads them."""

from __future__ import annotations

import re

import pytest
from actions import COMPILE_TIMEOUT_MS, Visitor, open_example, set_source, wait_for_result
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

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
TUNED = SCALE.replace(
    "@triton.jit",
    '@triton.autotune([triton.Config({"BLOCK": size}) for size in (128, 100, 256)], key=["n"])\n@triton.jit',
).replace(", BLOCK=1024", "")


def configs(page: Page) -> Locator:
    """The rows of the table of configurations."""
    return page.get_by_role("region", name="Autotune configurations").locator("tr.variant")


def compile_all(page: Page, region: str) -> None:
    """Compile all rows of a table, and wait for the last one."""
    section = page.get_by_role("region", name=region)
    section.get_by_role("button", name=re.compile("^Compile ")).click()
    expect(section.get_by_role("button", name="Cancel")).to_be_hidden(timeout=3 * COMPILE_TIMEOUT_MS)


def numbers(page: Page, column: str) -> list[int]:
    """What a column of the configurations shows, from top to bottom."""
    return [int(text) for text in configs(page).locator(f".column-{column}").all_inner_texts()]


def by_hand(page: Page, source: str = SCALE) -> None:
    """Edit the arguments of a source by hand."""
    set_source(page, source)
    expect(page.locator("#subject b")).to_have_text("scale", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    page.get_by_label("Launch", exact=True).select_option("form")
    expect(page.get_by_label("Value of BLOCK")).to_have_value("1024")
    wait_for_result(page)


def test_all_configurations_compile_sort_and_open(page: Page) -> None:
    expect(configs(page)).to_have_count(7)
    compile_all(page, "Autotune configurations")
    expect(page.get_by_role("button", name="All compiled")).to_be_disabled()
    assert len(set(numbers(page, "registers"))) > 2
    expect(configs(page).first.locator(".column-shared")).to_have_text(re.compile(r"\d+ KiB"))
    section = page.get_by_role("region", name="Autotune configurations")

    section.get_by_role("button", name="Registers per thread").click()
    assert numbers(page, "registers") == sorted(numbers(page, "registers"))
    section.get_by_role("button", name="Registers per thread").click()
    assert numbers(page, "registers") == sorted(numbers(page, "registers"), reverse=True)
    expect(section.get_by_role("columnheader", name="Registers per thread")).to_have_attribute(
        "aria-sort", "descending"
    )
    section.get_by_role("button", name="Stages", exact=True).click()
    assert numbers(page, "num_stages") == sorted(numbers(page, "num_stages"))

    row = configs(page).filter(has=page.get_by_role("button", name="configuration 6"))
    registers = row.locator(".column-registers").inner_text()
    before = page.url
    row.get_by_role("button").click()
    expect(page).not_to_have_url(before)
    wait_for_result(page)
    expect(row).to_have_attribute("aria-current", "true")
    expect(page.locator("status-bar .facts")).to_contain_text(f"registers {registers}")


def test_what_was_compiled_is_remembered_while_the_source_changes(page: Page) -> None:
    compile_all(page, "Autotune configurations")
    before = numbers(page, "registers")
    set_source(page, SCALE)
    expect(configs(page)).to_have_count(0)
    wait_for_result(page)
    open_example(page, "Matrix multiplication, autotuned")
    expect(page.get_by_role("button", name="All compiled")).to_be_visible()
    assert numbers(page, "registers") == before


def test_compiling_all_can_be_cancelled(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    # A source of its own, so that nothing of it is stored yet.
    sizes = ", ".join(str(2**power) for power in range(4, 14))
    set_source(page, TUNED.replace("128, 100, 256", sizes) + "import time; time.sleep(2)\n")
    expect(configs(page)).to_have_count(10, timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    section = page.get_by_role("region", name="Autotune configurations")
    section.get_by_role("button", name="Compile the other 9").click()
    expect(section.get_by_role("progressbar")).to_be_visible()
    expect(section.get_by_role("status")).to_have_text(re.compile(r"^\d of 9$"))
    expect(section.get_by_role("button", name=re.compile(", compiling|, has come to"))).not_to_have_count(0)
    with page.expect_request(lambda request: request.method == "DELETE"):
        section.get_by_role("button", name="Cancel").click()
    expect(section.get_by_role("progressbar")).to_be_hidden()
    expect(section.get_by_role("button", name=re.compile(", waits|, compiling"))).to_have_count(0)
    expect(section.get_by_role("button", name=re.compile("^Compile the other"))).to_be_enabled()
    expect(page.locator("status-bar .state")).to_have_class("state is-complete")


def test_a_configuration_that_fails_says_why_in_its_row(page: Page) -> None:
    set_source(page, TUNED)
    expect(configs(page)).to_have_count(3, timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    compile_all(page, "Autotune configurations")
    failed = page.locator("launch-panel tbody", has=page.locator("tr.is-failed"))
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text("power of 2")
    expect(page.locator("launch-panel .progress-words").last).to_have_text("1 failure")
    expect(page.locator("tr.variant.is-complete")).to_have_count(2)


def test_several_targets_and_versions_are_compiled_and_compared(page: Page) -> None:
    set_source(page, SCALE)
    expect(page.locator("#subject b")).to_have_text("scale", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    page.get_by_role("button", name="Several…").click()
    section = page.get_by_role("region", name="Several targets")
    expect(section.get_by_role("group", name="NVIDIA").get_by_label("sm_90")).to_be_checked()
    section.get_by_role("group", name="AMD").get_by_label("gfx942").check()
    for version in ("3.9.0", "3.6.0"):
        section.get_by_role("group", name="Triton").get_by_label(version).check()
    rows = section.locator("tr.variant")
    expect(rows).to_have_count(4)
    compile_all(page, "Several targets")
    expect(section.locator("tr.variant.is-complete")).to_have_count(4)

    for words in ("sm_90 by Triton 3.9.0", "gfx942 by Triton 3.6.0"):
        section.get_by_role("checkbox", name=re.compile(f"Compare .*{re.escape(words)}")).check()
    link = section.get_by_role("link", name="Compare")
    expect(link).to_have_attribute("href", re.compile(r"^/compare/\w{12}\.\.\w{12}$"))
    section.get_by_role("button", name=re.compile(r"gfx942 by Triton 3\.6\.0")).click()
    expect(page.locator("#subject")).to_contain_text("gfx942  ·  Triton 3.6.0")
    wait_for_result(page)
    assert page.url.split("#")[0].endswith((link.get_attribute("href") or "").rpartition("..")[2])

    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Several…").click()
    expect(section.get_by_role("group", name="AMD").get_by_label("gfx942")).to_be_checked()


def test_a_bad_value_stays_in_its_cell_and_is_not_sent(page: Page) -> None:
    by_hand(page)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    value = page.get_by_label("Value of n", exact=True)
    value.fill("99999999999")
    message = page.locator("launch-panel").get_by_role("alert")
    expect(message.filter(has_text="i32 goes from −2147483648 to 2147483647.")).to_be_visible()
    expect(value).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Control+Enter")
    expect(page.locator("message-banner")).to_contain_text("n: i32 goes from")
    assert [url for url in sent if url.endswith("/compilations")] == []

    page.goto("/")
    expect(value).to_have_value("99999999999")
    expect(message.filter(has_text="i32 goes from")).to_be_visible()
    expect(page.locator("launch-panel h2")).to_have_text("Launch · by hand")
    value.fill("4096")
    expect(page.locator("#subject b")).to_have_text("scale", timeout=COMPILE_TIMEOUT_MS)
    wait_for_result(page)
    expect(page.get_by_label("Specialisation of n", exact=True)).to_have_value("divisible by 16")


def test_cells_are_checked_by_their_type(page: Page) -> None:
    by_hand(page)
    specialization = page.get_by_label("Specialisation of n", exact=True)
    expect(specialization).to_have_value("")
    specialization.select_option("divisible by 16")
    expect(page.get_by_role("alert").filter(has_text="4095 is not a multiple of 16.")).to_be_visible()
    page.get_by_label("Value of n", exact=True).fill("1")
    expect(specialization).to_have_value("equal to 1")
    page.get_by_label("Type of x_ptr").fill("*fp17")
    expect(page.get_by_role("alert").filter(has_text="*fp17 is no type of Triton's.")).to_be_visible()
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


def test_drafts_keep_mode_arguments_and_options(page: Page) -> None:
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


def test_the_panel_says_where_the_arguments_come_from(page: Page) -> None:
    title, hint = page.locator("launch-panel h2"), page.locator("launch-panel .state-hint")
    set_source(page, SCALE)
    expect(title).to_have_text("Launch · found at line 14", timeout=COMPILE_TIMEOUT_MS)
    page.get_by_label("Launch", exact=True).select_option("signature")
    expect(title).to_have_text("Launch · by signature")
    page.get_by_label("Launch", exact=True).select_option("0")
    expect(title).to_have_text("Launch · found at line 14")
    set_source(page, SCALE.replace("import torch", "import torch ("))
    expect(hint).to_contain_text("cannot be read as it is (line 1)", timeout=COMPILE_TIMEOUT_MS)
    set_source(page, "import os\nos._exit(3)\n" + SCALE)
    page.keyboard.press("Control+Enter")
    wait_for_result(page, "failed")
    expect(title).to_have_text("Launch · found at line 14")
    expect(hint).to_have_text("The source cannot be read as it is: this is what it launched before.")
    set_source(page, KERNEL)
    expect(title).to_have_text("Launch · guessed", timeout=COMPILE_TIMEOUT_MS)
    expect(hint).to_contain_text("No launch in the source")


@pytest.mark.parametrize(
    ("source", "title", "words"),
    [
        ("x = 1\n", "Launch · no kernel found", "@triton.jit or @gluon.jit"),
        ("def f(:\n", "Launch · source unreadable", "Line 1: "),
    ],
)
def test_a_source_without_a_kernel_is_told_from_one_that_cannot_be_read(
    visitor: Visitor, source: str, title: str, words: str
) -> None:
    page = visitor()
    page.add_init_script(f"localStorage.setItem('draft', JSON.stringify({{source: {source!r}}}))")
    page.goto("/")
    expect(page.locator("launch-panel h2")).to_have_text(title, timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("launch-panel .state-hint")).to_contain_text(words)


def test_an_argument_is_explained_by_keyboard(page: Page) -> None:
    name = page.get_by_role("button", name="M, N, K")
    name.focus()
    page.keyboard.press("Enter")
    about = page.locator(f"#{name.get_attribute('aria-controls')}")
    expect(about).to_contain_text("2048 is 16 × 128")
    expect(name).to_have_attribute("aria-expanded", "true")
    pointers = page.get_by_role("button", name="a_ptr, b_ptr, c_ptr")
    expect(pointers).to_have_attribute("title", re.compile("strides 2048, 1 in elements: contiguous"))
    expect(pointers).to_have_attribute("title", re.compile("multiple of 16 bytes.*8 elements"))
    expect(page.get_by_role("row", name="BLOCK_K constexpr")).to_contain_text("64 elements")


def test_a_configuration_is_opened_by_keyboard_alone(page: Page) -> None:
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="What to do")).to_be_focused()
    page.keyboard.type("go to the launch")
    page.keyboard.press("Enter")
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
    expect(focused).to_have_accessible_name(re.compile("configuration 6"))


def test_the_launch_fits_a_phone(visitor: Visitor) -> None:
    page = visitor(375, 812)
    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Show the launch").click()
    page.get_by_role("button", name="Several…").click()
    expect(page.get_by_role("region", name="Several targets")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    page.get_by_label("Launch", exact=True).select_option("form")
    expect(page.get_by_label("Value of BLOCK_M")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 375


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_launch_is_accessible(visitor: Visitor, theme: str) -> None:
    page = visitor(
        color_scheme="light" if theme == "light" else "dark",
        contrast="more" if theme == "contrast" else "no-preference",
    )
    page.goto("/")
    wait_for_result(page)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)

    def violations() -> list[tuple[str, str]]:
        found = Axe().run(page, context={"include": [["launch-panel"]]}).response["violations"]
        return [(each["id"], node["html"][:160]) for each in found for node in each["nodes"]]

    page.get_by_role("button", name="Several…").click()
    page.get_by_role("button", name="M, N, K").click()
    assert violations() == []
    page.get_by_label("Launch", exact=True).select_option("form")
    page.get_by_label("Value of M", exact=True).fill("nonsense")
    expect(page.get_by_role("alert").filter(has_text="i32 takes a whole number")).to_be_visible()
    assert violations() == []
