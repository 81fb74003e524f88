"""Test sources other than Python: a pasted text of a stage, and a dropped cubin."""

from __future__ import annotations

import re

import pytest
from actions import (
    COMPILE_TIMEOUT_MS,
    Visitor,
    compile_now,
    compiled,
    drop,
    eventually,
    expect_stage,
    open_result,
    result_id,
    run_command,
    wait_for_result,
    whole_text,
)
from playwright.sync_api import Page, expect

from explorer.examples import find_example


def compile_another(page: Page, source: str) -> None:
    """Compile a source, and wait until its result is complete."""
    before = result_id(page)
    compile_now(page, source)
    expect(page).not_to_have_url(re.compile(f"/k/{before}"), timeout=COMPILE_TIMEOUT_MS)
    expect_complete(page)


def expect_complete(page: Page) -> None:
    """Wait until the result that the address names is complete."""
    address = f"/api/v1/compilations/{result_id(page)}"
    eventually(lambda: page.request.get(address).json()["status"], "complete")


@pytest.mark.nightly
def test_the_text_of_a_stage_and_a_cubin_give_the_machine_code_of_the_original(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    compile_another(page, find_example("softmax").source)
    text, machine_code = "\n".join(whole_text(page, "ttgir")), whole_text(page, "sass")
    cubin = page.request.get(f"/api/v1/compilations/{result_id(page)}/binary").body()
    assert machine_code[0] == "softmax_kernel:"

    compile_another(page, text)
    assert whole_text(page, "sass") == machine_code
    expect(page.locator("launch-panel")).to_contain_text("Launch · none")

    compile_now(page, text.replace('"cuda:90"', '"cuda:80"'))
    line = page.locator(".cm-line", has_text='"cuda:80"')
    expect(line.locator(".cm-lintRange-error")).to_have_count(1, timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("message-banner")).to_contain_text("The text is for cuda:80, not for cuda:90.")

    drop(page, {"softmax.cubin": cubin})
    page.get_by_role("table").get_by_role("link", name="softmax_kernel").click()
    page.wait_for_url(re.compile("/k/"))
    expect_complete(page)
    assert whole_text(page, "sass") == machine_code
    expect(page.locator("#subject b")).to_have_text("softmax_kernel")
    run_command(page, "Show Run")
    expect(page.locator("pane-run")).to_contain_text("The source of this kernel is missing.")
    expect(page.locator("pane-run").get_by_role("button", name="Run", exact=True)).to_have_count(0)


@pytest.mark.nightly
def test_pasted_ptx_is_shown_in_place_of_the_stages_before_it(visitor: Visitor) -> None:
    page = visitor()
    softmax = compiled(page, find_example("softmax").source)
    ptx = page.request.get(f"/api/v1/compilations/{softmax}/stages/ptx").text()
    open_result(page, ptx)
    expect_stage(page, "PTX", ".visible .entry softmax_kernel")
    tabs = page.get_by_role("tab")
    # One in each group: TTIR, TTGIR and LLVM IR would show the same.
    expect(tabs.filter(has_text="PTX", visible=True)).to_have_count(2)
    expect(tabs.filter(has_text="TTGIR")).to_have_count(0)
    found = re.compile(r"No static problem found by the \d+ checks that this result allows")
    expect(page.locator("pane-findings")).to_contain_text(found)

    # The arrow keys go along the tabs that are shown, and Delete closes one pane.
    tabs = page.get_by_role("tablist").first.get_by_role("tab", include_hidden=True)
    shown = tabs.filter(visible=True)
    expect(shown).to_have_text([re.compile("PTX"), re.compile("Passes")])
    shown.first.focus()
    page.keyboard.press("ArrowRight")
    expect(shown.last).to_be_focused()
    page.keyboard.press("Home")
    expect(shown.first).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Delete")
    expect(tabs).to_have_count(3)
    expect(shown).to_have_count(1)
    expect(shown).to_be_focused()
