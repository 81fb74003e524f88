"""A real server with its sandbox, and a real browser.

A test fails if it leaves an error in the browser's console. Violations of the Content Security Policy
appear there, too.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from actions import TIMEOUT_MS, UNPINNED, Hold, Visitor, wait_for_result
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, Route, expect, sync_playwright
from served import Server

from explorer.store import Store, open_store

#: Chromium without its windows, which cost each visit as much time as half of the page.
CHROMIUM = "/usr/bin/chromium-headless-shell"
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture
def store(running_server: Server) -> Iterator[Store]:
    """The server's store, for tests that insert results."""
    store = open_store(running_server.folder)
    yield store
    store.close()


@pytest.fixture(scope="session")
def server(running_server: Server) -> str:
    """Return the URL of the server."""
    return running_server.url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visitor(browser: Browser, server: str) -> Iterator[Visitor]:
    """Open a page in a new browser profile: `visitor(width=…, height=…, color_scheme=…)`."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def visit(width: int = 1440, height: int = 900, **options: Any) -> Page:
        context = browser.new_context(
            base_url=server, viewport={"width": width, "height": height}, reduced_motion="reduce", **options
        )
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: complaints.append(error.stack or str(error)))
        return page

    yield visit
    for context in contexts:
        # A handler that is at work would raise in the next test that its context is closed.
        for opened in context.pages:
            opened.unroute_all(behavior="ignoreErrors")
        context.close()
    # Browsers note every request that fails: these tests check the page's message.
    assert [text for text in complaints if not text.startswith("Failed to load resource")] == []


@pytest.fixture
def hold(visitor: Visitor) -> Iterator[Hold]:
    """Hold requests: `hold(page, pattern)` returns the list of the requests, which grows.

    A request that the test does not answer ends with the test. Without an answer, Playwright's coroutine
    would be left, and raise where the garbage collector finds it: in any later test.
    """
    requests: list[list[Route]] = []

    def hold(page: Page, pattern: str) -> list[Route]:
        held: list[Route] = []
        requests.append(held)
        page.route(pattern, lambda route: held.append(route))
        return held

    yield hold
    for route in itertools.chain(*requests):
        with contextlib.suppress(Error):  # it is answered already
            route.abort()


@pytest.fixture
def own() -> Callable[[str], str]:
    """Make a source of this attempt of the test alone: the server has no result of it, and no run."""
    return lambda source: f"{source}\n# {uuid.uuid4()}\n"


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The page after a first visit, at the start of its texts."""
    page = visitor()
    page.goto(UNPINNED)
    wait_for_result(page)
    return page


@pytest.fixture
def other_site(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Serve HTML from another origin and return its URL."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def publish(body: str) -> str:
        (tmp_path / "index.html").write_text(
            f"<!doctype html><html lang=en><link rel=icon href=data:,><title>Post</title><body>{body}"
        )
        return f"http://127.0.0.1:{server.server_port}/index.html"

    yield publish
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ttgir(page: Page) -> Locator:
    return page.locator("pane-stage.hue-ttgir")
