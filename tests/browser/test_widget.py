"""Test the selection in a frame with the workbench: in a widget of a notebook, and in another site.

The module of the widget runs as anywidget runs it: imported from its text, with a model and an element.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from actions import Visitor, eventually
from playwright.sync_api import FrameLocator, Locator, Page, expect
from sources import SCALE

from explorer.python.notebook import page_frame

FRONT_END = Path(__file__).parents[2] / "explorer/static/notebook/widget.js"
LOAD = SCALE.splitlines().index("    x = tl.load(x_ptr + offsets, mask=offsets < n)") + 1
STORE = LOAD + 1

#: A model of anywidget. `show` adds a view of it, and returns a function that removes the view.
HOST = """async ([module, frame]) => {
    const address = URL.createObjectURL(new Blob([module], { type: "text/javascript" }));
    const { default: widget } = await import(address);
    const traits = { frame, selection: { stage: null, line: null, source_lines: [] } };
    const listeners = new Set();
    window.saved = [];
    window.strays = [];
    addEventListener("message", ({ data }) => strays.push(data));
    window.model = {
        get: (name) => traits[name],
        set(name, value) {
            const isSame = JSON.stringify(traits[name]) === JSON.stringify(value);
            traits[name] = value;
            if (!isSame) for (const [event, listener] of [...listeners])
                if (event === `change:${name}`) listener();
        },
        on: (event, listener) => listeners.add([event, listener]),
        off: (event, listener) =>
            listeners.forEach((each) => each[0] === event && each[1] === listener && listeners.delete(each)),
        save_changes: () => saved.push(traits.selection),
        listeners,
    };
    window.show = () => {
        const el = document.body.appendChild(document.createElement("div"));
        return widget.render({ model, el });
    };
    window.end = show();
}"""


@pytest.fixture(scope="module")
def compilation(server: str) -> str:
    """Compile a source, and return the id of the result."""
    body = json.dumps({"source": SCALE, "target": "cuda:90"}).encode()
    request = urllib.request.Request(
        f"{server}/api/v1/compilations", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        ticket = json.load(response)
    with urllib.request.urlopen(server + ticket["events"], timeout=60) as events:
        events.read()
    return str(ticket["id"])


@pytest.fixture
def host(server: str, compilation: str, visitor: Visitor) -> Page:
    """Show the widget in a page without a network, with the real saved page."""
    address = f"{server}/api/v1/compilations/{compilation}/export.html"
    with urllib.request.urlopen(address, timeout=60) as response:
        frame = page_frame(response.read(), "scale", 700)
    page = visitor(offline=True)
    page.evaluate(HOST, [FRONT_END.read_text(encoding="utf-8"), frame])
    expect_shown(page.frame_locator("iframe"))
    return page


def expect_shown(frame: FrameLocator) -> None:
    """Wait until the result is shown and the folds are where they stay."""
    expect(frame.locator("status-bar .state")).to_have_class("state is-complete")
    expect(frame.locator("pane-stage .fold", has_text="▾").first).to_be_attached()


def selection(page: Page) -> dict[str, Any]:
    """Return the selection as Python has it."""
    found: dict[str, Any] = page.evaluate("() => saved.at(-1) ?? null")
    return found


def row(frame: FrameLocator, title: str, text: str) -> Locator:
    """Return the first line with a text in the pane of a stage that has the title."""
    return frame.get_by_role("group", name=f"{title}, ").locator(".text-row", has_text=text).first


def number(line: Locator) -> int:
    return int(line.locator(".number").inner_text())


def test_what_is_clicked_in_the_page_is_the_selection_of_the_model(host: Page) -> None:
    frame = host.frame_locator("iframe")
    load = row(frame, "TTGIR", "tt.load")
    load.click()
    clicked = {"stage": "ttgir", "line": number(load), "source_lines": [LOAD]}
    eventually(lambda: selection(host), clicked)
    # A source line that was pinned later is no line of a stage.
    frame.locator("#editor .cm-lineNumbers .cm-gutterElement", has_text=str(STORE)).click()
    eventually(lambda: selection(host), {"stage": None, "line": None, "source_lines": [STORE]})
    load.click()
    eventually(lambda: selection(host), clicked)
    # Nothing else was posted, to nobody.
    assert host.evaluate("() => strays") == []


@pytest.mark.nightly
def test_the_page_goes_to_the_selection_that_the_model_has_got(host: Page) -> None:
    frame = host.frame_locator("iframe")
    host.evaluate("() => model.set('selection', { stage: 'llir', line: 20, source_lines: null })")
    cursor = frame.get_by_role("group", name="LLVM IR, ").locator(".text-row.is-cursor")
    expect(cursor.locator(".number")).to_have_text("20")
    # The page says from which source lines it comes.
    eventually(lambda: (selection(host) or {}).get("line"), 20)
    host.evaluate("n => model.set('selection', { stage: null, line: null, source_lines: [n] })", STORE)
    pinned = frame.get_by_role("group", name="LLVM IR, ").locator(".text-row.is-pinned")
    expect(pinned.filter(has_text="st.global").first).to_be_visible()
    eventually(lambda: host.evaluate("() => model.get('selection').source_lines"), [STORE])


@pytest.mark.nightly
def test_another_view_of_the_widget_shows_the_same_until_it_ends(host: Page) -> None:
    first = host.frame_locator("iframe >> nth=0")
    store = row(first, "TTGIR", "tt.store")
    store.click()
    eventually(lambda: (selection(host) or {}).get("source_lines"), [STORE])
    host.evaluate("() => { window.endSecond = show(); }")
    second = host.frame_locator("iframe >> nth=1")
    expect_shown(second)
    cursor = second.get_by_role("group", name="TTGIR, ").locator(".text-row.is-cursor")
    expect(cursor).to_contain_text("tt.store")
    load = row(second, "TTGIR", "tt.load")
    load.click()
    expect(row(first, "TTGIR", "tt.load")).to_contain_class("is-cursor")
    host.evaluate("() => { endSecond(); end(); }")
    assert host.evaluate("() => model.listeners.size") == 0


@pytest.mark.nightly
def test_another_site_follows_the_page_that_it_embeds_and_no_other_frame_does(
    compilation: str, server: str, visitor: Visitor, other_site: Callable[[str], str]
) -> None:
    page = visitor()
    embedded = f'<iframe src="{server}/embed/{compilation}" width=900 height=600></iframe>'
    page.goto(other_site(f'{embedded}<iframe srcdoc=""></iframe>'))
    frame = page.frame_locator("iframe >> nth=0")
    expect_shown(frame)
    # A frame beside it asks first: it is not the page around.
    connect = """([sender, target]) => {
        const { port1, port2 } = new MessageChannel();
        window.port = port1;
        window.told = [];
        port1.onmessage = ({ data }) => told.push(data);
        const post = sender ? frames[sender].eval("(...all) => parent.frames[0].postMessage(...all)") : null;
        (post ?? ((...all) => frames[0].postMessage(...all)))("triton-explorer:selection", target, [port2]);
    }"""
    page.evaluate(connect, [1, server])
    load = row(frame, "TTGIR", "tt.load")
    load.click()
    expect(load).to_contain_class("is-pinned")
    page.evaluate("() => { window.stranger = told; }")
    page.evaluate(connect, [0, server])
    store = row(frame, "TTGIR", "tt.store")
    store.click()
    clicked = {"stage": "ttgir", "line": number(store), "source_lines": [STORE]}
    eventually(lambda: page.evaluate("() => told.at(-1) ?? null"), clicked)
    assert page.evaluate("() => stranger") == []
    page.evaluate("n => port.postMessage({ stage: 'ttgir', line: n })", number(load))
    expect(load).to_contain_class("is-cursor")
    eventually(lambda: page.evaluate("() => told.at(-1).source_lines"), [LOAD])
