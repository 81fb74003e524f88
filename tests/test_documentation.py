"""Test that panes, stages, addresses, commands and folders are documented, and that documents are right.

`test_settings.py` tests that settings are documented.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from flask import Flask

from explorer.cli.main import COMMANDS, make_parser
from explorer.model.measurements import MEASURES
from explorer.pipeline.stages import STAGES
from explorer.settings import PREFIX, Settings
from explorer.views.panes import PANES
from explorer.views.panes.pane import Pane

ROOT = Path(__file__).parents[1]
ARCHITECTURE = ROOT / "docs/architecture.md"
TEXTS = {file: file.read_text(encoding="utf-8") for file in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]}


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
    folders = sorted(file.parent.name for file in (ROOT / "explorer").glob("*/*.py"))
    assert [name for name in dict.fromkeys(folders) if f"`explorer/{name}/`" not in TEXTS[ARCHITECTURE]] == []


def test_every_path_of_the_architecture_exists() -> None:
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]*)+)`", TEXTS[ARCHITECTURE])
    assert len(paths) > 80
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_command_is_documented() -> None:
    section = TEXTS[ROOT / "docs/commands.md"].split("\n## The command line\n")[1].split("\n## ")[0]
    names = [command.__name__.rpartition(".")[2] for command in COMMANDS]
    assert [name for name in names if f"\ntriton-explorer {name}" not in section] == []


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    without_code = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", without_code, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_between_documents_has_its_goal() -> None:
    broken = []
    for file, text in TEXTS.items():
        without_code = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", without_code)):
            path, _, anchor = link.partition("#")
            goal = (file.parent / path).resolve() if path else file
            if "://" not in link and not (
                goal.exists() and (not anchor or anchor in anchors(goal.read_text(encoding="utf-8")))
            ):
                broken.append(f"{file.relative_to(ROOT)}: {link}")
    assert broken == []


def test_the_first_pages_are_short() -> None:
    """A reader finds the way to the other pages there, and the pages have the details."""
    assert len(TEXTS[ROOT / "README.md"].splitlines()) <= 150
    assert len(TEXTS[ROOT / "CONTRIBUTING.md"].encode()) <= 12_000


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


def mentions(pattern: str) -> set[tuple[str, str]]:
    """Return the files and what the pattern's group matches in them."""
    return {(file.name, each) for file, text in TEXTS.items() for each in re.findall(pattern, text)}


def documented_commands() -> Iterator[tuple[str, str, bool]]:
    """Return the file, the arguments, and whether they are complete, of each call of `triton-explorer`."""
    for file, text in TEXTS.items():
        for block in re.findall(r"^ *```sh\n(.*?)```", text.replace("\\\n", " "), re.MULTILINE | re.DOTALL):
            for line in re.findall(r"^ *(?:\w+=\S+ )*(?:\S*/)?triton-explorer (.*)", block, re.MULTILINE):
                # Without a comment, and what follows a pipe or a redirection.
                yield file.name, re.sub(r"\s(?:[|>&#]|2>).*", "", f"{line} "), True
    for name, line in mentions(r"`(?:\S*/)?triton-explorer ([a-z][^`\n]*)`"):
        yield name, line, False


def test_every_documented_command_exists(capsys: pytest.CaptureFixture[str]) -> None:
    parser, wrong = make_parser(), []
    for file, line, complete in documented_commands():
        arguments = shlex.split(re.sub(r"<\w+>|…", "8", line))
        try:
            parser.parse_args(arguments)
        except SystemExit as ended:
            message = capsys.readouterr().err
            if ended.code and (complete or "are required" not in message):
                wrong.append(f"{file}: triton-explorer {line}\n{message}")
    assert not wrong, "\n".join(wrong)


def test_every_documented_make_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split()
    assert {target for _, target in mentions(r"(?:`|\n)make ([a-z]+)")} <= set(phony)


def test_every_documented_extra_exists() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    named = {
        name for _, names in mentions(r"(?:triton-explorer|'\.)\[([\w,]+)\]") for name in names.split(",")
    }
    assert named
    assert named <= set(extras)


def test_every_documented_setting_exists() -> None:
    settings = {name for _, name in mentions(r"\b(TRITON_EXPLORER_[A-Z0-9_]*[A-Z0-9])\b")}
    assert settings <= {PREFIX + field.name.upper() for field in fields(Settings)}
