"""Chromium with an empty profile, and the performance entries that it records about a page.

Each browser is a separate process with empty caches: no files, no compiled code, no settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, Playwright, ViewportSize

from bench.frames import HELPERS

EXECUTABLE = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WINDOW: ViewportSize = {"width": 1440, "height": 900}
TIMEOUT_MS = 120_000
QUIET_MS = 1500
#: Longer tasks count as blocking (https://web.dev/articles/tbt).
LONG_TASK_MS = 50

#: Returns the performance entries since the navigation, which the browser has buffered.
_NOTED = """
async () => {
  const noted = (type) => new Promise((resolve) => {
    const entries = [];
    const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
    observer.observe({ type, buffered: true });
    setTimeout(() => { observer.disconnect(); resolve(entries); }, 100);
  });
  const [paints, largest, tasks] = await Promise.all(
    ["paint", "largest-contentful-paint", "longtask"].map(noted));
  const last = largest.at(-1);
  const named = new Set([...document.querySelectorAll("script[src], link[rel=modulepreload]")]
    .map(({ src, href }) => src ?? href));
  return {
    first_paint: paints.find(({ name }) => name === "first-contentful-paint").startTime,
    largest_paint: last?.startTime ?? 0,
    largest: last?.element ? `${last.element.localName}.${last.element.className}`.slice(0, 60) : "",
    tasks: tasks.map(({ startTime, duration }) => ({ start: startTime, duration })),
    scripts: performance.getEntriesByType("resource")
      .filter(({ name }) => new URL(name).pathname.endsWith(".js"))
      .map(({ name, encodedBodySize }) =>
        ({ path: new URL(name).pathname, bytes: encodedBodySize, is_first: named.has(name) })),
  };
}
"""

#: Resolves when the main thread had no long task for `quiet_ms`.
_QUIET = """
(quiet_ms) => new Promise((resolve) => {
  let timer = setTimeout(resolve, quiet_ms);
  new PerformanceObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(resolve, quiet_ms);
  }).observe({ type: "longtask" });
})
"""


@dataclass(frozen=True)
class Load:
    """A page load, in milliseconds since the start of the navigation; sizes in bytes as transferred.

    `blocking` is the total blocking time: the sum of the time beyond 50 ms of each long task, from the first
    contentful paint until the page is idle. The document names the `scripts`, which the page needs to show
    its first result. The page loads the `later_scripts` until it is idle.
    """

    largest_paint: float
    first_paint: float
    blocking: float
    largest: str
    scripts: dict[str, int] = field(default_factory=dict)
    later_scripts: dict[str, int] = field(default_factory=dict)


@contextlib.contextmanager
def fresh_page(playwright: Playwright, base_url: str) -> Iterator[Page]:
    """Open a page in a new browser; close the browser at the end."""
    browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGUMENTS)
    try:
        page = browser.new_context(base_url=base_url, viewport=WINDOW).new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.add_init_script(HELPERS)
        yield page
    finally:
        browser.close()


def wait_for_result(page: Page) -> None:
    """Wait until the compilation is complete and its stages are rendered."""
    page.locator("status-bar .state.is-complete").wait_for(state="attached")
    page.locator("pane-stage .text-row .code span").first.wait_for(state="attached")


def wait_until_quiet(page: Page) -> None:
    """Wait until the network and the main thread are idle."""
    page.wait_for_load_state("networkidle")
    page.evaluate(_QUIET, QUIET_MS)


def measure_load(page: Page, path: str, wait: Callable[[Page], None] = wait_for_result) -> Load:
    """Open `path`, wait until the page is idle, and return the figures of its load."""
    page.goto(path)
    wait(page)
    wait_until_quiet(page)
    noted: dict[str, Any] = page.evaluate(_NOTED)
    blocking = sum(
        task["duration"] - LONG_TASK_MS for task in noted["tasks"] if task["start"] >= noted["first_paint"]
    )
    first, later = (
        {each["path"]: int(each["bytes"]) for each in noted["scripts"] if each["is_first"] == is_first}
        for is_first in (True, False)
    )
    return Load(noted["largest_paint"], noted["first_paint"], blocking, noted["largest"], first, later)
