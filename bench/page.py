"""The page benchmark: time the page in Chromium and compare the times with their limits.

The times of a load are medians of several loads, each in a new browser. The times of the pointer and of
typing are medians of several moves and keys in one browser with an otherwise idle page, where everything else
is measured once. `bench/frames.py` defines when a frame is complete.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import statistics
from collections.abc import Callable, Iterator
from typing import Any

from playwright.sync_api import Page, Playwright, sync_playwright

from bench import long_module
from bench.bare import TARGET
from bench.chromium import LONG_TASK_MS, Load, fresh_page, measure_load, wait_for_result, wait_until_quiet
from bench.frames import scroll, time_pointer
from bench.panes import measure_layout, measure_snapshot
from bench.row import Row, per_second
from bench.service import Service
from explorer.examples import DEFAULT_EXAMPLE, find_example

LOADS = 5
HOVERED_LINES = 12
#: Characters that are typed one by one, each after the page is quiet.
EDITS = 7
#: The text that is typed without waiting for the results.
TYPED = " + 1.25" * 6
KEY_MS = 120
FIVE_STAGES = ("ttir", "ttgir", "llir", "ptx", "sass")
KIB = 1000
LAZY = ("plotly", "graphviz", "viz-")
LLIR = "pane-stage.hue-llir"


def measure_page(service: Service) -> list[dict[str, Any]]:
    """Run the benchmark, print its table, and return the rows."""
    print(f"{'':58} {'limit':>8} {'measured':>9}")
    rows = []
    with sync_playwright() as playwright:
        for measure in (_loads, _hover, _typing, _long_module, measure_snapshot, measure_layout, _compare):
            for row in measure(playwright, service):
                rows.append(row)
                print(row, flush=True)
    return [{**dataclasses.asdict(row), "is_met": row.is_met} for row in rows]


def _loads(playwright: Playwright, service: Service) -> Iterator[Row]:
    """Measure loads of `/`, of `/` with a source that was not compiled before, and of a permanent link."""
    example = find_example(DEFAULT_EXAMPLE)
    assert example is not None

    def load(path: str, source: str = "") -> Load:
        with fresh_page(playwright, service.url) as page:
            if source:
                page.add_init_script(_KEEP_DRAFT % json.dumps(json.dumps({"source": source})))
            return measure_load(page, path)

    permalink = f"/k/{service.compile(example.source, TARGET).id}"
    loads = {
        "/": [load("/") for _ in range(LOADS)],
        "/, first compilation": [load("/", f"{example.source}\n# {index}\n") for index in range(LOADS)],
        "permalink": [load(permalink) for _ in range(LOADS)],
    }
    for name, taken in loads.items():
        for what, times, limit in (
            ("first contentful paint", [each.first_paint for each in taken], None),
            ("largest contentful paint", [each.largest_paint for each in taken], 700),
            ("total blocking time", [each.blocking for each in taken], 100),
        ):
            note = f"of {LOADS}, {min(times):.0f} to {max(times):.0f}"
            yield Row(f"{name}: {what}", statistics.median(times), "ms", limit, note=note)
    scripts, later = loads["/"][0].scripts, loads["/"][0].later_scripts
    transferred, zipped = sum(scripts.values()), sum(_gzip_bytes(service, path) for path in scripts)
    note = (
        f"{len(scripts)} files, which the document names; "
        f"after the first result {len(later)} files, {sum(later.values()) / KIB:.1f} kB"
    )
    yield Row("scripts at first load, brotli", transferred / KIB, "kB", 200, note=note)
    yield Row("scripts at first load, gzip", zipped / KIB, "kB", 250, note="for browsers without brotli")
    lazy = [path for path in {**scripts, **later} if any(word in path.lower() for word in LAZY)]
    yield Row("of them Plotly or Graphviz", len(lazy), "files", 0)


#: The stored draft of an edited source, which the page compiles when it is opened again.
_KEEP_DRAFT = "if (location.protocol === 'http:') localStorage.setItem('draft', %s);"


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
    """Time the highlighting of flash attention lines in the editor and in five stage panes."""
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
            _pin(page, line)
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
                    raise RuntimeError(f"line {line}: {timed['lit']} panes highlighted, pointer on {where}")
                times[where].append(timed)
    for where, taken in times.items():
        work, total = [each["work"] for each in taken], [each["total"] for each in taken]
        note = (
            f"handlers, style, layout, painting; of {len(work)}, worst {max(work):.1f}; "
            f"with the wait for the frame {statistics.median(total):.1f}"
        )
        yield Row(f"pointer on {where} → six panes highlighted", statistics.median(work), "ms", 8, note=note)


def _typing(playwright: Playwright, service: Service) -> Iterator[Row]:
    """Type into the gallery's softmax: time the changed stages after the last key, and the delay of a key."""
    example = find_example("softmax")
    assert example is not None
    identifier = service.compile(example.source, TARGET).id
    times: dict[str, list[float]] = {"ttir": [], "sass": []}
    disassembler: list[float] = []
    with fresh_page(playwright, service.url) as page:
        page.add_init_script(_WATCH_TYPING)
        page.goto(f"/k/{identifier}#panes=stage:ttir*+stage:sass*")
        wait_for_result(page)
        wait_until_quiet(page)
        page.locator(".cm-line", has_text="tl.exp").click()
        page.keyboard.press("End")
        # The first result of typing tells how long this source takes: a slow one is compiled later.
        for typed in (" * 1.5", *"1" * EDITS):
            wait_until_quiet(page)
            page.evaluate("bench.watchStages()")
            page.keyboard.type(typed)
            timed = page.wait_for_function(_TYPED).json_value()
            if len(typed) > 1:
                continue
            for stage, taken in times.items():
                taken.append(timed[stage])
            result = page.url.removeprefix(f"{service.url}/k/").partition("#")[0]
            stages = service.request("GET", f"/api/v1/compilations/{result}")["stages"]
            disassembler.append(next(each["milliseconds"] for each in stages if each["name"] == "sass"))
        wait_until_quiet(page)
        page.evaluate("bench.longTasks = []")
        page.keyboard.type(TYPED, delay=KEY_MS)
        wait_until_quiet(page)
        tasks: list[float] = page.evaluate("bench.longTasks")
    for stage, limit in (("ttir", 350), ("sass", 600)):
        taken = times[stage]
        note = f"of {len(taken)}, worst {max(taken):.0f}"
        if stage == "sass":
            without = statistics.median(a - b for a, b in zip(taken, disassembler, strict=True))
            note += f"; without the disassembler {without:.0f}"
        what = f"softmax: last key → {stage.upper()} in the pane"
        yield Row(what, statistics.median(taken), "ms", limit, note=note)
    blocking = sum(task - LONG_TASK_MS for task in tasks)
    note = f"{len(TYPED)} keys, one each {KEY_MS} ms; longest task {max(tasks, default=0):.0f}"
    yield Row("softmax: total blocking time while typing", blocking, "ms", 150, note=note)


#: Notes when each stage shows another result, since the last key; and all long tasks.
_WATCH_TYPING = """
(() => {
  let key = 0;
  let shown = {};
  const result = (stage) => document.querySelector(`pane-stage.hue-${stage} .facts a`)?.href;
  bench.longTasks = [];
  bench.watchStages = () => {
    bench.typed = {};
    for (const stage of ["ttir", "sass"]) shown[stage] = result(stage);
  };
  bench.watchStages();
  addEventListener("keydown", () => { key = performance.now(); }, true);
  const look = () => {
    for (const stage of ["ttir", "sass"])
      if (!bench.typed[stage] && result(stage) !== shown[stage]) bench.typed[stage] = performance.now() - key;
    bench.afterFrame(look);
  };
  bench.afterFrame(look);
  new PerformanceObserver((list) => bench.longTasks.push(...list.getEntries().map((each) => each.duration)))
    .observe({ type: "longtask" });
})();
"""
#: Returns the times when both stages have changed.
_TYPED = "() => bench.typed.ttir && bench.typed.sass && bench.typed"


def wait_until_idle(page: Page) -> None:
    page.evaluate("new Promise((resolve) => requestIdleCallback(resolve, { timeout: 2000 }))")


def _lines_of_all(service: Service, identifier: str) -> list[int]:
    """Return the source lines that are present in each of the five stages."""
    lines = [
        service.request("GET", f"/api/v1/compilations/{identifier}/stages/{stage}/locations")["source_lines"]
        for stage in FIVE_STAGES
    ]
    return sorted(set.intersection(*({line for each in stage for line in each} for stage in lines)))


def _pin(page: Page, line: int) -> None:
    """Pin a line through the address, which scrolls every pane to it, and keeps the panes as they are."""
    page.evaluate(
        "(line) => { location.hash = location.hash.replace(/&pin=.*/, '') + `&pin=${line}`; }", line
    )
    for stage in FIVE_STAGES:
        page.locator(f"pane-stage.hue-{stage} .text-row.is-pinned").first.wait_for()
    page.locator(".cm-line.is-pinned").wait_for()


#: Returns the middle of the first visible match; some rows above and below the viewport are rendered, too.
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
    """Open, scroll and search a long LLVM module, in a stage pane and as the browser's plain text."""
    timing = service.compile(long_module.source(long_module.TERMS), TARGET)
    if timing.status != "complete":
        raise RuntimeError(f"the compilation of the long module ended with status {timing.status}")
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
        note = f"from the click to the first highlighted lines; {lines:,} lines"
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
            # A display refresh rate of 60 Hz measures as 59.9 or 60.1.
            yield Row(what, round(per_second(intervals)), "fps", 60, is_least=True, note=note)
        yield from _finds(page)


def _finds(page: Page) -> Iterator[Row]:
    """Measure from the input event of the search field to the frame that shows the number of matches."""
    search = page.locator(f"{LLIR} input[type=search]")

    def find(words: str) -> tuple[float, str]:
        count = page.locator(f"{LLIR} .count")
        # It is empty while the text is searched.
        differs = f"!['', before].includes(document.querySelector('{LLIR} .count').textContent)"
        page.evaluate(f"(before) => bench.timeEvent('input', () => {differs})", count.inner_text())
        search.fill(words)
        return page.evaluate("bench.timed"), count.inner_text()

    taken, note = find("fmul")
    yield Row("long LLVM module: find, text not loaded yet", taken, "ms", note=f"fmul: {note}")
    finds: list[tuple[Callable[[], object], str, str]] = [
        (lambda: None, "a frequent word", "fadd"),
        (lambda: None, "one line", "%5000 ="),
        (lambda: None, "an absent word", "qqqq"),
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
    """Compare two matmuls that differ in `num_warps`: uncached in the API, then on the page."""
    example = find_example("matmul")
    assert example is not None
    before, after = (service.compile(example.source, TARGET, num_warps=warps).id for warps in (4, 8))
    path = f"/api/v1/compilations/{before}/compare/{after}"
    yield Row("compare two matmuls: the document, not cached", service.time(path), "ms", 500)
    stages = [service.time(f"{path}/stages/{stage}") for stage in ("ttgir", "sass")]
    yield Row("compare two matmuls: the differences of both stages, not cached", sum(stages), "ms", 500)
    if not service.answers(f"/compare/{before}..{after}"):
        return
    with fresh_page(playwright, service.url) as page:
        load = measure_load(page, f"/compare/{before}..{after}", wait_until_quiet)
        yield Row("compare two matmuls: the page, cold: largest paint", load.largest_paint, "ms", 1000)
