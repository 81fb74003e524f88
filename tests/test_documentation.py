"""Test that panes, stages, addresses and folders are documented. Commands and settings have other tests."""

from pathlib import Path

import pytest
from flask import Flask

from explorer.model.measurements import MEASURES
from explorer.pipeline.stages import STAGES
from explorer.views.panes import PANES
from explorer.views.panes.pane import Pane

ROOT = Path(__file__).parents[1]


def documented(heading: str, file: Path = ROOT / "docs/page.md") -> dict[str, list[str]]:
    """Return the rows of the table below a heading, by their first cell."""
    section = file.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line.startswith("| ")
    ]
    return {first: rest for first, *rest in rows[1:]}


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: pane.name)
def test_every_pane_is_documented(pane: Pane) -> None:
    address, text = documented("Panes")[pane.title]
    assert address.startswith(f"`{pane.name}")
    assert len(text) > 40


def test_every_stage_is_documented_in_the_order_of_the_page() -> None:
    rows = documented("Stages")
    assert list(rows) == [stage.title for stage in STAGES]
    assert all(len(text) > 20 for (text,) in rows.values())


def test_every_address_is_documented(app: Flask) -> None:
    rules = {rule.rule.replace("<path:", "<") for rule in app.url_map.iter_rules()}
    pages = {rule for rule in rules if not rule.startswith("/api/")}
    described = {address.strip("`") for address in documented("Addresses")}
    assert described == pages, "docs/page.md"


def test_every_folder_is_documented() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    folders = sorted(file.parent.name for file in (ROOT / "explorer").glob("*/*.py"))
    assert [name for name in dict.fromkeys(folders) if f"`explorer/{name}/`" not in readme] == []


def test_every_measure_is_documented_with_its_devices() -> None:
    rows = documented("What is measured", ROOT / "docs/running.md")
    assert set(rows) == set(MEASURES)
    for name, (devices, text) in rows.items():
        assert devices == {("interpreter", "gpu"): "both", ("gpu",): "GPU"}.get(
            MEASURES[name].devices, "interpreter"
        )
        assert len(text) > 20


def test_nothing_is_documented_that_is_not_there() -> None:
    assert list(documented("Panes")) == [pane.title for pane in PANES]
