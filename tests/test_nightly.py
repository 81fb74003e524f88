"""Test that `make nightly` runs each test that is marked `nightly`."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_each_nightly_test_is_in_a_part() -> None:
    parts = tomllib.loads((ROOT / "tests/nightly.toml").read_text())
    commands = " ".join(command for part in parts.values() for command in part["nightly"])
    named = re.findall(r"tests/[\w/.]+", commands + " tests/chaos tests/conftest.py tests/gallery_cases.py")
    marked = [
        str(path.relative_to(ROOT))
        for path in ROOT.glob("tests/**/*.py")
        if "mark.nightly" in path.read_text() and path != Path(__file__)
    ]
    assert len(marked) > 10
    assert [path for path in marked if not any(path.startswith(each) for each in named)] == []


def test_the_short_form_of_each_part_runs_in_ci() -> None:
    parts = tomllib.loads((ROOT / "tests/nightly.toml").read_text())
    assert set(parts) <= set((ROOT / ".ci/run").read_text().split())
