"""What a user meets is documented: panes, stages, addresses; commands and settings have their own tests."""

from pathlib import Path

import pytest

from explorer.pipeline.stages import STAGES
from explorer.views.panes import PANES

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/page.md").read_text(encoding="utf-8")


def documented(heading: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by their first cell."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]
    return {first: rest for first, *rest in rows[1:]}


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.name)
def test_every_pane_is_documented(pane):
    address, text = documented("Panes")[pane.title]
    assert address.startswith(f"`{pane.name}")
    assert len(text) > 40


def test_every_stage_is_documented_in_the_order_of_the_page():
    rows = documented("Stages")
    assert list(rows) == [stage.title for stage in STAGES]
    assert all(len(text) > 20 for (text,) in rows.values())


def test_every_address_is_documented(app):
    rules = {rule.rule.replace("<path:", "<") for rule in app.url_map.iter_rules()}
    pages = {rule for rule in rules if not rule.startswith("/api/")}
    described = {address.strip("`") for address in documented("Addresses")}
    assert described == pages, "docs/page.md"


def test_every_folder_is_documented():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    folders = sorted(file.parent.name for file in (ROOT / "explorer").glob("*/*.py"))
    assert [name for name in dict.fromkeys(folders) if f"`explorer/{name}/`" not in readme] == []


def test_nothing_is_documented_that_is_not_there():
    assert list(documented("Panes")) == [pane.title for pane in PANES]
