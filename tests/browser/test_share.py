"""Test the Share menu: links, snippets and files; and the page embedded in another site."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import partial

import pytest
from actions import (
    SIZE_RULES,
    UNPINNED,
    Visitor,
    compile_now,
    eventually,
    expect_accessible,
    expect_stage,
    result_id,
    run_command,
    stage_text,
    unfold_launch,
    violations,
    wait_for_result,
)
from playwright.sync_api import Browser, FrameLocator, Page, expect
from sources import SCALE

from explorer.examples import find_example


@pytest.fixture
def page(visitor: Visitor) -> Page:
    """The page after a first visit, at the start of its texts."""
    page = visitor(permissions=["clipboard-read", "clipboard-write"])
    page.goto(UNPINNED)
    wait_for_result(page)
    return page


def share(page: Page) -> None:
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("#share-menu")).to_be_visible()


def choose_privacy(page: Page, before: str, after: str) -> None:
    """Choose who may see the results, in the launch panel."""
    page.get_by_role("button", name=before, exact=True).click()
    expect(page.get_by_role("radio", name=before)).to_be_checked()
    page.get_by_role("radio", name=after).click()
    expect(page.get_by_role("button", name=after, exact=True)).to_be_visible()


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_the_link_of_a_first_visit_has_no_more_than_an_id_and_the_pin(page: Page, server: str) -> None:
    page.goto("/")
    wait_for_result(page)
    share(page)
    expect(page.get_by_role("button", name="Copy link")).to_be_focused()
    with page.expect_response("**/retention") as retained:
        page.keyboard.press("Enter")
    assert retained.value.status == 204
    expect(page.locator("#toast")).to_have_text("Link to this view copied.")
    expect(page.locator("#share-menu")).to_be_hidden()
    assert re.fullmatch(re.escape(server) + r"/k/\w{12}#pin=66", clipboard(page))

    # Files are saved by mouse and by palette.
    for entry, name in (
        ("Zip", r"matmul_kernel-\w{12}\.zip"),
        ("result.json", r"result\.json"),
        ("TTGIR", r"matmul_kernel\.ttgir"),
    ):
        share(page)
        with page.expect_download() as by_mouse:
            page.locator("#share-menu").locator("a", has=page.get_by_text(entry, exact=True)).click()
        with page.expect_download() as by_palette:
            run_command(page, f"download {entry}")
        assert re.fullmatch(name, by_mouse.value.suggested_filename)
        assert by_palette.value.suggested_filename == by_mouse.value.suggested_filename
        assert by_palette.value.path().read_bytes() == by_mouse.value.path().read_bytes()
        if entry == "result.json":
            assert json.loads(by_mouse.value.path().read_text())["kernel"] == "matmul_kernel"


def test_links_and_snippets_are_copied(page: Page) -> None:
    # Without a clipboard, the old way copies.
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    share(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#toast")).to_have_text("Link to this view copied.")
    page.evaluate("delete navigator.clipboard")
    eventually(lambda: clipboard(page), page.url)

    # A link never ends with what chats cut off.
    page.evaluate("location.hash = 'panes=stage:ttir,stage:ptx*'")
    expect_stage(page, "PTX", ".visible .entry")
    run_command(page, "copy the link")
    eventually(lambda: clipboard(page).endswith("stage:ptx%2A"), True)
    expect(page.locator("#toast")).to_have_text("Link to this view copied.")
    link = clipboard(page)
    page.goto("about:blank")
    page.goto(link)
    expect_stage(page, "PTX", ".visible .entry")

    # Where the clipboard is refused, the text is selected.
    page.evaluate(
        """() => {
          navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
          document.execCommand = () => false;
        }"""
    )
    share(page)
    page.get_by_role("button", name="Copy HTML").click()
    expect(page.locator("#toast")).to_contain_text("press Ctrl+C")
    expect(page.locator("#share-embed")).to_be_focused()
    assert page.evaluate("getSelection().toString()").startswith("<iframe ")


@pytest.mark.nightly
def test_presets_are_in_the_menu_of_a_pane(page: Page) -> None:
    page.get_by_role("button", name="Add a pane here").first.click()
    page.locator("#pane-menu").get_by_role("button", name="Arrange: Two stages").click()
    expect(page.get_by_role("tab")).to_have_count(2)


# --- frames ---------------------------------------------------------------------------------------


def copied_frame(page: Page, with_source: bool) -> str:
    """Return the snippet for the current view."""
    share(page)
    if with_source:
        page.get_by_label("with the source").check()
    page.get_by_role("button", name="Copy HTML").click()
    expect(page.locator("#toast")).to_have_text("HTML to embed this view copied.")
    return clipboard(page)


@pytest.mark.nightly
@pytest.mark.parametrize("with_source", [False, True])
def test_a_page_of_another_site_shows_the_very_view(
    page: Page, other_site: Callable[[str], str], with_source: bool
) -> None:
    page.evaluate("location.hash = 'panes=stage:ttgir@50+passes@50'")
    expect(page.get_by_role("tab")).to_have_count(2)
    page.locator("pane-stage .text-row", has_text="tt.get_program_id").click()
    expect(page).to_have_url(re.compile("pin="))
    shown, url = stage_text(page, "TTGIR"), page.url
    snippet = copied_frame(page, with_source)
    remembered = page.evaluate("({ ...localStorage })")

    page.goto(other_site(f"<h1>Post</h1>{snippet}"))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("tab")).to_have_text([re.compile("TTGIR"), re.compile("Passes")])
    expect(frame.get_by_role("group", name="TTGIR, ").locator(".text-row.is-pinned").first).to_be_visible()
    assert frame.get_by_role("group", name="TTGIR, ").inner_text().split("\n")[0] in shown
    expect(frame.locator("pipeline-path .node.is-done")).to_have_count(6)
    expect(frame.locator("#editor")).to_be_visible(visible=with_source)
    expect(frame.locator("launch-panel")).to_be_hidden()
    expect(frame.get_by_role("link", name="Open in")).to_have_attribute("href", url)
    with page.context.expect_page() as opened:
        frame.get_by_role("link", name="Open in").click()
    expect(opened.value).to_have_url(url)
    opened.value.goto("/healthz")
    assert opened.value.evaluate("({ ...localStorage })") == remembered


def read_only(frame: FrameLocator) -> None:
    """Nothing can be typed."""
    expect(frame.locator(".cm-content")).to_have_attribute("aria-readonly", "true")


@pytest.mark.nightly
def test_a_frame_can_be_used_and_changes_nothing_around_it(
    page: Page, other_site: Callable[[str], str], visitor: Visitor
) -> None:
    snippet = copied_frame(page, with_source=True)
    address = html.unescape(re.search('src="([^"]+)"', snippet)[1])
    reader = visitor()
    # As in browsers that keep third parties from storing anything.
    reader.add_init_script(
        """if (top !== self) Object.defineProperty(window, "localStorage", {
          get() { throw new DOMException("The request was denied.", "SecurityError"); } });"""
    )
    url = other_site(f'<h1>Post</h1><iframe src="{html.escape(address)}" width=1000 height=700></iframe>')
    reader.goto(url)
    frame = reader.frame_locator("iframe")
    expect(frame.get_by_role("group", name="TTGIR, ")).to_contain_text("tt.func")
    read_only(frame)
    requests: list[str] = []
    reader.on("request", lambda request: requests.append(request.method))
    frame.locator(".cm-line").first.click()
    reader.keyboard.press("Control+Enter")
    frame.locator(".node", has_text="LLVM IR").click()
    expect(frame.get_by_role("group", name="LLVM IR, ")).to_contain_text("define")
    assert set(requests) <= {"GET"}
    assert reader.url == url
    assert reader.evaluate("history.length") == 2


def test_a_frame_of_what_does_not_exist_says_so(
    other_site: Callable[[str], str], visitor: Visitor, server: str
) -> None:
    reader = visitor()
    reader.goto(other_site(f'<iframe src="{server}/embed/7Qm2xV9dKcAB" width=800 height=400></iframe>'))
    expect(reader.frame_locator("iframe").locator("message-banner")).to_contain_text("no compilation")


def test_the_page_itself_is_shown_in_no_frame(
    browser: Browser, other_site: Callable[[str], str], server: str
) -> None:
    reader = browser.new_page()
    with reader.expect_event("console", lambda message: "frame-ancestors" in message.text):
        reader.goto(other_site(f'<iframe src="{server}/"></iframe>'))
    reader.close()


@pytest.mark.nightly
def test_a_frame_fits_and_is_accessible(visitor: Visitor) -> None:
    frame = visitor(800, 420)
    compilation = {"source": find_example("matmul").source, "target": "cuda:90"}
    ticket = frame.request.post("/api/v1/compilations", data=compilation).json()
    frame.goto(f"/embed/{ticket['id']}#panes=stage:ttgir@50+stage:sass@50&source")
    expect(frame.locator(".text-row .code span").first).to_be_visible()
    sizes = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    for width, height in ((375, 560), (800, 420)):
        frame.set_viewport_size({"width": width, "height": height})
        eventually(partial(frame.evaluate, sizes), [width, height])
        assert violations(frame, rules=SIZE_RULES) == [], width
    expect_accessible(frame)


@pytest.mark.nightly
def test_ones_own_result_is_deleted_after_a_confirmation(
    visitor: Visitor, own: Callable[[str], str], server: str
) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    compile_now(page, own(SCALE))
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    link = page.url.split("#")[0]
    stranger = visitor()
    stranger.goto(link)
    wait_for_result(stranger)
    share(stranger)
    expect(stranger.get_by_role("button", name="Copy link")).to_be_visible()
    expect(stranger.get_by_role("button", name="Delete this result")).to_have_count(0)

    share(page)
    page.get_by_role("button", name="Delete this result").click()
    expect(page.get_by_role("group", name="Delete this result")).to_contain_text("Links to it will not work")
    page.get_by_role("button", name="Keep").click()
    page.get_by_role("button", name="Delete this result").click()
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_have_text("Deleted.")
    page.wait_for_url(lambda url: not url.startswith(link))
    wait_for_result(page)
    expect(page.locator("#subject b")).to_have_text("matmul_kernel")
    page.get_by_role("button", name="History", exact=True).click()
    expect(page.locator(".history-entry b", has_text="matmul_kernel")).to_be_visible()
    expect(page.locator(".history-entry b", has_text="scale")).to_have_count(0)
    gone = stranger.goto(link)
    assert gone is not None
    assert gone.status == 404
    expect(stranger.locator("message-banner")).to_contain_text("may have deleted it")


@pytest.mark.nightly
def test_a_private_result_stays_private_while_it_is_edited(
    visitor: Visitor, own: Callable[[str], str]
) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    assert len(result_id(page)) == 12
    choose_privacy(page, "Public", "Private link")
    compile_now(page, own(SCALE))
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    first = result_id(page)
    assert len(first) == 24
    unfold_launch(page)
    page.get_by_label("Target").select_option("cuda:80")
    page.wait_for_url(lambda url: first not in url)
    wait_for_result(page)
    second = result_id(page)
    assert len(second) == 24

    # A stranger with the link edits it: the new result is private, too.
    stranger = visitor()
    stranger.goto(f"/k/{second}")
    wait_for_result(stranger)
    expect(stranger.get_by_role("button", name="Private link", exact=True)).to_be_visible()
    unfold_launch(stranger)
    with stranger.expect_response("**/api/v1/compilations?*") as submitted:
        stranger.get_by_label("Target").select_option("cuda:90")
    assert submitted.value.json()["id"] == first

    # The next visit remembers the choice, and opens another source with another key.
    page.goto("/")
    wait_for_result(page)
    assert len(result_id(page)) == 24
    share(page)
    expect(page.locator("#share-menu")).to_contain_text("Nobody can guess it")
    page.keyboard.press("Escape")
    choose_privacy(page, "Private link", "Public")
    with page.expect_response("**/api/v1/compilations?*") as public:
        run_command(page, "compile")
    assert len(public.value.json()["id"]) == 12
