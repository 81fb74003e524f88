"""Test the pictures of layouts in a browser against the documents they are drawn from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from actions import SIZE_RULES, Visitor, expect_stage, result_id, set_source, violations, wait_for_result
from playwright.sync_api import Locator, Page, expect

from explorer.analysis.layouts.linear_layout import LinearLayout

BESIDE = "/#panes=layouts:mma@55+stage:ttgir@45"


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The layouts of the matmul of a first visit, beside its TTGIR."""
    page = visitor(width=1440, height=900)
    page.goto(BESIDE)
    wait_for_result(page)
    expect(heading(page)).to_have_text("#mma")
    return page


def heading(page: Page) -> Locator:
    return page.locator("pane-layouts h3")


def told(page: Page) -> Locator:
    return page.locator("pane-layouts .layout-details")


def document_of(page: Page) -> dict[str, Any]:
    """Return the server's document of the layouts that are shown."""
    compilation = re.search(r"/k/([\w-]+)", page.url)
    assert compilation
    document: dict[str, Any] = page.request.get(f"/api/v1/compilations/{compilation[1]}/layouts").json()
    return document


def linear(row: dict[str, Any]) -> LinearLayout:
    return LinearLayout(
        tuple((each["name"], tuple(map(tuple, each["bases"]))) for each in row["bases"]["inputs"]),
        tuple(row["bases"]["shape"]),
    )


def test_the_pictures_of_a_layout(page: Page) -> None:
    # A cell says which thread holds it.
    canvas = page.locator(".layout-canvas")
    canvas.focus()
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    for _ in range(17):
        page.keyboard.press("ArrowRight")
    row = next(
        each
        for each in document_of(page)["layouts"]
        if each["label"] == "#mma" and each["shape"] == [128, 128]
    )
    (owner,) = linear(row).owners((3, 17))
    place = f"warp {owner['warp']}, lane {owner['lane']}, register {owner['register']}"
    expect(told(page)).to_contain_text(f"(3, 17): {place}.")
    expect(told(page)).to_contain_text("This thread holds 64 values")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"layouts:mma;at=401"))

    # The hardware view shows the same the other way round.
    page.get_by_role("button", name="Hardware").click()
    page.locator(".layout-canvas").focus()
    page.keyboard.press("End")
    expect(told(page)).to_contain_text("warp 7, lane 31, register 63 holds (127, 127).")
    expect(page).to_have_url(re.compile(r"layouts:.*view=hardware"))

    # The bases, and how often each element is there.
    page.get_by_role("button", name="Bases", exact=True).click()
    table = page.get_by_role("table", name="Bases of the layout")
    expect(table.locator("td.is-set")).to_have_count(14)
    page.get_by_role("option", name=re.compile(r"^#blocked 1 × 128 ")).click()
    expect(page.locator(".layout-sentence")).to_contain_text("each element 16 times")
    expect(table.locator("td.is-free")).not_to_have_count(0)


@pytest.mark.nightly
def test_every_picture_agrees_with_its_layout_and_is_opened_by_name(page: Page) -> None:
    # The tables that the pictures are painted from, for all layouts in registers and memory.
    document = document_of(page)
    rows = [row for row in document["layouts"] if row["bases"] and not row["element"].startswith("!")]
    assert len(rows) > 20
    # The picture depends on nothing but the bases, which several layouts have in common.
    for row in {json.dumps(row["bases"]): row for row in rows}.values():
        drawn = page.evaluate(
            """row => {
              const pane = document.querySelector("pane-layouts");
              const layout = pane.layoutOf({ row });
              return { elements: [...layout.elements], owners: [...layout.owners] };
            }""",
            row,
        )
        layout = linear(row)
        expected = [layout.element_index(place) for place in layout.places()]
        assert drawn["elements"] == expected, row["label"]
        for element, owner in enumerate(drawn["owners"]):
            assert owner < 0 or expected[owner] == element

    # A click on an alias in the text shows its layout.
    expect_stage(page, "TTGIR", "#blocked1")
    # It looks like a link. The kind of a memory does not.
    expect(page.locator("pane-stage .code .is-layout", has_text=re.compile("^#smem$"))).to_have_count(0)
    page.locator("pane-stage .code .is-layout", has_text=re.compile(r"^#blocked1$")).first.click()
    expect(heading(page)).to_have_text("#blocked1")
    expect(page).to_have_url(re.compile(r"layouts:blocked1"))

    # A variable of the source leads to its layout.
    page.evaluate("document.dispatchEvent(new CustomEvent('pane-beside', { detail: 'layouts:accumulator' }))")
    expect(heading(page)).to_have_text("#mma")
    expect(page).to_have_url(re.compile(r"layouts:accumulator"))
    page.get_by_role("button", name="Why this layout?").click()
    expect(page.locator("pane-layouts why-here")).to_contain_text("tritongpu-accelerate-matmul")


def test_how_data_moves_in_words_and_step_by_step(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Conversions")).click()
    card = page.locator(".layout-card")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("written to shared memory, a scratch buffer of 32,768 bytes at offset 0,")
    expect(page.locator("pane-layouts lesson-link a")).to_have_text("Tour: Matrix cores, step 5")
    card.get_by_role("button", name="Why is this here?").click()
    expect(card.locator("why-here")).to_contain_text("tritongpu-remove-layout-conversions")
    page.get_by_role("button", name=re.compile("^Accesses to global memory")).click()
    expect(card.first).to_contain_text("A lane moves 8 × f16 = 16 bytes at once along dimension 1")
    expect(card.first).to_contain_text("cp.async.cg.shared.global (16 B a lane)")

    # Lanes are shown step by step.
    card.first.get_by_text("Lanes and sectors, step by step").click()
    words = card.first.locator(".motion-words")
    expect(words).to_contain_text("Lane 31:")
    card.first.get_by_role("group", name="Steps of the access").focus()
    page.keyboard.press("Home")
    expect(words).to_have_text("Lane 0: bytes 0 to 15 of range 1, sector 0. Moved 32 B, used 16 B (50 %).")
    expect(card.first.locator(".motion-line")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("Lane 1: bytes 16 to 31 of range 1, sector 0.")
    page.emulate_media(reduced_motion="no-preference")
    page.keyboard.press(" ")
    expect(card.first.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press(" ")
    expect(card.first.get_by_role("button", name="Play")).to_be_visible()
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    expect(words).to_contain_text("Lane 31:")

    page.get_by_role("button", name=re.compile("^Matrix products")).click()
    expect(card.first).to_contain_text("m64n128k16")
    card.first.get_by_role("button", name=re.compile("^TTGIR ")).click()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("ttng.warp_group_dot")

    # Banks show the conflicts of an access.
    set_source(page, (Path(__file__).parents[1] / "kernels/column_access.py").read_text())
    page.get_by_role("button", name="Compile").first.click()
    page.get_by_role("button", name=re.compile("^Accesses to shared memory by threads 2")).click()
    conflict = page.locator(".layout-card", has_text="31 bank conflicts").first
    conflict.get_by_role("button", name="Show the banks").click()
    expect(told(page)).to_contain_text("every wavefront takes 32 times as long")
    expect(page).to_have_url(re.compile(r"view=banks"))
    warned = page.evaluate("[...document.querySelector('pane-layouts').grid.warned].length")
    assert warned == 32


@pytest.mark.nightly
def test_a_link_shows_its_picture_or_says_why_not(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/#panes=layouts:mma;view=hardware@55+stage:ttgir@45")
    expect(heading(page)).to_have_text("#mma")
    expect(page.get_by_role("button", name="Hardware")).to_have_attribute("aria-pressed", "true")

    # A pass without layouts, and a name that is unknown.
    for state, text in (
        ("mma;pass=1", "No tensor of this module has a layout"),
        ("nothing", "called “nothing”"),
    ):
        page.goto("about:blank")
        page.goto(f"/#panes=layouts:{state}@50+stage:ttgir@50")
        expect(page.locator("pane-layouts")).to_contain_text(text)
        expect_stage(page, "TTGIR", "tt.func")

    # Names that every object has.
    for state in ("mma;view=constructor", "mma;view=__proto__", "__proto__;view=banks;at=99999999"):
        page.goto(f"/k/{result_id(page)}#panes=layouts:{state}")
        page.reload()
        expect(page.locator(".layout-title h3, .layout-head > h3").first).to_have_text(
            re.compile("^(#mma|Layout not found)$")
        )


@pytest.mark.nightly
def test_it_is_accessible_and_fits(visitor: Visitor) -> None:
    page = visitor(width=1280, height=720, color_scheme="light")
    page.goto("/#panes=layouts:mma@100")
    wait_for_result(page)
    expect(page.locator("pane-layouts .layout-body")).to_be_visible()
    for name in ("Tensor", "Bases", "Accesses to global memory 7"):
        page.locator("pane-layouts").get_by_role("button", name=name, exact=True).click()
        for width, height, rules in ((375, 800, SIZE_RULES), (1280, 720, ())):
            page.set_viewport_size({"width": width, "height": height})
            expect(page.locator("html"), name).to_have_js_property("scrollWidth", width)
            assert violations(page, "pane-layouts", rules=rules) == [], (name, width)
