"""Test the check of commit messages."""

import subprocess
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[1] / "tools/check-commit-message"


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ("Cache the compiler queries by target\n\nA body of any length " + "x" * 80, ""),
        ("Write 72 characters, with ä: " + "x" * 43, ""),
        ("x" * 73, "73 characters"),
        ("Cache the compiler queries.", "period"),
        ("# a comment\n", "no subject"),
    ],
    ids=["good", "longest", "long", "period", "empty"],
)
def test_the_subject_of_a_commit_message_is_checked(message: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "message"
    file.write_text(message)
    done = subprocess.run([CHECK, file], capture_output=True, text=True)
    assert (done.returncode == 0) == (not complaint), done.stderr
    assert complaint in done.stderr
