"""Test the page by keyboard only, in both themes, and with hostile texts."""

from __future__ import annotations

import re

import pytest
from actions import (
    Hold,
    Visitor,
    expect_accessible,
    expect_fits,
    expect_lit,
    expect_stage,
    open_result,
    run_command,
    set_source,
    settled_box,
    unfold_launch,
    wait_for_result,
)
from playwright.sync_api import expect

ESCAPE, RIGHT_TO_LEFT = "\x1b[31m", "\u202e"
LONG_LINE_CHARACTERS = 900_000
HOSTILE = f"""import torch
import triton
import triton.language as tl

# </script><script>document.title = "owned"</script> {RIGHT_TO_LEFT}
MARKUP = "<img src=x onerror=document.title='owned'>"
print(MARKUP, "\\x1b[31mred\\x1b[0m", "\\u202egpj.exe", "</script><script>document.title='owned'</script>")
print("x" * {LONG_LINE_CHARACTERS})


@triton.jit
def hostile(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 0, "</script><b>")
    offsets = tl.arange(0, BLOCK)
    tl.device_print("</script><script>document.title='owned'</script>", offsets)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)


hostile[(1,)](torch.empty(256, device="cuda"), BLOCK=256)
"""

#: Names and messages with characters that reorder or hide the text behind them.
TURNED = """import torch
import triton
import triton.language as tl

print("printed\\u202egpj.exe")


@triton.autotune(
    configs=[triton.Config({"MODE": mode}) for mode in ("first\\u202egpj", "second\\u2066\\u200b")],
    key=[],
)
@triton.jit
def turned(x_ptr, BLOCK: tl.constexpr, MODE: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)


def reference(x_ptr, **_):
    raise ValueError("refused\\u202egpj")


turned[(1,)](torch.empty(256, device="cuda"), BLOCK=256)
"""
#: All that is shown or read out but for the editor, with characters that are not seen in it.
UNSEEN = r"""() => {
  const found = [document.title];
  for (const element of document.body.querySelectorAll(":not(script, style, .cm-editor, .cm-editor *)")) {
    found.push(element.title ?? "", element.ariaLabel ?? "");
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
  }
  return found.filter(text => /\p{Cf}/u.test(text));
}"""


@pytest.mark.nightly
def test_every_pane_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor(1280, 720)
    page.goto("/")
    wait_for_result(page)

    run_command(page, "open the gallery")
    menu = page.locator("#gallery-menu")
    expect(menu.locator("button").first).to_be_focused()
    expect_accessible(page, "#gallery-menu")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(menu).to_be_hidden()
    expect(page.locator("#subject b")).to_have_text("add_kernel", timeout=60_000)
    page.keyboard.press("Control+Enter")
    wait_for_result(page)

    page.keyboard.press("Alt+3")
    ttgir = page.get_by_role("group", name="TTGIR, ")
    run_command(page, "go to the active pane")
    expect(ttgir).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("tt.load")
    expect(page.locator("pane-stage.hue-ttgir .count")).to_have_text(re.compile(r"^1 of \d+$"))
    page.keyboard.press("Escape")
    expect(ttgir).to_be_focused()

    for _ in range(60):
        page.keyboard.press("ArrowDown")
        # The cursor is drawn in one of the next two frames.
        page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        if "tt.load" in (page.locator("pane-stage.hue-ttgir .is-cursor").text_content() or ""):
            break
    expect_lit(page, "tl.load")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-line.is-pinned")).to_have_text(re.compile("tl.load"))
    expect(page).to_have_url(re.compile(r"pin=\d+"))

    run_command(page, "show passes")
    expect(page.locator("pane-passes [role=option]").first).to_be_visible()
    run_command(page, "show resources")
    expect(page.locator("pane-resources")).to_contain_text("Registers per thread")
    run_command(page, "show log")
    expect(page.locator("pane-log")).to_be_visible()
    # The whole page of a first visit is checked elsewhere. Here, the other panes are behind their tabs.
    expect_accessible(page, "pane-log", ".dv-tabs-and-actions-container")

    run_command(page, "share")
    share = page.locator("#share-menu")
    expect(share).to_be_visible()
    expect_accessible(page, "#share-menu")
    page.keyboard.press("Escape")
    expect(share).to_be_hidden()


def test_the_first_lesson_has_the_focus_although_tours_come_late(visitor: Visitor, hold: Hold) -> None:
    page = visitor()
    held = hold(page, "**/api/v1/tours")
    page.goto("/")
    wait_for_result(page)
    run_command(page, "learn: tours")
    menu = page.locator("#learn-menu")
    glossary = menu.get_by_role("link", name="Glossary")
    expect(glossary).to_be_focused()
    expect(glossary).to_have_attribute("href", "/glossary")
    expect(menu).not_to_contain_text("Tours:")
    held.pop().continue_()
    expect(menu).to_contain_text("Tours:")
    expect(menu).to_contain_text("Exercises:")
    expect(menu.locator("button").first).to_be_focused()
    expect_accessible(page, "#learn-menu")
    # The focus follows who opens a lesson by a key.
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Tour", exact=True)).to_be_focused()


def test_a_narrow_window_has_its_hidden_buttons_first_in_the_palette(visitor: Visitor) -> None:
    page = visitor(width=375, height=812)
    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Find a command").click()
    expect(page.locator(".palette-option").first).to_contain_text("Learn: tours and exercises")


def test_the_status_bar_says_that_findings_are_computed(visitor: Visitor, hold: Hold) -> None:
    page = visitor()
    held = hold(page, "**/findings*")
    page.goto("/")
    wait_for_result(page)
    status = page.get_by_role("contentinfo", name="Result")
    expect(status.get_by_role("button", name="checking …")).to_be_visible()
    for each in held:
        each.continue_()
    expect(status.get_by_role("button", name=re.compile(r"^(no|\d+) findings?\b"))).to_be_visible()


@pytest.mark.nightly
def test_menus_and_dialogs_fit_the_window(visitor: Visitor) -> None:
    page = visitor(1280, 720)
    page.goto("/")
    wait_for_result(page)

    def fits(selector: str) -> None:
        element = page.locator(selector)
        expect(element).to_be_visible()
        box = settled_box(element)
        size = page.viewport_size
        assert size
        assert box["x"] >= 0, (selector, size)
        assert box["x"] + box["width"] <= size["width"], (selector, size)
        assert box["y"] + box["height"] <= size["height"], (selector, size)
        expect_fits(page.locator("html"))

    for width, height in ((1280, 720), (375, 812)):
        page.set_viewport_size({"width": width, "height": height})
        for words, selector in (
            ("open the gallery", "#gallery-menu"),
            ("learn: tours", "#learn-menu"),
            ("share", "#share-menu"),
        ):
            run_command(page, words)
            fits(selector)
            if selector == "#learn-menu" and width == 1280:
                assert page.locator(selector).evaluate("menu => menu.scrollHeight <= menu.clientHeight")
            page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        fits("dialog.palette")
        page.keyboard.press("Escape")
        page.keyboard.press("Shift+?")
        fits("#help")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Add a pane here").first.click()
        fits("#pane-menu")
        page.keyboard.press("Escape")


def test_what_is_in_front_is_in_sight_in_its_bar_and_on_the_path(visitor: Visitor) -> None:
    page = visitor(375, 812)
    page.goto("/#panes=stage:ttir")
    wait_for_result(page)
    for pane in ("passes", "layouts", "memory", "registers", "graph"):
        run_command(page, f"show {pane}")
        # The first hidden tab is replaced by a button that leads to the hidden tabs.
        page.wait_for_function(
            """() => {
                const tabs = document.querySelector(".dv-tabs-container");
                const bar = tabs.getBoundingClientRect();
                const tab = tabs.querySelector(".dv-active-tab").getBoundingClientRect();
                return tab.left >= bar.left - 1 && tab.right <= bar.right + 1;
            }"""
        )
    run_command(page, "show sass")
    page.wait_for_function(
        """() => {
            const node = document.querySelector("pipeline-path [aria-pressed=true]").getBoundingClientRect();
            return node.left >= 0 && node.right <= innerWidth;
        }"""
    )


def test_hostile_texts_are_only_ever_text(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    set_source(page, HOSTILE)
    expect(page.locator("#subject b")).to_have_text("hostile", timeout=60_000)
    wait_for_result(page)
    expect(page).to_have_title(re.compile("^hostile"))
    run_command(page, "show log")
    output = page.locator("pane-log .output pre")
    expect(output.filter(has_text="<img src=x onerror")).to_have_count(1)
    expect(output.filter(has_text="</script><script>").first).to_be_visible()
    assert page.locator("pane-log img, pane-log script, pane-stage script").count() == 0
    for stage in ("Python AST", "TTIR", "TTGIR", "LLVM IR", "PTX", "SASS"):
        page.locator(".node", has_text=stage).click()
        expect(page.get_by_role("group", name=f"{stage}, ").locator(".code span").first).to_be_visible()
    expect_stage(page, "SASS", "hostile")
    assert page.title().startswith("hostile")


def test_characters_that_turn_a_text_are_shown_as_escapes(visitor: Visitor) -> None:
    page = visitor()
    open_result(page, TURNED, "#panes=log@50+run@50")
    expect(page.locator("#subject b")).to_have_text("turned")
    expect(page.locator("pane-log")).to_contain_text(r"printed\u202egpj.exe")
    assert page.evaluate(UNSEEN) == []
    unfold_launch(page)
    page.get_by_role("button", name="Several").click()
    expect(page.get_by_text(r"first\u202egpj").first).to_be_visible()
    expect(page.get_by_text(r"second\u2066\u200b").first).to_be_visible()
    assert page.evaluate(UNSEEN) == []
    page.keyboard.press("Escape")
    run = page.locator("pane-run")
    run.get_by_role("button", name="Run", exact=True).click()
    expect(run).to_contain_text(r"refused\u202egpj", timeout=60_000)
    assert page.evaluate(UNSEEN) == []


@pytest.mark.nightly
def test_a_line_of_a_megabyte_leaves_the_page_in_hand(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    # A string constant stands on one line of the parsed source, and in the editor.
    long = HOSTILE.replace('"</script><b>"', '"' + "w" * LONG_LINE_CHARACTERS + '"')
    set_source(page, long)
    expect(page.locator("#subject b")).to_have_text("hostile", timeout=60_000)
    wait_for_result(page)
    page.keyboard.press("Alt+1")
    tree = page.get_by_role("group", name="Python AST, ")
    expect(tree.locator(".code", has_text="wwww").first).to_be_attached()
    page.keyboard.press("Alt+3")
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("tt.func")
