"""Test a program whose kernels PyTorch's compiler writes."""

from __future__ import annotations

import re
import uuid

import pytest
from actions import COMPILE_TIMEOUT_MS, Visitor, compile_now, compiled, wait_for_result
from playwright.sync_api import Page, expect
from sources import TORCH_PROGRAM

PROGRAM = """import torch


@torch.compile
def scaled(x):
    return torch.relu(x) * 2


scaled(torch.randn(4096, device="cuda"))
"""


@pytest.fixture(scope="module")
def program() -> str:
    """A program of this process alone, which the first test compiles for the other."""
    return f"{PROGRAM}# {uuid.uuid4()}\n"


@pytest.mark.nightly
def test_the_kernels_of_a_program_are_opened_from_the_message(page: Page, program: str) -> None:
    compile_now(page, program)
    status = page.get_by_role("contentinfo", name="Result")
    # The sandbox of such programs is started by the first one.
    expect(status).to_contain_text(re.compile("executing the program|starting the sandbox"))
    expect(status).to_contain_text("1 kernel found in", timeout=3 * COMPILE_TIMEOUT_MS)
    expect(page.locator("status-bar .state")).to_have_class("state is-kernels_found")
    expect(page.locator("pipeline-path .is-failed")).to_have_count(0)
    expect(page.get_by_text("failed")).to_have_count(0)
    expect(page.locator("launch-panel")).to_contain_text("Launch · 1 kernel found")
    expect(page.locator("#subject b")).to_have_text("1 kernel found")
    message = page.get_by_role("alert").filter(has_text="A compiler writes the kernels of this program")
    expect(message).to_have_class("is-note")
    page.get_by_role("button", name="History").click()
    row = page.locator(".history-entry").first
    expect(row).to_contain_text("torch.compile")
    expect(row.get_by_role("img", name="kernels found")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Log").click()
    expect(page.locator(".log .is-error")).to_have_count(0)
    message.get_by_role("button", name="Open the kernels").click()
    expect(page.locator("#subject b")).to_have_text(
        re.compile("^triton_poi_fused"), timeout=COMPILE_TIMEOUT_MS
    )
    expect(page.get_by_role("tab", name="program.py")).to_be_visible()
    expect(message).to_have_count(0)


def test_no_pane_says_that_a_program_failed(page: Page) -> None:
    page.goto(f"/k/{compiled(page, TORCH_PROGRAM)}")
    wait_for_result(page, "kernels_found")
    for kind in page.request.get("/page.json").json()["panes"]:
        name = kind["name"]
        page.evaluate("pane => document.dispatchEvent(new CustomEvent('pane-open', {detail: pane}))", name)
        pane = page.locator(f"pane-{name.replace('_', '-')}:visible").first
        words = "compiler writes the kernels of this program" if name == "log" else "The program itself "
        expect(pane).to_contain_text(words)
        expect(pane).not_to_contain_text(re.compile("failed|stopped|try again", re.IGNORECASE))


@pytest.mark.nightly
def test_a_comparison_says_which_kernels_a_program_has_and_opens_them(visitor: Visitor, program: str) -> None:
    page = visitor()
    result = compiled(page, program)
    page.goto(f"/compare/{result}..{result}")
    before = page.get_by_role("region", name="Before")
    expect(before.get_by_role("status")).to_contain_text("1 kernel found in", timeout=3 * COMPILE_TIMEOUT_MS)
    expect(page.get_by_text("failed")).to_have_count(0)
    before.get_by_role("button", name="Open the kernels").click()
    expect(page.locator("#subject b")).to_have_text(
        re.compile("^triton_poi_fused"), timeout=COMPILE_TIMEOUT_MS
    )
    expect(page.get_by_role("tab", name="program.py")).to_be_visible()
