"""What the page takes in Chromium, beside what is asked of it.

Loads are the median of several browsers that were started for them. Everything else happens in one browser,
whose page is otherwise at rest; `bench/frames.py` says what a frame is here.
"""

from __future__ import annotations

import dataclasses
import gzip
import statistics
from collections.abc import Callable, Iterator
from typing import Any

from playwright.sync_api import Page, Playwright, sync_playwright

from bench import long_module
from bench.bare import TARGET
from bench.chromium import Load, fresh_page, measure_load, wait_for_result, wait_until_quiet
from bench.frames import scroll, time_pointer
from bench.panes import measure_layout, measure_snapshot
from bench.row import Row, per_second
from bench.service import Service
from explorer.examples import find_example

LOADS = 5
HOVERED_LINES = 12
FIVE_STAGES = ("ttir", "ttgir", "llir", "ptx", "sass")
KIB = 1000
LAZY = ("plotly", "graphviz", "viz-")
LLIR = "pane-stage.hue-llir"


def measure_page(service: Service) -> list[dict[str, Any]]:
    """Measure everything, print the table, return its rows."""
    print(f"{'':58} {'asked':>8} {'measured':>9}")
    rows = []
    with sync_playwright() as playwright:
        for measure in (_loads, _hover, _long_module, measure_snapshot, measure_layout, _compare):
            for row in measure(playwright, service):
                rows.append(row)
                print(row, flush=True)
    return [{**dataclasses.asdict(row), "is_met": row.is_met} for row in rows]


def _loads(playwright: Playwright, service: Service) -> Iterator[Row]:
    """The first load of the page, by its name and by a permalink."""

    def load(path: str) -> tuple[Load, str]:
        with fresh_page(playwright, service.url) as page:
            return measure_load(page, path), page.url.removeprefix(service.url)

    first, permalink = load("/")
    yield Row("/, compiling its example for the first time: largest paint", first.largest_paint, "ms", 1000)
    yield Row("/, compiling: total blocking time", first.blocking, "ms", 150)
    for name, path in (("/", "/"), ("permalink", permalink)):
        loads = [load(path)[0] for _ in range(LOADS)]
        paint, blocking = [each.largest_paint for each in loads], [each.blocking for each in loads]
        first_paint = statistics.median(each.first_paint for each in loads)
        note = f"of {LOADS}, worst {max(paint):.0f}; first contentful paint {first_paint:.0f}"
        yield Row(f"{name}: largest contentful paint", statistics.median(paint), "ms", 1000, note=note)
        note = f"of {LOADS}, worst {max(blocking):.0f}"
        yield Row(f"{name}: total blocking time", statistics.median(blocking), "ms", 150, note=note)
    scripts = first.scripts
    transferred, zipped = sum(scripts.values()), sum(_gzip_bytes(service, path) for path in scripts)
    note = f"{len(scripts)} files, as Chromium asks for them"
    yield Row("scripts at first load, brotli", transferred / KIB, "kB", 250, note=note)
    yield Row("scripts at first load, gzip", zipped / KIB, "kB", 250, note="for browsers without brotli")
    lazy = [path for path in scripts if any(word in path.lower() for word in LAZY)]
    yield Row("of them Plotly or Graphviz", len(lazy), "files", 0)


def _gzip_bytes(service: Service, path: str) -> int:
    connection = service.connect()
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        response = connection.getresponse()
        data = response.read()
        return len(data) if response.getheader("Content-Encoding") == "gzip" else len(gzip.compress(data))
    finally:
        connection.close()


def _hover(playwright: Playwright, service: Service) -> Iterator[Row]:
    """Lines of a flash attention under the pointer, with the editor and five stages to be lit."""
    example = find_example("flash_attention")
    assert example is not None
    identifier = service.compile(example.source, TARGET).id
    panes = "#panes=" + "+".join(f"stage:{stage}*" for stage in FIVE_STAGES)
    times: dict[str, list[dict[str, Any]]] = {"source": [], "TTGIR": []}
    with fresh_page(playwright, service.url) as page:
        page.goto(f"/k/{identifier}{panes}")
        wait_for_result(page)
        wait_until_quiet(page)
        for line in _lines_of_all(service, identifier)[:HOVERED_LINES]:
            _pin(page, f"{panes}&pin={line}")
            places = {
                "source": _middle(page, ".cm-line.is-pinned"),
                "TTGIR": _middle(page, "pane-stage.hue-ttgir .text-row.is-pinned"),
            }
            page.keyboard.press("Escape")
            page.locator(".is-pinned").first.wait_for(state="detached")
            for where, (x, y) in places.items():
                page.mouse.move(5, 5)
                page.locator(".is-lit").first.wait_for(state="detached")
                wait_until_idle(page)
                timed = time_pointer(page, x, y)
                if timed["lit"] != len(FIVE_STAGES) + 1:
                    raise RuntimeError(f"line {line}: {timed['lit']} lit, by a pointer over {where}")
                times[where].append(timed)
    for where, taken in times.items():
        work, total = [each["work"] for each in taken], [each["total"] for each in taken]
        note = (
            f"handlers, style, layout, painting; of {len(work)}, worst {max(work):.1f}; "
            f"with the wait for the frame {statistics.median(total):.1f}"
        )
        yield Row(f"pointer on {where} → six panes lit", statistics.median(work), "ms", 16, note=note)


def wait_until_idle(page: Page) -> None:
    """Wait until the main thread has nothing left of what went before."""
    page.evaluate("new Promise((resolve) => requestIdleCallback(resolve, { timeout: 2000 }))")


def _lines_of_all(service: Service, identifier: str) -> list[int]:
    """The source lines from which something comes in each of the five stages."""
    lines = [
        service.request("GET", f"/api/v1/compilations/{identifier}/stages/{stage}/locations")["source_lines"]
        for stage in FIVE_STAGES
    ]
    return sorted(set.intersection(*({line for each in stage for line in each} for stage in lines)))


def _pin(page: Page, fragment: str) -> None:
    """Pin a line by the address, which brings it into sight everywhere."""
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    for stage in FIVE_STAGES:
        page.locator(f"pane-stage.hue-{stage} .text-row.is-pinned").first.wait_for()
    page.locator(".cm-line.is-pinned").wait_for()


#: The middle of an element in sight; lines above and below what is in sight are drawn, too.
_MIDDLE = """
(selector) => {
  for (const element of document.querySelectorAll(selector)) {
    const { top, bottom, left } = element.getBoundingClientRect();
    const sight = element.closest(".text, .cm-scroller").getBoundingClientRect();
    if (top >= sight.top && bottom <= sight.bottom) return [left + 90, (top + bottom) / 2];
  }
  return null;
}
"""


def _middle(page: Page, selector: str) -> tuple[float, float]:
    x, y = page.wait_for_function(_MIDDLE, arg=selector).json_value()
    return x, y


def _long_module(playwright: Playwright, service: Service) -> Iterator[Row]:
    """A long LLVM module: opened, scrolled and searched, in our pane and as the browser's own plain text."""
    timing = service.compile(long_module.source(long_module.TERMS), TARGET)
    if timing.status != "complete":
        raise RuntimeError(f"the long module: {timing.status}")
    path = f"/api/v1/compilations/{timing.id}"
    stages = service.request("GET", path)["stages"]
    lines = next(stage["lines"] for stage in stages if stage["name"] == "llir")
    assert lines >= long_module.LEAST_LINES, lines
    drawn = f"document.querySelector('{LLIR}')?.querySelector('.text-row .code span')"
    with fresh_page(playwright, service.url) as page:
        page.add_init_script(f"bench.opened = bench.whenDrawn(() => {drawn}, 0);")
        page.goto(f"/k/{timing.id}#panes=stage:llir*")
        cold: float = page.evaluate("bench.opened")
    with fresh_page(playwright, service.url) as page:
        page.add_init_script("bench.opened = bench.whenDrawn(() => document.readyState === 'complete', 0);")
        page.goto(f"{path}/stages/llir")
        plain: float = page.evaluate("bench.opened")
        plain_frames = scroll(page, "pre", 3000, 3, "true")
    with fresh_page(playwright, service.url) as page:
        page.goto(f"/k/{timing.id}")
        wait_for_result(page)
        wait_until_quiet(page)
        page.evaluate(f"bench.timeEvent('click', () => {drawn})")
        page.locator("pipeline-path .node", has_text="LLVM IR").click()
        note = f"from the click to its first coloured lines; {lines:,} lines"
        yield Row("long LLVM module: open", page.evaluate("bench.timed"), "ms", 1000, note=note)
        note = f"as plain text in a <pre>: {plain:.0f} ms, ratio {cold / plain:.2f}"
        yield Row("long LLVM module: open by permalink, cold", cold, "ms", 1000, note=note)
        wait_until_quiet(page)
        every_row = f"[...document.querySelectorAll('{LLIR} .text-row')].every((row) => row.textContent)"
        for speed in (3000, 20_000):
            frames = scroll(page, f"{LLIR} .text", speed, 3, every_row)
            intervals = frames["intervals"]
            note = (
                f"worst frame {max(intervals):.1f} ms, {frames['incomplete']} of {len(intervals)} incomplete"
            )
            if speed == 3000:
                plain_intervals = plain_frames["intervals"]
                note += f"; <pre>: {per_second(plain_intervals):.0f} fps, worst {max(plain_intervals):.1f} ms"
            what = f"long LLVM module: scrolled by {speed:,} pixels a second"
            # A clock of 60 Hz gives 59.9 or 60.1.
            yield Row(what, round(per_second(intervals)), "fps", 60, is_least=True, note=note)
        yield from _finds(page)


def _finds(page: Page) -> Iterator[Row]:
    """From the letters' arrival in the search field to the frame with the number of matches."""
    search = page.locator(f"{LLIR} input[type=search]")

    def find(words: str) -> tuple[float, str]:
        count = page.locator(f"{LLIR} .count")
        differs = f"document.querySelector('{LLIR} .count').textContent !== before"
        page.evaluate(f"(before) => bench.timeEvent('input', () => {differs})", count.inner_text())
        search.fill(words)
        return page.evaluate("bench.timed"), count.inner_text()

    taken, note = find("fmul")
    yield Row("long LLVM module: find, the text not read yet", taken, "ms", note=f"fmul: {note}")
    finds: list[tuple[Callable[[], object], str, str]] = [
        (lambda: None, "a frequent word", "fadd"),
        (lambda: None, "one line", "%5000 ="),
        (lambda: None, "what is not there", "qqqq"),
        (
            page.locator(f"{LLIR} button[aria-label='Regular expression']").click,
            "a pattern",
            r"%1\d*7 = f(add|mul)",
        ),
    ]
    for prepare, what, words in finds:
        prepare()
        taken, note = find(words)
        yield Row(f"long LLVM module: find {what}", taken, "ms", 100, note=f"{words}: {note}")


def _compare(playwright: Playwright, service: Service) -> Iterator[Row]:
    """Two matmuls that differ in their warps: compared by the API for the first time, then by the page."""
    example = find_example("matmul")
    assert example is not None
    before, after = (service.compile(example.source, TARGET, num_warps=warps).id for warps in (4, 8))
    path = f"/api/v1/compilations/{before}/compare/{after}"
    yield Row("compare two matmuls: the document, first asked for", service.time(path), "ms", 500)
    stages = [service.time(f"{path}/stages/{stage}") for stage in ("ttgir", "sass")]
    yield Row("compare two matmuls: both stages' differences, first", sum(stages), "ms", 500)
    if not service.answers(f"/compare/{before}..{after}"):
        return
    with fresh_page(playwright, service.url) as page:
        load = measure_load(page, f"/compare/{before}..{after}", wait_until_quiet)
        yield Row("compare two matmuls: the page, cold: largest paint", load.largest_paint, "ms", 1000)
