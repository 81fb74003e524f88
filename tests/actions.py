"""Actions of users on the page, and the states they wait for."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import FloatRect, Locator, Page, Route, expect

Value = TypeVar("Value")
#: What the system asks for, a color scheme or more contrast, and the theme that follows.
Theme = Literal["light", "dark", "contrast"]
#: Makes a page in a profile of its own: the fixture `visitor`.
Visitor = Callable[..., Page]
#: Holds requests until a test answers them: the fixture `hold`.
Hold = Callable[[Page, str], list[Route]]
#: The address of a first visit without its pinned line.
UNPINNED = "/#pin="
#: The address of the document of a compilation or of a run, without the addresses below it.
DOCUMENT = re.compile(r"/api/v1/(compilations|runs)/\w+(\?.*)?$")
#: A busy machine takes seconds where an idle machine takes milliseconds.
TIMEOUT_MS = COMPILE_TIMEOUT_MS = 60_000
SCHEMES: tuple[Theme, ...] = ("light", "dark")
THEMES: tuple[Theme, ...] = ("light", "dark", "contrast")
#: The rules of axe whose result depends on colors.
COLOR_RULES = ("color-contrast", "link-in-text-block")
#: The rules of axe whose result depends on the size of the window.
SIZE_RULES = ("scrollable-region-focusable",)


def wait_for_result(page: Page, status: str = "complete") -> None:
    """Wait until the last compilation has this status."""
    expect(page.locator("status-bar .state")).to_have_class(f"state is-{status}", timeout=COMPILE_TIMEOUT_MS)


def compiled(page: Page, source: str, **request: object) -> str:
    """Return the id of the finished result of a source. A recorded result is there at once."""
    document = {"source": source, "target": "cuda:90", **request}
    ticket = page.request.post("/api/v1/compilations", data=document)
    expect(ticket).to_be_ok()
    page.request.get(ticket.json()["events"], timeout=COMPILE_TIMEOUT_MS)
    name: str = ticket.json()["id"]
    return name


def open_result(page: Page, source: str, panes: str = "", **request: object) -> None:
    """Visit the result of a source, without a first visit and without pasting the source."""
    page.goto(f"/k/{compiled(page, source, **request)}{panes}")
    wait_for_result(page)


def stage_text(page: Page, title: str) -> str:
    """Return the visible pane of a stage, by the title of its tab."""
    return page.get_by_role("group", name=f"{title}, ").inner_text()


def expect_stage(page: Page, title: str, text: str) -> None:
    """Wait until a stage, given by the title of its tab, shows a text."""
    expect(page.get_by_role("group", name=f"{title}, ")).to_contain_text(text, timeout=COMPILE_TIMEOUT_MS)


def show_sass(page: Page) -> None:
    """Bring SASS to the front of its group, where a first visit has the findings."""
    page.get_by_role("tab", name="SASS", exact=True).click()


def expect_structure(pane: Locator) -> None:
    """Wait until a stage pane has applied its initial folds, which move the lines below."""
    expect(pane.locator(".fold", has_text="▾").first).to_be_attached()


def unfold(pane: Locator) -> None:
    expect_structure(pane)
    pane.locator(".text").press("}")
    expect(pane.locator(".folded")).to_have_count(0)


def set_source(page: Page, source: str) -> None:
    """Replace the source by pasting another. The editor has it when this returns."""
    editor = page.locator("#editor .cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    # The browser reads the clipboard of the system after the key press, sometimes after the next click.
    editor.evaluate(
        """(element, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            const options = { clipboardData, bubbles: true, cancelable: true };
            element.dispatchEvent(new ClipboardEvent("paste", options));
        }""",
        source,
    )


def paste_source(page: Page, source: str) -> None:
    """Replace the source by the text of the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.locator("#editor .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")


def drop(page: Page, files: Mapping[str, str | bytes]) -> None:
    """Drop files on the editor, as from a folder of the system."""
    contents = {name: each.encode() if isinstance(each, str) else each for name, each in files.items()}
    page.locator(".cm-content").evaluate(
        """(element, files) => {
            const dataTransfer = new DataTransfer();
            for (const [name, data] of Object.entries(files)) {
                const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
                dataTransfer.items.add(new File([bytes], name));
            }
            element.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        {name: base64.b64encode(each).decode() for name, each in contents.items()},
    )


def open_example(page: Page, title: str) -> None:
    page.get_by_role("button", name="Gallery").click()
    page.locator("#gallery-menu .card", has_text=title).click()


def unfold_launch(page: Page) -> None:
    """Show the fields of the launch panel, which stay shown on the next pages of the profile."""
    page.get_by_role("button", name="Show the launch").click()


def result_id(page: Page) -> str:
    found = re.search(r"/k/(\w+)", page.url)
    assert found
    return found[1]


def whole_text(page: Page, stage: str) -> list[str]:
    """Return the lines of a stage's download."""
    response = page.request.get(f"/api/v1/compilations/{result_id(page)}/stages/{stage}")
    return response.text().rstrip("\n").split("\n")


def compile_now(page: Page, source: str) -> None:
    """Replace the source, and compile it without waiting for a pause in typing."""
    set_source(page, source)
    page.keyboard.press("Control+Enter")


def unfinished(route: Route) -> None:
    """Fulfill a request for a document as before its end, so that the page always asks for events."""
    if route.request.method == "GET":
        route.fulfill(json=route.fetch().json() | {"status": "running"})
    else:
        route.continue_()


def eventually(read: Callable[[], Value], expected: Value) -> None:
    """Wait until a condition on the page holds that `expect` cannot check."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while (found := read()) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found == expected


def expect_lit(page: Page, *texts: str) -> None:
    """Expect that the editor highlights exactly these lines. A part of its text names each line."""

    def lit() -> list[str]:
        lines: list[str] = page.evaluate(_LIT_LINES)
        return [next((text for text in texts if text in line), line) for line in lines]

    eventually(lit, list(texts))


def lit_rows(pane: Locator) -> list[str]:
    """Return the texts of the rows in a pane of a stage that are lit, from the top."""
    rows: list[str] = pane.evaluate(_LIT_ROWS)
    return rows


#: Returns the text of the row in front of each light.
_LIT_ROWS = """
(pane) => {
  const rows = [...pane.querySelectorAll(".text-row")];
  const box = (element) => element.getBoundingClientRect();
  const isThere = (row, light) => row.top === light.top && row.height === light.height;
  return [...pane.querySelectorAll(".lit-lines > .is-lit")]
    .map((light) => ({ light: box(light), row: rows.find((row) => isThere(box(row), box(light))) }))
    .sort((one, other) => one.light.top - other.light.top)
    .map(({ row }) => row?.querySelector(".code").textContent ?? "no row is in front of this light");
}
"""

#: Returns the text of the line in front of each light.
_LIT_LINES = """
() => {
  const lines = [...document.querySelectorAll(".editor .cm-line")];
  return [...document.querySelectorAll(".editor .lit-lines > .is-lit")].map((light) => {
    const { height, left, top, width } = light.getBoundingClientRect();
    const isThere = (line) => {
      const box = line.getBoundingClientRect();
      return [box.height - height, box.left - left, box.top - top, box.width - width]
        .every((difference) => Math.abs(difference) < 0.5);
    };
    return lines.find(isThere)?.textContent ?? "no line is in front of this light";
  });
}
"""


def settled_box(element: Locator) -> FloatRect:
    """Return where an element is, when it has stayed there for two frames."""
    handle = element.element_handle()
    assert handle is not None
    handle.wait_for_element_state("stable")
    box = handle.bounding_box()
    assert box is not None
    return box


def run_command(page: Page, words: str) -> None:
    """Run the first command that the palette finds for `words`."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Command")).to_be_focused()
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    expect(page.locator("dialog.palette")).to_have_count(0)


def expect_fits(*elements: Locator) -> None:
    """Wait until nothing in these elements is wider than they are."""
    wider = "elements => elements.filter(each => each.scrollWidth > each.clientWidth).length"
    for each in elements:
        expect(each).not_to_have_count(0)
        eventually(partial(each.evaluate_all, wider), 0)


def choose_scheme(page: Page, scheme: Theme) -> None:
    """Let the system ask for a color scheme, or for more contrast. The page follows."""
    page.emulate_media(
        color_scheme="light" if scheme == "light" else "dark",
        contrast="more" if scheme == "contrast" else "no-preference",
    )
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)


def violations(page: Page, *parts: str, rules: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the violations of accessibility rules in parts of the page, or outside of the editor's text.

    `rules` are the names of the rules that are checked: all rules without them.
    """
    context: Any = {"exclude": [[".cm-scroller"]]}
    for part in parts:
        expect(page.locator(part)).not_to_have_count(0)
        context = {"include": [[each] for each in parts]}
    # Axe lists everything that it has checked, which takes longer than the checks.
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate(
        "async ([context, options]) => (await axe.run(context, options)).violations", [context, options]
    )
    return [(each["id"], node["html"][:160]) for each in found for node in each["nodes"]]


def expect_accessible(page: Page, *parts: str, schemes: Sequence[Theme] = SCHEMES) -> None:
    """Expect no violations in parts of the page, or outside of the editor's text, in each color scheme.

    The elements are equal in all schemes. All rules are checked in the first scheme, the rules of colors in
    the others.
    """
    for number, scheme in enumerate(schemes):
        choose_scheme(page, scheme)
        # Plots are drawn again in the next frame.
        page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")
        found = violations(page, *parts, rules=COLOR_RULES if number else ())
        assert found == [], (scheme, parts, found)


def editor_line(page: Page, text: str) -> Locator:
    """Scroll to a line of the source. The editor contains only the lines near the visible lines."""
    line = page.locator("#editor .cm-line", has_text=text)
    scroller = page.locator("#editor .cm-scroller")
    scroller.evaluate("scroller => { scroller.scrollTop = 0; }")
    for _ in range(50):
        if line.count():
            break
        scroller.evaluate(
            """scroller => new Promise(resolve => {
                scroller.scrollTop += scroller.clientHeight;
                requestAnimationFrame(() => requestAnimationFrame(resolve));
            })"""
        )
    return line.first
