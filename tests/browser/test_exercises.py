"""Test the exercises: goals follow edits, progress is kept, and links hold whole exercises."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import quote

import pytest
from actions import (
    DOCUMENT,
    Hold,
    Visitor,
    editor_line,
    expect_accessible,
    expect_fits,
    result_id,
    run_command,
    set_source,
    violations,
    wait_for_result,
)
from playwright.sync_api import Locator, Page, Route, expect

#: A run in the interpreter waits for its turn.
RUN_TIMEOUT_MS = 60_000


def card_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Exercise", exact=True)


def goal(page: Page, words: str) -> Locator:
    return card_of(page).get_by_role("list", name="Goals").get_by_role("listitem").filter(has_text=words)


def open_lessons(page: Page) -> Locator:
    page.get_by_role("button", name="Learn", exact=True).click()
    return page.get_by_role("dialog", name="Learn")


@pytest.mark.nightly
def test_an_exercise_is_solved_by_typing(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    set_source(page, "# my own kernel")
    open_lessons(page).get_by_role("button", name="One warp needs no barrier").click()
    card = card_of(page)
    expect(goal(page, "Barriers in PTX")).to_contain_text(re.compile(r"1\s+wanted: 0"))
    expect(goal(page, "The sums are right").get_by_role("img")).to_have_accessible_name("Not known yet:")
    for shown in (1, 2):
        card.get_by_role("button", name=f"Hint {shown} of 3").click()
        expect(card.get_by_role("list", name="Hints").get_by_role("listitem")).to_have_count(shown)
    line = editor_line(page, "num_warps=4")
    line.dblclick()
    line.click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.insert_text("1")
    expect(card.get_by_role("status")).to_contain_text("All goals are met.", timeout=RUN_TIMEOUT_MS)
    expect(goal(page, "The sums are right")).to_contain_text("yes")
    # Another visit finds it solved, and the kernel as it was left.
    page.goto("about:blank")
    page.goto("/#exercise=mask_tail")
    expect(card.get_by_text("Exercise 2 of 13, easy")).to_be_visible()
    lessons = open_lessons(page)
    solved = lessons.get_by_role("button", name="One warp needs no barrier")
    expect(solved).to_contain_text("✓ solved")
    solved.click()
    expect(editor_line(page, "num_warps=1")).to_be_visible()
    expect(page).to_have_url(re.compile(r"exercise=one_warp"))
    # The previous text is restored.
    card.get_by_role("button", name="Back to your kernel").click()
    expect(editor_line(page, "# my own kernel")).to_be_visible()
    expect(card).to_have_count(0)
    lessons = open_lessons(page)
    lessons.get_by_role("button", name="Forget the exercises").click()
    expect(lessons).to_contain_text("0 of 13 solved.")


def test_an_exercise_shows_each_number_when_it_is_known(visitor: Visitor, hold: Hold) -> None:
    page = visitor()
    held = hold(page, "**/claims?*")
    page.goto("/#exercise=one_layout")
    status = card_of(page).get_by_role("status")
    expect(status).to_contain_text("being checked", timeout=RUN_TIMEOUT_MS)
    conversions = goal(page, "Layout conversions in TTGIR")
    loads = goal(page, "Bytes that a lane loads")
    expect(conversions).to_contain_text("checking …")
    next(each for each in held if "metric" in each.request.url).continue_()
    expect(conversions).to_contain_text(re.compile(r"1\s+wanted: 0"))
    expect(loads).to_contain_text("checking …")
    next(each for each in held if "access" in each.request.url).continue_()
    expect(loads).not_to_contain_text("checking")
    expect(status).not_to_contain_text("checked")


def test_an_exercise_behind_another_kernel_opens_its_own(visitor: Visitor, page: Page) -> None:
    other = visitor()
    other.goto(f"/k/{result_id(page)}#exercise=one_warp")
    expect(card_of(other)).to_contain_text("One warp needs no barrier")
    expect(editor_line(other, "num_warps=4")).to_be_visible()


@pytest.mark.nightly
def test_a_run_says_what_is_wrong_and_a_solution_can_be_undone(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#exercise=mask_tail")
    card = card_of(page)
    wrong = goal(page, "The run stays inside of its tensors")
    expect(wrong).to_contain_text("past the end of a tensor", timeout=RUN_TIMEOUT_MS)
    expect(wrong.get_by_role("img")).to_have_accessible_name("Not met:")
    for _ in range(3):
        run_command(page, "Next hint of the exercise")
    card.get_by_role("button", name="Show a solution").click()
    expect(card.get_by_role("status")).to_contain_text("All goals are met.", timeout=RUN_TIMEOUT_MS)
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+z")
    expect(card.get_by_role("status")).not_to_contain_text("All goals")
    expect(wrong).to_contain_text("past the end of a tensor", timeout=RUN_TIMEOUT_MS)


@pytest.mark.nightly
def test_it_can_be_read_on_a_telephone(visitor: Visitor) -> None:
    page = visitor(width=375, height=800)
    page.goto("/#exercise=coalesced_rows")
    card = card_of(page)
    expect(goal(page, "Least share of the sectors")).to_contain_text("0.125")
    card.get_by_role("button", name="Hint 1 of 3").click()
    expect_fits(card, *card.get_by_role("button").all())
    expect_accessible(page, "exercise-card")


@pytest.mark.nightly
def test_a_teacher_makes_an_exercise(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    start = result_id(page)
    run_command(page, "Make an exercise of this result")
    maker = page.get_by_role("dialog", name="Make an exercise of this result")
    maker.get_by_label("Title").fill("Fewer <b>registers</b>")
    maker.get_by_label("Task").fill("Use `fewer` registers.")
    maker.get_by_role("button", name="Make the link").click()
    expect(maker.get_by_role("status")).to_have_text("It has no goals.")
    maker.get_by_role("checkbox", name="Registers of a thread").check()
    maker.get_by_role("button", name="Make the link").click()
    expect(maker.get_by_role("status")).to_have_text("The kernel as it is already meets these goals.")
    maker.get_by_label("Number: Registers of a thread").fill("16")
    maker.get_by_label("Hints, one in each line").fill("Look at `num_warps`.")
    assert violations(page, ".exercise-maker") == []
    maker.get_by_role("button", name="Make the link").click()
    link = maker.get_by_label("Link to the exercise").input_value()

    student = visitor()
    student.goto(link)
    card = card_of(student)
    expect(card).to_contain_text("Fewer <b>registers</b>")
    expect(goal(student, "Registers of a thread")).to_contain_text("wanted: at most 16")
    expect(goal(student, "Registers of a thread").get_by_role("img")).to_have_accessible_name("Not met:")

    def answer_late(route: Route) -> None:
        time.sleep(2)
        route.continue_()

    # The pause after the paste ends while the page asks for the result.
    student.route(DOCUMENT, answer_late, times=1)
    set_source(student, "# something else")
    card.get_by_role("button", name="Start again").click()
    wait_for_result(student)
    assert result_id(student) == start


@pytest.mark.nightly
def test_a_bad_link_says_what_is_wrong(visitor: Visitor) -> None:
    page = visitor()
    exercise = {"start": "abc", "title": "A", "task": "B", "goals": [{"says": "C", "metric": "registers"}]}
    page.goto(f"/#exercise={quote(json.dumps(exercise))}")
    banner = page.locator("message-banner")
    expect(banner).to_contain_text("The goal “C” does not say how many.")
    page = visitor()
    page.goto("/#exercise=%7B%22start%22")
    expect(page.locator("message-banner")).to_contain_text("cut off")
