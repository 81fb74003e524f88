"""Test folding and the breadcrumb of the stage pane in a browser."""

from __future__ import annotations

import re

import pytest
from actions import (
    Visitor,
    editor_line,
    expect_stage,
    expect_structure,
    result_id,
    set_source,
    unfold,
    wait_for_result,
    whole_text,
)
from playwright.sync_api import Locator, Page, expect
from sources import SCALE


@pytest.fixture
def page(page: Page) -> Page:
    """The matmul of a first visit, with its TTGIR and its SASS."""
    expect_stage(page, "TTGIR", "tt.get_program_id")
    return page


@pytest.fixture
def ttgir(page: Page) -> Locator:
    """Return the TTGIR pane with everything unfolded, after its structure has loaded."""
    pane = page.locator("pane-stage.hue-ttgir")
    unfold(pane)
    return pane


def rows(pane: Locator) -> int:
    """Return the number of unfolded lines."""
    return int(pane.locator(".text-space").evaluate("space => space.clientHeight / 19"))


def search(pane: Locator, text: str) -> Locator:
    """Search for a text, and return its line."""
    pane.get_by_role("group").focus()
    pane.page.keyboard.press("/")
    pane.page.keyboard.type(text)
    hit = pane.locator(".is-current-hit")
    expect(hit).to_contain_text(text)
    return hit


def fold_loop(ttgir: Locator) -> Locator:
    """Find the loop, fold it by its mark and return its line."""
    loop = search(ttgir, "scf.for")
    loop.locator(".fold").click()
    expect(loop.locator(".folded")).to_be_visible()
    return loop


def numbers(pane: Locator) -> list[int]:
    return sorted(int(text) for text in pane.locator(".number").all_inner_texts())


def test_a_text_is_folded_by_marks_and_by_keys(page: Page, ttgir: Locator) -> None:
    # By the mark of a function. Lines keep their numbers.
    text = whole_text(page, "ttgir")
    first = next(number for number, line in enumerate(text, 1) if "tt.func" in line)
    last = max(number for number, line in enumerate(text, 1) if line == "  }")
    header = ttgir.locator(".text-row", has_text="tt.func public @")
    header.locator(".fold").click()
    expect(header.locator(".folded")).to_have_text(f"… {last - first - 1} lines")
    assert numbers(ttgir) == [*range(1, first + 1), *range(last, len(text) + 1)]
    expect(page.locator(".is-pinned")).to_have_count(0)
    header.locator(".folded").click()
    expect(header.locator(".folded")).to_have_count(0)
    assert first + 1 in numbers(ttgir)

    # By brackets.
    all_rows = rows(ttgir)
    ttgir.get_by_role("group").focus()
    page.keyboard.press("{")
    expect(ttgir.locator(".folded").first).to_be_visible()
    assert rows(ttgir) < all_rows
    page.keyboard.press("}")
    expect(ttgir.locator(".folded")).to_have_count(0)
    assert rows(ttgir) == all_rows
    page.keyboard.press("Home")
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    expect(ttgir.locator(".is-cursor .number")).to_have_text("41")
    page.keyboard.press("[")
    folded = ttgir.locator(".is-cursor .folded")
    expect(folded).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(ttgir.locator(".is-cursor .number")).to_have_text(re.compile(r"^(4[3-9]|[5-9]\d|\d{3,})$"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("]")
    expect(folded).to_have_count(0)
    assert rows(ttgir) == all_rows


@pytest.mark.nightly
def test_every_language_folds(page: Page) -> None:
    for key, stage in ((1, "Python AST"), (4, "LLVM IR"), (5, "PTX"), (6, "SASS")):
        page.keyboard.press(f"Alt+{key}")
        text = page.get_by_role("group", name=f"{stage}, ")
        expect_structure(text)
        all_rows = rows(text)
        text.focus()
        page.keyboard.press("{")
        expect(text.locator(".text-space")).not_to_have_css("height", f"{19 * all_rows}px")
        page.keyboard.press("}")
        expect(text.locator(".text-space")).to_have_css("height", f"{19 * all_rows}px")


@pytest.mark.nightly
def test_what_is_looked_for_is_unfolded(page: Page, ttgir: Locator) -> None:
    # The breadcrumb says where the cursor is and leads there.
    crumbs = ttgir.get_by_role("navigation")
    expect(crumbs).to_have_text("top of the file")
    search(ttgir, "scf.yield").locator(".code").click()
    expect(crumbs.get_by_role("button").nth(1)).to_have_text("matmul_kernel")
    crumbs.get_by_role("button", name=re.compile("^scf.for")).click()
    expect(ttgir.locator(".is-cursor")).to_contain_text("scf.for")
    expect(ttgir.get_by_role("group")).to_be_focused()

    # A match of the search is unfolded.
    page.keyboard.press("{")
    expect(ttgir.locator(".folded").first).to_be_visible()
    search(ttgir, "scf.yield")

    # A use is unfolded.
    loop = fold_loop(ttgir)
    loop.locator(".code .nv").nth(1).click()
    expect(loop.locator(".is-use").first).to_be_attached()
    page.keyboard.press("F3")
    expect(ttgir.locator(".is-cursor .is-use").first).to_be_visible()
    expect(loop.locator(".folded")).to_have_count(0)

    # A pin in the source unfolds the lines of that source line.
    loop = fold_loop(ttgir)
    editor_line(page, "tl.dot(").click()
    expect(ttgir.locator(".is-pinned").first).to_be_visible()
    expect(loop.locator(".folded")).to_have_count(0)

    # Folds go with the result that they are of.
    fold_loop(ttgir)
    expect(page).to_have_url(re.compile("fold="))
    set_source(page, SCALE)
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    expect(page).not_to_have_url(re.compile("fold="))
    expect(ttgir.locator(".folded")).to_have_count(0)


@pytest.mark.nightly
def test_a_link_shows_what_is_folded(page: Page, ttgir: Locator, visitor: Visitor) -> None:
    expect(page).to_have_url(re.compile("stage:ttgir;fold=none"))
    loop = fold_loop(ttgir)
    header = int(loop.locator(".number").inner_text())
    shown = rows(ttgir)
    expect(page).to_have_url(re.compile(rf"stage:ttgir[^,+]*;fold={header}\b"))
    other = visitor()
    other.goto(page.url)
    pane = other.locator("pane-stage.hue-ttgir")
    expect(pane.locator(".text-space")).to_have_css("height", f"{19 * shown}px")
    pane.get_by_role("group").evaluate("(text, top) => text.scrollTo({ top })", 19 * (header - 5))
    folded = pane.locator(".text-row", has=other.locator(".folded"))
    expect(folded.locator(".number")).to_have_text(str(header))
    # Unfolded parts are removed from the address.
    folded.locator(".folded").click()
    expect(other).not_to_have_url(re.compile(r"fold=\d"))

    # The layouts at the top are folded at first. A link to a line unfolds them.
    other.goto("about:blank")
    other.goto(f"/k/{result_id(page)}#panes=stage:ttgir&line=ttgir.3")
    expect_structure(pane)
    expect(pane.locator(".text-row.is-cursor .number")).to_have_text("3")
    expect(pane.locator(".folded")).to_have_count(1)

    # A link to a folded text is short.
    page.goto("/#panes=stage:ast")
    text = page.get_by_role("group", name="Python AST, ")
    expect_structure(text)
    text.focus()
    page.keyboard.press("{")
    expect(page).to_have_url(re.compile(r"stage:ast;fold=all$"))
    shown = rows(text)
    first = text.locator(".text-row", has=page.locator(".folded")).first
    number = first.locator(".number").inner_text()
    first.locator(".fold").click()
    expect(page).to_have_url(re.compile(rf"stage:ast;fold=all\.{number}$"))
    assert rows(text) > shown
    other.goto("about:blank")
    other.goto(page.url)
    same = other.get_by_role("group", name="Python AST, ")
    expect(same.locator(".text-space")).to_have_css("height", f"{19 * rows(text)}px")
    expect(same.locator(".folded")).to_have_count(text.locator(".folded").count())
