"""The pictures of the documentation: `python -m bench.pictures` takes them from the real page.

They are files of `docs/`. Each is a window of a small laptop at twice its resolution, with a palette of
256 colors.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from bench.bare import TARGET
from bench.chromium import ARGUMENTS, EXECUTABLE, TIMEOUT_MS, wait_for_result, wait_until_quiet
from bench.service import Service, running_service
from explorer.examples import find_example

FOLDER = Path(__file__).parents[1] / "docs"
WINDOW: ViewportSize = {"width": 1280, "height": 800}
SCALE = 2
LIMIT_BYTES = 1_000_000


def _example(service: Service, name: str, **options: object) -> str:
    """Compile an example of the gallery and return the id of its result."""
    example = find_example(name)
    if example is None:
        raise LookupError(f"The gallery has no example {name!r}.")
    return service.compile(example.source, TARGET, **options).id


def _line(service: Service, id_: str, part: str, text: str) -> int:
    """Return the first line that contains a text, from 1, in a stage or in the source."""
    path = f"/api/v1/compilations/{id_}/" + (part if part == "source" else f"stages/{part}")
    connection = service.connect()
    connection.request("GET", path)
    lines = connection.getresponse().read().decode().split("\n")
    connection.close()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def _pass(service: Service, id_: str, name: str) -> int:
    """Return the index of a pass."""
    passes = service.request("GET", f"/api/v1/compilations/{id_}")["passes"]
    return next(int(each["index"]) for each in passes if each["name"] == name and each["changed"])


def _workbench(page: Page, service: Service) -> None:
    """Show the SASS of a layout conversion of the matmul."""
    matmul = _example(service, "matmul")
    line = _line(service, matmul, "ttgir", "ttg.convert_layout")
    store = _line(service, matmul, "source", "tl.store(")
    page.goto(f"/k/{matmul}#panes=stage:ttgir;lineage={line}@50+stage:sass@50&line=ttgir.{line}&pin={store}")
    wait_for_result(page)
    lineage = page.get_by_role("region", name="Lineage of the operation")
    lineage.get_by_role("button", name="SASS instruction").click()
    expect(page.locator("pane-stage.hue-sass .is-operation").first).to_be_visible()


def _passes(page: Page, service: Service) -> None:
    """Show the pass that chooses matrix instructions."""
    matmul = _example(service, "matmul")
    page.goto(f"/k/{matmul}#panes=passes:ttgir.{_pass(service, matmul, 'tritongpu-accelerate-matmul')}")
    expect(page.locator("pane-passes .diff-row .code span").first).to_be_visible()
    # The first changes are layouts, the last change is the product.
    page.keyboard.press("p")


def _compare(page: Page, service: Service) -> None:
    """Show a softmax with 8 and with 4 warps."""
    eight, four = _example(service, "softmax", num_warps=8), _example(service, "softmax", num_warps=4)
    page.goto(f"/compare/{eight}..{four}#stage=ttgir")
    expect(page.locator("comparison-diff .diff-row .code span").first).to_be_visible()


PICTURES: dict[str, Callable[[Page, Service], None]] = {
    "workbench": _workbench,
    "passes": _passes,
    "compare": _compare,
}
LIGHT = {"compare"}


def _take(service: Service, names: list[str]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGUMENTS)
        for name in names:
            context = browser.new_context(
                base_url=service.url,
                viewport=WINDOW,
                device_scale_factor=SCALE,
                color_scheme="light" if name in LIGHT else "dark",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.set_default_timeout(TIMEOUT_MS)
            page.add_init_script("localStorage.setItem('first-steps', 'dismissed')")
            PICTURES[name](page, service)
            wait_until_quiet(page)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            path = FOLDER / f"{name}.png"
            picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
            size = path.stat().st_size
            print(f"{path.name}: {size / 1000:.0f} kB")
            if size > LIMIT_BYTES:
                sys.exit(f"{path} is larger than {LIMIT_BYTES / 1000:.0f} kB.")
            context.close()
        browser.close()


if __name__ == "__main__":
    expect.set_options(timeout=TIMEOUT_MS)
    with running_service() as running:
        _take(running, sys.argv[1:] or list(PICTURES))
