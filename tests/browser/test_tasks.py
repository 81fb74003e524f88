"""Test that the page does nothing twice, and loads nothing early, while it shows a result."""

from __future__ import annotations

from collections.abc import Callable

from actions import Hold, Visitor, compile_now, wait_for_result
from playwright.sync_api import Page, Request, Route, expect
from sources import SCALE

COUNT_UPDATES = """
(() => {
    const { classList } = document.body;
    const toggle = classList.toggle.bind(classList);
    window.updates = 0;
    classList.toggle = (name, ...values) => {
        if (name === "is-busy") updates += 1;
        return toggle(name, ...values);
    };
})();
"""
#: Counts how often the code of a row is rebuilt without a change.
COUNT_REBUILT = """
(() => {
    const { replaceChildren } = Element.prototype;
    window.built = 0;
    window.rebuilt = 0;
    Element.prototype.replaceChildren = function (...pieces) {
        const before = this.innerHTML;
        replaceChildren.apply(this, pieces);
        if (!this.matches("pane-stage .code") || !pieces.length) return;
        if (this.innerHTML === before) rebuilt += 1;
        else built += 1;
    };
})();
"""
IDLE = "new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve)))"
NAMED = """
() => [...document.querySelectorAll("script[src], link[rel=modulepreload]")]
    .map(({ src, href }) => src ?? href)
"""


def test_events_that_come_together_are_drawn_together(page: Page, own: Callable[[str], str]) -> None:
    events: list[int] = []

    def together(route: Route) -> None:
        answer = route.fetch(timeout=0)
        events.append(answer.text().count("event: "))
        route.fulfill(response=answer)

    page.route("**/api/v1/compilations/*/events?*", together)
    page.evaluate(COUNT_UPDATES)
    compile_now(page, own(SCALE))
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    assert page.evaluate("updates") < 20 < events[0]


def test_what_arrives_later_builds_no_line_again(visitor: Visitor) -> None:
    page = visitor()
    page.add_init_script(COUNT_REBUILT)
    page.goto("/#panes=stage:sass*")
    # Locations, the structure and the registers have arrived.
    sass = page.locator("pane-stage.hue-sass")
    expect(sass.locator(".stripe:not(.is-blank)").first).to_be_visible()
    expect(sass.locator(".fold:not(:empty)").first).to_be_attached()
    expect(sass.locator(".gauge:not([title=''])[title]").first).to_be_visible()
    assert page.evaluate("rebuilt") == 0 < page.evaluate("built")


def test_until_the_first_result_only_scripts_are_loaded_that_the_document_names(
    visitor: Visitor, hold: Hold
) -> None:
    page = visitor()
    scripts: set[str] = set()

    def note(request: Request) -> None:
        if request.url.endswith(".js"):
            scripts.add(request.url)

    page.on("request", note)
    held = hold(page, "**/api/v1/compilations?*")
    with page.expect_request("**/api/v1/compilations?*"):
        page.goto("/")
    expect(page.locator(".cm-line", has_text="def matmul_kernel")).to_be_visible()
    page.evaluate(IDLE)
    named = set(page.evaluate(NAMED))
    assert scripts <= named
    # Playwright notes requests only while one of its own calls waits.
    with page.expect_request("**/heat-*.js") as later:
        held[0].continue_()
    assert later.value.url not in named
