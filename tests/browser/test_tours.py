"""Test the tours: a step asks, shows its place, and follows the reader's edits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from actions import (
    Hold,
    Visitor,
    compiled,
    editor_line,
    expect_stage,
    run_command,
    violations,
    wait_for_result,
)
from playwright.sync_api import Page, expect
from tritons import TRITONS

from explorer.examples import find_example

#: The address of the file of the first tour, without the version.
SAVED = "/api/v1/tours/programs/export.html?triton="


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """A first visit, which takes the tour that is offered."""
    page = visitor()
    page.goto("/")
    page.get_by_role("button", name="Take a tour").click()
    return page


@pytest.mark.nightly
def test_a_tour_asks_shows_and_follows_changes(page: Page) -> None:
    card = page.get_by_role("region", name="Tour")
    claims = card.get_by_role("list")
    expect(claims).to_contain_text("number of the program 1")
    expect(card.get_by_text("Step 1 of 7")).to_be_visible()
    expect_stage(page, "TTIR", "tt.get_program_id")
    card.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile(r"pin=\d"))
    card.get_by_role("button", name="Next").click()
    # It asks first.
    expect(card.get_by_text("How many elements does each thread add?")).to_be_visible()
    expect(claims).to_have_count(0)
    card.get_by_label("Your answer").fill("4")
    card.get_by_role("button", name="Answer").click()
    expect(card.get_by_role("status")).to_contain_text(re.compile(r"Not quite: 4\.\s+The answer: 8\."))
    expect_stage(page, "TTGIR", "#blocked = ")
    expect(page).to_have_url(re.compile(r"tour=programs\.3"))
    # This place comes from no line of the source, so that of the step before is let go.
    expect(page).not_to_have_url(re.compile("pin="))
    # A change of the kernel changes the number.
    line = editor_line(page, "block_size = 1024")
    line.dblclick()
    line.click()
    page.keyboard.press("End")
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    # One change, so that no part of it is compiled.
    page.keyboard.insert_text("512")
    expect(claims).to_contain_text("8 → 4")
    card.get_by_role("button", name="Back to the kernel of the tour").click()
    expect(claims).to_contain_text("in PTX 8")
    card.get_by_role("button", name="Leave the tour").click()
    expect(card).to_have_count(0)
    expect(page).not_to_have_url(re.compile("tour="))
    # A layout leads to the step that teaches it.
    run_command(page, "Show Layouts")
    page.locator("pane-layouts").get_by_role("link", name="Tour: What is a program?, step 3").click()
    expect(card.get_by_text("Step 3 of 7")).to_be_visible()


@pytest.mark.nightly
def test_a_link_to_a_step_opens_it_and_its_places(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#tour=layouts.4")
    card = page.get_by_role("region", name="Tour")
    card.get_by_role("button", name="Show me").click()
    wait_for_result(page)
    expect(card.get_by_role("status")).to_contain_text("The answer: 32.")
    expect(page.locator("#subject")).to_contain_text("copy_strided_kernel")
    expect_stage(page, "PTX", "ld.global.b32")
    page.keyboard.press("<")
    expect(card).to_contain_text("Step 3 of 6")

    # The second pane shows its line until the reader goes on.
    page.goto("about:blank")
    page.goto("/#tour=programs.4")
    ptx, sass = page.locator("pane-stage.hue-ptx"), page.locator("pane-stage.hue-sass")
    expect(ptx.locator(".text-row.is-cursor")).to_contain_text("ld.global.v4")
    expect(sass.locator(".text-row.is-cursor")).to_contain_text("LDG.E.128")
    expect(sass.locator(".text-row.is-cursor")).not_to_contain_text(re.compile(r"B-|/\*"))
    sass.locator(".text-row", has_text="CS2R").first.locator(".code").click()
    expect(sass.locator(".text-row.is-cursor")).to_contain_text("CS2R")
    ptx.locator(".text-row", has_text="mov.u32").first.locator(".code").click()
    expect(ptx.locator(".text-row.is-cursor")).to_contain_text("mov.u32")
    expect(sass.locator(".text-row.is-cursor")).to_contain_text("CS2R")

    # A step shows measurements after the answer.
    page.goto("about:blank")
    page.goto("/#tour=layouts.6")
    answer = card.get_by_role("button", name="12 times as long")
    expect(answer).to_be_visible()
    expect(card.get_by_role("table")).to_have_count(0)
    answer.click()
    expect(card.get_by_role("status")).to_contain_text("Right: 12 times as long.")
    expect(card.get_by_role("row", name="1 GiB, strided")).to_contain_text("6.11 ms")
    expect(card.get_by_role("list", name="Measured")).to_contain_text("neighbors, 1 GiB 12.1 ×")
    expect(card.get_by_role("figure")).to_contain_text("NVIDIA H200")
    assert violations(page, "tour-card") == []
    # A table without a peak has bars without a head.
    page.goto("about:blank")
    page.goto("/#tour=occupancy.5")
    card.get_by_role("button", name="Show me").click()
    expect(card.get_by_role("table")).to_be_visible()
    assert violations(page, "tour-card") == []


@pytest.mark.nightly
def test_steps_do_not_answer_each_other(visitor: Visitor, hold: Hold) -> None:
    # A step that is skipped does not answer the next.
    page = visitor()
    page.goto("/#tour=programs.1")
    card = page.get_by_role("region", name="Tour")
    expect(card.get_by_role("list").locator("b").first).to_have_text("1")
    held = hold(page, "**/api/v1/gallery/*")
    with page.expect_request("**/api/v1/gallery/*"):
        page.keyboard.press(">")
    page.keyboard.press(">")
    expect(card.get_by_role("button", name="Answer")).to_be_visible()
    with page.expect_response("**/api/v1/gallery/*"):
        held[0].continue_()
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(card.get_by_role("button", name="Answer")).to_be_visible(timeout=1)

    # Numbers are of the step itself, or none.
    page.unroute("**/api/v1/gallery/*")
    page.goto("about:blank")
    page.goto("/#tour=layouts.2")
    claims = card.get_by_role("list", name="Read from the result")
    expect(claims).to_contain_text(re.compile(r"\d"))
    # The next step is about another kernel, which is not compiled.
    page.route("**/api/v1/compilations?*", lambda route: route.fulfill(status=503, json={"title": "Full"}))
    page.keyboard.press(">")
    expect(card.get_by_text("Step 3 of 6")).to_be_visible()
    expect(claims.get_by_role("listitem").first).to_contain_text("…")


def test_the_place_of_a_step_is_in_front_on_a_telephone(visitor: Visitor) -> None:
    page = visitor(375, 800)
    page.goto("/#tour=ttir.2")
    expect(page.locator("pane-stage.hue-ttir .text-row.is-cursor")).to_be_visible(timeout=10_000)


@pytest.mark.nightly
def test_answers_stay_and_the_end_leads_to_the_next_tour(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    run_command(page, "What is a program?")
    card = page.get_by_role("region", name="Tour")
    expect(card).to_contain_text("Step 1 of 7")
    page.keyboard.press(">")
    page.keyboard.press(">")
    card.get_by_label("Your answer").fill("4")
    card.get_by_role("button", name="Answer").click()
    expect(card.get_by_role("status")).to_contain_text("Not quite: 4")
    card.get_by_role("button", name="Next").click()
    expect(card).to_contain_text("Step 4 of 7")
    card.get_by_role("button", name="Back").click()
    expect(card.get_by_role("status")).to_contain_text("Not quite: 4")
    for number in (4, 5, 6, 7):
        card.get_by_role("button", name="Next").click()
        expect(card).to_contain_text(f"Step {number} of 7")
    card.get_by_role("button", name="Show me").click()
    expect(card.get_by_role("link", name="Save this tour as a file")).to_have_attribute(
        "href", re.compile(rf"^{re.escape(SAVED)}[\d.]+$")
    )
    card.get_by_role("button", name="Next tour: From Python to TTIR").click()
    expect(card).to_contain_text("From Python to TTIR")
    expect(card).to_contain_text("Step 1 of 7")


@pytest.mark.nightly
def test_a_tour_that_cannot_be_saved_says_why(visitor: Visitor) -> None:
    page = visitor()
    page.route(
        re.compile(r"/tours/programs/results\?"), lambda route: route.fulfill(json=[None, *["known"] * 6])
    )
    page.goto("/#tour=programs.7")
    card = page.get_by_role("region", name="Tour")
    card.get_by_role("button", name="Show me").click()
    save = card.get_by_role("button", name="Save this tour as a file")
    expect(save).to_have_attribute("title", "1 step without a result: open each first")


def take_tour(page: Page, steps: int) -> None:
    """Go from the first step to the last, by the keyboard, and let each step show its place."""
    card = page.get_by_role("region", name="Tour")
    for number in range(1, steps + 1):
        expect(card.get_by_text(f"Step {number} of {steps}")).to_be_visible()
        show = card.get_by_role("button", name="Show me")
        claims = card.get_by_role("list")
        expect(show.or_(claims)).to_be_visible()
        if show.is_visible():
            show.click()
        expect(claims.locator("b").first).to_have_text(re.compile(r"\d"))
        expect(claims.locator(".is-changed")).to_have_count(0)
        if number < steps:
            page.keyboard.press(">")


@pytest.mark.nightly
def test_a_tour_is_a_file(visitor: Visitor, tmp_path: Path) -> None:
    # Without a network for its pages.
    offline = visitor(offline=True)
    answer = offline.request.get(f"{SAVED}{TRITONS[0]}")
    expect(answer).to_be_ok()
    file = tmp_path / "tour.html"
    file.write_bytes(answer.body())
    offline.goto(file.as_uri())
    take_tour(offline, 7)
    expect(offline.get_by_text("not in the file").filter(visible=True)).to_have_count(0)
    expect(offline.get_by_role("link", name="Save this tour as a file")).to_have_count(0)


@pytest.mark.nightly
def test_a_tour_is_in_a_frame(visitor: Visitor) -> None:
    # The first result of the tour in a frame: the sixth step has a different result.
    frame = visitor()
    result = compiled(frame, find_example("vector_add").source)
    frame.goto(f"/embed/{result}#tour=programs.6")
    card = frame.get_by_role("region", name="Tour")
    card.get_by_role("button", name="Show me").click()
    expect(card.get_by_role("list").locator("b").first).to_have_text(re.compile(r"\d"))
    expect(frame.locator("#open-link")).not_to_have_attribute("href", re.compile(result))
    # A step that nobody has compiled on this server.
    frame.goto("about:blank")
    frame.route("**/tours/matrix_cores/results*", lambda route: route.fulfill(json=[None] * 20))
    frame.goto(f"/embed/{result}#tour=matrix_cores.9")
    expect(frame.get_by_text("This step is about another result.")).to_be_visible()
