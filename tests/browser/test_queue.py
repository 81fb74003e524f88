"""Test the page while the server is overloaded."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from actions import COMPILE_TIMEOUT_MS, compile_now, eventually, set_source, wait_for_result
from playwright.sync_api import Page, Route, expect
from slow_jobs import ENDLESS
from sources import SCALE


def ask(server: str, method: str, path: str, body: object = None) -> Any:
    """Send a request of a program."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or "null")


@pytest.fixture
def endless_jobs(server: str, own: Callable[[str], str]) -> Iterator[list[Any]]:
    """More endless jobs of this client than it has slots for."""
    count = 12
    bodies = [{"source": own(ENDLESS), "target": "cuda:90"} for _ in range(count)]
    tickets = [ask(server, "POST", "/api/v1/compilations", body) for body in bodies]
    yield tickets
    for ticket in reversed(tickets):
        ask(server, "DELETE", ticket["api"])


def test_the_position_in_the_queue_is_shown(
    page: Page, server: str, endless_jobs: list[Any], own: Callable[[str], str]
) -> None:
    set_source(page, own(SCALE))
    state = page.locator("status-bar .state")
    in_queue = re.compile(r"number (\d+) in the queue")
    expect(state).to_have_text(in_queue)
    # No stage is compiled yet.
    expect(page.locator("pipeline-path .node.is-waiting").first).to_be_visible()
    expect(page.locator("pipeline-path .node.is-running")).to_have_count(0)

    def position() -> int:
        found = in_queue.fullmatch(state.inner_text())
        assert found
        return int(found[1])

    before = position()
    for ticket in endless_jobs[-2:]:
        ask(server, "DELETE", ticket["api"])
    eventually(lambda: position() <= before - 2, True)
    for ticket in reversed(endless_jobs):
        ask(server, "DELETE", ticket["api"])
    wait_for_result(page)


@pytest.mark.nightly
@pytest.mark.parametrize("status", [429, 503])
def test_a_refused_request_is_sent_again(page: Page, status: int) -> None:
    refusals = iter([1, 2])

    def refuse(route: Route) -> None:
        if next(refusals, None) is None:
            route.continue_()
            return
        problem = {"error": "Too many requests", "kind": "too_many_requests", "detail": "Try again."}
        route.fulfill(status=status, headers={"Retry-After": "1"}, json=problem)

    page.route("**/api/v1/compilations?*", refuse)
    set_source(page, f"{SCALE}# refused with {status}\n")
    expect(page.locator("status-bar .state")).to_have_text("the server is busy, trying again")
    expect(page.locator("message-banner")).to_be_empty()
    wait_for_result(page)
    assert next(refusals, None) is None


def test_a_request_that_waits_can_be_canceled(page: Page) -> None:
    page.route(
        "**/api/v1/compilations?*",
        lambda route: route.fulfill(status=429, headers={"Retry-After": "5"}, json={"error": "Busy"}),
    )
    set_source(page, f"{SCALE}# given up\n")
    state = page.locator("status-bar .state")
    expect(state).to_have_text("the server is busy, trying again")
    page.locator("status-bar").get_by_role("button", name="Cancel").click()
    expect(state).to_contain_text("edited since", timeout=COMPILE_TIMEOUT_MS)
    expect(page.locator("message-banner")).to_be_empty()


def test_a_hidden_tab_holds_no_stream_and_keeps_its_job(
    page: Page, server: str, own: Callable[[str], str]
) -> None:
    """A browser has six connections to a server, for all of its tabs."""
    with page.expect_request("**/events?follower=*") as followed:
        compile_now(page, own(ENDLESS))
    stream = followed.value
    job = urlsplit(stream.url).path.removesuffix("/events")
    page.evaluate("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})")
    closed = page.expect_event("requestfailed", lambda request: request.url == stream.url)
    with page.expect_response(f"**{job}?follower=*"), closed:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    # The tab polls, so another follower does not end its job.
    assert canceled(server, job) == 202
    page.evaluate("delete document.hidden")
    with page.expect_request("**/events?follower=*"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.get_by_role("button", name="Cancel").click()


def canceled(server: str, job: str) -> int:
    """Cancel a job as another follower; return the status of the answer."""
    request = urllib.request.Request(f"{server}{job}?follower=other", method="DELETE")
    with urllib.request.urlopen(request) as response:
        return int(response.status)
