"""Test `tour`: the list, the steps, and the saved page."""

import pytest

from explorer.cli.main import main
from explorer.tours import TOURS, find_tour

from .conftest import run


def test_tours_and_their_steps_are_listed(capsys):
    assert main(["tour"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TOURS)
    assert main(["tour", "layouts"]) == 0
    printed = capsys.readouterr().out
    assert all(step.title in printed for step in find_tour("layouts").steps)


@pytest.mark.parametrize("arguments", [["nothing"], ["--html", "tour.html"]], ids=["unknown", "unnamed"])
def test_a_tour_that_is_none_is_refused(arguments, capsys):
    assert main(["tour", *arguments]) == 1
    assert "layouts" in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.slow
def test_a_tour_that_nobody_has_taken_is_saved(server, tmp_path):
    file = tmp_path / "new" / "tour.html"
    saved = run("tour", "occupancy", "--html", file, "--triton", "3.6.0", server=server.url)
    assert (saved.returncode, saved.stderr) == (0, f"Wrote {file}\n")
    page = file.read_text(encoding="utf-8")
    assert 'data-lesson="tour=occupancy.1"' in page
    assert all(
        f"/tours/occupancy/{number}" in page for number, _ in enumerate(find_tour("occupancy").steps, 1)
    )
