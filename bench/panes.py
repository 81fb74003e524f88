"""Time the Passes and Layouts panes in Chromium with large inputs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from playwright.sync_api import Playwright

from bench import long_module
from bench.bare import TARGET
from bench.chromium import fresh_page, wait_until_quiet
from bench.frames import scroll
from bench.row import Row, per_second
from bench.service import Service

LEAST_SNAPSHOT_LINES = 30_000
REDRAWS = 5
#: A tensor of 256 × 256 elements, which the pane draws as 65,536 cells.
_SQUARE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, SIDE: tl.constexpr):
    places = tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    tl.store(x_ptr + places, tl.load(x_ptr + places) * 2)


double[(1,)](torch.empty(256, 256, device="cuda"), SIDE=256, num_warps=8)
"""
_DIFF = "pane-passes comparison-diff"


def measure_snapshot(playwright: Playwright, service: Service) -> Iterator[Row]:
    """Open and scroll a long snapshot, and its difference to the next one, with all lines shown."""
    timing = service.compile(long_module.source(long_module.FEWER_TERMS), TARGET)
    if timing.status != "complete":
        raise RuntimeError(f"the compilation of the long module ended with status {timing.status}")
    identifier = timing.id
    path = f"/api/v1/compilations/{identifier}"
    lines = _lines_after_passes(service, path)
    indices = list(lines)
    long = min(
        (each for each in indices if lines[each] >= LEAST_SNAPSHOT_LINES), key=lambda each: lines[each]
    )
    following = indices[indices.index(long) + 1]
    drawn = f"document.querySelector('{_DIFF} .diff-row .code span')"
    with fresh_page(playwright, service.url) as page:
        page.goto(f"/k/{identifier}#panes=passes:ttir.0.u.t*")
        page.locator(f"{_DIFF} .diff-row .code span").first.wait_for()
        for index, what in (
            (following, "difference from a long module: open"),
            (long, "snapshot of a pass: open"),
        ):
            wait_until_quiet(page)
            option = page.locator(f"pane-passes [role=option][id$='-{index}']")
            option.scroll_into_view_if_needed()
            loaded = f"document.querySelector('{_DIFF}').texts?.after?.index === {index}"
            page.evaluate(f"bench.timeEvent('click', () => {loaded} && {drawn})")
            option.click()
            taken: float = page.evaluate("bench.timed")
            before = lines[indices[indices.index(index) - 1]]
            note = (
                f"from the click, all lines unified; {before:,} lines before the pass, {lines[index]:,} after"
            )
            yield Row(what, taken, "ms", 1000, note=note)
        wait_until_quiet(page)
        complete = f"[...document.querySelectorAll('{_DIFF} .text-row')].every((row) => row.textContent)"
        intervals = scroll(page, f"{_DIFF} .text", 3000, 3, complete)["intervals"]
        note = f"worst frame {max(intervals):.1f} ms"
        what = "snapshot of a pass: scrolled by 3,000 pixels a second"
        yield Row(what, round(per_second(intervals)), "fps", 60, is_least=True, note=note)


def measure_layout(playwright: Playwright, service: Service) -> Iterator[Row]:
    """Draw the layout of a large tensor several times."""
    identifier = service.compile(_SQUARE, TARGET).id
    with fresh_page(playwright, service.url) as page:
        page.goto(f"/k/{identifier}#panes=layouts:blocked*")
        page.locator("pane-layouts canvas").first.wait_for()
        page.get_by_role("option", name="256 × 256").first.click()
        for _ in range(REDRAWS):
            for view in ("Hardware", "Tensor"):
                page.get_by_role("button", name=view, exact=True).click()
                wait_until_quiet(page)
        drawn: list[float] = page.evaluate(
            "performance.getEntriesByName('layout-drawn').map(({ duration }) => duration)"
        )
        note = f"both views, {len(drawn)} times, worst {max(drawn):.1f}; script time only"
        yield Row("layout of a 256 × 256 tensor: draw", statistics.median(drawn), "ms", 100, note=note)


def _lines_after_passes(service: Service, path: str) -> dict[int, int]:
    """Return the number of lines of the module after each pass that changed it, in order."""
    changed = [row["index"] for row in service.request("GET", path)["passes"] if row["changed"]]
    return {
        index: service.request("GET", f"{path}/passes/{index}/lines?from=1&to=1")["total"]
        for index in changed
    }
