"""Test the documented notebook: a real kernel of Jupyter runs it, and its page shows the workbench."""

from __future__ import annotations

import base64
import gzip
import html
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from actions import Visitor
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def html_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the notebook without a server, and convert it to HTML."""
    folder = tmp_path_factory.mktemp("notebook")
    section = (ROOT / "docs/python.md").read_text(encoding="utf-8").split("\n## In a notebook\n")[1]
    cells = re.findall(r"```python\n(.+?)```", section, re.DOTALL)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, folder / "scale.ipynb")
    folders = ("TRITON_EXPLORER_DATA_DIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "scale.ipynb"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **dict.fromkeys(folders, str(folder))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "scale.html"


@pytest.mark.nightly
def test_the_output_of_a_cell_is_the_saved_page(html_file: Path) -> None:
    outputs = html.unescape(html_file.read_text(encoding="utf-8"))
    (packed,) = re.findall(r"<iframe [^>]*srcdoc=.+?atob\(\"([^\"]+)\"\)", outputs, re.DOTALL)
    page = gzip.decompress(base64.b64decode(packed)).decode()
    assert 'data-host="file"' in page
    # The other two cells have a table and no output.
    assert "<td>tritongpu-coalesce</td>" in outputs


@pytest.mark.nightly
def test_the_frame_shows_the_stages_and_cannot_reach_the_notebook(html_file: Path, visitor: Visitor) -> None:
    page = visitor()
    # What nbconvert takes from other servers.
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(html_file.as_uri())
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("group", name="TTGIR, ")).to_contain_text("tensor<256xf32, #blocked>")
    expect(frame.locator("status-bar")).to_contain_text("warps 8")
    frame.get_by_role("tab", name="Passes").click()
    expect(frame.locator("pane-passes")).to_contain_text("tritongpu-coalesce")
    assert frame.locator("body").evaluate("() => [origin, location.href]") == ["null", "about:srcdoc"]
