"""Test that the page shows a compilation whose event stream is refused."""

from __future__ import annotations

import contextlib
import json
import socket
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from actions import DOCUMENT, compile_now, expect_stage, show_sass, unfinished, wait_for_result
from playwright.sync_api import Page, expect
from sources import SCALE

from explorer.settings import Settings

#: Two seconds pass in the script, so that the page asks for the document while it is compiled.
SLOW_SCALE = f"import time\n\ntime.sleep(2)\n{SCALE}"


@pytest.fixture
def no_streams(server: str, endless: str, own: Callable[[str], str]) -> Iterator[None]:
    """Open as many event streams as one client may have."""
    body = json.dumps({"source": own(endless), "target": "cuda:90"}).encode()
    request = urllib.request.Request(
        f"{server}/api/v1/compilations", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        job = json.load(response)
    address = urlsplit(server)
    with contextlib.ExitStack() as stack:
        for _ in range(Settings().client_streams):
            stream = stack.enter_context(socket.create_connection((address.hostname, address.port), 60))
            stream.sendall(f"GET {job['events']} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert b" 200 OK" in stream.recv(65536)
        yield
    with urllib.request.urlopen(urllib.request.Request(server + job["api"], method="DELETE")):
        pass


@pytest.mark.nightly
def test_a_compilation_without_events_is_shown(page: Page, no_streams: None) -> None:
    # The page is open before the streams, which end at the time limit of their job.
    # No result of this kernel is stored.
    name = f"scale_{uuid.uuid4().hex}"
    statuses = []
    page.on("response", lambda answer: statuses.append(answer.status) if "/events" in answer.url else None)
    page.route(DOCUMENT, unfinished, times=1)
    compile_now(page, SLOW_SCALE.replace("scale", name))
    show_sass(page)
    expect_stage(page, "SASS", name)
    wait_for_result(page)
    assert statuses == [429]
    expect(page.get_by_text("The connection was lost")).to_have_count(0)
