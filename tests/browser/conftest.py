"""A real server with its real sandbox, and a real browser that looks at it.

Every test fails that leaves an error in the browser's console: what the content security policy refuses
is said there, too.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from actions import SCALE, Visitor, wait_for_result
from measured_recordings import write_measured_recording
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from recorded import write_recording

from explorer.settings import Settings
from explorer.store import Store

ROOT = Path(__file__).parents[2]
CHROMIUM = "/usr/bin/chromium"
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all recorded runs, one of `SCALE` made by hand, and one of a vector addition."""
    folder = tmp_path_factory.mktemp("recordings")
    for file in (ROOT / "proton_profiles").glob("*.json"):
        shutil.copy(file, folder)
    write_recording(folder, SCALE, example="scale", kernel="scale")
    write_measured_recording(folder)
    return folder


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps its results."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def store(server: str, data_dir: Path) -> Iterator[Store]:
    """The server's results, to put some in that nobody has compiled."""
    store = Store(Settings(data_dir=data_dir))
    yield store
    store.close()


@pytest.fixture(scope="session")
def server(recordings: Path, data_dir: Path) -> Iterator[str]:
    """The address of a server that was started for these tests."""
    assert (ROOT / "explorer/static/dist/manifest.json").is_file(), "Run `python hatch_build.py` first."
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "explorer", "serve", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--data-dir", str(data_dir)],
        cwd=ROOT,
        env=os.environ | {"TRITON_EXPLORER_RECORDINGS_DIR": str(recordings)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            announced = process.stdout.readline()
            assert f":{port}" in announced, f"The server did not start: {announced!r}"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visitor(browser: Browser, server: str) -> Iterator[Visitor]:
    """Makes a page in a profile of its own: `visitor(width=…, height=…, color_scheme=…)`."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def visit(width: int = 1440, height: int = 900, **options: object) -> Page:
        context = browser.new_context(
            base_url=server, viewport={"width": width, "height": height}, reduced_motion="reduce", **options
        )
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
        context.close()
    # Browsers note every request that fails: those tests see what the page says about it.
    assert [text for text in complaints if not text.startswith("Failed to load resource")] == []


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The page after a first visit."""
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    return page
