"""Test that the page does its work in several tasks, between which it answers the user, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable

from actions import SCALE, Visitor, compile_now, editor_line, wait_for_result
from playwright.sync_api import Page, Route, expect

PARTS = [".cm-editor", ".dv-groupview", ".cm-line:nth-child(2)"]
NOTE_PAUSES = f"""
(() => {{
    const pause = scheduler.yield.bind(scheduler);
    window.pauses = [];
    scheduler.yield = () => {{
        pauses.push({PARTS}.filter((part) => document.querySelector(part)));
        return pause();
    }};
}})();
"""
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
COUNT_MEASURED = """
(() => {
    const { get } = Object.getOwnPropertyDescriptor(Element.prototype, "clientHeight");
    window.measured = 0;
    Object.defineProperty(Element.prototype, "clientHeight", {
        get() {
            if (this.matches(".text-frame")) window.measured += 1;
            return get.call(this);
        },
    });
})();
"""


def test_the_page_starts_in_several_tasks(visitor: Visitor) -> None:
    page = visitor()
    page.add_init_script(NOTE_PAUSES)
    page.goto("/")
    wait_for_result(page)
    pauses = page.evaluate("pauses")
    # Each part of the page has come in a task of its own.
    assert [PARTS[:count] in pauses for count in range(3)] == [True] * 3


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


def test_the_pointer_measures_no_pane(page: Page) -> None:
    compile_now(page, SCALE)
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    line = editor_line(page, "tl.load")
    line.hover()
    expect(page.locator(".text-row.is-lit").first).to_be_attached()
    page.evaluate(COUNT_MEASURED)
    editor_line(page, "tl.store").hover()
    expect(page.locator("pane-stage .marks path[d^=M]").first).to_be_attached()
    expect(page.locator(".text-row.is-lit", has_text="store").first).to_be_attached()
    page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    assert page.evaluate("measured") == 0
