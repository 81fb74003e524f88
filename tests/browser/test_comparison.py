"""Test the comparison page in a browser, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
import urllib.request
import uuid
from pathlib import Path

import pytest
from actions import Visitor, eventually, expect_accessible, expect_fits
from playwright.sync_api import Page, expect

from explorer.examples import load_examples

DOCUMENTATION = Path(__file__).parents[2] / "docs/commands.md"

#: Everything in it that a page could take for markup, for a colour or for a direction.
HOSTILE = '''"""</script><script>document.title = "broken in"</script> \x1b[31mred\x1b[0m \u202etfel\u202c"""
import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, BLOCK: tl.constexpr):
    # <img src=x onerror=alert(1)>
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets){})
'''


def post(server: str, **body: object) -> dict[str, str]:
    """Request a compilation without waiting for it."""
    request = urllib.request.Request(
        f"{server}/api/v1/compilations", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        ticket: dict[str, str] = json.load(response)
    return ticket


def compiled(server: str, **body: object) -> str:
    """Wait for a compilation and return its id."""
    ticket = post(server, **body)
    with urllib.request.urlopen(server + ticket["events"]) as events:
        events.read()
    return ticket["id"]


def matmul(server: str, warps: int = 4, target: str = "cuda:90", **options: int) -> str:
    source = next(example.source for example in load_examples() if example.name == "matmul")
    return compiled(server, source=source, target=target, options={"num_warps": warps, **options})


@pytest.fixture(scope="module")
def pair(server: str) -> str:
    """The address of a matmul with 4 warps and with 8."""
    return f"/compare/{matmul(server, 4)}..{matmul(server, 8)}"


def step(page: Page, title: str) -> None:
    page.get_by_role("navigation", name="Compared stages").get_by_role("link", name=title).click()


def column(page: Page, side: str):
    return page.get_by_role("group", name=f"{side}: ")


@pytest.mark.nightly
def test_what_differs_is_said_in_brief(visitor: Visitor, pair: str) -> None:
    page = visitor()
    page.goto(pair)
    expect(page.locator("#subject")).to_have_text("matmul_kernelnum_warps 4 → 8")
    expect(page.get_by_role("group", name="Different requests")).to_contain_text("num_warps 4 → 8")
    registers = page.get_by_role("row", name=re.compile("^Registers per thread"))
    expect(registers).to_contain_text(re.compile(r"−\d+ better"))
    expect(page.get_by_role("row", name=re.compile("^Warps per block 4 8"))).to_contain_text("+4")
    ttgir = page.get_by_role("row", name=re.compile("^TTGIR"))
    expect(ttgir).to_contain_text(re.compile(r"ms.*\+\d+ −\d+.*\d+ of \d+"))
    expect(page).to_have_title(re.compile("matmul_kernel: num_warps 4 → 8"))

    # Runs, memory and instructions stand side by side.
    mix = page.get_by_role("region", name="Instruction mix")
    expect(mix.get_by_role("row", name=re.compile("^tensor"))).to_contain_text(
        re.compile(r"\d"), timeout=60_000
    )
    memory = page.get_by_role("region", name="Memory")
    expect(memory.get_by_role("row", name=re.compile("^Allocated"))).to_contain_text("KiB")
    expect(page.get_by_role("region", name="Runs")).to_contain_text(re.compile("Run both|cache"))
    expect(page.get_by_role("region", name="Pipelines")).to_contain_text("Each time was measured once.")

    # Passes are aligned, and their lines counted when looked at.
    step(page, "Passes")
    pipeline = page.get_by_role("row", name=re.compile("^tritongpu-pipeline"))
    expect(pipeline).to_contain_text(re.compile(r"\+\d+ −\d+.*\+\d+ −\d+", re.DOTALL))
    rows = page.locator(".passes tbody tr")
    shown = rows.count()
    page.get_by_role("checkbox", name="changed only").uncheck()
    expect(page).to_have_url(re.compile("#passes&all$"))
    expect(rows).not_to_have_count(shown)
    assert rows.count() > shown


@pytest.mark.nightly
def test_findings_that_appeared_and_vanished_are_listed(visitor: Visitor, server: str, pair: str) -> None:
    page = visitor()
    pipelined, serial = matmul(server), matmul(server, num_stages=1)
    findings = page.get_by_role("region", name="Findings")
    page.goto(f"/compare/{pipelined}..{serial}")
    loop = findings.get_by_role("listitem").filter(has_text="waits for its own loads")
    expect(loop).to_have_text(re.compile(r"^\s*appeared .+ a turn ahead\.\s+warning\s+line 63\s*$"))
    expect_accessible(page, "comparison-findings")
    expect(loop.get_by_role("link")).to_have_attribute("href", f"/k/{serial}#panes=findings&pin=63")
    page.keyboard.press("s")
    expect(loop).to_contain_text("vanished")
    expect(loop.get_by_role("link")).to_have_attribute("href", f"/k/{serial}#panes=findings&pin=63")
    page.goto(pair)
    expect(findings).to_contain_text("No finding appeared or vanished.")


@pytest.mark.nightly
def test_the_parting_pass_is_marked_and_opens_both_modules(visitor: Visitor, server: str) -> None:
    page = visitor()
    page.goto(f"/compare/{matmul(server)}..{matmul(server, num_stages=1)}#passes")
    parting = page.get_by_role("row").filter(has_text="parts them")
    expect(parting).to_contain_text("num-stages 3 → 1")
    parting.get_by_role("link", name="tritongpu-assign-latencies parts them").click()
    expect(page).to_have_url(re.compile(r"#stage=pass-\d+$"))
    removed = column(page, "Before").locator(".is-removed", has_text="tt.latency")
    expect(removed.first).to_be_visible()
    expect(column(page, "After")).to_have_attribute(
        "aria-label", re.compile("after tritongpu-assign-latencies")
    )
    expect(page.get_by_role("link", name=re.compile("^Passes"))).to_have_attribute("aria-current", "page")
    expect_accessible(page, "comparison-view")
    choice = page.get_by_role("combobox", name="Stage after")
    choice.select_option(label=re.search(r"after tritongpu-pipeline \(\d+\)", choice.inner_text())[0])
    expect(page).to_have_url(re.compile(r"#stage=pass-\d+\.\.pass-\d+$"))
    expect(column(page, "After")).to_have_attribute("aria-label", re.compile("tritongpu-pipeline"))


@pytest.mark.nightly
def test_stages_are_shown_side_by_side(visitor: Visitor, pair: str) -> None:
    # A stage, with what differs in its lines.
    page = visitor()
    page.goto(pair)
    step(page, "TTGIR")
    expect(page).to_have_url(re.compile("#stage=ttgir$"))
    removed = column(page, "Before").locator(".is-removed", has_text="ttg.num-warps")
    expect(removed.locator(".is-changed")).to_have_text("4")
    added = column(page, "After").locator(".is-added", has_text="ttg.num-warps")
    expect(added.locator(".is-changed")).to_have_text("8")
    expect(removed.locator(".code span.s").first).to_be_visible()

    page.get_by_role("button", name="Unified").click()
    expect(page).to_have_url(re.compile("#stage=ttgir&unified$"))
    both = column(page, "Before and after")
    expect(both.locator(".is-removed", has_text="ttg.num-warps")).to_be_visible()
    expect(both.locator(".is-added", has_text="ttg.num-warps")).to_be_visible()
    page.go_back()
    expect(column(page, "After")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Resources")).to_be_visible()

    # Equal lines are folded, and come back by click and by key.
    page.goto(f"{pair}#stage=ttgir")
    before = column(page, "Before")
    fold = before.locator(".is-fold").first
    hidden = int(re.search(r"(\d+) equal lines", fold.inner_text())[1])
    folds = before.locator(".is-fold").count()
    top = fold.evaluate("row => row.style.top")
    fold.click()
    expect(before.locator(".is-fold")).to_have_count(folds - 1)
    expect(before.locator(f".text-row[style*='top: {top}'] .number")).not_to_be_empty()
    assert hidden > 3
    page.keyboard.press("e")
    expect(before.locator(".is-fold")).to_have_count(0)
    expect(page.get_by_role("button", name="Unfold all")).to_be_disabled()

    # Two different stages.
    page.get_by_role("combobox", name="Stage before").select_option("ttir")
    expect(page).to_have_url(re.compile(r"#stage=ttir\.\.ttgir$"))
    expect(column(page, "Before")).to_have_attribute("aria-label", re.compile("TTIR and TTGIR"))
    expect(column(page, "After").locator(".is-added", has_text="#blocked = ").first).to_be_visible()

    # Swapping exchanges the sides.
    page.keyboard.press("s")
    one, other = re.search(r"/compare/(\w+)\.\.(\w+)", pair).groups()
    expect(page).to_have_url(re.compile(rf"/compare/{other}\.\.{one}#stage=ttgir\.\.ttir$"))
    expect(page.get_by_role("group", name="Different requests")).to_contain_text("num_warps 8 → 4")


@pytest.mark.nightly
def test_changes_are_gone_through_by_keyboard(visitor: Visitor, pair: str) -> None:
    page = visitor()
    page.goto(f"{pair}#stage=sass")
    place = page.locator("comparison-view .count")
    expect(place).to_have_text(re.compile(r"^1 of \d+ changes$"))
    page.keyboard.press("n")
    expect(place).to_have_text(re.compile(r"^2 of "))
    expect(column(page, "Before").locator(".is-current-change")).to_be_visible()
    expect(column(page, "After").locator(".is-current-change")).to_be_visible()
    page.keyboard.press("p")
    page.keyboard.press("p")
    last = re.search(r"of (\d+) ", place.inner_text())[1]
    expect(place).to_have_text(f"{last} of {last} changes")
    alike = "([one, other]) => one.scrollTop === other.scrollTop && one.scrollTop > 0"
    eventually(lambda: page.locator("comparison-diff .text").evaluate_all(alike), True)

    # The other column follows.
    page.goto("about:blank")
    page.goto(f"{pair}#stage=llir")
    column(page, "After").hover()
    page.mouse.wheel(0, 900)
    page.wait_for_function(
        "() => { const [one, other] = [...document.querySelectorAll('comparison-diff .text')]"
        ".map(each => each.scrollTop); return one === other && one > 500; }"
    )

    # Every command is documented.
    expect(page.locator("#subject b")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    options = page.locator(".palette-option")
    expect(options.first).to_be_visible()
    titles = [text.strip() for text in options.locator("span:first-child").all_inner_texts()]
    documented = DOCUMENTATION.read_text(encoding="utf-8")
    assert [title for title in titles if f"| {title} |" not in documented] == []
    page.keyboard.type("compare ptx")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#stage=ptx$"))


@pytest.mark.nightly
def test_another_target_and_what_still_compiles(visitor: Visitor, server: str, pair: str) -> None:
    # Another target has stages of its own.
    page = visitor()
    nvidia = re.search(r"/compare/(\w+)", pair)[1]
    page.goto(f"/compare/{nvidia}..{matmul(server, 4, 'hip:gfx942')}")
    path = page.get_by_role("navigation", name="Compared stages")
    expect(path.get_by_role("link", name="SASS")).to_contain_text("only before")
    expect(path.get_by_role("link", name="AMDGCN")).to_contain_text("only after")
    step(page, "AMDGCN")
    expect(column(page, "Before and after").locator(".is-added").first).to_be_visible()

    # What still compiles is filled in.
    # It waits before the compiler begins.
    source = f"import time\ntime.sleep(5)\n{HOSTILE.format(' * 3')}# {uuid.uuid4()}\n"
    running = post(server, source=source, target="cuda:90", arguments="*fp32, 64")
    page.goto(f"/compare/{nvidia}..{running['id']}#stage=sass")
    expect(page.get_by_role("region", name="After").locator(".state")).to_have_class(
        "state is-complete", timeout=60_000
    )
    expect(column(page, "After").locator(".is-added").first).to_be_visible()


@pytest.mark.nightly
def test_a_failed_side_and_a_link_to_nothing_are_explained(visitor: Visitor, server: str, pair: str) -> None:
    page = visitor()
    known = re.search(r"/compare/(\w+)", pair)[1]
    failed = compiled(server, source=HOSTILE.format(" + nothing"), target="cuda:90", arguments="*fp32, 64")
    page.goto(f"/compare/{known}..{failed}")
    after = page.get_by_role("region", name="After")
    expect(after).to_contain_text("nothing")
    expect(after.locator(".state")).to_have_class("state is-failed")
    page.goto(f"/compare/{known}..7Qm2xV9dKcAB")
    expect(page.locator("comparison-view")).to_contain_text("There is no compilation '7Qm2xV9dKcAB'")

    # Strings of kernels are only ever text.
    ids = [
        compiled(server, source=HOSTILE.format(more), target="cuda:90", arguments="*fp32, 64")
        for more in ("", " * 2")
    ]
    page.goto(f"/compare/{ids[0]}..{ids[1]}#source")
    added = column(page, "After")
    expect(added.locator(".is-added")).to_be_visible()
    page.keyboard.press("e")
    expect(added).to_contain_text('</script><script>document.title = "broken in"</script>')
    expect(added).to_contain_text("\x1b[31mred")
    expect(added).to_contain_text(r"\u202etfel\u202c")
    expect(added.locator("img")).to_have_count(0)
    expect(page).to_have_title(re.compile("^copy: another source"))
    changed = added.locator(".is-added .is-changed")
    eventually(lambda: "".join(changed.all_text_contents()), " * 2")


@pytest.mark.nightly
def test_it_is_accessible_and_fits_a_small_window_and_a_telephone(visitor: Visitor, pair: str) -> None:
    page = visitor(width=1280, height=720)
    # The whole page once, and then the part that differs from view to view.
    for view, shown in (
        ("", "table"),
        ("#stage=ttgir", "comparison-diff.is-split .text-row"),
        ("#stage=ttgir&unified", "comparison-diff.is-unified .text-row"),
        ("#passes", ".passes"),
        ("#source", ".text-row"),
    ):
        page.goto(f"{pair}{view}")
        expect(page.locator(f"comparison-view {shown}").first, view).to_be_visible()
        expect_fits(page.locator("html"))
        expect_accessible(page, *(["comparison-view"] if view else []))
    page.set_viewport_size({"width": 375, "height": 800})
    page.goto(f"{pair}#stage=ttgir")
    page.reload()
    expect(column(page, "Before and after").locator(".is-added").first).to_be_visible()
    expect_fits(page.locator("html"))
