"""Test reading a folder of profiles with invalid files: the server skips and logs them."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from recorded import recording, write_recording

from explorer.profiles import read as profiles
from explorer.profiles.read import MOST_BYTES, ProfileError, Profiles, read_profiles
from explorer.profiles.write import write_profiles

GOOD = ["recorded-vector_add-0"]


@pytest.fixture
def folder(tmp_path):
    """A folder with one good recording."""
    inside = tmp_path / "profiles"
    inside.mkdir()
    write_recording(inside, "source")
    return inside


def left_out(caplog):
    return {record.getMessage() for record in caplog.records}


def huge(path):
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)


def half_written(path):
    text = json.dumps(recording("source", example="matmul"))
    path.write_text(text[: len(text) // 2])


def outside(path):
    target = write_recording(path.parent.parent, "source", example="matmul")
    path.symlink_to(target)


def of_a_great_length(path):
    path.write_text(json.dumps(recording("source", example="matmul", kernel="k" * 1_001)))


def taken(path):
    path.write_text(json.dumps(recording("source", example="vector_add")))


HOSTILE = [
    (huge, "it has 16,777,217 bytes; the limit is 16,777,216"),
    (half_written, "Input data was truncated"),
    (outside, "it is a link to outside of its folder"),
    (os.mkfifo, "it is not a regular file"),
    (Path.mkdir, "it is not a regular file"),
    (lambda path: path.symlink_to(path), "it is not a regular file"),
    (lambda path: path.symlink_to("nowhere"), "it is not a regular file"),
    (lambda path: path.write_text("[" * 100_000), "Expected `object`, got `array`"),
    (lambda path: path.write_text('{"format":' + "[" * 100_000), "format"),
    (lambda path: path.write_text("{}"), "missing required field"),
    (lambda path: path.write_bytes(b"\xff\xfe\x00"), "malformed"),
    (lambda path: path.write_bytes(b""), "truncated"),
    (of_a_great_length, "longer than 1,000 characters"),
    (taken, "another file also has profiles of vector_add"),
]


@pytest.mark.parametrize(("make", "reason"), HOSTILE)
def test_what_is_no_recording_is_left_out_and_said_once(folder, make, reason, caplog):
    make(folder / "zzz.json")
    found = Profiles(folder)
    assert list(found.all) == GOOD
    assert list(found.all) == GOOD
    (record,) = caplog.records
    assert record.getMessage().startswith(f"Skipped {folder}/zzz.json: ")
    assert reason in record.getMessage()


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_left_out(folder, caplog):
    (folder / "zzz.json").touch(mode=0)
    assert list(Profiles(folder).all) == GOOD
    assert "Permission denied" in caplog.text


def test_a_link_within_the_folder_is_read(folder):
    (folder / "data").mkdir()
    (folder / "vector_add.json").rename(folder / "data" / "vector_add.json")
    (folder / "vector_add.json").symlink_to("data/vector_add.json")
    assert list(Profiles(folder).all) == GOOD


def test_a_name_of_several_lines_is_one_line_of_the_log(folder, caplog):
    (folder / "a\nINFO all is well.json").touch()
    assert list(Profiles(folder).all) == GOOD
    (message,) = left_out(caplog)
    assert "\n" not in message and "a\\nINFO all is well.json" in message


def test_no_folder_and_a_folder_that_is_none(tmp_path, caplog):
    assert Profiles(tmp_path / "missing").all == {}
    assert caplog.records == []
    (tmp_path / "file").touch()
    assert Profiles(tmp_path / "file").all == {}
    assert "Cannot read the folder of profiles" in caplog.text


def test_there_is_an_end_to_files_and_to_their_bytes(folder, monkeypatch, caplog):
    size = (folder / "vector_add.json").stat().st_size
    for number in range(5):
        write_recording(folder, "source", example=f"a{number}")
    monkeypatch.setattr(profiles, "MOST_FILES", 4)
    monkeypatch.setattr(profiles, "MOST_FOLDER_BYTES", 3 * size)
    assert list(Profiles(folder).all) == [f"recorded-a{number}-0" for number in range(3)]
    assert left_out(caplog) == {
        f"{folder}: skipped 2 files, because at most 4 are read",
        f"Skipped {folder}/a3.json: the profiles of the folder have more than {3 * size:,} bytes with it",
    }


def test_what_has_become_a_pipe_since_is_not_waited_for(folder, monkeypatch):
    pipe = folder / "pipe.json"
    os.mkfifo(pipe)
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    with pytest.raises(ProfileError, match="it is not a regular file"):
        read_profiles(pipe)


def test_a_recording_is_written_whole_or_not_at_all(folder):
    """A file that is replaced while it is read yields one of the two contents."""
    run = recording("source")["runs"][0]
    with (folder / "vector_add.json").open() as before:
        path = write_profiles(folder, "vector_add", "record", datetime.now(UTC), [run, run])
        assert len(json.load(before)["runs"]) == 1
    assert [found.id for found in read_profiles(path)] == ["recorded-vector_add-0", "recorded-vector_add-1"]
    assert [left.name for left in folder.iterdir()] == ["vector_add.json"]


def test_dates_at_the_ends_of_time_are_sorted(folder):
    for example, date in (("a", "0001-01-01T00:00:00+14:00"), ("b", "9999-12-31T23:59:59-14:00")):
        (folder / f"{example}.json").write_text(
            json.dumps({**recording("source", example=example), "date": date})
        )
    dates = [found.date for found in Profiles(folder).all.values()]
    assert len(sorted(dates)) == 3
