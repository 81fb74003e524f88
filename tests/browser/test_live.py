"""Test live compilation: the page while its source is typed."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from actions import COMPILE_TIMEOUT_MS, Visitor, eventually, open_result, result_id, wait_for_result
from playwright.sync_api import Locator, Page, expect
from served import Client, Server
from slow_jobs import ENDLESS
from sources import SCALE

PANES = "stage:ttir*+stage:ttgir*"
FACTOR = "x * factor"


@pytest.fixture
def live_page(visitor: Visitor) -> Page:
    """The page with `SCALE` in a window that is lower than its texts, with the caret at its factor."""
    page = visitor(width=1280, height=520)
    open_result(page, SCALE, f"#panes={PANES}")
    for name in ("ttir", "ttgir"):
        expect(stage(page, name)).to_contain_text("@scale(")
    go_to_factor(page)
    return page


def go_to_factor(page: Page) -> None:
    """Put the caret behind the factor, without a click, which would pin the line."""
    page.locator("#editor .cm-content").focus()
    page.keyboard.press("Control+Home")
    lines = SCALE.split("\n")
    number = next(index for index, line in enumerate(lines) if FACTOR in line)
    for _ in range(number):
        page.keyboard.press("ArrowDown")
    for _ in range(lines[number].index(FACTOR) + len(FACTOR)):
        page.keyboard.press("ArrowRight")


def expect_another(page: Page, result: str) -> None:
    """Wait until the address names another result."""
    expect(page).not_to_have_url(re.compile(f"/k/{result}"), timeout=COMPILE_TIMEOUT_MS)


def stage(page: Page, name: str) -> Locator:
    return page.locator(f"pane-stage.hue-{name}")


def scroll_top(pane: Locator) -> int:
    """Return how far the text of a pane is scrolled, in pixels."""
    return int(pane.locator(".text").evaluate("element => element.scrollTop"))


def test_a_character_changes_the_stages_in_place(live_page: Page) -> None:
    page, ttir = live_page, stage(live_page, "ttir")
    pane = ttir.locator(".text")
    pane.evaluate("element => { element.scrollTop = 76 }")
    ttir.locator(".text-row", has_text="tt.load").click()
    expect(page.locator(".cm-line.is-pinned")).to_contain_text("tl.load")
    before, address = scroll_top(ttir), result_id(page)
    go_to_factor(page)
    page.keyboard.type(" * 3")
    expect(ttir).to_contain_text("dense<3.000000e+00>")
    expect(ttir.locator(".text-row.is-new")).not_to_have_count(0)
    expect(stage(page, "ttgir")).to_contain_text("dense<3.000000e+00>")
    expect_another(page, address)
    # The constant is in a line above the visible lines, which keep their place.
    eventually(lambda: scroll_top(ttir) - before in (19, 38), True)
    expect(page.locator(".cm-line.is-pinned")).to_contain_text("tl.load")
    expect(ttir.locator(".text-row.is-pinned", has_text="tt.load")).to_be_visible()
    expect(ttir.locator(".text-row.is-new")).to_have_count(0)
    assert page.evaluate("document.activeElement.closest('#editor') !== null")


@pytest.mark.nightly
def test_folds_move_with_their_lines(live_page: Page) -> None:
    page, ttgir = live_page, stage(live_page, "ttgir")
    header = ttgir.locator(".text-row", has_text="tt.func")
    header.locator(".fold").click()
    expect(header.locator(".folded")).to_be_visible()
    number = int(header.locator(".number").inner_text())
    go_to_factor(page)
    page.keyboard.type(" * 5")
    expect(stage(page, "ttir")).to_contain_text("dense<5.000000e+00>")
    expect(header.locator(".folded")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"stage:ttgir;fold=[^+]*\b{number}\b"))


@pytest.mark.nightly
def test_pins_move_with_their_lines(live_page: Page) -> None:
    page = live_page
    page.locator(".cm-line", has_text="tl.load").click()
    expect(page).to_have_url(re.compile(r"pin=9\b"))
    address = result_id(page)
    page.keyboard.press("Home")
    page.keyboard.type("# above")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"pin=10\b"))
    assert result_id(page) != address
    expect(page.locator(".cm-line.is-pinned")).to_contain_text("tl.load")


def test_an_error_is_on_its_line_and_the_result_stays(live_page: Page) -> None:
    page, ttir = live_page, stage(live_page, "ttir")
    lines = ttir.locator(".text .code")
    address, text = page.url, lines.all_inner_texts()
    # One change, so that no part of it is compiled.
    page.keyboard.insert_text(" +")
    expect(page.locator("status-bar .state")).to_have_text(re.compile(r"line 10: SyntaxError: .+"))
    line = page.locator(".cm-line", has_text=FACTOR)
    expect(line.locator(".cm-lintRange-error")).to_have_count(1)
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    expect(page.locator("message-banner")).to_be_empty()
    assert (page.url, lines.all_inner_texts()) == (address, text)
    page.keyboard.type(" 7")
    expect(ttir).to_contain_text("dense<7.000000e+00>")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(0)
    wait_for_result(page)


def test_who_asks_gets_the_whole_failure(live_page: Page) -> None:
    page = live_page
    page.keyboard.type(" + missing")
    expect(page.locator("status-bar .state")).to_contain_text("line 10: ")
    page.locator("#compile-button").click()
    expect(page.locator("message-banner")).to_contain_text("missing")
    wait_for_result(page, "failed")


def metric(server: str, name: str, label: str = "") -> float:
    """Return the sum of a metric of the server, of the values with a label if one is given."""
    labels = rf"{{[^}}]*{label}[^}}]*}}" if label else r"(?:{[^}]*})?"
    with urllib.request.urlopen(f"{server}/metrics") as response:
        found = re.findall(rf"^{name}{labels} (\S+)$", response.read().decode(), re.MULTILINE)
    assert found, name
    return sum(map(float, found))


#: The zygote, the keeper and the warden of a slot that keeps the process of a script, and this process. A
#: script that takes long on a busy machine is kept, and another slot is started.
OF_A_KEPT_SCRIPT = 4


def idle_processes(server: str, running_server: Server) -> int:
    """Return the number of processes without jobs and kept scripts, when all slots are ready."""
    for state in ("waiting", "running"):
        eventually(partial(metric, server, f"triton_explorer_jobs_{state}"), 0.0)
    for state in ("starting", "busy"):
        eventually(partial(metric, server, "triton_explorer_slots", f'state="{state}"'), 0.0)

    def counts() -> list[int]:
        found = []
        for _ in range(4):
            found.append(len(running_server.family()))
            time.sleep(0.25)
        return found

    eventually(lambda: len(set(counts())), 1)
    kept = metric(server, "triton_explorer_slots", 'state="keeping"')
    return len(running_server.family()) - OF_A_KEPT_SCRIPT * int(kept)


def test_typing_leaves_no_job_behind(live_page: Page, server: str, running_server: Server) -> None:
    page = live_page
    page.keyboard.type(" * 1.")
    processes = []
    for digits in ("01234", "56789"):
        for digit in digits:
            began = time.monotonic()
            page.keyboard.type(digit)
            page.wait_for_timeout(max(0, 333 - 1000 * (time.monotonic() - began)))
        expect(stage(page, "ttir")).to_contain_text("dense<1.0123")
        wait_for_result(page)
        processes.append(idle_processes(server, running_server))
    assert processes[1] <= processes[0]


@pytest.mark.nightly
def test_the_switch_is_remembered(live_page: Page) -> None:
    page, switch = live_page, live_page.get_by_role("button", name="Live")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
    expect(switch).to_have_attribute("aria-pressed", "true")
    switch.click()
    expect(switch).to_have_attribute("aria-pressed", "false")
    address = result_id(page)
    go_to_factor(page)
    with page.expect_response(re.compile("/inspect")):
        page.keyboard.type(" * 9")
    page.reload()
    expect(switch).to_have_attribute("aria-pressed", "false")
    # The draft is compiled when the page is loaded again.
    expect_another(page, address)
    wait_for_result(page)
    assert not [each for each in requests if "live=1" in each]
    address = result_id(page)
    go_to_factor(page)
    page.keyboard.type(" * 8")
    expect(page.locator("status-bar .state")).to_contain_text("edited since")
    assert result_id(page) == address
    switch.click()
    expect_another(page, address)


def newest_entry(page: Page) -> dict[str, Any]:
    entry: dict[str, Any] = page.evaluate("JSON.parse(localStorage.getItem('history'))[0]")
    return entry


def has_newer_entry(page: Page, before: str) -> bool:
    """Return whether the history has another newest entry than the one of this id."""
    return bool(page.evaluate("'history' in localStorage") and newest_entry(page)["id"] != before)


@pytest.mark.nightly
def test_history_has_one_entry_for_what_was_typed(live_page: Page) -> None:
    page = live_page
    for number in (3, 4):
        before = result_id(page)
        # One change, so that no part of it is compiled.
        page.keyboard.insert_text(f" * {number}")
        expect(stage(page, "ttir")).to_contain_text(f"dense<{'3.0' if number == 3 else '4.0'}")
        # An open menu shows the entries of when it was opened.
        eventually(partial(has_newer_entry, page, before), True)
        assert newest_entry(page)["live"]
    entries = page.locator("#history-menu .history-entry", has_text="scale")
    page.get_by_role("button", name="History").click()
    expect(entries).to_have_count(1)
    page.keyboard.press("Escape")
    kept = result_id(page)
    page.locator("#compile-button").click()
    # The newest entry is the one of the button.
    eventually(lambda: newest_entry(page).get("live", False), False)
    go_to_factor(page)
    page.keyboard.insert_text(" * 6")
    expect_another(page, kept)
    eventually(lambda: newest_entry(page).get("live", False), True)
    page.get_by_role("button", name="History").click()
    expect(entries).to_have_count(2)


@pytest.fixture
def typists(server: str) -> Iterator[list[Client]]:
    """Other clients, each with an endless live job."""
    port = int(server.rpartition(":")[2])
    clients = [Client(port, f"127.0.0.{number}") for number in range(20, 26)]
    path = "/api/v1/compilations"
    tickets: list[Any] = [
        client.ask(
            "POST", f"{path}?live=1", {"source": f"{ENDLESS}# {client.address}\n", "target": "cuda:90"}
        )
        for client in clients
    ]
    yield clients
    for client, ticket in zip(clients, tickets, strict=True):
        client.ask("DELETE", ticket.document["api"])
        client.connection.close()


@pytest.mark.nightly
def test_a_button_overtakes_live_jobs_of_others(live_page: Page, typists: list[Client]) -> None:
    page = live_page
    page.get_by_role("button", name="Live").click()
    go_to_factor(page)
    page.keyboard.type(" * 11")
    page.locator("#compile-button").click()
    expect(stage(page, "ttir")).to_contain_text("dense<1.100000e+01>")
    wait_for_result(page)
    assert len(typists) > 3, "there are more of them than slots"


PANES_OF_A_RESULT = [
    "passes:ttgir",
    "layouts",
    "memory",
    "registers",
    "graph:ttgir",
    "run",
    "roofline",
    "resources",
    "log",
]


@pytest.mark.nightly
def test_every_pane_follows(visitor: Visitor) -> None:
    page = visitor(width=1280, height=520)
    open_result(page, SCALE, f"#panes={'+'.join(f'{pane}*' for pane in PANES_OF_A_RESULT)}")
    go_to_factor(page)
    for change in (" * 1.2", "3"):
        shown = result_id(page)
        # One change, so that no part of it is compiled.
        page.keyboard.insert_text(change)
        expect_another(page, shown)
        wait_for_result(page)
    expect(page.locator("pane-resources")).to_contain_text("Registers per thread")
    expect(page.locator("pane-passes .pass").first).to_be_visible()


SLOW_ANSWERS = """
(() => {
  const send = window.fetch;
  window.order = [];
  window.fetch = async (url, options) => {
    if (!/compilations\\?/.test(url)) return send(url, options);
    window.order.push("begin");
    const response = await send(url, options);
    await new Promise((resolve) => setTimeout(resolve, 600));
    window.order.push("end");
    return response;
  };
})()
"""


def test_submissions_do_not_overtake_each_other(live_page: Page) -> None:
    page = live_page
    page.evaluate(SLOW_ANSWERS)
    page.keyboard.type(" * 2")
    page.wait_for_function("() => window.order.length === 1")
    page.keyboard.type("5")
    expect(stage(page, "ttir")).to_contain_text("dense<2.500000e+01>")
    order = page.evaluate("window.order")
    assert order == ["begin", "end"] * (len(order) // 2)
    assert len(order) >= 4
